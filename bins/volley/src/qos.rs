//! `show qos` and `qos import`: trees of classes to look at, and `tc` scripts to take over.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use control::view;

use crate::error::CliError;
use crate::output::Style;
use crate::watch::rate;

/// Every shaped port's tree.
pub(crate) fn trees(ports: &[view::Qos], style: Style) -> String {
    if ports.is_empty() {
        return style.dim("no port is shaped\n");
    }
    let tree = |port: &view::Qos| {
        let report = sched::Report::from(port.root.clone());
        format!("{}\n{report}", style.bold(&format!("port {}", port.port)))
    };
    ports.iter().map(tree).collect::<Vec<_>>().join("\n")
}

/// Counters as what came in a second; what waits and what is told stay as they are.
pub(crate) fn rates(then: &[view::Qos], now: Vec<view::Qos>, elapsed: Duration) -> Vec<view::Qos> {
    let rates = |mut port: view::Qos| {
        if let Some(old) = then.iter().find(|old| old.port == port.port) {
            node_rates(&old.root, &mut port.root, elapsed);
        }
        port
    };
    now.into_iter().map(rates).collect()
}

fn node_rates(then: &view::QosNode, now: &mut view::QosNode, elapsed: Duration) {
    for (then, now) in [
        (then.sent_packets, &mut now.sent_packets),
        (then.sent_bytes, &mut now.sent_bytes),
        (then.dropped, &mut now.dropped),
        (then.overlimits, &mut now.overlimits),
        (then.requeues, &mut now.requeues),
        (then.marked, &mut now.marked),
    ] {
        *now = rate(then, *now, elapsed);
    }
    for (then, now) in then.children.iter().zip(&mut now.children) {
        if (&then.kind, &then.id) == (&now.kind, &now.id) {
            node_rates(then, now, elapsed);
        }
    }
}

/// The command that takes over a `tc` script: its lines, comments left out, parted by `;`, so that
/// a fault still names the right one.
pub(crate) fn import(file: &str) -> Result<String, CliError> {
    let text = if file == "-" {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        fs::read_to_string(Path::new(file))
    };
    let text = text.map_err(|error| CliError::Usage(format!("error: {file}: {error}\n")))?;
    if text.contains(['"', ';']) {
        let message =
            format!("error: {file}: quotes and semicolons are a shell's: take them out\n");
        return Err(CliError::Usage(message));
    }
    let lines: Vec<&str> =
        text.lines().map(|line| line.split('#').next().unwrap_or("").trim_end()).collect();
    Ok(format!("qos import \"{}\"", lines.join(";")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn node(id: &str, sent_bytes: u64, children: Vec<view::QosNode>) -> view::QosNode {
        view::QosNode {
            kind: if children.is_empty() { "class" } else { "htb" }.to_owned(),
            id: Some(id.to_owned()),
            settings: String::new(),
            sent_packets: sent_bytes / 1000,
            sent_bytes,
            dropped: 0,
            overlimits: 0,
            requeues: 0,
            marked: 0,
            backlog_packets: 0,
            backlog_bytes: 0,
            gauges: BTreeMap::new(),
            children,
        }
    }

    fn port(sent: u64) -> Vec<view::Qos> {
        let root = node("1:", sent, vec![node("1:10", sent, Vec::new())]);
        vec![view::Qos { port: "p0".to_owned(), root }]
    }

    #[test]
    fn a_tree_stands_under_its_ports_name() {
        let drawn = trees(&port(2000), Style::plain());
        assert_eq!(
            drawn,
            "port p0\nhtb 1:\n│  sent 2.0 kB, 2 packets\n└─ 1:10\n      sent 2.0 kB, 2 packets\n"
        );
    }

    #[test]
    fn rates_reach_every_class() {
        let rates = rates(&port(2000), port(10_000), Duration::from_secs(2));
        assert_eq!(rates[0].root.sent_bytes, 4000);
        assert_eq!(rates[0].root.children[0].sent_packets, 4);
    }
}
