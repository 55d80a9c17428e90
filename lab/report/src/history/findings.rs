//! What changed in some lines, where, and how sure that is.

use super::entry::Entry;
use super::line::Line;
use super::series::{Change, Series};

/// A change with where it happened.
pub struct Happened<'a> {
    /// The line.
    pub line: &'a Line<'a>,
    /// The number.
    pub series: &'a Series,
    /// What happened to it.
    pub change: Change,
}

impl Happened<'_> {
    /// The first entry of the new level.
    pub fn since(&self) -> &Entry {
        self.line.entries[self.series.points[self.change.at].entry]
    }

    /// The last entry of the old one.
    pub fn last_before(&self) -> &Entry {
        self.line.entries[self.series.points[self.change.last_before].entry]
    }

    /// Where it happened, and how sure that is.
    pub(super) fn place(&self) -> String {
        let (since, last) = (self.since(), self.last_before());
        let same = since.commit == last.commit && since.commit.is_some();
        let place = match same {
            true => format!("within {}: not by a change of the code", since.label()),
            false => format!("since {} ({} was as before)", since.label(), last.label()),
        };
        match self.change.is_confirmed() {
            true => format!("{place}; {} campaigns since", self.change.points),
            false => format!("{place}; by one campaign, which may be an anomaly yet"),
        }
    }

    /// By how much the number changed, as a share of it.
    fn share(&self) -> f64 {
        self.change.after / self.change.before.max(f64::MIN_POSITIVE) - 1.0
    }

    /// What changed, and from what to what.
    pub(super) fn what(&self) -> String {
        let Some(number) = self.series.number() else { return String::new() };
        format!(
            "{}, {}: {:+.1} %, {} → {}",
            number.name(),
            number.metric,
            100.0 * self.share(),
            number.told(self.change.before),
            number.told(self.change.after)
        )
    }

    /// It in words.
    pub fn words(&self) -> String {
        format!("{}, {}", self.what(), self.place())
    }

    /// Whether one sentence will do for both: they came at once, and are alike good or bad.
    pub(super) fn is_with(&self, other: &Self) -> bool {
        std::ptr::eq(self.line, other.line)
            && self.place() == other.place()
            && (self.change.better < 0.0) == (other.change.better < 0.0)
    }
}

/// Every change of some lines, the latest first.
pub fn changes<'a>(lines: &'a [Line<'a>]) -> Vec<Happened<'a>> {
    let of_series = |line: &'a Line<'a>| {
        let each = move |series: &'a Series| {
            series.changes.iter().map(move |&change| Happened { line, series, change })
        };
        line.series.iter().flat_map(each)
    };
    let mut all: Vec<Happened<'a>> = lines.iter().flat_map(of_series).collect();
    // Stable: those of one commit stay in the order of the report.
    all.sort_by(|a, b| b.since().order().cmp(&a.since().order()));
    all
}

/// The finding in one sentence: what of the last levels is worse than the ones before.
pub fn finding(lines: &[Line<'_>]) -> (&'static str, String) {
    let all = changes(lines);
    let last = |it: &&Happened<'_>| it.series.changes.last() == Some(&it.change);
    let sure: Vec<&Happened<'_>> =
        all.iter().filter(last).filter(|it| it.change.is_confirmed()).collect();
    let worse: Vec<&&Happened<'_>> = sure.iter().filter(|it| it.change.better < 0.0).collect();
    let numbers: usize = lines.iter().map(|it| it.series.len()).sum();
    let most = |of: &[&&Happened<'_>]| {
        let size = |it: &Happened<'_>| it.change.better.abs();
        let most = of.iter().max_by(|a, b| size(a).total_cmp(&size(b)));
        most.map_or_else(String::new, |it| it.words())
    };
    let all_of: Vec<&&Happened<'_>> = sure.iter().collect();
    match (worse.is_empty(), sure.is_empty()) {
        (false, _) => (
            "worse",
            format!(
                "{} of {numbers} numbers are worse than they were. The largest: {}.",
                worse.len(),
                most(&worse)
            ),
        ),
        (true, false) => (
            "better",
            format!(
                "Nothing is worse than it was; {} of {numbers} numbers are better. The largest: {}.",
                sure.len(),
                most(&all_of)
            ),
        ),
        (true, true) => ("", format!("Steady: none of {numbers} numbers changed.")),
    }
}
