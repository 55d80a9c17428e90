//! The raw file of a results folder: one JSON line a thing that happened, appended, never changed.
//!
//! A line cut off by a full disk or a crash loses itself alone; a line of another version is told
//! and left out.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
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
        let file = OpenOptions::new().create(true).append(true).read(true).open(&path);
        let mut file = file.map_err(Error::file(&path))?;
        // A line that was cut off must not take the next one with it.
        if is_torn(&mut file).map_err(Error::file(&path))? {
            file.write_all(b"\n").map_err(Error::file(&path))?;
        }
        Ok(Self { file, path })
    }

    /// Appends one record, in one write: a crash cannot mix two lines.
    pub fn write(&mut self, record: impl Record) -> Result<(), Error> {
        let mut text = serde_json::to_string(&record.line())
            .map_err(|error| Error::file(&self.path)(std::io::Error::other(error)))?;
        text.push('\n');
        self.file.write_all(text.as_bytes()).map_err(Error::file(&self.path))
    }
}

impl Recorder {
    /// Keeps a text beside the raw file, under this name and a number that is free. Its name.
    pub fn keep(&self, name: &str, text: &str) -> Result<String, Error> {
        for number in 1.. {
            let file = format!("{name}-{number}.log");
            let path = self.path.with_file_name(&file);
            match File::create_new(&path) {
                Ok(mut log) => {
                    log.write_all(text.as_bytes()).map_err(Error::file(&path))?;
                    return Ok(file);
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::file(&path)(error)),
            }
        }
        Ok(String::new())
    }
}

/// Whether a file ends within a line.
fn is_torn(file: &mut File) -> std::io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

impl Results {
    /// Reads the raw file of a folder that may not have one yet.
    pub fn load_or_none(folder: &Path) -> Result<Option<Self>, Error> {
        if folder.join(RAW_FILE).exists() { Self::load(folder).map(Some) } else { Ok(None) }
    }

    /// Reads the raw file of a results folder.
    pub fn load(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(RAW_FILE);
        let text = std::fs::read_to_string(&path).map_err(Error::file(&path))?;
        Ok(Self::parse(&text))
    }

    /// When the last thing happened, in seconds since the campaign began.
    pub fn elapsed_s(&self) -> f64 {
        let trials = self.trials.iter().map(|it| it.at_s + it.outcome.elapsed_s);
        let streams = self.streams.iter().map(|it| it.at_s + it.duration_s);
        let checks = self.checks.iter().map(|it| it.at_s);
        trials.chain(streams).chain(checks).fold(0.0, f64::max)
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
    fn a_line_that_was_cut_off_loses_itself_alone() {
        let folder = std::env::temp_dir().join(format!("lab-torn-{}", std::process::id()));
        let mut recorder = Recorder::open(&folder).unwrap();
        (1..=2).for_each(|index| recorder.write(trial(index)).unwrap());
        let path = folder.join(RAW_FILE);
        let text = std::fs::read_to_string(&path).unwrap();
        for cut in [text.len() - 20, text.len() - 1, text.len()] {
            std::fs::write(&path, &text[..cut]).unwrap();
            Recorder::open(&folder).unwrap().write(trial(3)).unwrap();
            let results = Results::load_or_none(&folder).unwrap().unwrap();
            let kept: Vec<u32> = results.trials.iter().map(|trial| trial.index).collect();
            let whole = cut + 1 >= text.len();
            assert_eq!(kept, if whole { vec![1, 2, 3] } else { vec![1, 3] }, "{cut}");
            assert_eq!(results.skipped.len(), usize::from(!whole));
        }
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(Results::load_or_none(&folder).unwrap(), None);
    }

    #[test]
    fn what_is_done_after_all_is_no_failure() {
        let subject = Subject { device: "ovs".into(), ..Subject::default() };
        let failure = |refused| crate::FailureRecord {
            subject: subject.clone(),
            refused,
            reason: "it died".into(),
        };
        let line = |line: crate::Line| serde_json::to_string(&line).unwrap() + "\n";
        let failed = line(failure(false).line());
        let done = line(crate::DoneRecord { subject: subject.clone() }.line());
        assert_eq!(Results::parse(&failed).failures.len(), 1);
        let after = Results::parse(&(failed.clone() + &done));
        assert!(after.failures.is_empty() && after.done == [subject.clone()]);
        assert_eq!(Results::parse(&(done + &failed)).failures.len(), 1);
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
