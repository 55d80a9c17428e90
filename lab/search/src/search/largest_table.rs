//! The largest table: entries are added until one is refused, and then the last of them is found
//! exactly.
//!
//! ```text
//! accepted   ├─┼──┼────┼────────┼────────┤ │ │          batches that double, to a largest one
//! refused                                ×──×──×        halved between what was accepted and what was refused
//! ```
//! A refused batch may have been taken in part or not at all: what is asked next begins behind what
//! was accepted, and a device that has an entry already takes it again.

use std::ops::Range;

use lab_record::Unit;
use serde::{Deserialize, Serialize};

use super::kind::{Findings, Kind, Quantity};
use super::stand::{Stand, Table};
use super::terms::{Parameter, Terms};
use crate::Error;

/// As scenarios name it.
pub const KIND: Kind = Kind {
    parameters: &[MOST],
    reading: "Tables: entries added until one was refused.",
    ..Kind::new("largest-table", pursue)
};

/// Most entries that a running device is given: there are addresses for so many.
pub const MOST_ENTRIES: u64 = 1 << 24;
/// Entries beyond which nobody asks.
const MOST: Parameter = Parameter {
    name: "most_entries",
    what: "entries",
    range: 1..=MOST_ENTRIES,
    usual: Some(MOST_ENTRIES),
};
/// Entries of the first batch, and of the largest: some megabytes of text.
const FIRST_BATCH: u64 = 1_024;
const LARGEST_BATCH: u64 = 1 << 19;

/// Each time, and in the end, the device has to forward by what it had before and what it accepted.
fn pursue(terms: &Terms<'_>, stand: &mut dyn Stand) -> Result<Findings, Error> {
    let most = terms.parameter(&MOST);
    let quantity = fill(stand.table(most)?, most)?;
    Ok(Findings { rates: Vec::new(), quantities: vec![quantity] })
}

fn fill(table: &mut dyn Table, most: u64) -> Result<Quantity, Error> {
    let search = LargestTable { first: FIRST_BATCH, batch: LARGEST_BATCH, most };
    let (mut history, mut refusal) = (Vec::new(), None);
    loop {
        let entries = match search.next(&history) {
            Next::Done(answer) => {
                let unasked = || "none was refused, and nobody asked for more".into();
                return Ok(told(answer, refusal.unwrap_or_else(unasked)));
            }
            Next::Add(entries) => entries,
        };
        if let Some(reason) = table.ends()? {
            let reason = format!("none was refused until {reason}");
            return Ok(told(LargestTable::so_far(&history), reason));
        }
        let refused = table.add(entries.clone())?;
        let accepted = refused.is_none();
        refusal = refused.or(refusal);
        history.push(Attempt { entries, accepted });
        table.forwards(LargestTable::so_far(&history).entries)?;
    }
}

/// The largest table as a number, with the reason that it ended there.
fn told(answer: LargestTableAnswer, reason: String) -> Quantity {
    let metric = if answer.refused { "largest table" } else { "no refusal up to" };
    let quantity = Quantity::new(metric, Unit::Entries, vec![answer.entries as f64]);
    Quantity { note: Some(reason), ..quantity }
}

/// How entries are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LargestTable {
    /// Entries of the first batch.
    pub first: u64,
    /// Most entries of a batch.
    pub batch: u64,
    /// Entries beyond which nobody asks.
    pub most: u64,
}

/// A batch that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Which entries.
    pub entries: Range<u64>,
    /// Whether the device took all of them.
    pub accepted: bool,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Ask for these.
    Add(Range<u64>),
    /// Enough is known.
    Done(LargestTableAnswer),
}

/// How large it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LargestTableAnswer {
    /// Entries added.
    pub entries: u64,
    /// Whether the next one was refused; else nobody asked for it.
    pub refused: bool,
}

