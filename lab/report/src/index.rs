//! The results of one folder or many as an SQLite file: to be asked what a page does not say.
//!
//! ```text
//! raw.jsonl … ─▶ Results … ─▶ index.sqlite     folder 1 ─▶ n campaign, device, trial, answer, summary, quantity,
//!                                                            comparison, function_check, failure
//! ```
//! A function of the raw files like every report: it is made anew and put in the old one's place as
//! a whole, so a reader of the old one is not disturbed. Rates are packets a second, latencies ns;
//! lists and axes are JSON.

use std::path::Path;

use lab_record::{AnswerRecord, Campaign, FailureRecord, Results, Subject, TrialRecord};
use rusqlite::{Connection, ToSql, Transaction, params};

use super::{checks, quantities, summary};
use crate::Error;

/// Name of the index in a results folder.
pub const INDEX_FILE: &str = "index.sqlite";

const TABLES: &str = "\
CREATE TABLE folder (id INTEGER PRIMARY KEY, path TEXT NOT NULL);
CREATE TABLE campaign (folder INTEGER NOT NULL REFERENCES folder, scenario TEXT, title TEXT, started TEXT, seed TEXT,
  host TEXT);
CREATE TABLE device (folder INTEGER NOT NULL REFERENCES folder, name TEXT, version TEXT, commands TEXT);
CREATE TABLE trial (folder INTEGER NOT NULL REFERENCES folder, device TEXT, function TEXT, case_name TEXT, axes TEXT,
  run INTEGER, number INTEGER, purpose TEXT, at_s REAL, load_pps REAL, duration_s REAL, elapsed_s REAL,
  intended INTEGER, offered INTEGER, received INTEGER, loss_ratio REAL, p50_ns REAL, p99_ns REAL, max_ns REAL,
  duplicates INTEGER, reordered INTEGER, longest_loss_run INTEGER, jitter_ns REAL, stalls INTEGER, spikes INTEGER,
  verdicts TEXT);
CREATE TABLE answer (folder INTEGER NOT NULL REFERENCES folder, device TEXT, function TEXT, case_name TEXT, axes TEXT,
  run INTEGER, metric TEXT, low_pps REAL, high_pps REAL, verdicts TEXT);
CREATE TABLE summary (folder INTEGER NOT NULL REFERENCES folder, device TEXT, function TEXT, case_name TEXT, axes TEXT,
  metric TEXT, runs INTEGER, pps REAL, low_pps REAL, high_pps REAL, sd_pps REAL);
CREATE TABLE quantity (folder INTEGER NOT NULL REFERENCES folder, device TEXT, function TEXT, case_name TEXT, axes TEXT,
  metric TEXT, unit TEXT, runs INTEGER, trials INTEGER, median REAL, low REAL, high REAL, sd REAL);
CREATE TABLE comparison (folder INTEGER NOT NULL REFERENCES folder, base TEXT, other TEXT, case_name TEXT,
  blocks INTEGER, ratio REAL, low_ratio REAL, high_ratio REAL, p REAL, smallest_believable REAL, finding TEXT);
CREATE TABLE failure (folder INTEGER NOT NULL REFERENCES folder, device TEXT, function TEXT, case_name TEXT, axes TEXT,
  run INTEGER, refused INTEGER, reason TEXT);
CREATE TABLE function_check (folder INTEGER NOT NULL REFERENCES folder, device TEXT, function TEXT, case_name TEXT,
  axes TEXT, run INTEGER, passed INTEGER, sent INTEGER, came INTEGER, kept_out_sent INTEGER, kept_out_came INTEGER,
  fault TEXT);
CREATE INDEX trial_by_subject ON trial (device, function, folder);
CREATE INDEX summary_by_subject ON summary (device, function, metric);
";

/// Writes the index of these folders.
pub fn write(file: &Path, folders: &[(&Path, &Results)]) -> Result<(), Error> {
    let refused = |error: rusqlite::Error| Error::file(file)(std::io::Error::other(error));
    let unfinished = file.with_extension(format!("sqlite-{}", std::process::id()));
    // One left over from a run that was killed.
    let _: Result<(), _> = std::fs::remove_file(&unfinished);
    let filled = fill(&unfinished, folders).map_err(refused);
    let placed =
        filled.and_then(|()| std::fs::rename(&unfinished, file).map_err(Error::file(file)));
    if placed.is_err() {
        let _: Result<(), _> = std::fs::remove_file(&unfinished);
    }
    placed
}

