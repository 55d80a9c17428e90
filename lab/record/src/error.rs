//! What can go wrong in the lab; every message carries the offending value.

use std::borrow::Cow;
use std::path::PathBuf;

/// The errors of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The limits of a search do not make a range.
    #[error("no loads to search between {min_pps} and {max_pps} packets per second")]
    LoadLimits {
        /// Smallest load asked for.
        min_pps: f64,
        /// Largest load asked for.
        max_pps: f64,
    },
    /// A field of a search goal is outside its range.
    #[error("search goal: {field} = {value} is out of range")]
    Goal {
        /// Name of the field.
        field: &'static str,
        /// Its value.
        value: f64,
    },
    /// A parameter of something else is outside its range.
    #[error("{what} = {value} is out of range ({range})")]
    Parameter {
        /// What the number is.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed.
        range: &'static str,
    },
    /// Even the smallest load loses too much.
    #[error("the smallest load, {min_pps} packets per second, already misses the goal")]
    NoLowerBound {
        /// The smallest load.
        min_pps: f64,
    },
    /// A device has no throughput that it could be measured at.
    #[error(
        "it lost packets at {min_pps:.0} packets per second, the smallest load that was tried: there is no \
         throughput to measure it at"
    )]
    NoThroughput {
        /// The smallest load.
        min_pps: f64,
    },
    /// A search asked for more trials than it may.
    #[error("the search was not done after {trials} trials and {seconds:.1} s")]
    SearchTooLong {
        /// Trials made.
        trials: usize,
        /// Their time.
        seconds: f64,
    },
    /// The trials handed back are not the ones that the search asked for.
    #[error("trial {index} was asked at {asked_pps} pps but reports {reported_pps} pps")]
    History {
        /// Position in the history.
        index: usize,
        /// What the search asked.
        asked_pps: f64,
        /// What the history says.
        reported_pps: f64,
    },
    /// Two parts of a search contradict each other: a defect of ours, never of the device.
    #[error("search contradicts itself: {0}")]
    Contradiction(String),
    /// Too few values for a statistic.
    #[error("{what} needs at least {needed} values, got {got}")]
    TooFew {
        /// The statistic.
        what: &'static str,
        /// Values it needs.
        needed: usize,
        /// Values it got.
        got: usize,
    },
    /// A frame too short for the test signature.
    #[error("a frame of {length} octets has no room for a signature of {needed}")]
    FrameTooShort {
        /// Octets there are.
        length: usize,
        /// Octets needed.
        needed: usize,
    },
    /// A stream that cannot be sent.
    #[error("stream {name}: {reason}")]
    Stream {
        /// Its name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A word of the user's that means nothing here.
    #[error("{what} {text:?}: {allowed}")]
    Text {
        /// What it should be.
        what: &'static str,
        /// The word.
        text: String,
        /// What is allowed.
        allowed: Cow<'static, str>,
    },
    /// A port that cannot be used.
    #[error("port {port}: {reason}")]
    Port {
        /// The port, as the user wrote it.
        port: String,
        /// What stands in the way.
        reason: String,
    },
    /// A command that failed.
    #[error("{line}: {reason}")]
    Command {
        /// The command.
        line: String,
        /// What it said.
        reason: String,
    },
    /// A device that cannot do a job.
    #[error("{device} refuses {job}: {reason}")]
    Refused {
        /// The device.
        device: String,
        /// The job.
        job: String,
        /// What stands in the way.
        reason: String,
    },
    /// A process that ended while it was needed.
    #[error("{name} died ({status}): {words}")]
    Died {
        /// The process.
        name: String,
        /// How it ended.
        status: String,
        /// Its last words.
        words: String,
    },
    /// A virtual machine that does not run.
    #[error("{guest} {reason}; its console ends with {last:?}", last = last_line(console))]
    Boot {
        /// Which.
        guest: String,
        /// What became of it.
        reason: String,
        /// All that it said.
        console: String,
    },
    /// A device from which nothing comes back.
    #[error("no packet came back through {device} within {seconds} s: {hint}")]
    Silent {
        /// The device.
        device: String,
        /// How long it was waited for.
        seconds: u64,
        /// What was seen instead.
        hint: String,
    },
    /// A search that had no time to find anything.
    #[error("the time was up before {search} was found")]
    TimeUp {
        /// The search.
        search: &'static str,
    },
    /// A verification of a number that nobody has kept.
    #[error(
        "there is no reference that it could be verified against: the baseline has no NDR of it"
    )]
    NoReference,
    /// A search that what is measured cannot carry out.
    #[error("nothing here carries out the search {search}")]
    NoSearch {
        /// The search.
        search: String,
    },
    /// A trial of which something that its search stands on did not hold: told in its own words.
    #[error("{0}")]
    NoTrial(String),
    /// A results folder of another campaign.
    #[error("{path}: {reason}: name another folder", path = path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What it holds.
        reason: &'static str,
    },
    /// Somebody wanted it to end.
    #[error("stopped")]
    Stopped,
    /// A capture file that cannot be used.
    #[error("{path}: {reason}", path = path.display())]
    Capture {
        /// The file.
        path: PathBuf,
        /// What stands in the way.
        reason: String,
    },
    /// A genome of packet sizes that does not parse.
    #[error("IMIX genome {genome:?}: {reason}")]
    Genome {
        /// The text.
        genome: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A scenario file that does not parse or makes no sense.
    #[error("{path}:{line}:{column}: {reason}")]
    Scenario {
        /// File, as given.
        path: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong.
        reason: String,
    },
    /// Instance data of a YANG model that says nothing to us.
    #[error("{path}: {at}: {reason}")]
    Instance {
        /// File, as given.
        path: String,
        /// Where in it, as a path of names.
        at: String,
        /// What is wrong.
        reason: String,
    },
    /// A line of a result file that cannot be read.
    #[error("{path}:{line}: {reason}", path = path.display())]
    Record {
        /// The result file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// A file that cannot be read or written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

fn last_line(text: &str) -> &str {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

impl Error {
    /// A fault at an offset of a text, as line and column.
    pub fn in_text(text: &str, path: &str, at: usize, reason: &str) -> Self {
        let before = text.get(..at.min(text.len())).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self::Scenario {
            path: path.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            reason: reason.trim_end().to_owned(),
        }
    }

    /// Wraps an I/O error with the path that it is about.
    pub fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
