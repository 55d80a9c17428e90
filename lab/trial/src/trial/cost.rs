//! What a packet costs a device that tells what its nodes do: cycles at full vectors, however much
//! faster it is than the generator.
//!
//! ```text
//! windows   │ 256 at once, 256 at once, … │ nodes? │ 256 at once, … │ nodes? │ …
//! each      cycles of all nodes ÷ packets        packets ÷ calls: how full vectors were
//! kept      the quieter half: a window in which the host had the core tells of the host
//! ```
//! A device that waits for the generator finds few packets at a time, and each costs it more. So
//! the generator hands a whole vector over at once, between two looks of the device.

use lab_record::{NodeCost, QuantityRecord, Subject, Unit};
use lab_search::stats::summary::median;
use lab_traffic::{Plan, Rate};

use crate::Error;
use crate::load::frames::Load;
use crate::trial::rig::Rig;
use crate::watch::telemetry::grown;

/// What the number is called.
pub const METRIC: &str = "cost";
/// Length of a window: shorter than a host takes a core away for.
const WINDOW_S: f64 = 0.005;
/// Windows of a start: as long as a trial together, but no fewer and no more than these.
const FEWEST_WINDOWS: usize = 12;
const MOST_WINDOWS: usize = 40;
/// Packets handed over at once: as many as the largest vectors of devices hold.
const BURST: usize = 256;
/// Windows with fewer packets tell nothing.
const FEWEST: u64 = 1_000;
/// Of frames no wire carries more than of these.
const SHORTEST_BYTES: u16 = 64;
/// So long without a packet means that the rest of a window is lost.
const QUIET_NS: u64 = 2_000_000;

/// What a packet costs, by one start.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cost {
    /// Cycles a packet of each window that was kept, the least first.
    pub(crate) cycles: Vec<f64>,
    /// Packets of a vector, over all of them.
    pub(crate) vector_packets: f64,
    /// What each node did in the windows that were kept.
    pub(crate) nodes: Vec<NodeCost>,
    /// Windows there were.
    windows: usize,
}

impl Cost {
    /// Of windows, by what the nodes did in each; none where none tells enough.
    pub(super) fn of<'w>(windows: impl IntoIterator<Item = &'w Vec<NodeCost>>) -> Option<Self> {
        let told = windows.into_iter().filter_map(|it| Some((window(it)?, it)));
        let mut seen: Vec<((f64, f64), &Vec<NodeCost>)> = told.collect();
        seen.sort_by(|a, b| a.0.0.total_cmp(&b.0.0));
        let windows = seen.len();
        seen.truncate(windows.div_ceil(2));
        let vectors: Vec<f64> = seen.iter().map(|it| it.0.1).collect();
        let nodes = sums(seen.iter().flat_map(|it| it.1));
        let cycles: Vec<f64> = seen.iter().map(|it| it.0.0).collect();
        (windows > 0).then(|| Self { cycles, vector_packets: median(&vectors), nodes, windows })
    }

    /// That of the quietest window: what the host does beside only adds, and differs from window
    /// to window, so that of two builds the least is told apart best.
    pub(crate) fn least(&self) -> f64 {
        self.cycles.first().copied().unwrap_or_default()
    }

    /// As it is written down.
    pub(crate) fn record(self, subject: Subject) -> QuantityRecord {
        let note = format!(
            "vectors of {:.1} packets, handed over {BURST} at once; the quieter half of {} windows",
            self.vector_packets, self.windows
        );
        QuantityRecord {
            subject,
            metric: METRIC.into(),
            unit: Unit::Cycles,
            values: self.cycles,
            note: Some(note),
        }
    }
}

/// What each node did, over several windows.
fn sums<'a>(nodes: impl Iterator<Item = &'a NodeCost>) -> Vec<NodeCost> {
    let mut sums: Vec<NodeCost> = Vec::new();
    for node in nodes {
        match sums.iter_mut().find(|it| it.node == node.node) {
            None => sums.push(node.clone()),
            Some(sum) => {
                sum.calls += node.calls;
                sum.packets += node.packets;
                sum.cycles += node.cycles;
            }
        }
    }
    sums
}

/// Hands over whole vectors as fast as that goes. Packets that came back.
pub(crate) fn saturate(
    rig: &mut Rig<'_>,
    load: &Load,
    both: bool,
    seconds: f64,
) -> Result<u64, Error> {
    let mut streams = [vec![load.stream(Rate::Max)], Vec::new()];
    if both {
        streams[1].push(load.stream_back(Rate::Max));
    }
    let plan = Plan { seed: load.seed, burst: BURST, ..Plan::new(seconds) };
    Ok(rig.carry(streams, Plan { quiet_ns: QUIET_NS, ..plan })?.received())
}

