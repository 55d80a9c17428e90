//! Whether a device's memory grows: over its starts, and within each.
//!
//! ```text
//! begin ▁▁▂▃▃▃▃▃▃ end     grew and settled: tables and pools that are filled once
//! begin ▁▁▂▃▄▅▆▇█ end     still growing at the end: named
//! ```

use std::collections::BTreeMap;

use lab_record::{MemoryRecord, Results, Subject};
use lab_search::stats::summary::median;

/// What is no growth: less of this, and less than this share.
const LEAST_BYTES: f64 = 1024.0 * 1024.0;
const LEAST_SHARE: f64 = 0.01;
/// Looks without which nobody can tell whether it settled.
const FEWEST: usize = 6;

/// What became of a device's memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Growth {
    /// It held as much in the end.
    Steady,
    /// It grew, and then no more.
    Settled,
    /// It grew; too few looks tell whether it settled.
    Grew,
    /// It was still growing in the last half of its time: octets an hour.
    Growing(f64),
}

/// The memory of a device in a case, over its starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Device, function and axes; its run is 0.
    pub subject: Subject,
    /// Starts.
    pub runs: usize,
    /// Octets at the beginning, median over starts.
    pub begin: f64,
    /// At the end.
    pub end: f64,
    /// The most at any look.
    pub most: u64,
    /// What became of it in most starts.
    pub growth: Growth,
}

impl Row {
    /// What became of it, in words.
    pub fn words(&self) -> String {
        match self.growth {
            Growth::Steady => "steady".into(),
            Growth::Settled => "grew, and settled".into(),
            Growth::Grew => "grew; too short to tell whether it settled".into(),
            Growth::Growing(per_hour) => {
                format!("still growing at the end, by {} an hour", told(per_hour))
            }
        }
    }
}

/// Octets as a reader wants them.
pub fn told(bytes: f64) -> String {
    format!("{:.1} MiB", bytes / 1024.0 / 1024.0)
}

/// A row for each device and case, in the order in which they were first measured.
pub fn rows(results: &Results) -> Vec<Row> {
    let mut order: Vec<Subject> = Vec::new();
    let mut groups: BTreeMap<Subject, Vec<&MemoryRecord>> = BTreeMap::new();
    for record in results.memory.iter().filter(|it| !it.samples.is_empty()) {
        let subject = Subject { run: 0, ..record.subject.clone() };
        if !groups.contains_key(&subject) {
            order.push(subject.clone());
        }
        groups.entry(subject).or_default().push(record);
    }
    order.into_iter().filter_map(|it| Some(row(it.clone(), groups.get(&it)?))).collect()
}

fn row(subject: Subject, records: &[&MemoryRecord]) -> Row {
    let bytes = |of: fn(&MemoryRecord) -> u64| {
        median(&records.iter().map(|it| of(it) as f64).collect::<Vec<_>>())
    };
    let all = records.iter().flat_map(|it| &it.samples).map(|it| it.bytes);
    let found: Vec<Growth> = records.iter().map(|it| growth(it)).collect();
    let most = |is: fn(&Growth) -> bool| 2 * found.iter().filter(|it| is(it)).count() > found.len();
    let growth = if most(|it| matches!(it, Growth::Growing(_))) {
        let rates: Vec<f64> = found
            .iter()
            .filter_map(|it| match *it {
                Growth::Growing(rate) => Some(rate),
                Growth::Steady | Growth::Settled | Growth::Grew => None,
            })
            .collect();
        Growth::Growing(median(&rates))
    } else if !most(|it| *it != Growth::Steady) {
        Growth::Steady
    } else if most(|it| *it == Growth::Grew) {
        Growth::Grew
    } else {
        Growth::Settled
    };
    Row {
        subject,
        runs: records.len(),
        begin: bytes(|it| it.samples.first().map_or(0, |it| it.bytes)),
        end: bytes(|it| it.samples.last().map_or(0, |it| it.bytes)),
        most: all.max().unwrap_or(0),
        growth,
    }
}

/// What became of it in one start.
fn growth(record: &MemoryRecord) -> Growth {
    let samples = &record.samples;
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else {
        return Growth::Steady;
    };
    let grew = |from: u64| {
        let more = last.bytes as f64 - from as f64;
        more >= LEAST_BYTES && more >= LEAST_SHARE * from as f64
    };
    if !grew(first.bytes) {
        return Growth::Steady;
    }
    let half_s = f64::midpoint(first.at_s, last.at_s);
    let Some(middle) = samples.iter().rfind(|it| it.at_s <= half_s) else { return Growth::Grew };
    if samples.len() < FEWEST {
        return Growth::Grew;
    }
    // A quarter of what it grew by, or more, in the second half: it has not settled.
    let (late, all) = (last.bytes as f64 - middle.bytes as f64, (last.bytes - first.bytes) as f64);
    match late >= 0.25 * all && late > 0.0 {
        true => Growth::Growing(late / (last.at_s - middle.at_s).max(1e-9) * 3600.0),
        false => Growth::Settled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::MemorySample;

    fn record(run: u32, mebibytes: &[f64]) -> MemoryRecord {
        let sample = |(at, it): (usize, &f64)| MemorySample {
            at_s: 10.0 * at as f64,
            bytes: (it * 1024.0 * 1024.0) as u64,
        };
        MemoryRecord {
            subject: Subject { device: "volley".into(), run, ..Subject::default() },
            processes: 1,
            samples: mebibytes.iter().enumerate().map(sample).collect(),
        }
    }

    fn found(records: Vec<MemoryRecord>) -> Row {
        rows(&Results { memory: records, ..Results::default() }).remove(0)
    }

    #[test]
    fn growth_that_goes_on_is_told_from_tables_that_are_filled_once() {
        let steady = found(vec![record(0, &[100.0, 100.2, 100.1, 100.3, 100.2, 100.3, 100.2])]);
        assert_eq!((steady.growth, steady.words().as_str()), (Growth::Steady, "steady"));
        let filled = record(0, &[100.0, 140.0, 150.0, 150.0, 150.0, 150.0, 150.0]);
        assert_eq!(found(vec![filled.clone()]).growth, Growth::Settled);
        let leaks = record(0, &[100.0, 110.0, 120.0, 130.0, 140.0, 150.0, 160.0]);
        let leaking = found(vec![leaks.clone()]);
        // 10 MiB in 10 s.
        assert_eq!(leaking.words(), "still growing at the end, by 3600.0 MiB an hour");
        assert_eq!(
            (told(leaking.begin), told(leaking.end)),
            ("100.0 MiB".into(), "160.0 MiB".into())
        );
        // Two looks tell that it grew, and no more.
        assert_eq!(found(vec![record(0, &[100.0, 160.0])]).growth, Growth::Grew);
        assert_eq!(found(vec![record(0, &[160.0, 100.0])]).growth, Growth::Steady);
    }

    #[test]
    fn most_starts_decide() {
        let leaks = |run| record(run, &[10.0, 12.0, 14.0, 16.0, 18.0, 20.0, 22.0]);
        let steady = |run| record(run, &[10.0; 7]);
        assert_eq!(found(vec![leaks(0), steady(1), steady(2)]).growth, Growth::Steady);
        let two = found(vec![leaks(0), leaks(1), steady(2)]);
        assert!(matches!(two.growth, Growth::Growing(_)) && two.runs == 3);
    }
}
