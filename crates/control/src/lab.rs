//! How a campaign of the lab stands, read off the file that the lab keeps beside its results.
//!
//! ```text
//!  [web] lab ─▶ folder ─┬─▶ progress.json               a folder of results
//!                       └─▶ */progress.json, the newest   a folder of such folders
//! ```
//! Whoever writes there may be somebody else: what is read is bounded, led nowhere by links, and
//! nothing of it is believed but its form. Texts lose what is no letter.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rights::Folders;
use serde::Deserialize;

use crate::control_loop::Control;
use crate::view::{All, Answer, Answered, Lab, LabResult, LabState, Shown};

/// The file's name.
const FILE: &str = "progress.json";
/// Octets of it that are read.
const MOST_OCTETS: u64 = 256 << 10;
/// Folders that are looked into.
const MOST_FOLDERS: usize = 1000;
/// Letters of a text.
const MOST_LETTERS: usize = 200;
/// What was found, and what was not.
const MOST_RESULTS: usize = 200;
const MOST_FAILURES: usize = 20;

impl Answer<Lab> for Control {
    fn answer(&mut self, _: &All) -> Answered<Lab> {
        let folder = self.transaction.config().web.lab.clone();
        Ok(Shown::Later(Box::new(move || match folder {
            Some(folder) => look(&folder, SystemTime::now()),
            None => Lab::default(),
        })))
    }
}

/// What the lab wrote.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Written {
    v: u32,
    state: String,
    scenario: String,
    title: String,
    what: String,
    began_unix_s: u64,
    updated_unix_s: u64,
    process: Process,
    done: u64,
    all: u64,
    left_s: Option<u64>,
    results: Vec<LabResult>,
    failures: Vec<String>,
}

/// Who measures: a process by its number, when that was begun, and where the number is known.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Process {
    id: u32,
    began_ticks: u64,
    known_in: String,
}

impl Process {
    /// Whether it is gone for certain: of one on another machine, or in a container, nobody here
    /// knows.
    fn is_gone(&self) -> bool {
        if self.id == 0 || known_here().is_none_or(|here| here != self.known_in) {
            return false;
        }
        match fs::read_to_string(format!("/proc/{}/stat", self.id)) {
            Ok(stat) => began_ticks(&stat) != Some(self.began_ticks),
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        }
    }
}

/// Where numbers of processes are the same as here: since this start of the machine, in this
/// namespace.
fn known_here() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), namespace.to_str()?))
}

/// When a process was begun, of its line in proc(5): behind its name, which may have any letters; a
/// process that nobody has waited for is none.
fn began_ticks(stat: &str) -> Option<u64> {
    let mut behind = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    if behind.next()? == "Z" {
        return None;
    }
    behind.nth(18)?.parse().ok()
}

/// The newest campaign in a folder.
fn look(folder: &Path, now: SystemTime) -> Lab {
    let (found, file) = match newest(folder) {
        Ok(Some(found)) => found,
        Ok(None) => return Lab { state: LabState::Nothing, ..named(folder) },
        Err(error) => return unreadable(folder, error.to_string()),
    };
    let mut text = Vec::new();
    match file.take(MOST_OCTETS + 1).read_to_end(&mut text) {
        Ok(octets) if octets as u64 > MOST_OCTETS => {
            unreadable(&found, format!("{FILE} is longer than {MOST_OCTETS} octets"))
        }
        Ok(_) => match read(&text, now) {
            Ok(lab) => Lab { folder: named(&found).folder, ..lab },
            Err(why) => unreadable(&found, why),
        },
        Err(error) => unreadable(&found, error.to_string()),
    }
}

fn named(folder: &Path) -> Lab {
    Lab { folder: Some(plain(&folder.to_string_lossy())), ..Lab::default() }
}

fn unreadable(folder: &Path, problem: String) -> Lab {
    Lab { state: LabState::Unreadable, problem: Some(problem), ..named(folder) }
}

