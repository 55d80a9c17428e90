//! Rows of the result: printed for people, written as JSON for programs.

use crate::host::{self, Host};
use crate::pace::Pace;
use crate::sample::{Middle, Sample};
use crate::scenario::Scenario;
use crate::vpp::InTurn;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// Quiet samples that tell more than all: of fewer there is no spread.
const FEWEST_QUIET: usize = 5;

/// One scenario's result.
#[derive(Serialize)]
pub(crate) struct Row {
    pub(crate) scenario: String,
    /// Workers that shared the packets.
    pub(crate) workers: u16,
    /// Packets a second, as a multiple of what one of them alone makes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) times_one_worker: Option<f64>,
    /// The same, as a multiple of what as many make that share nothing: each has tables of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) times_apart: Option<f64>,
    /// Median over the quiet samples: all nodes behind the source.
    pub(crate) cycles_per_packet: f64,
    /// Median over all samples.
    pub(crate) cycles_per_packet_with_noise: f64,
    /// What receiving costs beside that: the source, which no other number here counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) receiving_cycles_per_packet: Option<f64>,
    pub(crate) mpps: f64,
    pub(crate) packets_per_call: f64,
    pub(crate) nodes: Vec<NodeRow>,
    /// Quiet samples, which the row is of; of fewer than [`FEWEST_QUIET`] it is of all.
    pub(crate) runs: usize,
    /// All samples.
    pub(crate) samples: usize,
    pub(crate) spread: Spread,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) aim_cycles_per_packet: Option<f64>,
    /// What VPP needs for the same, in turn with us.
    #[serde(flatten)]
    pub(crate) vpp: Option<InTurn>,
    pub(crate) host: Host,
}

/// One node's share.
#[derive(Serialize)]
pub(crate) struct NodeRow {
    pub(crate) name: String,
    pub(crate) cycles_per_packet: f64,
    pub(crate) packets_per_call: f64,
}

/// How far the quiet samples lie apart, in cycles per packet.
#[derive(Serialize)]
pub(crate) struct Spread {
    pub(crate) min: f64,
    pub(crate) q1: f64,
    pub(crate) q3: f64,
}

/// The row of a scenario; `best` is the best moment of the whole run.
pub(crate) fn row(scenario: &Scenario, samples: &[Sample], best: Pace) -> Row {
    let quiet: Vec<_> = samples.iter().filter(|sample| sample.pace.is_quiet(best)).collect();
    let runs = quiet.len();
    let used = if runs < FEWEST_QUIET { samples.iter().collect() } else { quiet };
    let nodes: Vec<NodeRow> = used.first().map_or_else(Vec::new, |first| {
        first.nodes.iter().map(|node| node_row(node.name, &used)).collect()
    });
    let calls = Middle::of(nodes.iter().map(|node| node.packets_per_call));
    let all = Middle::of(samples.iter().map(Sample::cycles_per_packet));
    let middle = Middle::of(used.iter().map(|sample| sample.cycles_per_packet()));
    let receiving = Middle::of(used.iter().map(|sample| sample.receiving_per_packet()));
    Row {
        nodes,
        runs,
        cycles_per_packet_with_noise: round(all.median),
        receiving_cycles_per_packet: Some(round(receiving.median)),
        aim_cycles_per_packet: Some(scenario.aim),
        ..Row::plain(scenario.name.to_owned(), middle, samples.len(), round(calls.min))
    }
}

impl Row {
    /// A row without nodes, all of whose samples count.
    pub(crate) fn plain(
        scenario: String,
        middle: Middle,
        samples: usize,
        packets_per_call: f64,
    ) -> Self {
        Self {
            scenario,
            workers: 1,
            times_one_worker: None,
            times_apart: None,
            cycles_per_packet: round(middle.median),
            cycles_per_packet_with_noise: round(middle.median),
            receiving_cycles_per_packet: None,
            mpps: round(graph::tsc_hz() as f64 / middle.median / 1e6),
            packets_per_call,
            nodes: Vec::new(),
            runs: samples,
            samples,
            spread: Spread { min: round(middle.min), q1: round(middle.q1), q3: round(middle.q3) },
            aim_cycles_per_packet: None,
            vpp: None,
            host: host::facts(),
        }
    }
}

