//! The results of one folder or many as an SQLite file: to be asked what a page does not say.
//!
//! ```text
//! raw.jsonl … ─▶ Results … ─▶ index.sqlite     folder 1 ─▶ n campaign, method, device, trial, answer, summary, quantity,
//!                                                            comparison, function_check, memory, failure
//! ```
//! A function of the raw files like every report: it is made anew and put in the old one's place as
//! a whole, so a reader of the old one is not disturbed. Rates are packets a second, latencies ns;
//! lists and axes are JSON.

mod answer;
mod campaign;
mod check;
mod comparison;
mod device;
mod failure;
mod filling;
mod memory;
mod method;
mod quantity;
mod summary;
mod trial;

use std::path::Path;

use filling::{Filling, Table};
use lab_record::Results;
use rusqlite::{Connection, params};

use crate::Error;

/// Name of the index in a results folder.
pub const INDEX_FILE: &str = "index.sqlite";

/// The tables, one file each.
static TABLES: &[Table] = &[
    campaign::TABLE,
    method::TABLE,
    device::TABLE,
    trial::TABLE,
    answer::TABLE,
    summary::TABLE,
    quantity::TABLE,
    comparison::TABLE,
    failure::TABLE,
    check::TABLE,
    memory::TABLE,
];

const INDEXES: &str = "\
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
    transaction
        .execute_batch("CREATE TABLE folder (id INTEGER PRIMARY KEY, path TEXT NOT NULL);")?;
    for Table { name, columns, .. } in TABLES {
        transaction.execute_batch(&format!(
            "CREATE TABLE {name} (folder INTEGER NOT NULL REFERENCES folder, {columns});"
        ))?;
    }
    transaction.execute_batch(INDEXES)?;
    for (folder, (path, results)) in (1..).zip(folders) {
        let path = path.to_string_lossy();
        transaction.execute("INSERT INTO folder VALUES (?, ?)", params![folder, path])?;
        let filling = Filling { transaction: &transaction, folder };
        TABLES.iter().try_for_each(|table| (table.fill)(&filling, results))?;
    }
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{
        AnswerRecord, Campaign, DeviceFacts, FailureRecord, Histogram, Outcome, QuantityRecord,
        Subject, Trial, TrialRecord, Unit,
    };

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
            ..AnswerRecord::default()
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
