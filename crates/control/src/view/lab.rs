//! How a campaign of the lab stands, as the lab wrote it down beside its results.

use super::answer::*;

/// How a campaign stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LabState {
    /// The configuration names no folder to look into.
    #[default]
    Off,
    /// There is no campaign in the folder.
    Nothing,
    /// What is there cannot be read.
    Unreadable,
    /// It measures; of one on another machine, or in a container, see when it was heard of last.
    Running,
    /// Its process is gone without a word; what was measured stands.
    Gone,
    /// It is over.
    Over,
    /// It was stopped; what was measured stands.
    Stopped,
    /// It failed; what was measured stands.
    Failed,
}

/// The newest campaign in the folder that `web.lab` names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Lab {
    /// How it stands.
    pub state: LabState,
    /// What is wrong with what is there.
    pub problem: Option<String>,
    /// The folder of its results.
    pub folder: Option<String>,
    /// The scenario.
    pub scenario: String,
    /// Its title.
    pub title: String,
    /// What is being measured.
    pub what: String,
    /// Seconds since it was begun.
    pub elapsed_s: u64,
    /// Seconds since it was heard of.
    pub silent_s: u64,
    /// Searches that are over.
    pub done: u64,
    /// All of them; 0: that is not known.
    pub all: u64,
    /// Seconds that are left: of its time, or as long as the others took; absent where neither is
    /// known.
    pub left_s: Option<u64>,
    /// What was found so far, 200 at most.
    pub results: Vec<LabResult>,
    /// What could not be measured, and why, 20 at most.
    pub failures: Vec<String>,
}

/// A rate that was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct LabResult {
    /// The device.
    pub device: String,
    /// What it did, with which frames.
    pub case: String,
    /// The number's name, as in `NDR, one way`.
    pub metric: String,
    /// Packets a second, the mean over starts of the device.
    pub pps: f64,
    /// Where it lies: from here.
    pub low_pps: f64,
    /// To here; absent where the device may do more.
    pub high_pps: Option<f64>,
    /// Starts of the device.
    pub runs: u64,
    /// Who kept it from being higher.
    pub limited_by: String,
}

/// Seconds as a person reads them.
fn time(seconds: u64) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, minutes, seconds) => format!("{minutes}:{seconds:02}"),
        (hours, minutes, seconds) => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

impl View for Lab {
    view!("show lab", "/v1/lab", All => Self, "The lab's campaign in the folder of `web.lab`");

    fn text(lab: &Self, style: Style) -> String {
        let told = match lab.state {
            LabState::Off => {
                return "the configuration names no folder: [web] lab = \"/var/lib/volley-lab\"\n"
                    .to_owned();
            }
            LabState::Nothing => "no campaign is in the folder",
            LabState::Unreadable => "what is there cannot be read",
            LabState::Running => "running",
            LabState::Gone => "ended without a word, its process is gone; what was measured stands",
            LabState::Over => "over",
            LabState::Stopped => "stopped",
            LabState::Failed => "failed",
        };
        let mut text = String::new();
        if !lab.scenario.is_empty() {
            text += &format!("{}  {}\n", style.bold(&lab.scenario), lab.title);
        }
        text += told;
        if let Some(folder) = &lab.folder {
            text += &format!(", {folder}");
        }
        if let Some(problem) = &lab.problem {
            text += &format!(": {problem}");
        }
        text.push('\n');
        if lab.scenario.is_empty() {
            return text;
        }
        let all = if lab.all > 0 { format!(" of {}", lab.all) } else { String::new() };
        text += &format!("{}{all} searches, {} since it began", lab.done, time(lab.elapsed_s));
        if let Some(left) = lab.left_s.filter(|_| lab.state == LabState::Running) {
            text += &format!(", about {} left", time(left));
        }
        if matches!(lab.state, LabState::Running | LabState::Gone) {
            text += &format!("; heard of {} ago: {}", time(lab.silent_s), lab.what);
        }
        text.push('\n');
        if !lab.results.is_empty() {
            text += &Self::table(lab).render(style);
        }
        lab.failures.iter().for_each(|failure| text += &format!("not measured: {failure}\n"));
        text
    }

    fn table(lab: &Self) -> Table {
        let mpps = |pps: f64| format!("{:.4}", pps / 1e6);
        let high = |it: &LabResult| it.high_pps.map_or_else(|| "?".to_owned(), mpps);
        table!(&lab.results, it => {
            "device": it.device, "case": it.case, "number": it.metric, "Mpps": mpps(it.pps),
            "from": mpps(it.low_pps), "to": high(it), "runs": it.runs, "limited by": it.limited_by,
        })
    }
}