fn node_row(name: &str, samples: &[&Sample]) -> NodeRow {
    let of_node = |sample: &&Sample| sample.nodes.iter().find(|node| node.name == name).cloned();
    let costs = || samples.iter().filter_map(of_node);
    // A node's cost is told by packets of the scenario, so that the nodes add up to the whole.
    let cycles = samples
        .iter()
        .filter_map(|sample| Some(of_node(sample)?.cycles as f64 / sample.packets.max(1) as f64));
    let per_call = costs().map(|node| node.packets as f64 / node.calls.max(1) as f64);
    NodeRow {
        name: name.to_owned(),
        cycles_per_packet: round(Middle::of(cycles).median),
        packets_per_call: round(Middle::of(per_call).median),
    }
}

/// Two decimals: more would be noise.
pub(crate) fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Whoever reads it may go away in the middle.
pub(crate) fn print(out: &mut impl Write, rows: &[Row], nodes: bool) -> io::Result<()> {
    writeln!(
        out,
        "{:<28} {:>9} {:>9} {:>9} {:>15} {:>9} {:>9} {:>8} {:>7}  TSC cycles per packet",
        "scenario", "median", "receiving", "min", "quartiles", "quiet", "all", "Mpps", "aim"
    )?;
    for row in rows {
        let known =
            |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.0}"));
        writeln!(
            out,
            "{:<28} {:>9.1} {:>9} {:>9.1} {:>15} {:>9} {:>9.1} {:>8.1} {:>7}",
            match (row.times_one_worker, row.times_apart) {
                (Some(times), Some(apart)) => {
                    format!("{} ×{} {times:.2} {apart:.2}", row.scenario, row.workers)
                }
                _ => row.scenario.clone(),
            },
            row.cycles_per_packet,
            known(row.receiving_cycles_per_packet),
            row.spread.min,
            format!("{:.1}..{:.1}", row.spread.q1, row.spread.q3),
            format!("{}/{}", row.runs, row.samples),
            row.cycles_per_packet_with_noise,
            row.mpps,
            known(row.aim_cycles_per_packet),
        )?;
        if let Some(it) = &row.vpp {
            writeln!(
                out,
                "    in turn with VPP, on one core: VPP {:.1}, Volley {:.1}; VPP takes {:.2} times as many; \
                 its source {:.1}",
                it.vpp_cycles_per_packet,
                it.cycles_per_packet_in_turn,
                it.ratio,
                it.vpp_receiving_cycles_per_packet
            )?;
        }
        for node in row.nodes.iter().filter(|_| nodes) {
            writeln!(
                out,
                "    {:<24} {:>9.1} {:>39.0}/call",
                node.name, node.cycles_per_packet, node.packets_per_call
            )?;
        }
    }
    Ok(())
}

pub(crate) fn write(rows: &[Row], path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, serde_json::to_string_pretty(rows)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_of_quiet_samples_where_there_are_enough_of_them() {
        let scenario = Scenario::new("any", 1.0, || Err("it is not made".into()));
        let best = Pace::Whole(1000);
        let sample = |cycles, pace| Sample {
            packets: 10,
            cycles,
            receiving_cycles: 50,
            nodes: Vec::new(),
            pace,
        };
        let told = |quiet: usize| {
            let mut samples = vec![sample(300, Pace::Interrupted); 20];
            samples.extend(vec![sample(100, best); quiet]);
            let row = row(&scenario, &samples, best);
            assert_eq!(row.receiving_cycles_per_packet, Some(5.0));
            (row.cycles_per_packet, row.cycles_per_packet_with_noise, row.runs)
        };
        assert_eq!(told(5), (10.0, 30.0, 5));
        assert_eq!(told(4), (30.0, 30.0, 4));
    }
}