fn fill(file: &Path, folders: &[(&Path, &Results)]) -> rusqlite::Result<()> {
    let mut connection = Connection::open(file)?;
    // Nobody else sees the file before it is whole.
    connection.pragma_update(None, "journal_mode", "OFF")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(TABLES)?;
    for (folder, (path, results)) in (1..).zip(folders) {
        let path = path.to_string_lossy();
        transaction.execute("INSERT INTO folder VALUES (?, ?)", params![folder, path])?;
        Filling { transaction: &transaction, folder }.all(results)?;
    }
    transaction.commit()
}

/// One folder's rows on their way into the tables.
struct Filling<'a> {
    transaction: &'a Transaction<'a>,
    folder: i64,
}

impl Filling<'_> {
    fn all(&self, results: &Results) -> rusqlite::Result<()> {
        results.campaigns.iter().try_for_each(|campaign| self.campaign(campaign))?;
        results.trials.iter().try_for_each(|trial| self.trial(trial))?;
        for answer in &results.answers {
            let AnswerRecord { subject, metric, low_pps, high_pps, verdicts } = answer;
            let verdicts = json(verdicts);
            self.of_subject(
                "answer",
                subject,
                params![subject.run, metric, low_pps, high_pps, verdicts],
            )?;
        }
        for row in summary::rows(results) {
            let (runs, interval) = (count(row.runs as u64), &row.interval);
            let rates =
                params![row.metric, runs, row.value_pps, interval.low, interval.high, row.sd_pps];
            self.of_subject("summary", &row.subject, rates)?;
        }
        for row in quantities::rows(results) {
            let (runs, trials) = (count(row.runs as u64), count(row.values.len() as u64));
            let (unit, interval) = (row.unit.name(), &row.interval);
            let found = params![
                row.metric,
                unit,
                runs,
                trials,
                row.median,
                interval.low,
                interval.high,
                row.sd
            ];
            self.of_subject("quantity", &row.subject, found)?;
        }
        for row in &results.comparisons {
            let found = &row.comparison;
            let finding = json(&found.finding);
            self.insert(
                "comparison",
                params![
                    row.base,
                    row.other,
                    row.case,
                    count(found.blocks as u64),
                    found.ratio,
                    found.ratio_95.low,
                    found.ratio_95.high,
                    found.p,
                    found.smallest_believable,
                    finding.trim_matches('"'),
                ],
            )?;
        }
        for check in &results.checks {
            let [sent, came, kept_out, slipped] = check.counts().map(count);
            let fault = check.fault.as_ref().map(checks::told);
            self.of_subject(
                "function_check",
                &check.subject,
                params![check.subject.run, check.passed(), sent, came, kept_out, slipped, fault],
            )?;
        }
        for FailureRecord { subject, refused, reason } in &results.failures {
            self.of_subject("failure", subject, params![subject.run, refused, reason])?;
        }
        Ok(())
    }

    fn campaign(&self, campaign: &Campaign) -> rusqlite::Result<()> {
        let Campaign { scenario, title, started, seed, host, devices } = campaign;
        let seed = seed.to_string();
        self.insert("campaign", params![scenario, title, started, seed, json(host)])?;
        devices.iter().try_for_each(|device| {
            let commands = json(&device.commands);
            self.insert("device", params![device.name, device.version, commands])
        })
    }

    fn trial(&self, trial: &TrialRecord) -> rusqlite::Result<()> {
        let outcome = &trial.outcome;
        let percentile =
            |percent| trial.latency.as_ref().map(|all| all.percentile_ns(percent) as f64);
        let told = outcome.latency.as_ref();
        let sequence = trial.sequence.as_ref();
        self.of_subject(
            "trial",
            &trial.subject,
            params![
                trial.subject.run,
                trial.index,
                trial.purpose,
                trial.at_s,
                outcome.trial.load_pps,
                outcome.trial.duration_s,
                outcome.elapsed_s,
                count(outcome.intended),
                count(outcome.offered),
                count(outcome.received),
                outcome.loss_ratio(),
                percentile(50.0).or(told.map(|latency| latency.p50_ns)),
                percentile(99.0).or(told.map(|latency| latency.p99_ns)),
                percentile(100.0).or(told.map(|latency| latency.max_ns)),
                sequence.map(|counts| count(counts.duplicates)),
                sequence.map(|counts| count(counts.reordered)),
                sequence.map(|counts| count(counts.longest_loss_run)),
                trial.jitter_ns,
                count(trial.stalls.iter().filter(|it| !it.is_of_the_device()).count() as u64),
                count(trial.spikes.len() as u64),
                json(&trial.verdicts),
            ],
        )
    }

    /// A row about a subject: these columns follow its own.
    fn of_subject(
        &self,
        table: &str,
        subject: &Subject,
        values: &[&dyn ToSql],
    ) -> rusqlite::Result<()> {
        let Subject { device, function, axes, .. } = subject;
        let own = params![device, function, subject.case(), json(axes)];
        self.insert(table, &[own, values].concat())
    }

    /// A row of this folder.
    fn insert(&self, table: &str, values: &[&dyn ToSql]) -> rusqlite::Result<()> {
        let places = ",?".repeat(values.len());
        let mut insert =
            self.transaction.prepare_cached(&format!("INSERT INTO {table} VALUES (?{places})"))?;
        insert.execute(&[params![self.folder], values].concat()[..]).map(|_| ())
    }
}