impl LargestTable {
    /// The step after these attempts.
    pub fn next(&self, history: &[Attempt]) -> Next {
        let (entries, refused) = Self::known(history);
        let to = match refused {
            Some(refused) if refused <= entries + 1 => None,
            Some(refused) => Some(entries + (refused - entries) / 2),
            None if entries >= self.most => None,
            None => {
                let batch = entries.clamp(self.first, self.batch.max(self.first));
                Some((entries + batch.max(1)).min(self.most))
            }
        };
        let answer = LargestTableAnswer { entries, refused: refused.is_some() };
        to.map_or(Next::Done(answer), |to| Next::Add(entries..to))
    }

    /// What is known when it has to end here.
    pub fn so_far(history: &[Attempt]) -> LargestTableAnswer {
        LargestTableAnswer { entries: Self::known(history).0, refused: false }
    }

    /// Entries that were accepted, and the smallest number that was not.
    fn known(history: &[Attempt]) -> (u64, Option<u64>) {
        let ends = |accepted: bool| {
            history.iter().filter(move |it| it.accepted == accepted).map(|it| it.entries.end)
        };
        (ends(true).max().unwrap_or(0), ends(false).min())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table with room for so many, that keeps what fits of a batch or nothing of it.
    fn search(room: u64, keeps: bool) -> (LargestTableAnswer, Vec<Attempt>) {
        let search = LargestTable { first: 16, batch: 1_000, most: 20_000 };
        let (mut held, mut history) = (0, Vec::new());
        loop {
            match search.next(&history) {
                Next::Done(answer) => {
                    assert_eq!(answer.entries, held.min(answer.entries));
                    return (answer, history);
                }
                Next::Add(entries) => {
                    assert!(entries.start <= held && entries.start < entries.end, "{entries:?}");
                    let accepted = entries.end <= room;
                    if accepted || keeps {
                        held = held.max(entries.end.min(room));
                    }
                    history.push(Attempt { entries, accepted });
                }
            }
        }
    }

    #[test]
    fn the_last_entry_that_fits_is_found_exactly() {
        for room in [0, 1, 15, 16, 17, 4_999, 5_000, 19_999] {
            for keeps in [false, true] {
                let (answer, history) = search(room, keeps);
                assert_eq!(answer, LargestTableAnswer { entries: room, refused: true });
                assert!(history.len() < 45, "{room}: {} batches", history.len());
            }
        }
    }

    #[test]
    fn a_table_without_end_is_left_at_the_bound() {
        let (answer, history) = search(1 << 40, true);
        assert_eq!(answer, LargestTableAnswer { entries: 20_000, refused: false });
        assert!(history.iter().all(|it| it.entries.end - it.entries.start <= 1_000));
        assert_eq!(LargestTable::so_far(&history[..2]).entries, 32);
    }

    /// A table of so many entries, which can be asked so often.
    struct Small {
        room: u64,
        asked: usize,
        there: u64,
    }

    impl Table for Small {
        fn ends(&mut self) -> Result<Option<&'static str>, Error> {
            self.asked -= 1;
            Ok((self.asked == 0).then_some("the time was up"))
        }

        fn add(&mut self, entries: Range<u64>) -> Result<Option<String>, Error> {
            let fits = entries.end <= self.room;
            self.there = if fits { entries.end } else { self.there };
            Ok((!fits).then(|| "full".into()))
        }

        fn forwards(&mut self, entries: u64) -> Result<(), Error> {
            assert_eq!(entries, self.there);
            Ok(())
        }
    }

    #[test]
    fn a_table_is_told_with_the_reason_that_it_ended_there() {
        let filled = |asked| fill(&mut Small { room: 5_000, asked, there: 0 }, 1 << 20).unwrap();
        let whole = filled(100);
        assert_eq!((whole.metric, &whole.values[..]), ("largest table", &[5_000.0][..]));
        assert_eq!(whole.note.as_deref(), Some("full"));
        let cut = filled(3);
        assert_eq!((cut.metric, &cut.values[..]), ("no refusal up to", &[2_048.0][..]));
        assert_eq!(cut.note.as_deref(), Some("none was refused until the time was up"));
    }
}
