//! A simulated device under test: every search and statistic is tried on one whose truth is known.
//!
//! ```text
//! offered ──▶ ┌ capacity(t) = capacity · mode · drift(t) · (1 + noise) ┐ ──▶ received
//!             │ below it: base loss · above it: the surplus is lost    │
//!             └ stalls: nothing is served, what does not fit the ring is lost ┘
//! ```
//!
//! A restart draws the device's mode and offset anew, as a restarted process lands on other memory.

mod stall;

use lab_record::{Histogram, Latency, Outcome, Spike, Trial};
pub use stall::Stalls;

use crate::random::Random;

/// How loss sets in around the capacity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LossModel {
    /// Nothing is lost up to the capacity, all of the surplus above it.
    Sharp,
    /// The load fluctuates by this share of itself, so loss sets in gradually around the capacity.
    Gradual(f64),
}

/// What the device is like.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Packets per second that it can forward.
    pub capacity_pps: f64,
    /// Standard deviation, from trial to trial, as a share of the capacity.
    pub noise: f64,
    /// Standard deviation from restart to restart.
    pub restart_noise: f64,
    /// How loss sets in.
    pub loss: LossModel,
    /// Share of packets lost at any load.
    pub base_loss: f64,
    /// Stalls of the host.
    pub stalls: Stalls,
    /// Packets that wait in rings during a stall.
    pub ring_packets: u64,
    /// Share of the capacity gained (or lost, if negative) per hour.
    pub drift_per_hour: f64,
    /// Probability that a restart lands in the slow mode, and the capacity there as a share.
    pub slow_mode: Option<(f64, f64)>,
    /// Latency without load.
    pub base_latency_ns: f64,
    /// Packets per second that the generator can send.
    pub generator_pps: f64,
    /// For how long it forwards nothing after an overload.
    pub recovery_s: f64,
    /// For how long it forwards nothing when it is started anew.
    pub reset_s: f64,
}

impl Model {
    /// A quiet device: sharp loss, no noise, no stalls.
    pub fn quiet(capacity_pps: f64) -> Self {
        Self {
            capacity_pps,
            noise: 0.0,
            restart_noise: 0.0,
            loss: LossModel::Sharp,
            base_loss: 0.0,
            stalls: Stalls::none(),
            ring_packets: 1024,
            drift_per_hour: 0.0,
            slow_mode: None,
            base_latency_ns: 4_000.0,
            generator_pps: f64::INFINITY,
            recovery_s: 0.0,
            reset_s: 0.0,
        }
    }

    /// The load at which it loses this share, stalls and noise apart: the truth that a search for
    /// that loss ratio should find. None where every load loses more. (Sharp loss.)
    pub fn load_losing(&self, loss_ratio: f64) -> Option<f64> {
        let surplus = loss_ratio - self.base_loss;
        (0.0..1.0).contains(&surplus).then(|| self.capacity_pps / (1.0 - surplus))
    }
}

/// A running instance of a model.
#[derive(Debug, Clone)]
pub struct Device {
    model: Model,
    random: Random,
    /// Seconds since the campaign began.
    clock_s: f64,
    /// Capacity of this restart, drift and noise apart.
    restart_pps: f64,
    /// When and for how long it stalled in the last trial.
    stalls: Vec<(f64, f64)>,
}

impl Device {
    /// Starts a device.
    pub fn new(model: Model, seed: u64) -> Self {
        let random = Random::new(seed);
        let mut device = Self { model, random, clock_s: 0.0, restart_pps: 0.0, stalls: Vec::new() };
        device.restart();
        device
    }

    /// Stops and starts it.
    pub fn restart(&mut self) {
        let Model { capacity_pps, restart_noise, slow_mode, .. } = self.model;
        let offset = 1.0 + restart_noise * self.random.normal();
        let mode = match slow_mode {
            Some((probability, share)) if self.random.chance(probability) => share,
            _ => 1.0,
        };
        self.restart_pps = capacity_pps * offset * mode;
    }

    /// What it could forward now, noise apart.
    pub fn capacity_pps(&self) -> f64 {
        self.restart_pps * (1.0 + self.model.drift_per_hour * self.clock_s / 3600.0)
    }