/// SQLite's integers end at 2^63.
fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{DeviceFacts, Histogram, Outcome, QuantityRecord, Trial, Unit};

    fn results(device: &str) -> Results {
        let axes = [("frame_bytes".to_owned(), "64".to_owned())].into();
        let subject = Subject { device: device.into(), function: "ip4".into(), axes, run: 1 };
        let mut latency = Histogram::default();
        latency.record_many(1000, 3);
        let outcome = Outcome::of(Trial::new(1e6, 1.0), 990_000);
        let bare = TrialRecord::new(subject.clone(), 0, "mlr", 0.5, outcome);
        let trial = TrialRecord { latency: Some(latency), ..bare };
        let answer = |low_pps| AnswerRecord {
            subject: subject.clone(),
            metric: "NDR".into(),
            low_pps,
            high_pps: low_pps,
            verdicts: Vec::new(),
        };
        let devices = vec![DeviceFacts { name: device.into(), ..DeviceFacts::default() }];
        Results {
            campaigns: vec![Campaign { devices, seed: u64::MAX, ..Campaign::default() }],
            trials: vec![trial],
            answers: vec![answer(1e6), answer(2e6)],
            quantities: vec![QuantityRecord {
                subject: subject.clone(),
                metric: "reset".into(),
                unit: Unit::Seconds,
                values: vec![0.25, 0.5, 0.75],
                note: None,
            }],
            failures: vec![FailureRecord { subject, refused: true, reason: "no memif".into() }],
            ..Results::default()
        }
    }

    fn ask<V: rusqlite::types::FromSql>(file: &Path, question: &str) -> V {
        Connection::open(file).unwrap().query_row(question, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn what_was_measured_can_be_asked_for_over_folders_and_again() {
        let file = std::env::temp_dir().join(format!("lab-index-{}.sqlite", std::process::id()));
        let (one, two) = (results("ours"), results("theirs"));
        let folders = [(Path::new("first"), &one), (Path::new("second"), &two)];
        // The second time it takes the place of the first.
        for _ in 0..2 {
            write(&file, &folders).unwrap();
            assert_eq!(ask::<i64>(&file, "SELECT count(*) FROM trial"), 2);
        }
        let best = "SELECT path FROM summary JOIN folder ON folder = id WHERE device = 'theirs' AND metric = 'NDR'";
        assert_eq!(ask::<String>(&file, best), "second");
        assert_eq!(ask::<f64>(&file, "SELECT loss_ratio FROM trial WHERE device = 'ours'"), 0.01);
        assert_eq!(ask::<f64>(&file, "SELECT pps FROM summary WHERE device = 'ours'"), 1.5e6);
        let p99_ns = ask::<f64>(&file, "SELECT max(p99_ns) FROM trial");
        assert!((990.0..1010.0).contains(&p99_ns), "{p99_ns}");
        let size = "SELECT axes ->> '$.frame_bytes' FROM answer LIMIT 1";
        assert_eq!(ask::<String>(&file, size), "64");
        let reset = "SELECT median FROM quantity WHERE unit = 'seconds' AND device = 'theirs'";
        assert_eq!(ask::<f64>(&file, reset), 0.5);
        assert_eq!(ask::<String>(&file, "SELECT reason FROM failure WHERE refused"), "no memif");
        assert_eq!(ask::<String>(&file, "SELECT seed FROM campaign LIMIT 1"), u64::MAX.to_string());
        std::fs::remove_file(&file).unwrap();
    }

    #[test]
    fn a_place_that_cannot_be_written_is_told() {
        let told = write(Path::new("/proc/nowhere/index.sqlite"), &[]).unwrap_err().to_string();
        assert!(told.contains("/proc/nowhere/index.sqlite"), "{told}");
    }
}
