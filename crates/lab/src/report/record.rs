//! The raw results: one JSON line a thing that happened, appended, never changed.
//!
//! ```text
//! {"v":1,"campaign":{…}}     host, versions, exact commands, seed: what the rest was measured with
//! {"v":1,"trial":{…}}        one trial with all that was counted in it
//! {"v":1,"answer":{…}}       what a search said of one run
//! {"v":1,"comparison":{…}}   one device held against another
//! {"v":1,"failure":{…}}      what could not be measured, and why
//! {"v":1,"device":{…}}       a device as it was set up, with exact commands
//! {"v":1,"quantity":{…}}     what a search said that is no rate
//! {"v":1,"stream":{…}}       TCP streams and round trips between two endpoints
//! {"v":1,"telemetry":{…}}    what other tools saw, apart from the timed trials
//! {"v":1,"check":{…}}        whether a device does what its function says
//! {"v":1,"probe":{…}}        what an idle core lost
//! ```
//! Everything that is ever reported is a function of these lines. A line cut off by a full disk or a
//! crash loses itself alone; a line of another version is told and left out.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::receive::Histogram;
use crate::receive::delay_variation::DelayVariation;
use crate::receive::rate_windows::ScaleRates;
use crate::receive::sequence::SequenceCounts;
use crate::search::Outcome;
use crate::stats::paired::Comparison;
use crate::stats::spikes::Spike;
use crate::stats::verdict::{Accounts, Verdict};
use crate::trial::device::Counters;
use crate::trial::functional::CheckRecord;
use crate::trial::modelled::ModelledRecord;
use crate::trial::probe::ProbeRecord;
use crate::trial::stream::StreamRecord;
use crate::trial::telemetry::TelemetryRecord;

/// Version of the lines written here.
pub const SCHEMA: u32 = 1;
/// Name of the raw file in a results folder.
pub const RAW_FILE: &str = "raw.jsonl";

/// What a campaign was measured with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Campaign {
    /// Name of the scenario.
    pub scenario: String,
    /// Its title.
    pub title: String,
    /// When it began, ISO 8601.
    pub started: String,
    /// Names everything random.
    pub seed: u64,
    /// Facts of the host, by name.
    pub host: BTreeMap<String, String>,
    /// The devices, with their versions and commands.
    pub devices: Vec<DeviceFacts>,
}

/// A device as it was measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceFacts {
    /// Name in the results.
    pub name: String,
    /// Version as it says itself.
    pub version: String,
    /// Exact commands that set it up.
    pub commands: Vec<String>,
}

/// What was measured: which device, doing what, in which case, on which run of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Subject {
    /// The device.
    pub device: String,
    /// The function.
    pub function: String,
    /// Value of each axis.
    pub axes: BTreeMap<String, String>,
    /// Restart of the device, from 0.
    pub run: u32,
}

impl Subject {
    /// The case in words, without the device and the run.
    pub fn case(&self) -> String {
        let mut words = vec![self.function.clone()];
        words.extend(self.axes.iter().map(|(name, value)| match name.strip_suffix("_percent") {
            Some(name) => format!("{value} % {}", name.replace('_', " ")),
            None => format!("{} {value}", name.replace('_', " ")),
        }));
        words.join(", ")
    }
}

/// A time at which the processor was away.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stall {
    /// When, since the trial began.
    pub at_s: f64,
    /// For how long.
    pub length_us: f64,
    /// Who saw it: generator, device or probe.
    pub seen_by: String,
}

impl Stall {
    /// Who sees the stalls of a device's workers.
    pub(crate) const DEVICE: &str = "device";

    /// Whether the device saw it.
    pub fn is_of_the_device(&self) -> bool {
        self.seen_by == Self::DEVICE
    }
}

