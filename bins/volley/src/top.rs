//! `volley top`: what there is most of, by the second: workers, ports, nodes, drops.

use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::Args;
use control::view::{self, Drop, Node, Port, Style, Table, View, Worker};
use serde_json::{Value, json};

use crate::client::typed;
use crate::error::CliError;
use crate::session::Session;

/// Clears the screen and goes to its top.
const CLEAR: &str = "\x1b[H\x1b[2J";

/// How it is shown.
#[derive(Clone, Debug, Args)]
pub(crate) struct Top {
    /// Every so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 1,
        value_parser = clap::value_parser!(u64).range(1..=3600))]
    every: u64,
    /// So many of each at most
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    rows: u16,
    /// So often, and no more; until interrupted when left out
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    times: Option<u64>,
}

/// A reading of all.
struct Reading {
    at: Instant,
    values: [Value; 4],
}

const PATHS: [&str; 4] = [Worker::PATH, Port::PATH, Node::PATH, Drop::PATH];

/// What came in a second, between two readings.
struct Rates {
    workers: Vec<Worker>,
    ports: Vec<Port>,
    nodes: Vec<Node>,
    drops: Vec<Drop>,
}

/// Shows it until interrupted, or so often.
pub(crate) fn run(session: &Session, args: &Top) -> Result<(), CliError> {
    let mut then = read(session)?;
    let mut left = args.times;
    while left != Some(0) {
        sleep(Duration::from_secs(args.every));
        let now = read(session)?;
        let rates = rates(&then, &now)?;
        if session.output.json {
            let Rates { workers, ports, nodes, drops } = &rates;
            let line =
                json!({ "workers": workers, "ports": ports, "nodes": nodes, "drops": drops });
            session.output.text(&format!("{line}\n"))?;
        } else {
            if args.times.is_none() {
                session.output.bytes(CLEAR.as_bytes())?;
            }
            let text = rates.text(usize::from(args.rows), session.output.style);
            session.output.text(&text)?;
        }
        then = now;
        left = left.map(|left| left - 1);
    }
    Ok(())
}

fn read(session: &Session) -> Result<Reading, CliError> {
    let mut values = [const { Value::Null }; 4];
    for (value, path) in values.iter_mut().zip(PATHS) {
        *value = session.client.get(path)?;
    }
    Ok(Reading { at: Instant::now(), values })
}

fn rates(then: &Reading, now: &Reading) -> Result<Rates, CliError> {
    let elapsed = now.at - then.at;
    let of = |rates: fn(&Value, Value, Duration) -> serde_json::Result<Value>, at: usize| {
        rates(&then.values[at], now.values[at].clone(), elapsed)
            .map_err(|error| CliError::Broken(error.to_string()))
    };
    let drops: Vec<Drop> = typed(of(view::rates::<Drop>, 3)?)?;
    let before: Vec<Drop> = typed(then.values[3].clone())?;
    // One that was not there before is a rate from nothing.
    let was_there = |drop: &Drop| {
        let key = |it: &Drop| (it.node.clone(), it.reason.clone(), it.port.clone());
        before.iter().any(|other| key(other) == key(drop))
    };
    let anew = |mut drop: Drop| {
        if !was_there(&drop) {
            drop.packets = (drop.packets as f64 / elapsed.as_secs_f64().max(1e-3)) as u64;
        }
        drop
    };
    Ok(Rates {
        workers: typed(of(view::rates::<Worker>, 0)?)?,
        ports: typed(of(view::rates::<Port>, 1)?)?,
        nodes: typed(of(view::rates::<Node>, 2)?)?,
        drops: drops.into_iter().map(anew).collect(),
    })
}

impl Rates {
    fn text(&self, rows: usize, style: Style) -> String {
        let mut all = vec![style.dim("per second; Ctrl-C ends\n"), self.of_workers(rows, style)];
        all.push(self.of_ports(rows, style));
        all.push(self.of_nodes(rows, style));
        all.push(self.of_drops(rows, style));
        all.retain(|part| !part.is_empty());
        all.join("\n")
    }

    fn of_workers(&self, rows: usize, style: Style) -> String {
        let mut table = Table::new(&["worker", "core", "busy", "packets"]);
        for worker in self.workers.iter().take(rows) {
            let core = worker.core.map_or_else(|| "-".to_owned(), |core| core.to_string());
            let busy = format!("{:.0}%", worker.busy * 100.0);
            table.row([worker.id.to_string(), core, busy, worker.packets.to_string()]);
        }
        table.render(style)
    }

