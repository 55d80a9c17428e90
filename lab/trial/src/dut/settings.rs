//! What a device is set to beyond its function: the axes that it is started with.
//!
//! ```text
//! axis              who sets it
//! workers           the adapter, up to the cores that devices have
//! vector_packets    the adapter: packets that the device takes at once, at most
//! cost_cycles       the adapter: what each packet costs on top
//! scheduler         the adapter, on the port that the first link's packets leave by, at bottleneck_mbps
//! clock_percent     the lab, for the whole host: see [`super::host_clock`]
//! ```
//! What an adapter does not name as something that it sets is refused for it.

use std::collections::BTreeMap;

use lab_record::axes::{ALL, Axis, Scheduler, SetBy, Value, Workers};

use crate::scenario::Case;

/// A port that is slower than what is sent to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bottleneck {
    /// How packets wait.
    pub scheduler: Scheduler,
    /// Its rate.
    pub mbps: u64,
}

/// Time whose packets a bottleneck may send at once after a pause: for as long as a shared core may
/// be away.
const BURST_MS: u64 = 10;
/// Octets of a frame beside them.
const FRAME_BYTES: u64 = 9_018;

impl Bottleneck {
    /// Octets that it may send at once after a pause.
    pub fn burst_bytes(&self) -> u64 {
        self.mbps * 1_000 / 8 * BURST_MS + FRAME_BYTES
    }
}

/// What a device is set to; what is not there is at the device's own default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// Rate of the port behind which the first link's packets leave.
    bottleneck_mbps: Option<u64>,
    /// Values of the axes that it is started with, by name.
    axes: BTreeMap<&'static str, String>,
}

/// What adapters name the bottleneck by that they can set; all else by the name of its axis.
pub const BOTTLENECK: &str = "scheduler and bottleneck_mbps";

impl Settings {
    /// What a case asks for.
    pub fn of(case: &Case) -> Self {
        let started = ALL.iter().filter(|axis| axis.set_by != SetBy::Generator);
        let given = started.filter_map(|axis| Some((axis.name, case.axes.get(axis.name)?.clone())));
        Self { bottleneck_mbps: case.function.bottleneck_mbps, axes: given.collect() }
    }

    /// The value of an axis that it is started with, where it is varied.
    pub fn get<A: Axis>(&self) -> Option<A::Value> {
        A::Value::read(self.axes.get(A::NAME)?)
    }

    /// The axes as texts, by name.
    pub(crate) fn texts(&self) -> BTreeMap<String, String> {
        self.axes.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    }

    /// The port behind which the first link's packets leave.
    pub fn bottleneck(&self) -> Option<Bottleneck> {
        // A bottleneck alone is one before which packets wait in their order.
        let scheduler = self.get::<Scheduler>().unwrap_or(Scheduler::Fifo);
        self.bottleneck_mbps.map(|mbps| Bottleneck { scheduler, mbps })
    }

    /// What an adapter has to set for it, by name.
    pub fn asked(&self, workers: u64) -> impl Iterator<Item = &'static str> {
        let axes = ALL.iter().filter(|axis| axis.set_by == SetBy::Adapter);
        let asked = axes.filter_map(move |axis| match axis.name {
            Workers::NAME => (workers > 1).then_some(axis.name),
            name => self.axes.get(name).filter(|text| !(axis.is_usual)(text)).map(|_| name),
        });
        asked.chain(self.bottleneck_mbps.map(|_| BOTTLENECK))
    }
}

#[cfg(test)]
impl Settings {
    /// The same with a value of an axis.
    pub(crate) fn with<A: Axis>(mut self, value: &str) -> Self {
        self.axes.insert(A::NAME, value.to_owned());
        self
    }

    /// The same with a bottleneck.
    pub(crate) fn behind(mut self, mbps: u64, scheduler: &str) -> Self {
        self.bottleneck_mbps = Some(mbps);
        self.with::<Scheduler>(scheduler)
    }
}

/// The cores of a list such as `taskset` takes.
pub(crate) fn core_numbers(cores: &str) -> Vec<u64> {
    let range = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        Some(from.trim().parse::<u64>().ok()?..=to.trim().parse::<u64>().ok()?)
    };
    cores.split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use lab_record::axes::{CostCycles, VectorPackets};

    fn cases(function: &str, sweep: &str) -> Vec<Case> {
        let text = format!(
            "name = 'x'\ntitle = 'X'\nabout = 'y'\n[[function]]\nkind = 'bridge'\n{function}\n\
             [sweep]\n{sweep}\n[measure]\nsearch = 'max-rate'\n"
        );
        Scenario::parse(&text, "x").unwrap().cases()
    }

    #[test]
    fn every_scheduler_of_a_sweep_is_a_bottleneck_of_its_own() {
        let all = "scheduler = ['fifo', 'sfq', 'codel', 'fq-codel', 'htb', 'hfsc']";
        let cases = cases("bottleneck_mbps = 100", all);
        let found: Vec<Bottleneck> =
            cases.iter().filter_map(|case| Settings::of(case).bottleneck()).collect();
        let schedulers = Scheduler::WORDS.iter().filter_map(|word| Scheduler::read(word));
        let expected: Vec<_> =
            schedulers.map(|scheduler| Bottleneck { scheduler, mbps: 100 }).collect();
        assert_eq!(found, expected);
        assert_eq!(found[0].burst_bytes(), 134_018);
    }

    #[test]
    fn only_what_is_asked_for_has_to_be_set() {
        let asked = |case: &Case| Settings::of(case).asked(1).collect::<Vec<_>>();
        let found: Vec<Vec<&str>> = cases("", "cost_cycles = [0, 50]").iter().map(asked).collect();
        assert_eq!(found, [vec![], vec![CostCycles::NAME]]);
        let case = &cases("bottleneck_mbps = 9", "vector_packets = [16]")[0];
        assert_eq!(asked(case), [VectorPackets::NAME, BOTTLENECK]);
        assert_eq!(Settings::default().asked(2).collect::<Vec<_>>(), [Workers::NAME]);
    }

    #[test]
    fn cores_are_told_in_lists_and_ranges() {
        assert_eq!(core_numbers("0-2,8"), [0, 1, 2, 8]);
        assert!(core_numbers("").is_empty() && core_numbers("x").is_empty());
    }
}
