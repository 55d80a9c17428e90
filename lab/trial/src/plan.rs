//! What a scenario would take, before anything is measured.
//!
//! ```text
//! search ─▶ against a simulated device, half as fast as the generator ─▶ seconds of trials
//! cases × devices × restarts × (those seconds + what each trial costs beside) + starts
//! ```
//! An estimate: how many trials a search makes depends on the device. It is of quiet hosts; where
//! the host stalls, an MLRsearch makes shorter trials, and takes less.

use std::collections::BTreeSet;

use lab_record::axes::{SetBy, named};
use lab_record::{Outcome, Trial};
use lab_search::search::ref_ndr::Ends;
use lab_search::search::{Manner, Stand, Terms};
use lab_search::sim::{Device, Model};

use crate::scenario::Scenario;

/// The largest load of the simulated search, and what the device there carries.
const MAX_PPS: f64 = 1e7;
const CARRIED_PPS: f64 = 5e6;
/// What a trial costs beside its own time: counters, stragglers.
const BESIDE_S: f64 = 0.05;
/// A start of a device: links, the process, the first packet.
const START_S: f64 = 2.0;
/// Trials with telemetry, of the first start of each device.
const TELEMETRY_TRIALS: f64 = 4.0;
/// Trials at each load of `latency_at_percent` are as many times as long as a search's.
const LATENCY_TRIALS: f64 = 2.0;

/// What a scenario would take.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Cases: combinations of functions and values.
    pub cases: usize,
    /// Devices.
    pub devices: usize,
    /// Starts of each device, each with a search of every case.
    pub restarts: u32,
    /// Processes started for one of these.
    pub starts: usize,
    /// Seconds of one case on one device, once; none where the device alone decides.
    pub case_s: Option<f64>,
    /// The axis with most values, and how many.
    pub longest_axis: Option<(&'static str, usize)>,
}

impl Plan {
    /// Of a scenario with so many devices and restarts.
    pub fn of(scenario: &Scenario, devices: usize, restarts: u32) -> Self {
        let cases = scenario.cases();
        // What only the generator changes needs no other start.
        let started = |name: &str| named(name).is_some_and(|it| it.set_by != SetBy::Generator);
        let start = |case: &crate::scenario::Case| {
            let axes = case.axes.iter().filter(|(name, _)| started(name));
            let axes: Vec<_> = axes.map(|(name, value)| format!("{name}={value}")).collect();
            (case.function.name().to_owned(), axes)
        };
        let starts = cases.iter().map(start).collect::<BTreeSet<_>>().len();
        let axes = scenario.sweep.axes().map(|(axis, values)| (axis.name, values.texts().len()));
        let longest_axis = axes.max_by_key(|axis| axis.1).filter(|axis| axis.1 > 2);
        Self {
            cases: cases.len(),
            devices,
            restarts,
            starts,
            case_s: case_s(scenario),
            longest_axis,
        }
    }

    /// Searches in all.
    pub fn searches(&self) -> usize {
        self.cases * self.devices * self.restarts as usize
    }

    /// Seconds in all.
    pub fn seconds(&self) -> Option<f64> {
        let all = self.devices as f64 * f64::from(self.restarts);
        let starts_s = all * self.starts as f64 * START_S;
        self.case_s.map(|case_s| all * self.cases as f64 * case_s + starts_s)
    }

    /// The same with other restarts.
    pub fn with_restarts(&self, restarts: u32) -> Self {
        Self { restarts, ..self.clone() }
    }
}

/// A simulated device, and how long it was busy.
struct Timed {
    device: Device,
    seconds: f64,
}

impl Stand for Timed {
    fn measure(&mut self, trial: Trial) -> Result<Outcome, lab_record::Error> {
        let before_s = trial.overload.map_or(0.0, |it| it.duration_s);
        self.seconds += before_s + trial.duration_s + BESIDE_S;
        Ok(self.device.measure(trial))
    }
}

fn case_s(scenario: &Scenario) -> Option<f64> {
    let measure = &scenario.measure;
    let duration_sum_s = *measure.duration_sum_s.get_ref();
    let search_s = match measure.manner() {
        Manner::Checks => measure.trial_s,
        // Round trips alone, then both directions where they are asked for.
        Manner::Streams => 2.0 * duration_sum_s,
        Manner::Loads => {
            let device = Device::new(Model::quiet(CARRIED_PPS), 1);
            let mut stand = Timed { device, seconds: 0.0 };
            let reference = Some(Ends::of(CARRIED_PPS, CARRIED_PPS, 0.0, false));
            let terms = Terms { reference, ..measure.terms(MAX_PPS, 0.0) };
            measure.search.carry_out(&terms, &mut stand).ok()?;
            stand.seconds
        }
    };
    let latencies = measure.latency_at_percent.len() as f64 * LATENCY_TRIALS;
    let telemetry = if measure.telemetry { TELEMETRY_TRIALS } else { 0.0 };
    Some(search_s + (latencies + telemetry) * measure.trial_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(sweep: &str, measure: &str) -> Scenario {
        let text = format!(
            "name = 'x'\ntitle = 'X'\nabout = 'y'\n[[function]]\nkind = 'ip4'\n[sweep]\n{sweep}\n\
             [measure]\n{measure}\n"
        );
        Scenario::parse(&text, "x").unwrap()
    }

    #[test]
    fn a_plan_counts_cases_starts_and_hours() {
        let sweep = "entries = [1, 10, 100]\nframe_bytes = [64, 1518]";
        let long = scenario(sweep, "search = 'max-rate'\ntrial_s = 10.0");
        let plan = Plan::of(&long, 2, 3);
        assert_eq!((plan.cases, plan.starts, plan.searches()), (6, 3, 36));
        assert_eq!(plan.longest_axis, Some(("entries", 3)));
        // Ten trials of the largest load.
        let case_s = plan.case_s.unwrap();
        assert!((100.0..102.0).contains(&case_s), "{case_s}");
        let (all_s, once_s) = (plan.seconds().unwrap(), plan.with_restarts(1).seconds().unwrap());
        assert!((all_s - 3.0 * once_s).abs() < 1e-6 && all_s > 3_600.0, "{all_s}");
        let short = scenario(sweep, "search = 'max-rate'\ntrial_s = 1.0");
        assert!(Plan::of(&short, 2, 3).seconds().unwrap() < 0.2 * all_s);
    }

    #[test]
    fn what_ends_when_the_device_refuses_has_no_time() {
        let table = scenario("frame_bytes = [64, 128]", "search = 'largest-table'");
        assert_eq!(Plan::of(&table, 1, 1).seconds(), None);
    }
}