/// The file of the folder itself, or the one that was written last of those in folders in it.
fn newest(folder: &Path) -> std::io::Result<Option<(PathBuf, File)>> {
    let within = Folders::new(vec![folder.to_owned()]);
    if let Ok(file) = within.read(&folder.join(FILE)) {
        return Ok(Some((folder.to_owned(), file)));
    }
    let mut newest: Option<(SystemTime, PathBuf, File)> = None;
    for entry in fs::read_dir(folder)?.take(MOST_FOLDERS) {
        let path = entry?.path();
        let Ok(file) = within.read(&path.join(FILE)) else { continue };
        let Ok(at) = file.metadata().and_then(|it| it.modified()) else { continue };
        if newest.as_ref().is_none_or(|(newest, ..)| at > *newest) {
            newest = Some((at, path, file));
        }
    }
    Ok(newest.map(|(_, path, file)| (path, file)))
}

/// Reads what the lab wrote; errors repeat none of it.
pub fn read(text: &[u8], now: SystemTime) -> Result<Lab, String> {
    let written: Written = serde_json::from_slice(text)
        .map_err(|error| format!("{FILE}, line {}: not as the lab writes it", error.line()))?;
    if written.v != 1 {
        return Err(format!("{FILE} is of version {}: expected 1", written.v));
    }
    let state = match &written.state[..] {
        "running" if written.process.is_gone() => LabState::Gone,
        "running" => LabState::Running,
        "over" => LabState::Over,
        "stopped" => LabState::Stopped,
        _ => LabState::Failed,
    };
    let now_s = now.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let end_s = if state == LabState::Running { now_s } else { written.updated_unix_s };
    let silent_s = now_s.saturating_sub(written.updated_unix_s);
    Ok(Lab {
        state,
        problem: None,
        folder: None,
        scenario: plain(&written.scenario),
        title: plain(&written.title),
        what: plain(&written.what),
        elapsed_s: end_s.saturating_sub(written.began_unix_s),
        silent_s,
        done: written.done,
        all: written.all,
        left_s: written.left_s.map(|left_s| left_s.saturating_sub(silent_s)),
        results: written.results.into_iter().take(MOST_RESULTS).map(cleaned).collect(),
        failures: written.failures.iter().take(MOST_FAILURES).map(|it| plain(it)).collect(),
    })
}

fn cleaned(it: LabResult) -> LabResult {
    // Rates of nothing that is known: no number of JSON is infinite.
    let rate = |pps: f64| if pps.is_finite() { pps.clamp(0.0, 1e12) } else { 0.0 };
    LabResult {
        device: plain(&it.device),
        case: plain(&it.case),
        metric: plain(&it.metric),
        pps: rate(it.pps),
        low_pps: rate(it.low_pps),
        high_pps: it.high_pps.map(rate),
        runs: it.runs,
        limited_by: plain(&it.limited_by),
    }
}

