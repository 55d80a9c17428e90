//! Rows of the result: printed for people, written as JSON for programs.

use crate::host::{self, Host};
use crate::sample::{Middle, Sample};
use crate::scenarios::Scenario;
use serde::Serialize;
use std::io;
use std::path::Path;

/// One scenario's result.
#[derive(Serialize)]
pub(crate) struct Row {
    pub(crate) scenario: String,
    /// Median over the samples: all nodes behind the source.
    pub(crate) cycles_per_packet: f64,
    pub(crate) mpps: f64,
    pub(crate) packets_per_call: f64,
    pub(crate) nodes: Vec<NodeRow>,
    pub(crate) runs: usize,
    pub(crate) spread: Spread,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) vpp_cycles_per_packet: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) aim_cycles_per_packet: Option<f64>,
    pub(crate) host: Host,
}

/// One node's share.
#[derive(Serialize)]
pub(crate) struct NodeRow {
    pub(crate) name: String,
    pub(crate) cycles_per_packet: f64,
    pub(crate) packets_per_call: f64,
}

/// How far the samples lie apart, in cycles per packet.
#[derive(Serialize)]
pub(crate) struct Spread {
    pub(crate) min: f64,
    pub(crate) q1: f64,
    pub(crate) q3: f64,
}

pub(crate) fn row(scenario: &Scenario, samples: &[Sample]) -> Row {
    let total = Middle::of(samples.iter().map(Sample::cycles_per_packet));
    let nodes: Vec<NodeRow> = samples.first().map_or_else(Vec::new, |first| {
        first.nodes.iter().map(|node| node_row(node.name, samples)).collect()
    });
    let calls = Middle::of(nodes.iter().map(|node| node.packets_per_call));
    Row {
        scenario: scenario.name.to_owned(),
        cycles_per_packet: round(total.median),
        mpps: round(graph::tsc_hz() as f64 / total.median / 1e6),
        packets_per_call: round(calls.min),
        nodes,
        runs: samples.len(),
        spread: Spread { min: round(total.min), q1: round(total.q1), q3: round(total.q3) },
        vpp_cycles_per_packet: scenario.vpp,
        aim_cycles_per_packet: Some(scenario.aim),
        host: host::facts(),
    }
}

fn node_row(name: &str, samples: &[Sample]) -> NodeRow {
    let of_node = |sample: &Sample| sample.nodes.iter().find(|node| node.name == name).cloned();
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

pub(crate) fn print(rows: &[Row], nodes: bool) {
    println!(
        "{:<24} {:>9} {:>9} {:>15} {:>8} {:>7} {:>7}  TSC cycles per packet",
        "scenario", "median", "min", "quartiles", "Mpps", "VPP", "aim"
    );
    for row in rows {
        let known =
            |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.0}"));
        println!(
            "{:<24} {:>9.1} {:>9.1} {:>15} {:>8.1} {:>7} {:>7}",
            row.scenario,
            row.cycles_per_packet,
            row.spread.min,
            format!("{:.1}..{:.1}", row.spread.q1, row.spread.q3),
            row.mpps,
            known(row.vpp_cycles_per_packet),
            known(row.aim_cycles_per_packet),
        );
        for node in row.nodes.iter().filter(|_| nodes) {
            println!(
                "    {:<20} {:>9.1} {:>39.0}/call",
                node.name, node.cycles_per_packet, node.packets_per_call
            );
        }
    }
}

pub(crate) fn write(rows: &[Row], path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, serde_json::to_string_pretty(rows)?)
}
