//! One trial: what was asked of the device and what came of it.
//!
//! ```text
//!   intended ──────────────────────────────────┐  load x duration
//!   offered  ───────────────────────────┐      │  really sent          unsent = intended - offered
//!   received ─────────────────────┐     │      │  came back             lost = offered - received
//! ```
//!
//! To a search unsent packets count as lost: a generator that cannot keep up must not flatter the
//! device. Whose they were is told with its answer.

use serde::{Deserialize, Serialize};

use crate::Blame;

/// What a device is given before a trial's own load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Overload {
    /// More than it can carry.
    pub load_pps: f64,
    /// For how long.
    pub duration_s: f64,
}

/// What to measure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Intended load of one direction.
    pub load_pps: f64,
    /// Time to send.
    pub duration_s: f64,
    /// Whether the live change under test is made in the middle of it.
    #[serde(default)]
    pub change: bool,
    /// Whether the latency of each of its packets is kept: its load was chosen, not searched for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed: bool,
    /// What comes before it, and is no part of the outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overload: Option<Overload>,
}

impl Trial {
    /// A plain trial.
    pub fn new(load_pps: f64, duration_s: f64) -> Self {
        Self { load_pps, duration_s, change: false, timed: false, overload: None }
    }

    /// Packets to send.
    pub fn packets(&self) -> u64 {
        (self.load_pps * self.duration_s).round() as u64
    }
}

/// One-way latency of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Mean of all packets.
    pub mean_ns: f64,
    /// What half of the packets did not exceed.
    pub p50_ns: f64,
    /// 99th percentile.
    pub p99_ns: f64,
    /// Of the slowest packet.
    pub max_ns: f64,
}

/// A change of the device's table in the course of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Changed {
    /// When it was asked for, since the trial began.
    pub at_s: f64,
    /// How long it took.
    pub took_s: f64,
    /// Rate received until then.
    pub before_pps: f64,
    /// Rate received while it was made.
    pub during_pps: f64,
    /// Rate received after it.
    pub after_pps: f64,
}

impl Changed {
    /// Out of what arrived in each millisecond of a trial that sent for `sent_s`; none where the
    /// change went on for longer.
    pub fn of(per_ms: &[u32], at_s: f64, took_s: f64, sent_s: f64) -> Option<Self> {
        // By way of whole microseconds: 29 ms are not 28.999….
        let ms = |seconds: f64| (seconds * 1e6).round() as usize / 1_000;
        let (from, to) = (ms(at_s), (ms(at_s + took_s) + 1).max(ms(at_s) + 1));
        let end = ms(sent_s);
        if from == 0 || to >= end {
            return None;
        }
        let count = |at: usize| u64::from(per_ms.get(at).copied().unwrap_or(0));
        let rate = |from: usize, to: usize| {
            (from..to).map(count).sum::<u64>() as f64 * 1e3 / (to - from) as f64
        };
        let (before_pps, during_pps, after_pps) = (rate(0, from), rate(from, to), rate(to, end));
        Some(Self { at_s, took_s, before_pps, during_pps, after_pps })
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn is_none(seconds: &f64) -> bool {
    *seconds == 0.0
}

/// What came of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// What was asked.
    pub trial: Trial,
    /// Packets that should have been sent.
    pub intended: u64,
    /// Packets sent.
    pub offered: u64,
    /// Packets received, duplicates apart.
    pub received: u64,
    /// Of those that did not come back: what the lab's own receive rings had no room for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub missed: u64,
    /// For how long the host had the core of generator and receiver.
    #[serde(default, skip_serializing_if = "is_none")]
    pub away_s: f64,
    /// Time the trial took, overheads included.
    pub elapsed_s: f64,
    /// Latency, where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// After an overload: when the last packet lost was meant to leave, since the trial's own load
    /// began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_lost_s: Option<f64>,
    /// With a change: the longest time in which every packet was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outage_s: Option<f64>,
    /// With a change of its table: when, how long, and the rates around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<Changed>,
}

impl Outcome {
    /// The outcome of a trial that sent all it should and took no longer than it should.
    pub fn of(trial: Trial, received: u64) -> Self {
        let packets = trial.packets();
        Self {
            trial,
            intended: packets,
            offered: packets,
            received,
            missed: 0,
            away_s: 0.0,
            elapsed_s: trial.duration_s,
            latency: None,
            last_lost_s: None,
            outage_s: None,
            changed: None,
        }
    }

