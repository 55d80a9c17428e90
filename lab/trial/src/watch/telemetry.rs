//! Telemetry: what is measured with other tools, in trials of their own, paired with bare ones.
//!
//! ```text
//! bare   watched   watched   bare        the same load; their ratio says what watching costs
//!          │ busy time of the devices' cores · perf record
//! at saturation, whole vectors at once:  cycles of each node · perf stat
//! ```
//! A device that waits for packets finds few at a time, and one that polls counts the waiting: what
//! a packet costs a node, or in instructions, is told of full vectors alone.

use lab_record::{NodeCost, Outcome, Subject, TelemetryRecord, Trial};

use crate::Error;
use crate::load::frames::Load;
use crate::trial::cost;
use crate::trial::rig::Rig;
use crate::watch::perf;

/// Shortest trial: the kernel counts time in hundredths of a second.
const SHORTEST_S: f64 = 1.0;
/// perf starts later than a trial, and ends before it.
const PERF_SHARE: f64 = 0.8;

/// Watches a running device at a load that it carries.
pub(crate) fn watch(
    rig: &mut Rig<'_>,
    load: &Load,
    subject: Subject,
    load_pps: f64,
    both: bool,
) -> Result<TelemetryRecord, Error> {
    let trial_s = SHORTEST_S;
    let trial = Trial::new(load_pps, trial_s);
    let measure = |rig: &mut Rig<'_>| rig.measure(load, trial, both).map(|it| it.outcome);
    let mut record = TelemetryRecord { subject, load_pps, ..TelemetryRecord::default() };
    record.bare += measure(rig)?.received;
    let cores = rig.bench.cores.clone();

    let busy_s = busy_s(&cores);
    let hidden = perf::counters();
    let watched: Outcome = measure(rig)?;
    record.watched += watched.received;
    let packets = watched.received.max(1) as f64;
    record.cpu_us_per_packet = 1e6 * (self::busy_s(&cores) - busy_s) / packets;
    if let Some((nodes, vector_packets)) = cost::at_saturation(rig, load, both, trial_s)? {
        (record.nodes, record.vector_packets) = (nodes, Some(vector_packets));
    }
    if hidden.is_ok() {
        let child = perf::start(&perf::stat(), &cores, trial_s * PERF_SHARE);
        let share = cost::saturate(rig, load, both, trial_s)? as f64 * PERF_SHARE;
        let counters = perf::parse_stat(&perf::told(child)).into_iter();
        let each = |(event, count): (String, u64)| (event, count as f64 / share.max(1.0));
        record.per_packet = counters.map(each).collect();
        rig.forget_counts()?;
    }

    let file = rig.bench.folder.with_extension("perf");
    let by_cycles = hidden.is_ok();
    record.refused = hidden.err();
    let child = perf::start(&perf::record(&file, by_cycles), &cores, trial_s * PERF_SHARE);
    record.watched += measure(rig)?.received;
    perf::told(child);
    record.functions = perf::shares(&file);
    record.sampled_by = if by_cycles { "cycles" } else { "the timer" }.into();
    let _ = std::fs::remove_file(&file);
    record.bare += measure(rig)?.received;
    Ok(record)
}

/// What nodes did between two looks; those that saw no packet are left out.
pub(crate) fn grown(before: &[NodeCost], after: &[NodeCost]) -> Vec<NodeCost> {
    let since = |node: &NodeCost| {
        let earlier = before.iter().find(|it| it.node == node.node);
        let (calls, packets, cycles) =
            earlier.map_or((0, 0, 0.0), |it| (it.calls, it.packets, it.cycles));
        NodeCost {
            node: node.node.clone(),
            calls: node.calls.saturating_sub(calls),
            packets: node.packets.saturating_sub(packets),
            cycles: (node.cycles - cycles).max(0.0),
        }
    };
    after.iter().map(since).filter(|node| node.packets > 0).collect()
}

/// Seconds that cores, as `taskset` writes them, did something since the host started.
fn busy_s(cores: &str) -> f64 {
    let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    busy_ticks(&text, cores) as f64 / 100.0
}

/// Hundredths of a second, out of the text of `/proc/stat`.
pub fn busy_ticks(text: &str, cores: &str) -> u64 {
    let wanted = |name: &str| {
        let Some(core) = name.strip_prefix("cpu").and_then(|core| core.parse::<u32>().ok()) else {
            return false;
        };
        cores.split(',').any(|part| {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            from.parse::<u32>().is_ok_and(|from| from <= core)
                && to.parse::<u32>().is_ok_and(|to| core <= to)
        })
    };
    let of_line = |line: &str| {
        let (name, numbers) = line.split_once(' ')?;
        let ticks: Vec<u64> = numbers.split_whitespace().filter_map(|it| it.parse().ok()).collect();
        // user nice system idle iowait irq softirq steal: neither rest nor what was stolen.
        let busy = [0, 1, 2, 5, 6].iter().filter_map(|&at| ticks.get(at));
        wanted(name).then(|| busy.fold(0, |sum: u64, &it| sum.saturating_add(it)))
    };
    text.lines().filter_map(of_line).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_busy_when_they_neither_rest_nor_are_stolen() {
        let text = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 2 3 100 100 4 5 100 0 0\ncpu1 10 0 0 0 0 0 0 0 0 0\n\
                    cpu2 1000 0 0 0 0 0 0 0 0 0\nintr 5\n";
        assert_eq!(
            [busy_ticks(text, "0"), busy_ticks(text, "0-1"), busy_ticks(text, "0,2")],
            [15, 25, 1_015]
        );
    }

    #[test]
    fn a_nodes_cost_is_what_it_grew_by() {
        let node = |name: &str, packets, cycles| NodeCost {
            node: name.into(),
            calls: packets / 10,
            packets,
            cycles,
        };
        let before = [node("ip4-input", 100, 1e3), node("idle", 5, 1e6)];
        let after = [node("ip4-input", 300, 5e3), node("idle", 5, 2e6), node("new", 10, 50.0)];
        assert_eq!(grown(&before, &after), [node("ip4-input", 200, 4e3), node("new", 10, 50.0)]);
    }
}
