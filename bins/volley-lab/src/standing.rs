//! How a campaign stands, in a file beside its results: for who watches it from elsewhere, as a
//! router's page does (`[web] lab`).
//!
//! ```text
//!  progress of a campaign ─▶ results so far ─▶ progress.json, whole at any moment
//! ```
//! What cannot be written there does not end a measurement.

use std::cell::{Cell, RefCell};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use lab_record::{Error, Results};
use lab_report::summary::{self, Row};
use lab_trial::campaign::Progress;
use serde::Serialize;

use crate::progress::left;

/// The file's name.
const FILE: &str = "progress.json";
/// Rates and failures that it has, the last ones.
const MOST: usize = 200;
const MOST_FAILURES: usize = 20;

/// What is written.
#[derive(Clone, Debug, Default, Serialize)]
struct Written {
    v: u32,
    state: &'static str,
    scenario: String,
    title: String,
    what: String,
    began_unix_s: u64,
    updated_unix_s: u64,
    process: Process,
    done: usize,
    all: usize,
    left_s: Option<u64>,
    results: Vec<Found>,
    failures: Vec<String>,
}

/// Who measures, for who looks whether it still does: a process by its number, when that was begun,
/// and where the number is known (this start of the machine, this namespace).
#[derive(Clone, Debug, Default, Serialize)]
struct Process {
    id: u32,
    began_ticks: u64,
    known_in: String,
}

impl Process {
    /// This one; nothing where it cannot be told.
    fn this() -> Option<Self> {
        let stat = fs::read_to_string("/proc/self/stat").ok()?;
        // Behind the name, which may have any letters (proc(5)).
        let began_ticks =
            stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()?;
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
        let known_in = format!("{} {}", boot.trim(), namespace.to_str()?);
        Some(Self { id: std::process::id(), began_ticks, known_in })
    }
}

#[derive(Clone, Debug, Serialize)]
struct Found {
    device: String,
    case: String,
    metric: String,
    pps: f64,
    low_pps: f64,
    high_pps: Option<f64>,
    runs: usize,
    limited_by: &'static str,
}

/// See the module.
pub(crate) struct Standing {
    folder: PathBuf,
    began: Instant,
    /// Searches that were over when it began, and when results were read last.
    first: Cell<Option<usize>>,
    read: Cell<Option<usize>>,
    written: RefCell<Written>,
}

impl Standing {
    /// Of a campaign whose results go into this folder.
    pub(crate) fn begin(folder: &Path, scenario: &str, title: &str) -> Self {
        let began_unix_s = crate::bench::seconds();
        let written = Written {
            v: 1,
            state: "running",
            scenario: scenario.to_owned(),
            title: title.to_owned(),
            began_unix_s,
            process: Process::this().unwrap_or_default(),
            ..Written::default()
        };
        Self {
            folder: folder.to_owned(),
            began: Instant::now(),
            first: Cell::new(None),
            read: Cell::new(None),
            written: RefCell::new(written),
        }
    }

    /// It is so far.
    pub(crate) fn tell(&self, now: &Progress<'_>) {
        let first = self.first.get().unwrap_or(now.done);
        self.first.set(Some(first));
        let mut written = self.written.borrow_mut();
        (written.done, written.all, written.what) = (now.done, now.all, now.what.to_owned());
        let (done, all) = (now.done.saturating_sub(first), now.all.saturating_sub(first));
        let left = now.left.or_else(|| left(self.began.elapsed(), done, all));
        written.left_s = left.map(|left| left.as_secs());
        if self.read.replace(Some(now.done)) != Some(now.done) {
            self.take_in(&mut written);
        }
        self.write(&mut written);
    }

    /// It is over, one way or another.
    pub(crate) fn end<T>(&self, outcome: &Result<T, Error>) {
        let mut written = self.written.borrow_mut();
        written.state = match outcome {
            Ok(_) => "over",
            Err(Error::Stopped) => "stopped",
            Err(error) => {
                written.failures.push(error.to_string());
                "failed"
            }
        };
        (written.left_s, written.what) = (None, String::new());
        self.take_in(&mut written);
        self.write(&mut written);
    }

