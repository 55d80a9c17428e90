//! A history in a folder: plain files that are added and never changed.
//!
//! ```text
//! STORE/entries/ID/entry.json     what was measured, and its numbers
//! STORE/entries/ID/raw.jsonl      the campaign, to the byte
//! STORE/baselines.jsonl           a line a choice; the last of a host and scenario holds
//! ```
//! An entry is made beside its place and put there as a whole: who reads meanwhile sees it or not.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use lab_record::{RAW_FILE, Results};
use serde::{Deserialize, Serialize};

use super::entry::{Commit, Entry};
use crate::Error;

/// The file beside the raw one.
const ENTRY_FILE: &str = "entry.json";
const BASELINES_FILE: &str = "baselines.jsonl";

/// A history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    folder: PathBuf,
}

/// What came of adding a campaign.
#[derive(Debug, Clone, PartialEq)]
pub enum Added {
    /// It is there now.
    New(Box<Entry>),
    /// It was there already.
    Known(Box<Entry>),
}

/// A choice of a baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Choice {
    v: u32,
    host: String,
    scenario: String,
    entry: String,
}

impl Store {
    /// That of a folder, which need not be there yet.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn entry_folder(&self, id: &str) -> PathBuf {
        self.folder.join("entries").join(id)
    }

    /// Keeps the campaign of a results folder.
    pub fn add(&self, results_folder: &Path, commit: Option<Commit>) -> Result<Added, Error> {
        let raw = results_folder.join(RAW_FILE);
        let text = fs::read_to_string(&raw).map_err(Error::file(&raw))?;
        let results = Results::parse(&text);
        let reason = match (&results.campaigns[..], &results.skipped[..]) {
            // What cannot be read now nobody will read later.
            (_, [first, ..]) => Some(first.clone()),
            ([], _) => Some("it holds no campaign".to_owned()),
            ([_, _, ..], _) => Some("it holds several campaigns".to_owned()),
            ([_], []) => None,
        };
        if let Some(reason) = reason {
            return Err(Error::file(&raw)(std::io::Error::other(reason)));
        }
        let entry = Box::new(Entry::of(&text, &results, commit));
        let place = self.entry_folder(&entry.id);
        if place.exists() {
            return Ok(Added::Known(entry));
        }
        let beside = self.entry_folder(&format!(".{}-{}", entry.id, std::process::id()));
        fs::create_dir_all(&beside).map_err(Error::file(&beside))?;
        let made = self.fill(&beside, &text, &entry).and_then(|()| {
            // Another who adds the same has put it there meanwhile: then that is it.
            fs::rename(&beside, &place).or_else(|error| match place.exists() {
                true => Ok(()),
                false => Err(Error::file(&place)(error)),
            })
        });
        let _: Result<(), _> = fs::remove_dir_all(&beside);
        made.map(|()| Added::New(entry))
    }

    fn fill(&self, folder: &Path, text: &str, entry: &Entry) -> Result<(), Error> {
        let json = serde_json::to_string_pretty(entry).map_err(std::io::Error::other);
        let json = json.map_err(Error::file(folder))? + "\n";
        for (name, text) in [(RAW_FILE, text), (ENTRY_FILE, &json)] {
            let path = folder.join(name);
            fs::write(&path, text).map_err(Error::file(&path))?;
        }
        Ok(())
    }

    /// All entries, in order of their commits.
    pub fn entries(&self) -> Result<Vec<Entry>, Error> {
        let folder = self.folder.join("entries");
        let mut entries = Vec::new();
        let listed = match fs::read_dir(&folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(entries),
            listed => listed.map_err(Error::file(&folder))?,
        };
        for item in listed {
            let item = item.map_err(Error::file(&folder))?;
            // What begins with a dot is being made, or was when somebody was killed.
            if item.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            let path = item.path().join(ENTRY_FILE);
            let text = fs::read_to_string(&path).map_err(Error::file(&path))?;
            let entry = serde_json::from_str::<Entry>(&text);
            entries.push(entry.map_err(|error| Error::Record {
                path: path.clone(),
                line: error.line(),
                reason: error.to_string(),
            })?);
        }
        entries.sort_by(|a, b| a.order().cmp(&b.order()));
        Ok(entries)
    }

    /// The entry that a name begins: of its folder, or of its commit. The last of a commit's.
    pub fn find(&self, name: &str) -> Result<Entry, Error> {
        let all = self.entries()?;
        let of_commit = |it: &&Entry| it.commit.as_ref().is_some_and(|c| c.hash.starts_with(name));
        let named = |it: &&Entry| it.id.starts_with(name);
        let found = all.iter().rfind(of_commit).or_else(|| {
            let mut all = all.iter().filter(named);
            all.next().filter(|_| all.next().is_none())
        });
        found.filter(|_| !name.is_empty()).cloned().ok_or_else(|| Error::Text {
            what: "entry",
            text: name.to_owned(),
            allowed: format!(
                "{} holds {} entries, and not just one that begins so; history list tells them",
                self.folder.display(),
                all.len()
            )
            .into(),
        })
    }

    /// Where an entry's raw file is, to be read as any results folder.
    pub fn results_folder(&self, entry: &Entry) -> PathBuf {
        self.entry_folder(&entry.id)
    }

    /// Makes an entry the baseline of its host and scenario.
    pub fn set_baseline(&self, entry: &Entry) -> Result<(), Error> {
        let path = self.folder.join(BASELINES_FILE);
        let choice = Choice {
            v: 1,
            host: entry.fingerprint(),
            scenario: entry.scenario.clone(),
            entry: entry.id.clone(),
        };
        let line = serde_json::to_string(&choice).map_err(std::io::Error::other);
        let line = line.map_err(Error::file(&path))? + "\n";
        let mut file = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(Error::file(&path))?;
        file.write_all(line.as_bytes()).map_err(Error::file(&path))
    }

    /// The baselines: the last choice of each host and scenario.
    pub fn baselines(&self) -> Result<Vec<Entry>, Error> {
        let path = self.folder.join(BASELINES_FILE);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            text => text.map_err(Error::file(&path))?,
        };
        let mut last: Vec<Choice> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let choice = serde_json::from_str::<Choice>(line).map_err(|error| Error::Record {
                path: path.clone(),
                line: index + 1,
                reason: error.to_string(),
            })?;
            last.retain(|it| (&it.host, &it.scenario) != (&choice.host, &choice.scenario));
            last.push(choice);
        }
        let mut entries = self.entries()?;
        entries.retain(|it| last.iter().any(|choice| choice.entry == it.id));
        Ok(entries)
    }

    /// The baseline of a scenario on such a host; where there is none, an error says which hosts
    /// have one, and in what they are unlike. With `any_host` that of another will do.
    pub fn baseline(
        &self,
        scenario: &str,
        host: &std::collections::BTreeMap<String, String>,
        any_host: bool,
    ) -> Result<Entry, Error> {
        let mut of_scenario = self.baselines()?;
        of_scenario.retain(|it| it.scenario == scenario);
        let unlike = |it: &Entry| lab_record::host::unlike(&it.host, host);
        if let Some(like) = of_scenario.iter().find(|it| unlike(it).is_none()) {
            return Ok(like.clone());
        }
        if any_host && let Some(last) = of_scenario.pop() {
            return Ok(last);
        }
        let told: Vec<String> = of_scenario
            .iter()
            .filter_map(|it| Some(format!("{}: {}", it.id, unlike(it)?)))
            .collect();
        let allowed = match told.is_empty() {
            true => {
                "there is none; `volley-lab history baseline ENTRY` makes an entry one".to_owned()
            }
            false => format!("that there is was measured on an unlike host ({})", told.join(" | ")),
        };
        Err(Error::Text {
            what: "baseline of scenario",
            text: scenario.to_owned(),
            allowed: format!("in {}: {allowed}", self.folder.display()).into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{AnswerRecord, Campaign, Recorder, Subject};
    use std::collections::BTreeMap;

    fn host(processor: &str) -> BTreeMap<String, String> {
        [("processor".to_owned(), processor.to_owned())].into()
    }

    /// A results folder of one number.
    fn campaign(folder: &Path, processor: &str, low_pps: f64) -> PathBuf {
        let out = folder.join(format!("out-{processor}-{low_pps}"));
        let mut recorder = Recorder::open(&out).unwrap();
        let campaign = Campaign {
            scenario: "ip4".into(),
            started: "2026-11-26T06:00:00Z".into(),
            host: host(processor),
            ..Campaign::default()
        };
        recorder.write(campaign).unwrap();
        let subject = Subject { device: "volley".into(), ..Subject::default() };
        let (metric, high_pps) = ("NDR".into(), low_pps);
        let answer = AnswerRecord { subject, metric, low_pps, high_pps, ..AnswerRecord::default() };
        recorder.write(answer).unwrap();
        out
    }

    fn commit(hash: &str, made: &str) -> Option<Commit> {
        Some(Commit { hash: hash.into(), made: made.into(), ..Commit::default() })
    }

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("lab-store-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn what_is_added_is_kept_to_the_byte_once_and_in_order_of_the_commits() {
        let folder = scratch("order");
        let store = Store::new(&folder.join("history"));
        assert_eq!(store.entries().unwrap(), []);
        let (one, two) = (campaign(&folder, "A", 1e6), campaign(&folder, "A", 2e6));
        let late = store.add(&one, commit("bbbb", "2026-11-02T00:00:00Z")).unwrap();
        assert!(matches!(late, Added::New(_)));
        let again = store.add(&one, commit("bbbb", "2026-11-02T00:00:00Z")).unwrap();
        assert!(matches!(again, Added::Known(_)));
        store.add(&two, commit("aaaa", "2026-11-01T00:00:00Z")).unwrap();
        let entries = store.entries().unwrap();
        let order: Vec<String> = entries.iter().map(Entry::label).collect();
        assert_eq!(order, ["aaaa", "bbbb"]);
        let kept = fs::read(store.results_folder(&entries[1]).join(RAW_FILE)).unwrap();
        assert_eq!(kept, fs::read(one.join(RAW_FILE)).unwrap());
        assert_eq!(entries[1].numbers[0].value, 1e6);
        assert_eq!(store.find("aaa").unwrap(), entries[0]);
        assert_eq!(store.find(&entries[1].id).unwrap(), entries[1]);
        for name in ["", "cccc", "2026"] {
            assert!(
                store.find(name).unwrap_err().to_string().contains("holds 2 entries"),
                "{name}"
            );
        }
        // One that was being added when somebody was killed is none.
        fs::create_dir_all(folder.join("history/entries/.half-1")).unwrap();
        assert_eq!(store.entries().unwrap().len(), 2);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_last_choice_is_the_baseline_and_that_of_an_unlike_host_is_refused() {
        let folder = scratch("baseline");
        let store = Store::new(&folder.join("history"));
        let told = store.baseline("ip4", &host("A"), false).unwrap_err().to_string();
        assert!(told.contains("there is none; `volley-lab history baseline ENTRY`"), "{told}");
        for pps in [1e6, 2e6] {
            let Added::New(entry) = store.add(&campaign(&folder, "A", pps), None).unwrap() else {
                panic!("it is new")
            };
            store.set_baseline(&entry).unwrap();
        }
        assert_eq!(store.baseline("ip4", &host("A"), false).unwrap().numbers[0].value, 2e6);
        assert_eq!(store.baselines().unwrap().len(), 1);
        let told = store.baseline("ip4", &host("B"), false).unwrap_err().to_string();
        assert!(
            told.contains("unlike host") && told.contains("processor: A there, B here"),
            "{told}"
        );
        assert!(store.baseline("ip4", &host("B"), true).is_ok());
        assert!(store.baseline("ip6", &host("A"), true).is_err());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_no_campaign_is_not_kept() {
        let folder = scratch("none");
        let store = Store::new(&folder.join("history"));
        fs::create_dir_all(&folder).unwrap();
        assert!(store.add(&folder, None).unwrap_err().to_string().contains("raw.jsonl"));
        fs::write(folder.join(RAW_FILE), "").unwrap();
        let told = store.add(&folder, None).unwrap_err().to_string();
        assert!(told.contains("it holds no campaign"), "{told}");
        let torn = campaign(&folder, "A", 1e6).join(RAW_FILE);
        let text = fs::read_to_string(&torn).unwrap();
        fs::write(&torn, &text[..text.len() - 9]).unwrap();
        let told = store.add(torn.parent().unwrap(), None).unwrap_err().to_string();
        assert!(told.contains("cannot be read"), "{told}");
        assert_eq!(store.entries().unwrap(), []);
        fs::remove_dir_all(&folder).unwrap();
    }
}