/// One trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// What was measured.
    pub subject: Subject,
    /// Number of the trial in its run.
    pub index: u32,
    /// Search that asked for it, or "latency" and the like.
    pub purpose: String,
    /// When it began, since the campaign did.
    pub at_s: f64,
    /// What came of it.
    pub outcome: Outcome,
    /// Latency of every packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Histogram>,
    /// Loss, duplicates, reordering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<SequenceCounts>,
    /// Throughput on four time scales.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<ScaleRates>,
    /// Delay variation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variation: Option<DelayVariation>,
    /// RTP jitter at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter_ns: Option<f64>,
    /// The device's counters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accounts: Option<Accounts>,
    /// The device's own counters, with drops by place and reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<Counters>,
    /// Stalls of the host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stalls: Vec<Stall>,
    /// Spikes of latency.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spikes: Vec<Spike>,
    /// What it must be read with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<Verdict>,
}

impl TrialRecord {
    /// A record of an outcome, for what else was counted to be added to.
    pub fn new(subject: Subject, index: u32, purpose: &str, at_s: f64, outcome: Outcome) -> Self {
        Self {
            subject,
            index,
            purpose: purpose.to_owned(),
            at_s,
            outcome,
            latency: None,
            sequence: None,
            rates: Vec::new(),
            variation: None,
            jitter_ns: None,
            accounts: None,
            device: None,
            stalls: Vec::new(),
            spikes: Vec::new(),
            verdicts: Vec::new(),
        }
    }
}

/// What a search said of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerRecord {
    /// What was measured.
    pub subject: Subject,
    /// Name of the number: NDR, PDR 0.5 %, MRR …
    pub metric: String,
    /// Lower bound, or the number itself.
    pub low_pps: f64,
    /// Upper bound, or the number itself.
    pub high_pps: f64,
    /// What the run must be read with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<Verdict>,
}

/// What a quantity is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Frames.
    Frames,
    /// Seconds.
    Seconds,
    /// Entries of a table.
    Entries,
    /// Bits a second.
    #[serde(rename = "bit/s")]
    BitsPerSecond,
    /// A share of one.
    Share,
}

impl Unit {
    /// Its name, as in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Entries => "entries",
            Self::Frames => "frames",
            Self::Seconds => "seconds",
            Self::BitsPerSecond => "bit/s",
            Self::Share => "share",
        }
    }
}

/// What a search said of one run that is no rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuantityRecord {
    /// What was measured.
    pub subject: Subject,
    /// Name of the number: back-to-back, recovery, reset, largest table …
    pub metric: String,
    /// What it is counted in.
    pub unit: Unit,
    /// The value of each repetition.
    pub values: Vec<f64>,
    /// What it must be read with, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Something that could not be measured, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureRecord {
    /// What should have been measured.
    pub subject: Subject,
    /// Whether the device cannot do it at all; else something went wrong.
    pub refused: bool,
    /// Why.
    pub reason: String,
}

/// One device held against another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparisonRecord {
    /// The base.
    pub base: String,
    /// What is held against it.
    pub other: String,
    /// The case in words.
    pub case: String,
    /// What came of it.
    pub comparison: Comparison,
    /// Devices that lost nothing in most trials of most starts: the largest load was not their limit, and
    /// they may do more than was seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unexhausted: Vec<String>,
}

/// A line of the raw file: exactly one of the parts is there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Version of the line.
    pub v: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    campaign: Option<Campaign>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trial: Option<Box<TrialRecord>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<AnswerRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    comparison: Option<ComparisonRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<FailureRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    device: Option<DeviceFacts>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    probe: Option<ProbeRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    quantity: Option<QuantityRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    telemetry: Option<TelemetryRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    modelled: Option<ModelledRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    check: Option<CheckRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stream: Option<Box<StreamRecord>>,
}

/// Something that can be written down.
pub trait Record {
    /// As a line.
    fn line(self) -> Line;
}

impl Record for Campaign {
    fn line(self) -> Line {
        Line { v: SCHEMA, campaign: Some(self), ..Line::default() }
    }
}

impl Record for TrialRecord {
    fn line(self) -> Line {
        Line { v: SCHEMA, trial: Some(Box::new(self)), ..Line::default() }
    }
}

impl Record for AnswerRecord {
    fn line(self) -> Line {
        Line { v: SCHEMA, answer: Some(self), ..Line::default() }
    }
}

impl Record for FailureRecord {
    fn line(self) -> Line {
        Line { v: SCHEMA, failure: Some(self), ..Line::default() }
    }
}

