//! A device's own counters, with its drops by place and reason, and the stalls of its workers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Stalled;

/// Packets that were not forwarded, by place and reason.
pub type Drops = BTreeMap<String, u64>;

/// A device's own counters, since it started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Packets that it received at its ends.
    pub received: u64,
    /// Packets that it sent there.
    pub sent: u64,
    /// Packets that it did not forward.
    #[serde(default, skip_serializing_if = "Drops::is_empty")]
    pub drops: Drops,
    /// When its workers were away; none of a device that does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalls: Option<Stalls>,
    /// The latest times at which they were away, oldest first, of those that tell them.
    #[serde(skip)]
    pub away: Vec<AwayAt>,
}

/// A time at which a worker of a device was away, by the system's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AwayAt {
    /// When it came back, in nanoseconds since 1970.
    pub until_unix_ns: u64,
    /// For how long it had been away.
    pub length_ns: u64,
}

/// Times at which a device's workers were away, as it saw them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stalls {
    /// Workers that told.
    pub workers: u64,
    /// How many, of all of them.
    pub count: u64,
    /// The sum of all.
    pub total_us: u64,
    /// The longest; of the time since an earlier look the longest that it can have been.
    pub longest_us: u64,
}

impl From<Stalls> for Stalled {
    fn from(told: Stalls) -> Self {
        Self {
            stalls: told.count,
            longest_us: told.longest_us as f64,
            // Of the time of one worker, the mean.
            total_us: told.total_us as f64 / told.workers.max(1) as f64,
        }
    }
}

impl Stalls {
    /// What came since an earlier look.
    fn since(&self, before: &Self) -> Self {
        let total_us = self.total_us.saturating_sub(before.total_us);
        Self {
            workers: self.workers,
            count: self.count.saturating_sub(before.count),
            total_us,
            longest_us: self.longest_us.min(total_us),
        }
    }
}

impl Counters {
    /// What was counted since an earlier look.
    pub fn since(&self, before: &Self) -> Self {
        let grown = |(reason, &count): (&String, &u64)| {
            let more = count.saturating_sub(before.drops.get(reason).copied().unwrap_or(0));
            (more > 0).then(|| (reason.clone(), more))
        };
        Self {
            received: self.received.saturating_sub(before.received),
            sent: self.sent.saturating_sub(before.sent),
            drops: self.drops.iter().filter_map(grown).collect(),
            stalls: self.stalls.map(|now| now.since(&before.stalls.unwrap_or_default())),
            away: self.away.iter().filter(|it| !before.away.contains(it)).copied().collect(),
        }
    }

    /// Takes away what is told twice: of a frame that one end of a veth passed on in vain both ends
    /// tell.
    pub fn tell_once(&mut self, ends: [(&str, &str); 2]) {
        for (from, to) in ends.into_iter().flat_map(|(one, other)| [(one, other), (other, one)]) {
            self.tell_cause(&format!("{from} tx"), &[&format!("{to} rx")]);
        }
    }

    /// Takes away what is told twice: what was refused at `causes` is counted once more at `place`,
    /// where it came from.
    pub fn tell_cause(&mut self, place: &str, causes: &[&str]) {
        let counts = causes.iter().filter_map(|cause| self.drops.get(*cause));
        let refused = counts.fold(0u64, |sum, &count| sum.saturating_add(count));
        if let Some(passed) = self.drops.get_mut(place) {
            *passed = passed.saturating_sub(refused);
        }
        self.drops.retain(|_, count| *count > 0);
    }

    /// Counts packets that were received. What a device tells may be any number: sums stay at the
    /// largest.
    pub fn receive(&mut self, count: u64) {
        self.received = self.received.saturating_add(count);
    }

    /// Counts packets that were sent.
    pub fn send(&mut self, count: u64) {
        self.sent = self.sent.saturating_add(count);
    }

    /// Counts a drop, if there was one.
    pub fn drop(&mut self, reason: String, count: u64) {
        if count > 0 {
            let counted = self.drops.entry(reason).or_default();
            *counted = counted.saturating_add(count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stalls_since_a_look_are_no_longer_than_their_sum() {
        let stalls = |count, total_us, longest_us| {
            let stalls = Some(Stalls { workers: 1, count, total_us, longest_us });
            Counters { stalls, ..Counters::default() }
        };
        let since = |now: Counters, before| now.since(before).stalls;
        let before = stalls(2, 1_000, 700);
        assert_eq!(since(stalls(4, 1_600, 700), &before), stalls(2, 600, 600).stalls);
        assert_eq!(since(stalls(3, 9_000, 8_000), &before), stalls(1, 8_000, 8_000).stalls);
        assert_eq!(since(before.clone(), &before), stalls(0, 0, 0).stalls);
        assert_eq!(since(Counters::default(), &before), None);
    }
}
