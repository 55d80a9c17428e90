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

use std::fmt;

use crate::scenario::Case;

/// A queueing discipline, by the name that scenarios give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheduler {
    /// First in, first out.
    Fifo,
    /// Stochastic fairness.
    Sfq,
    /// Controlled delay.
    Codel,
    /// Fair queues, each with controlled delay.
    FqCodel,
    /// Hierarchical token bucket.
    Htb,
    /// Hierarchical fair service curve.
    Hfsc,
}

impl Scheduler {
    const ALL: [(&'static str, Self); 6] = [
        ("fifo", Self::Fifo),
        ("sfq", Self::Sfq),
        ("codel", Self::Codel),
        ("fq-codel", Self::FqCodel),
        ("htb", Self::Htb),
        ("hfsc", Self::Hfsc),
    ];

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(own, _)| *own == name).map(|(_, scheduler)| scheduler)
    }
}

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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Settings {
    /// Packets that it takes at once, at most.
    pub vector_packets: Option<u64>,
    /// Cycles that each packet costs on top.
    pub cost_cycles: Option<u64>,
    /// The port behind which the first link's packets leave.
    pub bottleneck: Option<Bottleneck>,
    /// The host's clock, in percent of its largest.
    pub clock_percent: Option<u64>,
}

/// Something that an adapter can set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// More than one worker.
    Workers,
    /// See [`Settings::vector_packets`].
    VectorPackets,
    /// See [`Settings::cost_cycles`].
    CostCycles,
    /// See [`Settings::bottleneck`].
    Bottleneck,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Workers => "workers",
            Self::VectorPackets => "vector_packets",
            Self::CostCycles => "cost_cycles",
            Self::Bottleneck => "scheduler and bottleneck_mbps",
        })
    }
}

impl Settings {
    /// What a case asks for.
    pub fn of(case: &Case) -> Self {
        let scheduler = case.axes.get("scheduler").and_then(|name| Scheduler::named(name));
        let bottleneck = |mbps| {
            // A bottleneck alone is one before which packets wait in their order.
            Bottleneck { scheduler: scheduler.unwrap_or(Scheduler::Fifo), mbps }
        };
        Self {
            vector_packets: case.number("vector_packets"),
            cost_cycles: case.number("cost_cycles"),
            bottleneck: case.function.bottleneck_mbps.map(bottleneck),
            clock_percent: case.number("clock_percent"),
        }
    }

    /// What an adapter has to set for it.
    pub fn asked(&self, workers: u64) -> impl Iterator<Item = Setting> {
        let asked = [
            (Setting::Workers, workers > 1),
            (Setting::VectorPackets, self.vector_packets.is_some()),
            // Nothing on top is what every device does.
            (Setting::CostCycles, self.cost_cycles.is_some_and(|cycles| cycles > 0)),
            (Setting::Bottleneck, self.bottleneck.is_some()),
        ];
        asked.into_iter().filter(|&(_, asked)| asked).map(|(setting, _)| setting)
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
            cases.iter().filter_map(|case| Settings::of(case).bottleneck).collect();
        let expected = Scheduler::ALL.map(|(_, scheduler)| Bottleneck { scheduler, mbps: 100 });
        assert_eq!(found, expected);
        assert_eq!(found[0].burst_bytes(), 134_018);
    }

    #[test]
    fn only_what_is_asked_for_has_to_be_set() {
        let asked = |case: &Case| Settings::of(case).asked(1).collect::<Vec<_>>();
        let found: Vec<Vec<Setting>> =
            cases("", "cost_cycles = [0, 50]").iter().map(asked).collect();
        assert_eq!(found, [vec![], vec![Setting::CostCycles]]);
        let case = &cases("bottleneck_mbps = 9", "vector_packets = [16]")[0];
        assert_eq!(asked(case), [Setting::VectorPackets, Setting::Bottleneck]);
        assert_eq!(Settings::default().asked(2).collect::<Vec<_>>(), [Setting::Workers]);
    }

    #[test]
    fn cores_are_told_in_lists_and_ranges() {
        assert_eq!(core_numbers("0-2,8"), [0, 1, 2, 8]);
        assert!(core_numbers("").is_empty() && core_numbers("x").is_empty());
    }
}