/// So much of a text as a person reads, without what moves a terminal or turns lines around.
fn plain(text: &str) -> String {
    let is_plain = |c: &char| {
        !c.is_control()
            && !matches!(*c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    text.chars().filter(is_plain).take(MOST_LETTERS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the lab's own test writes.
    const SAMPLE: &str = include_str!("../../../docs/example/progress.json");

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn what_the_lab_writes_is_read() {
        let lab = read(SAMPLE.as_bytes(), at(1_800_000_110)).unwrap();
        assert_eq!((lab.state, lab.done, lab.all), (LabState::Running, 3, 12));
        assert_eq!((lab.elapsed_s, lab.silent_s, lab.left_s), (110, 10, Some(290)));
        assert_eq!(lab.what, "Volley: ip4, frame bytes 64");
        let result = &lab.results[0];
        assert_eq!(
            (&result.device[..], result.pps, result.high_pps),
            ("Linux bridge", 6.2e5, None)
        );
        assert_eq!(lab.failures, ["ovs, l2-xconnect: it died"]);
        let text = <Lab as crate::view::View>::text(&lab, crate::view::Style::new(false));
        assert!(text.contains("3 of 12 searches, 1:50 since it began, about 4:50 left"), "{text}");
    }

    #[test]
    fn a_campaign_whose_process_is_gone_does_not_run() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
        let (began, here) = (began_ticks(&stat).unwrap(), known_here().unwrap());
        let state = |id: u32, began_ticks: u64, known_in: &str| {
            let mut told: serde_json::Value = serde_json::from_str(SAMPLE).unwrap();
            told["process"] =
                serde_json::json!({ "id": id, "began_ticks": began_ticks, "known_in": known_in });
            let lab = read(told.to_string().as_bytes(), at(1_800_000_140)).unwrap();
            let text = <Lab as crate::view::View>::text(&lab, crate::view::Style::new(false));
            let is_told =
                text.contains("its process is gone") && text.contains("heard of 0:40 ago");
            assert_eq!(is_told, lab.state == LabState::Gone, "{text}");
            lab.state
        };
        assert_eq!(state(child.id(), began, &here), LabState::Running);
        // Another one has its number.
        assert_eq!(state(child.id(), began + 1, &here), LabState::Gone);
        child.kill().unwrap();
        // Not waited for yet.
        while state(child.id(), began, &here) == LabState::Running {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert_eq!(state(child.id(), began, &here), LabState::Gone);
        // On another machine, or told by a lab that tells nothing of it.
        assert_eq!(state(child.id(), began, "elsewhere"), LabState::Running);
        assert_eq!(state(0, 0, ""), LabState::Running);
    }

    #[test]
    fn hostile_text_is_cleaned_and_bounded_and_not_repeated() {
        let long = "x".repeat(5_000);
        let results: Vec<_> = (0..5_000)
            .map(|_| serde_json::json!({ "device": "\u{1b}[31mred\u{202e}\u{0}", "pps": -1e300, "case": long }))
            .collect();
        let text = serde_json::json!({ "v": 1, "state": "<script>", "results": results, "left_s": 5,
            "updated_unix_s": u64::MAX, "began_unix_s": u64::MAX, "failures": vec!["a\nb"; 50] });
        let lab = read(text.to_string().as_bytes(), at(7)).unwrap();
        assert_eq!((lab.state, lab.results.len(), lab.failures.len()), (LabState::Failed, 200, 20));
        let result = &lab.results[0];
        assert_eq!((&result.device[..], result.pps, result.case.len()), ("[31mred", 0.0, 200));
        assert_eq!((lab.elapsed_s, &lab.failures[0][..]), (0, "ab"));
        let secret = read(b"root:$6$secret\n", at(7)).unwrap_err();
        assert_eq!(secret, "progress.json, line 1: not as the lab writes it");
        assert!(read(b"{\"v\":2}", at(7)).unwrap_err().contains("version 2: expected 1"));
    }

    #[test]
    fn the_newest_folder_is_shown_and_no_link_is_followed() {
        let base = std::env::temp_dir().join(format!("volley-lab-view-{}", std::process::id()));
        let of = |name: &str| base.join(name).join(FILE);
        for name in ["old", "new", "linked", "pipe"] {
            fs::create_dir_all(base.join(name)).unwrap();
        }
        let lab = |folder: &Path| look(folder, at(1_800_000_110));
        assert_eq!(lab(&base).state, LabState::Nothing);
        fs::write(of("old"), SAMPLE.replace("quick", "older")).unwrap();
        let old = File::options().write(true).open(of("old")).unwrap();
        old.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
        fs::write(of("new"), SAMPLE).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", of("linked")).unwrap();
        assert_eq!(
            (lab(&base).scenario, lab(&base.join("old")).scenario),
            ("quick".into(), "older".into())
        );
        assert_eq!(lab(&base.join("linked")).state, LabState::Nothing);
        fs::write(of("new"), vec![b' '; 300 << 10]).unwrap();
        let long = lab(&base.join("new"));
        assert_eq!(long.state, LabState::Unreadable);
        assert!(long.problem.unwrap().contains("longer than 262144 octets"));
        assert_eq!(lab(Path::new("/nowhere")).state, LabState::Unreadable);
        fs::remove_dir_all(base).unwrap();
    }
}