impl Record for DeviceFacts {
    fn line(self) -> Line {
        Line { v: SCHEMA, device: Some(self), ..Line::default() }
    }
}

impl Record for ProbeRecord {
    fn line(self) -> Line {
        Line { v: SCHEMA, probe: Some(self), ..Line::default() }
    }
}

impl Record for QuantityRecord {
    fn line(self) -> Line {
        Line { v: SCHEMA, quantity: Some(self), ..Line::default() }
    }
}

impl Record for TelemetryRecord {
    fn line(self) -> Line {
        Line { v: SCHEMA, telemetry: Some(self), ..Line::default() }
    }
}

impl Record for ModelledRecord {
    fn line(self) -> Line {
        Line { v: SCHEMA, modelled: Some(self), ..Line::default() }
    }
}

impl Record for CheckRecord {
    fn line(self) -> Line {
        Line { v: SCHEMA, check: Some(self), ..Line::default() }
    }
}

impl Record for StreamRecord {
    fn line(self) -> Line {
        Line { v: SCHEMA, stream: Some(Box::new(self)), ..Line::default() }
    }
}

impl Record for ComparisonRecord {
    fn line(self) -> Line {
        Line { v: SCHEMA, comparison: Some(self), ..Line::default() }
    }
}

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

/// All that a raw file holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Results {
    /// The campaigns, in order.
    pub campaigns: Vec<Campaign>,
    /// The trials, in order.
    pub trials: Vec<TrialRecord>,
    /// What the searches said.
    pub answers: Vec<AnswerRecord>,
    /// Comparisons made.
    pub comparisons: Vec<ComparisonRecord>,
    /// What could not be measured.
    pub failures: Vec<FailureRecord>,
    /// What searches said that is no rate.
    pub quantities: Vec<QuantityRecord>,
    /// Trials with streams, in order.
    pub streams: Vec<StreamRecord>,
    /// What other tools saw.
    pub telemetry: Vec<TelemetryRecord>,
    /// What devices cost by valgrind.
    pub modelled: Vec<ModelledRecord>,
    /// Whether devices do what their functions say.
    pub checks: Vec<CheckRecord>,
    /// What idle cores lost.
    pub probes: Vec<ProbeRecord>,
    /// Lines that could not be read, each with its number and why.
    pub skipped: Vec<String>,
}

impl Results {
    /// Reads the raw file of a results folder.
    pub fn load(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(RAW_FILE);
        let text = std::fs::read_to_string(&path).map_err(Error::file(&path))?;
        Ok(Self::parse(&text))
    }

    /// A device with its commands belongs to the campaign that it was measured in: once a name.
    fn meet(&mut self, device: DeviceFacts) {
        let Some(campaign) = self.campaigns.last_mut() else { return };
        match campaign.devices.iter_mut().find(|known| known.name == device.name) {
            Some(known) => {
                known.commands.push(String::new());
                known.commands.extend(device.commands);
            }
            None => campaign.devices.push(device),
        }
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
                _ => serde_json::from_str::<Line>(text)
                    .map_err(|error| format!("line {number} cannot be read: {error}")),
            };
            match line {
                Err(reason) => results.skipped.push(reason),
                Ok(line) => {
                    results.campaigns.extend(line.campaign);
                    results.trials.extend(line.trial.map(|trial| *trial));
                    results.answers.extend(line.answer);
                    results.comparisons.extend(line.comparison);
                    results.failures.extend(line.failure);
                    results.quantities.extend(line.quantity);
                    results.streams.extend(line.stream.map(|stream| *stream));
                    results.telemetry.extend(line.telemetry);
                    results.modelled.extend(line.modelled);
                    results.checks.extend(line.check);
                    results.probes.extend(line.probe);
                    if let Some(device) = line.device {
                        results.meet(device);
                    }
                }
            }
        }
        results
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Trial;

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

    #[test]
    fn a_case_reads_like_a_phrase() {
        let axes = [("frame_bytes", "64"), ("load_percent", "50")];
        let axes = axes.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let subject = Subject { function: "ip4".into(), axes, ..Subject::default() };
        assert_eq!(subject.case(), "ip4, frame bytes 64, 50 % load");
    }
}