    /// When the last trial stalled, and for how long, in seconds.
    pub fn stalls(&self) -> &[(f64, f64)] {
        &self.stalls
    }

    /// The spikes that a receiver saw in the last trial: what arrived first in a stall waited for
    /// all of it.
    pub fn spikes(&self) -> impl Iterator<Item = Spike> + '_ {
        let base_s = 1e-9 * self.model.base_latency_ns;
        let spike = move |&(at_s, length_s): &(f64, f64)| Spike {
            at_s,
            length_s,
            peak: base_s + length_s,
            count: 1,
        };
        self.stalls.iter().map(spike)
    }

    /// Carries out a trial.
    pub fn measure(&mut self, trial: Trial) -> Outcome {
        let noise = 1.0 + self.model.noise * self.random.normal();
        let capacity_pps = self.capacity_pps() * noise.max(0.01);
        let intended = trial.packets();
        let sendable = (self.model.generator_pps * trial.duration_s).round();
        let offered = (intended as f64).min(sendable) as u64;
        let load_pps = offered as f64 / trial.duration_s;
        let surplus = self.surplus(load_pps, capacity_pps) * trial.duration_s;
        self.stalls = self.model.stalls.of_trial(trial.duration_s, &mut self.random);
        let stalled = self
            .stalls
            .iter()
            .map(|&(_, length_s)| (length_s * load_pps - self.model.ring_packets as f64).max(0.0));
        let base = self.random.poisson(self.model.base_loss * offered as f64);
        let overloaded = trial.overload.is_some_and(|before| before.load_pps > capacity_pps);
        let choked_s = if overloaded { self.model.recovery_s.min(trial.duration_s) } else { 0.0 };
        let outage_s = if trial.change { self.model.reset_s.min(trial.duration_s) } else { 0.0 };
        let away = (choked_s + outage_s) * load_pps;
        let lost = (surplus + stalled.sum::<f64>() + away).round() as u64 + base;
        self.clock_s += trial.duration_s;
        Outcome {
            trial,
            intended,
            offered,
            received: offered.saturating_sub(lost),
            missed: 0,
            away_s: 0.0,
            elapsed_s: trial.duration_s,
            latency: Some(self.latency(load_pps / capacity_pps)),
            last_lost_s: trial.overload.map(|_| choked_s),
            outage_s: trial.change.then_some(outage_s),
            changed: None,
        }
    }

    /// The latencies of a trial at this load, `packets` of them: the base, an exponential wait that
    /// grows with the load, and what stalls add to those that arrive in them.
    pub fn latencies(&mut self, load_pps: f64, packets: u32) -> Histogram {
        let mut histogram = Histogram::default();
        let service_ns = 1e9 / self.restart_pps;
        let share = (load_pps / self.capacity_pps()).min(0.999);
        let wait_ns = service_ns * (1.0 + share / (1.0 - share));
        let Stalls { per_s, mean_s, periodic } = self.model.stalls;
        let periodic_share = periodic.map_or(0.0, |(period_s, length_s)| length_s / period_s);
        for _ in 0..packets {
            let mut latency_ns = self.model.base_latency_ns * (1.0 + 0.04 * self.random.normal());
            latency_ns += wait_ns * self.random.exponential();
            if self.random.chance(per_s * mean_s) {
                latency_ns += 1e9 * mean_s * self.random.exponential();
            }
            if self.random.chance(periodic_share) {
                let length_s = periodic.map_or(0.0, |(_, length_s)| length_s);
                latency_ns += 1e9 * length_s * self.random.uniform();
            }
            histogram.record(latency_ns.max(1.0) as u64);
        }
        histogram
    }

    /// Packets per second lost to a load above the capacity.
    fn surplus(&self, load_pps: f64, capacity_pps: f64) -> f64 {
        let excess = load_pps - capacity_pps;
        match self.model.loss {
            LossModel::Sharp => excess.max(0.0),
            LossModel::Gradual(share) => {
                let spread = share * capacity_pps;
                // The mean of max(0, excess + logistic noise); exact 0 far below the capacity.
                let rate = spread * (excess / spread).exp().ln_1p();
                if excess > 30.0 * spread { excess } else { rate }
            }
        }
    }

    /// A queue's latency: flat, then rising steeply near the capacity, bounded by the rings.
    fn latency(&mut self, share: f64) -> Latency {
        let base_ns = self.model.base_latency_ns;
        let service_ns = 1e9 / self.restart_pps;
        let waiting = (share / (1.0 - share).max(1e-3)).min(self.model.ring_packets as f64);
        let mean_ns = base_ns + service_ns * waiting * (1.0 + 0.01 * self.random.normal());
        let spread_ns = service_ns * (waiting + 1.0);
        Latency {
            mean_ns,
            p50_ns: mean_ns - 0.3 * spread_ns.min(mean_ns),
            p99_ns: mean_ns + 3.6 * spread_ns,
            max_ns: mean_ns + 10.0 * spread_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_device_loses_exactly_the_surplus() {
        let mut device = Device::new(Model::quiet(1e6), 1);
        assert_eq!(device.measure(Trial::new(1e6, 1.0)).lost(), 0);
        assert_eq!(device.measure(Trial::new(1.5e6, 2.0)).lost(), 1_000_000);
    }

    #[test]
    fn the_load_that_loses_a_share_does() {
        let model = Model { base_loss: 0.001, ..Model::quiet(1e6) };
        assert_eq!(model.load_losing(0.0), None);
        let load_pps = model.load_losing(0.005).unwrap();
        let lost = Device::new(model, 1).measure(Trial::new(load_pps, 10.0)).loss_ratio();
        assert!((lost - 0.005).abs() < 1e-4, "{lost}");
        assert_eq!(Model::quiet(1e6).load_losing(0.0), Some(1e6));
    }

    #[test]
    fn gradual_loss_sets_in_below_the_capacity() {
        let model = Model { loss: LossModel::Gradual(0.01), ..Model::quiet(1e6) };
        let mut device = Device::new(model, 1);
        let mut lost = |share: f64| device.measure(Trial::new(share * 1e6, 1.0)).lost();
        assert_eq!(lost(0.5), 0);
        assert!(lost(0.97) > 100 && lost(1.0) > 5_000);
    }

    #[test]
    fn a_generator_that_cannot_keep_up_leaves_packets_unsent() {
        let model = Model { generator_pps: 5e5, ..Model::quiet(1e6) };
        let outcome = Device::new(model, 1).measure(Trial::new(8e5, 1.0));
        assert_eq!((outcome.unsent(), outcome.lost()), (300_000, 0));
    }

    #[test]
    fn a_stall_loses_what_does_not_fit_the_ring_and_is_told() {
        let stalls = Stalls { periodic: Some((1.0, 0.01)), ..Stalls::none() };
        let mut device = Device::new(Model { stalls, ..Model::quiet(1e6) }, 1);
        assert_eq!(device.measure(Trial::new(5e5, 1.0)).lost(), 5_000 - 1_024);
        assert_eq!(device.stalls().len(), 1);
    }

    #[test]
    fn restarts_land_in_both_modes() {
        let model = Model { slow_mode: Some((0.5, 0.9)), ..Model::quiet(1e6) };
        let mut device = Device::new(model, 1);
        let slow = (0..100).filter(|_| {
            device.restart();
            device.capacity_pps() < 0.95e6
        });
        assert!((30..70).contains(&slow.count()));
    }

    #[test]
    fn latencies_have_a_tail_that_grows_with_the_load() {
        let mut device = Device::new(Model::quiet(1e6), 1);
        let (idle, busy) = (device.latencies(1e5, 5_000), device.latencies(9.5e5, 5_000));
        assert!(busy.percentile_ns(99.0) > 3 * idle.percentile_ns(99.0));
        assert!(idle.percentile_ns(50.0) > 4_000);
    }

    #[test]
    fn drift_adds_up_over_trials() {
        let model = Model { drift_per_hour: 0.1, ..Model::quiet(1e6) };
        let mut device = Device::new(model, 1);
        for _ in 0..36 {
            device.measure(Trial::new(1.0, 100.0));
        }
        assert!((device.capacity_pps() - 1.1e6).abs() < 1.0);
    }
}