    fn of_ports(&self, rows: usize, style: Style) -> String {
        let mut ports: Vec<&Port> = self.ports.iter().collect();
        ports.sort_by_key(|port| std::cmp::Reverse(port.rx.bytes + port.tx.bytes));
        let mut table = Table::new(&[
            "port",
            "link",
            "rx packets",
            "rx bit",
            "tx packets",
            "tx bit",
            "drops",
            "errors",
        ]);
        for port in ports.into_iter().take(rows) {
            let link = if port.link_up { "up" } else { "down" }.to_owned();
            let (rx, tx) = (&port.rx, &port.tx);
            let numbers = [
                rx.packets,
                rx.bytes.saturating_mul(8),
                tx.packets,
                tx.bytes.saturating_mul(8),
                rx.drops + tx.drops,
                rx.errors + tx.errors,
            ];
            let cells = [port.name.clone(), link].into_iter();
            table.row(cells.chain(numbers.map(|number| number.to_string())));
        }
        table.render(style)
    }

    fn of_nodes(&self, rows: usize, style: Style) -> String {
        let cycles = |node: &Node| node.packets as f64 * node.cycles_per_packet;
        let all: f64 = self.nodes.iter().map(cycles).sum::<f64>().max(1.0);
        let mut nodes: Vec<&Node> = self.nodes.iter().filter(|node| node.packets > 0).collect();
        nodes.sort_by(|a, b| cycles(b).total_cmp(&cycles(a)));
        let mut table = Table::new(&["node", "of all cycles", "packets", "cycles/packet"]);
        for node in nodes.iter().take(rows) {
            let share = format!("{:.0}%", cycles(node) / all * 100.0);
            let each = format!("{:.1}", node.cycles_per_packet);
            table.row([node.name.clone(), share, node.packets.to_string(), each]);
        }
        if nodes.is_empty() { "no packet came\n".to_owned() } else { table.render(style) }
    }

    fn of_drops(&self, rows: usize, style: Style) -> String {
        let mut drops: Vec<&Drop> = self.drops.iter().filter(|drop| drop.packets > 0).collect();
        drops.sort_by_key(|drop| std::cmp::Reverse(drop.packets));
        let mut table = Table::new(&["dropped", "node", "reason", "port"]);
        for drop in drops.iter().take(rows) {
            let port = drop.port.clone().unwrap_or_else(|| "-".to_owned());
            table.row([drop.packets.to_string(), drop.node.clone(), drop.reason.clone(), port]);
        }
        if drops.is_empty() { "nothing was dropped\n".to_owned() } else { table.render(style) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reading at a time, with as many packets through a node and dropped.
    fn reading(at: Instant, packets: u64, dropped: Option<u64>) -> Reading {
        let node = json!({ "name": "ip4-lookup", "calls": packets, "packets": packets,
            "packets_per_call": 1.0, "cycles_per_packet": 40.0, "exits": [] });
        let drop = dropped.map(|packets| {
            json!({ "node": "ip4-lookup", "reason": "no-route", "port": "p1",
                "packets": packets, "meaning": "", "help": "" })
        });
        let drops = drop.into_iter().collect::<Vec<_>>();
        Reading { at, values: [json!([]), json!([]), json!([node]), json!(drops)] }
    }

    #[test]
    fn what_came_in_a_second_is_shown_and_a_new_reason_counts_from_nothing() {
        let at = Instant::now();
        let later = at + Duration::from_secs(2);
        let rates = rates(&reading(at, 100, None), &reading(later, 300, Some(50))).unwrap();
        assert_eq!((rates.nodes[0].packets, rates.drops[0].packets), (100, 25));
        let text = rates.text(10, Style::new(false));
        assert!(text.contains("ip4-lookup           100%      100           40.0"), "{text}");
        assert!(text.contains("     25  ip4-lookup  no-route  p1"), "{text}");
    }

    #[test]
    fn an_idle_router_is_told_as_that() {
        let at = Instant::now();
        let later = at + Duration::from_secs(1);
        let rates = rates(&reading(at, 100, Some(7)), &reading(later, 100, Some(7))).unwrap();
        let text = rates.text(10, Style::new(false));
        assert!(text.contains("no packet came") && text.contains("nothing was dropped"), "{text}");
    }
}