/// What each node did at saturation in trials of so many seconds, and how full vectors were; over a
/// link too slow for windows, in one of them. None of a device that does not tell.
pub(crate) fn at_saturation(
    rig: &mut Rig<'_>,
    load: &Load,
    both: bool,
    seconds: f64,
) -> Result<Option<(Vec<NodeCost>, f64)>, Error> {
    if let Some(cost) = measure(rig, load, both, seconds)? {
        return Ok(Some((cost.nodes, cost.vector_packets)));
    }
    let before = rig.nodes()?;
    if before.is_empty() {
        return Ok(None);
    }
    saturate(rig, load, both, seconds)?;
    let nodes = grown(&before, &rig.nodes()?);
    rig.forget_counts()?;
    Ok(window(&nodes).map(|(_, vectors)| (nodes, vectors)))
}

/// Cycles and vectors of a window, by all its nodes and the one that brings packets in.
pub(super) fn window(nodes: &[NodeCost]) -> Option<(f64, f64)> {
    // Every node that sees all packets has as many; the emptiest vectors are those of the input.
    let input = nodes.iter().max_by_key(|node| (node.packets, node.calls))?;
    let cycles: f64 = nodes.iter().map(|node| node.cycles).sum();
    let (packets, calls) = (input.packets as f64, input.calls as f64);
    (input.packets >= FEWEST && cycles > 0.0 && calls > 0.0)
        .then_some((cycles / packets, packets / calls))
}

/// Measures it where trials take so many seconds; none of a device that does not tell, nor over a
/// wire too slow to fill a window.
pub(crate) fn measure(
    rig: &mut Rig<'_>,
    load: &Load,
    both: bool,
    trial_s: f64,
) -> Result<Option<Cost>, Error> {
    if too_slow(rig) || rig.nodes()?.is_empty() {
        return Ok(None);
    }
    let windows = windows(rig, load, both, windows_of(trial_s))?;
    rig.forget_counts()?;
    Ok(Cost::of(&windows))
}

/// Windows where trials take so many seconds: who asks for short ones looks at rough numbers.
fn windows_of(trial_s: f64) -> usize {
    ((trial_s / WINDOW_S).round() as usize).clamp(FEWEST_WINDOWS, MOST_WINDOWS)
}

/// Whether its wires carry too little to fill a window.
pub(super) fn too_slow(rig: &Rig<'_>) -> bool {
    let fastest_pps = rig.bench.cards.as_ref().map(|cards| cards.line_rate_pps(SHORTEST_BYTES));
    fastest_pps.is_some_and(|pps| pps * WINDOW_S < FEWEST as f64)
}

/// What each node did in each of so many windows, one after the other.
pub(super) fn windows(
    rig: &mut Rig<'_>,
    load: &Load,
    both: bool,
    count: usize,
) -> Result<Vec<Vec<NodeCost>>, Error> {
    let mut before = rig.nodes()?;
    let mut windows = Vec::new();
    for _ in 0..count {
        saturate(rig, load, both, WINDOW_S)?;
        let after = rig.nodes()?;
        windows.push(grown(&before, &after));
        before = after;
    }
    Ok(windows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, calls: u64, packets: u64, cycles: f64) -> NodeCost {
        NodeCost { node: name.into(), calls, packets, cycles }
    }

    /// Nodes of a window in which each packet cost so many cycles.
    fn costing(cycles: f64) -> Vec<NodeCost> {
        let share = |share: f64| 10_000.0 * cycles * share;
        vec![
            node("port-rx", 40, 10_000, share(0.5)),
            node("xconnect", 40, 10_000, share(0.3)),
            node("port-tx", 40, 10_000, share(0.2)),
        ]
    }

    #[test]
    fn the_quieter_half_of_the_windows_tells_the_cost() {
        let mut windows: Vec<Vec<NodeCost>> =
            (0..6).map(|it| costing(100.0 + f64::from(it))).collect();
        // Half of the time somebody else had the core.
        windows.extend((0..5).map(|it| costing(900.0 * f64::from(it + 1))));
        windows.push(vec![node("port-rx", 3, 7, 9e6)]);
        let cost = Cost::of(&windows).unwrap();
        assert_eq!((cost.cycles.len(), cost.windows, cost.vector_packets), (6, 11, 250.0));
        assert!((median(&cost.cycles) - 102.5).abs() < 1e-9, "{cost:?}");
        assert!((cost.least() - 100.0).abs() < 1e-9);
        let packets: Vec<u64> = cost.nodes.iter().map(|node| node.packets).collect();
        assert_eq!(packets, [60_000; 3], "nodes are told by the windows that were kept");
        let record = cost.record(Subject::default());
        assert!(record.note.as_ref().unwrap().starts_with("vectors of 250.0 packets"));
        assert_eq!((record.unit, record.values.len()), (Unit::Cycles, 6));
    }

    #[test]
    fn short_trials_have_fewer_windows() {
        assert_eq!([0.001, 0.05, 0.1, 0.2, 30.0].map(windows_of), [12, 12, 20, 40, 40]);
    }

    #[test]
    fn the_emptiest_vectors_of_all_packets_are_told() {
        let nodes = [
            node("port-rx", 100, 5_000, 1e6),
            node("ip4-lookup", 50, 5_000, 1e6),
            node("arp", 9, 9, 0.0),
        ];
        assert_eq!(window(&nodes), Some((400.0, 50.0)));
        assert_eq!(window(&[]), None);
        assert_eq!(Cost::of(&[]), None);
    }
}