    /// Reads what was found so far.
    fn take_in(&self, written: &mut Written) {
        let Ok(Some(results)) = Results::load_or_none(&self.folder) else { return };
        let rows = summary::rows(&results);
        let skipped = rows.len().saturating_sub(MOST);
        written.results = rows.iter().skip(skipped).map(found).collect();
        let failures = results.failures.iter().rev().take(MOST_FAILURES);
        let told = failures
            .map(|it| format!("{}, {}: {}", it.subject.device, it.subject.case(), it.reason));
        written.failures = told.collect();
    }

    /// Puts the file in its place, whole.
    fn write(&self, written: &mut Written) {
        written.updated_unix_s = crate::bench::seconds();
        let Ok(mut text) = serde_json::to_string_pretty(written) else { return };
        text.push('\n');
        let (next, place) = (self.folder.join(".progress.json"), self.folder.join(FILE));
        // A disk that is full ends no measurement by this.
        let _ = fs::write(&next, text).and_then(|()| fs::rename(&next, &place));
    }
}

fn found(row: &Row) -> Found {
    let high = row.interval.high;
    Found {
        device: row.subject.device.clone(),
        case: row.subject.case(),
        metric: row.label(),
        pps: row.value_pps,
        low_pps: row.interval.low,
        high_pps: high.is_finite().then_some(high),
        runs: row.runs,
        limited_by: row.limiter.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::axes::{Axis, FrameBytes};
    use lab_record::{AnswerRecord, Directions, FailureRecord, Limit, Recorder, Subject};
    use std::time::Duration;

    /// What a router's test reads.
    const SAMPLE: &str = include_str!("../../../docs/example/progress.json");

    fn subject(device: &str, axes: &[(&str, &str)]) -> Subject {
        let axes = axes.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        Subject { device: device.into(), function: "l2-xconnect".into(), axes, run: 0 }
    }

    #[test]
    fn what_is_written_is_what_routers_read_and_is_whole_to_the_end() {
        let folder = std::env::temp_dir().join(format!("lab-standing-{}", std::process::id()));
        let mut recorder = Recorder::open(&folder).unwrap();
        let answer = AnswerRecord {
            subject: subject("Linux bridge", &[(FrameBytes::NAME, "64")]),
            metric: "NDR".into(),
            directions: Some(Directions::One),
            low_pps: 620e3,
            high_pps: 620e3,
            limit: Some(Limit::LARGEST_LOAD),
            ..AnswerRecord::default()
        };
        recorder.write(answer).unwrap();
        let subject = subject("ovs", &[]);
        let failure = FailureRecord { subject, refused: false, reason: "it died".into() };
        recorder.write(failure).unwrap();
        let standing = Standing::begin(&folder, "quick", "A first look");
        let what = "Volley: ip4, frame bytes 64";
        let left = Some(Duration::from_secs(300));
        standing.tell(&Progress { done: 3, all: 12, what, left });
        let read = || -> serde_json::Value {
            serde_json::from_slice(&fs::read(folder.join(FILE)).unwrap()).unwrap()
        };
        let (mut told, mut sample) =
            (read(), serde_json::from_str::<serde_json::Value>(SAMPLE).unwrap());
        assert!(told["updated_unix_s"].as_u64() >= told["began_unix_s"].as_u64());
        assert_eq!(told["process"]["id"], std::process::id());
        assert!(told["process"]["began_ticks"].as_u64() > Some(0), "{told}");
        for each in [&mut told, &mut sample] {
            each["process"] = 0.into();
            (each["began_unix_s"], each["updated_unix_s"]) = (0.into(), 0.into());
            each["results"][0]["low_pps"] = 0.into();
        }
        assert_eq!(told, sample);
        standing.end(&Err::<(), _>(Error::Stopped));
        assert_eq!((&read()["state"], &read()["left_s"]), (&"stopped".into(), &().into()));
        standing.end(&Ok(()));
        assert_eq!(
            (&read()["state"], &read()["results"][0]["device"]),
            (&"over".into(), &"Linux bridge".into())
        );
        fs::remove_dir_all(&folder).unwrap();
        // Where nothing can be written, nothing happens.
        standing.tell(&Progress { done: 3, all: 12, what, left });
        assert!(!folder.exists());
    }
}