    /// Packets sent that did not come back.
    pub fn lost(&self) -> u64 {
        self.offered.saturating_sub(self.received)
    }

    /// Packets that the generator failed to send.
    pub fn unsent(&self) -> u64 {
        self.intended.saturating_sub(self.offered)
    }

    /// (lost + unsent) / max(offered, intended); a disagreement in the other direction (more
    /// received than sent, more sent than asked) counts against the trial too. 0 without packets.
    pub fn loss_ratio(&self) -> f64 {
        let all = self.offered.max(self.intended);
        if all == 0 {
            return 0.0;
        }
        let bad = self.offered.abs_diff(self.received) + self.intended.abs_diff(self.offered);
        bad as f64 / all as f64
    }

    /// What did not come through, by whose doing.
    pub fn blame(&self) -> Blame {
        let missed = self.missed.min(self.lost());
        let lost = self.lost() - missed;
        let sent_pps = self.offered as f64 / self.trial.duration_s.max(1e-9);
        let host = ((self.away_s * sent_pps).round() as u64).min(lost);
        Blame { device: lost - host, generator: self.unsent() + missed, host }
    }

    /// What the device lost of what was sent.
    pub fn device_loss_ratio(&self) -> f64 {
        self.blame().device as f64 / self.offered.max(1) as f64
    }

    /// The load that got through, in the unit of the intended load.
    pub fn forwarding_pps(&self) -> f64 {
        self.trial.load_pps * (1.0 - self.loss_ratio())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsent_packets_count_as_lost() {
        let mut outcome = Outcome::of(Trial::new(1000.0, 1.0), 700);
        outcome.offered = 800;
        assert_eq!((outcome.lost(), outcome.unsent()), (100, 200));
        assert!((outcome.loss_ratio() - 0.3).abs() < 1e-12);
        assert!((outcome.forwarding_pps() - 700.0).abs() < 1e-9);
    }

    #[test]
    fn counters_that_disagree_the_other_way_are_held_against_the_trial() {
        let outcome = Outcome::of(Trial::new(100.0, 1.0), 110);
        assert!((outcome.loss_ratio() - 0.1).abs() < 1e-12);
        assert_eq!(outcome.lost(), 0);
    }

    #[test]
    fn rates_before_during_and_after_a_change_are_of_its_own_milliseconds() {
        let mut per_ms = vec![10; 100];
        per_ms[20..30].fill(4);
        per_ms[30..].fill(8);
        let changed = Changed::of(&per_ms, 0.020, 0.009, 0.1).unwrap();
        let rates = [changed.before_pps, changed.during_pps, changed.after_pps];
        assert_eq!(rates, [10_000.0, 4_000.0, 8_000.0]);
        // Nothing came in the end: that counts.
        per_ms.truncate(65);
        assert_eq!(Changed::of(&per_ms, 0.020, 0.009, 0.1).unwrap().after_pps, 4_000.0);
        // It was not over when the trial was, or began with it.
        assert_eq!(Changed::of(&per_ms, 0.020, 0.080, 0.1), None);
        assert_eq!(Changed::of(&per_ms, 0.0, 0.001, 0.1), None);
    }

    #[test]
    fn a_trial_without_packets_lost_nothing() {
        assert_eq!(Outcome::of(Trial::new(0.1, 1.0), 0).loss_ratio(), 0.0);
    }
}
