//! Who kept a rate from being higher: what did not come through at the smallest load that was not
//! carried, by whose doing.
//!
//! ```text
//! intended ─┬─ not sent ─────────────────────────────────────────▶ generator
//!           └─ sent ─┬─ came back
//!                    └─ lost ─┬─ the lab's own receive rings full ▶ generator
//!                             ├─ while the host had our core ────▶ host     at most what came meanwhile
//!                             └─ all else ───────────────────────▶ device
//! ```

use serde::{Deserialize, Serialize};

use crate::Outcome;

/// Who kept a rate from being higher.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Limiter {
    /// The device: the rate is its own.
    Device,
    /// The host, which took the lab's core away: the device may do more.
    Host,
    /// The generator, or the lab's receiver: the device may do more.
    Generator,
}

impl Limiter {
    /// Its name, as in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Host => "host",
            Self::Generator => "generator",
        }
    }
}

/// Packets that did not come through, by whose doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blame {
    /// Lost by the device.
    pub device: u64,
    /// Not sent by the generator, or lost in the lab's own receive rings.
    pub generator: u64,
    /// Lost while the host had the lab's core.
    pub host: u64,
}

impl Blame {
    /// Both together.
    pub fn with(self, other: Self) -> Self {
        Self {
            device: self.device + other.device,
            generator: self.generator + other.generator,
            host: self.host + other.host,
        }
    }
}

/// Who kept a rate from being higher, and by how many packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// Which part it was.
    pub by: Limiter,
    /// What did not come through in the trials that missed the goal at the upper bound. All 0: the
    /// largest load was carried.
    #[serde(flatten)]
    pub blame: Blame,
}

impl Limit {
    /// Nothing kept it from being higher but that no more was sent.
    pub const LARGEST_LOAD: Self =
        Self { by: Limiter::Generator, blame: Blame { device: 0, generator: 0, host: 0 } };

    /// Out of the trials at the upper bound: the device limits where it alone would have missed the
    /// goal for half the time of those that missed it.
    pub fn of<'a>(trials: impl Iterator<Item = &'a Outcome>, loss_ratio: f64) -> Self {
        let (mut blame, mut all_s, mut device_s) = (Blame::default(), 0.0, 0.0);
        for trial in trials.filter(|trial| trial.loss_ratio() > loss_ratio) {
            blame = blame.with(trial.blame());
            all_s += trial.trial.duration_s;
            if trial.device_loss_ratio() > loss_ratio {
                device_s += trial.trial.duration_s;
            }
        }
        let by = match () {
            () if all_s > 0.0 && 2.0 * device_s >= all_s => Limiter::Device,
            () if blame.host > blame.generator => Limiter::Host,
            () => Limiter::Generator,
        };
        Self { by, blame }
    }

    /// That of a number over several runs: what kept any of them low keeps their mean low.
    pub fn with(self, other: Self) -> Self {
        Self { by: self.by.max(other.by), blame: self.blame.with(other.blame) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Trial;

    /// A trial of 1000 packets: so many unsent, lost, lost in our own rings; and time away.
    fn trial(unsent: u64, lost: u64, missed: u64, away_s: f64) -> Outcome {
        let plain = Outcome::of(Trial::new(1000.0, 1.0), 1000 - unsent - lost);
        Outcome { offered: 1000 - unsent, missed, away_s, ..plain }
    }

    #[test]
    fn what_did_not_come_through_is_told_by_whose_doing_it_was() {
        let blame = |device, generator, host| Blame { device, generator, host };
        assert_eq!(trial(0, 30, 0, 0.0).blame(), blame(30, 0, 0));
        assert_eq!(trial(100, 30, 10, 0.0).blame(), blame(20, 110, 0));
        assert_eq!(trial(0, 30, 10, 0.005).blame(), blame(15, 10, 5));
        assert_eq!(trial(0, 30, 0, 0.5).blame(), blame(0, 0, 30));
    }

    #[test]
    fn a_bound_is_the_devices_only_where_the_device_alone_missed_the_goal() {
        let by = |trials: &[Outcome], goal| Limit::of(trials.iter(), goal).by;
        assert_eq!(by(&[trial(0, 30, 0, 0.0)], 0.0), Limiter::Device);
        assert_eq!(by(&[trial(300, 0, 0, 0.0)], 0.0), Limiter::Generator);
        assert_eq!(by(&[trial(300, 3, 0, 0.0)], 0.005), Limiter::Generator);
        assert_eq!(by(&[trial(0, 30, 30, 0.0)], 0.0), Limiter::Generator);
        assert_eq!(by(&[trial(0, 30, 0, 0.5)], 0.0), Limiter::Host);
        // Trials that met the goal have no say.
        let mixed = [trial(0, 0, 0, 0.0), trial(0, 30, 0, 0.0), trial(5, 0, 0, 0.0)];
        assert_eq!(by(&mixed, 0.0), Limiter::Device);
        assert_eq!(Limit::of([].iter(), 0.0), Limit::LARGEST_LOAD);
    }

    #[test]
    fn one_run_that_the_generator_limited_makes_the_mean_a_lower_bound() {
        let device = Limit::of([trial(0, 30, 0, 0.0)].iter(), 0.0);
        let both = device.with(Limit::of([trial(300, 0, 0, 0.0)].iter(), 0.0));
        assert_eq!((both.by, both.blame.device), (Limiter::Generator, 30));
        let text = serde_json::to_string(&both).unwrap();
        assert_eq!(text, r#"{"by":"generator","device":30,"generator":300,"host":0}"#);
        assert_eq!(serde_json::from_str::<Limit>(&text).unwrap(), both);
    }
}
