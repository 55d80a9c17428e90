//! `--watch`: the same table again and again, counters as what came since the last.

use std::thread::sleep;
use std::time::{Duration, Instant};

use control::view;
use serde_json::Value;

use crate::cli::Show;
use crate::error::CliError;
use crate::output::Style;
use crate::qos;
use crate::run::Session;
use crate::show;

/// Clears the screen and goes to its top.
const CLEAR: &str = "\x1b[H\x1b[2J";

/// Shows one thing until interrupted; in JSON, one line a reading.
pub(crate) fn watch(session: &Session, what: &Show, seconds: u64) -> Result<(), CliError> {
    let (path, output) = (show::path(what), session.output);
    let mut before: Option<(Value, Instant)> = None;
    loop {
        let now = Instant::now();
        let answer = session.client.get(&path)?;
        if output.json {
            output.text(&format!("{answer}\n"))?;
        } else {
            let since = before.as_ref().map(|(value, at)| (value, now - *at));
            let text = frame(what, &answer, since, output.style)?;
            output.text(&format!("{CLEAR}{text}"))?;
        }
        before = Some((answer, now));
        sleep(Duration::from_secs(seconds));
    }
}

/// One picture. Nodes and ports show rates once there are two readings.
fn frame(
    what: &Show,
    answer: &Value,
    before: Option<(&Value, Duration)>,
    style: Style,
) -> Result<String, CliError> {
    let Some((before, elapsed)) = before else {
        return show::text(what, answer.clone(), style);
    };
    let broken = |error: serde_json::Error| CliError::Broken(error.to_string());
    let note = style.dim("per second\n");
    Ok(match what {
        Show::Qos => {
            let now: Vec<view::Qos> = serde_json::from_value(answer.clone()).map_err(broken)?;
            let then: Vec<view::Qos> = serde_json::from_value(before.clone()).map_err(broken)?;
            note + &qos::trees(&qos::rates(&then, now, elapsed), style)
        }
        Show::Nodes => {
            let now: Vec<view::Node> = serde_json::from_value(answer.clone()).map_err(broken)?;
            let then: Vec<view::Node> = serde_json::from_value(before.clone()).map_err(broken)?;
            note + &show::nodes(&node_rates(&then, now, elapsed), style)
        }
        Show::Ports => {
            let now: Vec<view::Port> = serde_json::from_value(answer.clone()).map_err(broken)?;
            let then: Vec<view::Port> = serde_json::from_value(before.clone()).map_err(broken)?;
            note + &show::ports(&port_rates(&then, now, elapsed), style)
        }
        _ => show::text(what, answer.clone(), style)?,
    })
}

/// What came in a second, rounded; a counter that was cleared starts anew.
pub(crate) fn rate(then: u64, now: u64, elapsed: Duration) -> u64 {
    let grown = if now >= then { now - then } else { now };
    (grown as f64 / elapsed.as_secs_f64().max(1e-3)).round() as u64
}

fn node_rates(then: &[view::Node], now: Vec<view::Node>, elapsed: Duration) -> Vec<view::Node> {
    let rates = |mut node: view::Node| {
        let Some(old) = then.iter().find(|old| old.name == node.name) else { return node };
        let cycles = |node: &view::Node| node.cycles_per_packet * node.packets as f64;
        let packets = node.packets.saturating_sub(old.packets);
        let calls = node.calls.saturating_sub(old.calls);
        let spent = cycles(&node) - cycles(old);
        node.packets_per_call = packets as f64 / calls.max(1) as f64;
        node.cycles_per_packet = if packets == 0 { 0.0 } else { (spent / packets as f64).max(0.0) };
        for exit in &mut node.exits {
            let old = old.exits.iter().find(|old| old.name == exit.name);
            exit.packets = rate(old.map_or(0, |old| old.packets), exit.packets, elapsed);
        }
        node.packets = rate(old.packets, node.packets, elapsed);
        node.calls = rate(old.calls, node.calls, elapsed);
        node
    };
    now.into_iter().map(rates).collect()
}

fn port_rates(then: &[view::Port], now: Vec<view::Port>, elapsed: Duration) -> Vec<view::Port> {
    let counters = |then: &view::PortCounters, now: &view::PortCounters| view::PortCounters {
        packets: rate(then.packets, now.packets, elapsed),
        bytes: rate(then.bytes, now.bytes, elapsed),
        drops: rate(then.drops, now.drops, elapsed),
        errors: rate(then.errors, now.errors, elapsed),
    };
    let rates = |mut port: view::Port| {
        if let Some(old) = then.iter().find(|old| old.name == port.name) {
            port.rx = counters(&old.rx, &port.rx);
            port.tx = counters(&old.tx, &port.tx);
        }
        port
    };
    now.into_iter().map(rates).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(calls: u64, packets: u64, cycles_per_packet: f64) -> view::Node {
        let exits = vec![view::Exit { name: "ip4".into(), to: "ip4-input".into(), packets }];
        let packets_per_call = packets as f64 / calls as f64;
        view::Node { name: "n".into(), calls, packets, packets_per_call, cycles_per_packet, exits }
    }

    #[test]
    fn rates_are_of_the_time_between_two_readings() {
        let elapsed = Duration::from_secs(2);
        let rates = node_rates(&[node(10, 1000, 50.0)], vec![node(30, 3000, 30.0)], elapsed);
        assert_eq!((rates[0].calls, rates[0].packets, rates[0].exits[0].packets), (10, 1000, 1000));
        assert_eq!((rates[0].packets_per_call, rates[0].cycles_per_packet), (100.0, 20.0));
    }

    #[test]
    fn a_counter_cleared_between_two_readings_counts_from_zero() {
        assert_eq!(rate(1000, 50, Duration::from_secs(1)), 50);
    }
}
