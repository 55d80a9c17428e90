//! The raw file of a results folder: one JSON line a thing that happened, appended, never changed.
//!
//! A line cut off by a full disk or a crash loses itself alone; a line of another version is told
//! and left out.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::line::{Record, SCHEMA, read};
use crate::{Error, Results};

/// Name of the raw file in a results folder.
pub const RAW_FILE: &str = "raw.jsonl";

/// Appends to a raw file.
#[derive(Debug)]
pub struct Recorder {
    path: PathBuf,
    file: File,
}

impl Recorder {
    /// Opens the raw file of a results folder, making both if need be.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        std::fs::create_dir_all(folder).map_err(Error::file(folder))?;
        let path = folder.join(RAW_FILE);
        let file = OpenOptions::new().create(true).append(true).open(&path);
        Ok(Self { file: file.map_err(Error::file(&path))?, path })
    }

    /// Appends one record, in one write: a crash cannot mix two lines.
    pub fn write(&mut self, record: impl Record) -> Result<(), Error> {
        let mut text = serde_json::to_string(&record.line())
            .map_err(|error| Error::file(&self.path)(std::io::Error::other(error)))?;
        text.push('\n');
        self.file.write_all(text.as_bytes()).map_err(Error::file(&self.path))
    }
}

impl Results {
    /// Reads the raw file of a results folder.
    pub fn load(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(RAW_FILE);
        let text = std::fs::read_to_string(&path).map_err(Error::file(&path))?;
        Ok(Self::parse(&text))
    }

    /// Reads the text of a raw file.
    pub fn parse(text: &str) -> Self {
        #[derive(Deserialize)]
        struct Version {
            v: u32,
        }
        let mut results = Self::default();
        for (index, text) in text.lines().enumerate() {
            let number = index + 1;
            let line = match serde_json::from_str::<Version>(text) {
                Ok(Version { v }) if v != SCHEMA => {
                    Err(format!("line {number} is of version {v}, not {SCHEMA}"))
                }
                _ => read(text).map_err(|error| format!("line {number} cannot be read: {error}")),
            };
            match line {
                Err(reason) => results.skipped.push(reason),
                Ok(line) => line.into_iter().for_each(|line| line.keep(&mut results)),
            }
        }
        results
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Campaign, Histogram, Outcome, Results, Subject, Trial, TrialRecord, Verdict};

    fn trial(index: u32) -> TrialRecord {
        let mut latency = Histogram::default();
        latency.record(4_321);
        let subject = Subject { device: "sim".into(), ..Subject::default() };
        let outcome = Outcome::of(Trial::new(1e6 / 3.0, 1.0), 300_000);
        let at_s = 0.1 + f64::from(index);
        let bare = TrialRecord::new(subject, index, "mlr", at_s, outcome);
        TrialRecord { latency: Some(latency), verdicts: vec![Verdict::StillWarmingUp], ..bare }
    }

    #[test]
    fn what_is_appended_is_read_back_to_the_bit() {
        let folder = std::env::temp_dir().join(format!("lab-record-{}", std::process::id()));
        let campaign = Campaign { seed: 7, ..Campaign::default() };
        Recorder::open(&folder).unwrap().write(campaign.clone()).unwrap();
        let mut again = Recorder::open(&folder).unwrap();
        again.write(trial(1)).unwrap();
        again.write(trial(2)).unwrap();
        let results = Results::load(&folder).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(results.campaigns, [campaign]);
        assert_eq!(results.trials, [trial(1), trial(2)]);
        assert!(results.skipped.is_empty());
    }

    #[test]
    fn a_cut_off_line_and_one_of_another_version_are_told_and_left_out() {
        let good = serde_json::to_string(&trial(1).line()).unwrap();
        let text = format!("{good}\n{{\"v\":2,\"trial\":{{}}}}\n{good}\n{}", &good[..100]);
        let results = Results::parse(&text);
        assert_eq!(results.trials.len(), 2);
        assert_eq!(results.skipped[0], "line 2 is of version 2, not 1");
        assert!(results.skipped[1].starts_with("line 4 cannot be read"));
    }
}
