//! What a study's folder holds: which study, how far it is, and the results of each run.
//!
//! ```text
//! OUT/study.toml          the study, as it was when it began
//! OUT/state.json          cut or whole, which devices, how each run ended
//! OUT/runs/ID/            scenario.toml, raw.jsonl and the run's own report
//! OUT/report.html         a function of all that, as is OUT/cells.csv
//! ```

use std::path::{Path, PathBuf};

use lab_record::Results;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::scenario::Planned;
use crate::study::{Run, Study};

/// The study's own text.
const STUDY_FILE: &str = "study.toml";
/// How far it is.
const STATE_FILE: &str = "state.json";

/// How a study is carried out, and how far it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Whether points and repeats are cut.
    pub quick: bool,
    /// The devices, as they were named.
    pub devices: Vec<String>,
    /// The lab's version.
    pub lab: String,
    /// How each run that was begun ended.
    #[serde(default)]
    pub ended: Vec<Ended>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// The run.
    pub run: String,
    /// In words; none where all that could be measured was.
    pub failure: Option<String>,
    /// How long it took, all times together.
    pub seconds: f64,
}

/// A folder.
#[derive(Debug, Clone)]
pub struct Folder(PathBuf);

/// A run with what came of it.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Its name.
    pub id: String,
    /// Its scenario.
    pub planned: Planned,
    /// The devices that it is to measure, as they were named.
    pub devices: Vec<String>,
    /// What it wrote down; none where it has not begun.
    pub results: Option<Results>,
    /// How it ended; none where it has not.
    pub ended: Option<Ended>,
}

impl Folder {
    /// This folder, which may not be there yet.
    pub fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The folder of a run.
    pub fn run(&self, id: &str) -> PathBuf {
        self.0.join("runs").join(id)
    }

    /// Begins a study here, or goes on with it; an error where the folder holds another one, or
    /// one that is carried out otherwise.
    pub fn begin(&self, text: &str, asked: &State) -> Result<State, Error> {
        std::fs::create_dir_all(&self.0).map_err(Error::file(&self.0))?;
        let Some(state) = self.state()? else {
            let path = self.file(STUDY_FILE);
            std::fs::write(&path, text).map_err(Error::file(&path))?;
            self.keep(asked)?;
            return Ok(asked.clone());
        };
        let refuse = |reason| Err(Error::Folder { path: self.0.clone(), reason });
        match &state {
            _ if self.text()? != text => refuse("it holds another study, or one of another day"),
            it if it.quick && !asked.quick => refuse("it holds a study that was cut by --quick"),
            it if !it.quick && asked.quick => refuse("it holds a study that was not cut"),
            it if it.devices != asked.devices => refuse("it holds a study of other devices"),
            _ => Ok(state),
        }
    }

    /// How far the study here is; none where there is none.
    pub fn state(&self) -> Result<Option<State>, Error> {
        let path = self.file(STATE_FILE);
        if !path.exists() {
            return Ok(None);
        }
        let text = std::fs::read_to_string(&path).map_err(Error::file(&path))?;
        let broken = |error| Error::file(&path)(std::io::Error::other(error));
        serde_json::from_str(&text).map(Some).map_err(broken)
    }

    /// The text of the study here.
    pub fn text(&self) -> Result<String, Error> {
        let path = self.file(STUDY_FILE);
        std::fs::read_to_string(&path).map_err(Error::file(&path))
    }

    /// Writes down how far it is: whole, or not at all.
    pub fn keep(&self, state: &State) -> Result<(), Error> {
        let (path, beside) = (self.file(STATE_FILE), self.file("state.json.new"));
        let text = serde_json::to_string_pretty(state)
            .map_err(|error| Error::file(&path)(std::io::Error::other(error)))?;
        std::fs::write(&beside, text + "\n").map_err(Error::file(&beside))?;
        std::fs::rename(&beside, &path).map_err(Error::file(&path))
    }

    /// Writes the scenario of a run. Where it stands.
    pub fn write_scenario(&self, id: &str, planned: &Planned) -> Result<PathBuf, Error> {
        let folder = self.run(id);
        std::fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
        let path = folder.join("scenario.toml");
        std::fs::write(&path, planned.text()).map_err(Error::file(&path))?;
        Ok(path)
    }

    /// Every run of a study with what came of it.
    pub fn measured(&self, study: &Study, state: &State) -> Result<Vec<Measured>, Error> {
        let one = |run: &Run| {
            Ok(Measured {
                id: run.id.clone(),
                planned: Planned::of(study, run, state.quick)?,
                devices: devices_of(run, &state.devices),
                results: Results::load_or_none(&self.run(&run.id))?,
                ended: state.ended.iter().rev().find(|ended| ended.run == run.id).cloned(),
            })
        };
        study.runs.iter().map(one).collect()
    }
}

impl State {
    /// Whether all of a run that could be measured was.
    pub fn is_over(&self, run: &str) -> bool {
        self.ended.iter().any(|it| it.run == run && it.failure.is_none())
    }

    /// Notes how a run ended, in place of how it ended before.
    pub fn note(&mut self, ended: Ended) {
        self.ended.retain(|it| it.run != ended.run);
        self.ended.push(ended);
    }
}

/// The plain name of a device, without the folder that its programs are in.
pub fn plain(device: &str) -> &str {
    device.split_once('=').map_or(device, |(name, _)| name)
}

/// The devices that a run measures: those of the study, and its own.
pub fn devices_of(run: &Run, devices: &[String]) -> Vec<String> {
    if !run.instead.is_empty() {
        return devices.iter().filter_map(|it| run.instead.get(plain(it)).cloned()).collect();
    }
    let missing = |name: &&String| devices.iter().all(|device| plain(device) != **name);
    devices.iter().chain(run.also.iter().filter(missing)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_on_with_its_own_study_alone() {
        let path = std::env::temp_dir().join(format!("lab-study-{}", std::process::id()));
        let folder = Folder::new(&path);
        let devices = vec!["volley".to_owned()];
        let asked = State { quick: true, devices, ..State::default() };
        let mut state = folder.begin("a = 1", &asked).unwrap();
        state.note(Ended { run: "r".into(), failure: Some("late".into()), seconds: 1.0 });
        state.note(Ended { run: "r".into(), failure: None, seconds: 2.0 });
        folder.keep(&state).unwrap();
        assert_eq!(folder.begin("a = 1", &asked).unwrap().ended.len(), 1);
        let told = |text: &str, asked: &State| folder.begin(text, asked).unwrap_err().to_string();
        assert!(told("a = 2", &asked).contains("another study"));
        assert!(told("a = 1", &State { quick: false, ..asked.clone() }).contains("cut by --quick"));
        let other = State { devices: vec!["vpp".into()], ..asked.clone() };
        assert!(told("a = 1", &other).contains("other devices"));
        std::fs::remove_dir_all(&path).unwrap();
    }

    #[test]
    fn a_run_has_devices_of_its_own_beside_those_of_the_study() {
        let text = "id = 'r'\ntitle = 't'\nscenario = 's'\nalso = ['vpp', 'linux-router']";
        let run: Run = toml::from_str(text).unwrap();
        let all = ["volley", "vpp=/opt/vpp"].map(str::to_owned);
        assert_eq!(devices_of(&run, &all), ["volley", "vpp=/opt/vpp", "linux-router"]);
        let text = "id = 'r'\ntitle = 't'\nscenario = 's'\ninstead = { vpp = 'other' }";
        let run: Run = toml::from_str(text).unwrap();
        assert_eq!(devices_of(&run, &all), ["other"]);
        assert_eq!(devices_of(&run, &all[..1]), [""; 0]);
    }
}
