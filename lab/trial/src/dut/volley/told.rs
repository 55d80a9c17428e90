//! What Volley tells of itself: its API's answers, read.
//!
//! ```text
//! ports, errors, workers ─▶ counters, stalls, when its workers were away
//! nodes                  ─▶ what each costs
//! ```

use lab_record::{AwayAt, Counters, NodeCost};
use serde::Deserialize;

use crate::Error;
use crate::dut::bridge::AGEING_S;
use crate::scenario::{AGEING, FLOOD, LEARNING, UNKNOWN_UNICAST_FLOOD};

/// A port as the API shows it, but for what is not needed here.
#[derive(Deserialize)]
struct Port {
    name: String,
    rx: Counted,
    tx: Counted,
}

/// What its graph drops is told by reason elsewhere.
#[derive(Deserialize)]
struct Counted {
    packets: u64,
    errors: u64,
}

/// A node of its graph.
#[derive(Deserialize)]
struct Node {
    name: String,
    calls: u64,
    packets: u64,
    cycles_per_packet: f64,
}

/// A worker.
#[derive(Deserialize)]
struct Worker {
    /// Builds of before there was such a thing do not tell.
    stalls: Option<WorkerStalls>,
}

#[derive(Deserialize)]
struct WorkerStalls {
    count: u64,
    total_us: f64,
    longest_us: f64,
    #[serde(default)]
    latest: Vec<WorkerStall>,
}

#[derive(Deserialize)]
struct WorkerStall {
    ended_unix_s: f64,
    length_us: f64,
}

/// Packets dropped for a reason.
#[derive(Deserialize)]
struct Dropped {
    node: String,
    reason: String,
    packets: u64,
}

/// Its counters, out of three answers, a line each.
pub(super) fn of_text(text: &str) -> Option<Counters> {
    let mut lines = text.lines();
    counters([(); 3].map(|()| lines.next().unwrap_or("[]"))).ok()
}

/// Its counters, out of the answers that list its ports, what was dropped, and its workers.
pub(super) fn counters(answers: [&str; 3]) -> Result<Counters, Error> {
    let [ports, dropped, workers] = answers;
    let ports: Vec<Port> = read("ports", ports)?;
    let dropped: Vec<Dropped> = read("errors", dropped)?;
    let workers: Vec<Worker> = read("workers", workers)?;
    let mut counters = Counters::default();
    for Port { name, rx, tx } in ports {
        counters.receive(rx.packets);
        counters.send(tx.packets);
        counters.drop(format!("{name} rx"), rx.errors);
        counters.drop(format!("{name} tx"), tx.errors);
    }
    for Dropped { node, reason, packets } in dropped {
        counters.drop(format!("{node} {reason}"), packets);
    }
    for WorkerStalls { count, total_us, longest_us, latest } in
        workers.into_iter().filter_map(|worker| worker.stalls)
    {
        counters.away.extend(latest.into_iter().map(|stall| AwayAt {
            until_unix_ns: (stall.ended_unix_s * 1e9) as u64,
            length_ns: (stall.length_us * 1e3) as u64,
        }));
        let stalls = counters.stalls.get_or_insert_default();
        stalls.workers += 1;
        stalls.count = stalls.count.saturating_add(count);
        stalls.total_us = stalls.total_us.saturating_add(total_us as u64);
        stalls.longest_us = stalls.longest_us.max(longest_us as u64);
    }
    Ok(counters)
}

/// A bridge.
#[derive(Deserialize)]
struct Bridge {
    ageing_s: u64,
    ports: Vec<BridgePort>,
}

#[derive(Deserialize)]
struct BridgePort {
    flags: Vec<String>,
}

/// The switches of its bridges: what one port has not is off. Where stations are remembered for
/// another time than the lab's they are, as far as any build lets them be, not forgotten.
pub(super) fn switches(answer: &str) -> Result<Vec<(&'static str, bool)>, Error> {
    let bridges: Vec<Bridge> = read("bridges", answer)?;
    let all = |flag: &str| {
        let mut ports = bridges.iter().flat_map(|bridge| &bridge.ports);
        ports.all(|port| port.flags.iter().any(|it| it == flag))
    };
    let learning = all("learn");
    // Who learns nothing has nothing to forget, unless it is told how soon to.
    let ageing = bridges.iter().all(|bridge| bridge.ageing_s == AGEING_S);
    Ok(vec![
        (LEARNING, learning),
        (AGEING, ageing),
        (UNKNOWN_UNICAST_FLOOD, all("flood_unknown")),
        (FLOOD, all("flood_groups")),
    ])
}

/// What each of its nodes costs.
pub(super) fn nodes(answer: &str) -> Result<Vec<NodeCost>, Error> {
    let nodes: Vec<Node> = read("nodes", answer)?;
    let cost = |Node { name, calls, packets, cycles_per_packet }| NodeCost {
        node: name,
        calls,
        packets,
        cycles: cycles_per_packet * packets as f64,
    };
    Ok(nodes.into_iter().map(cost).collect())
}

/// One answer.
fn read<'a, T: Deserialize<'a>>(path: &str, answer: &'a str) -> Result<T, Error> {
    serde_json::from_str(answer).map_err(|error| Error::Command {
        line: format!("GET /v1/{path}"),
        reason: format!("{error} in {answer:.200}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_drops_and_workers_are_counted_together() {
        let ports = r#"[{"name":"p0","rx":{"packets":7,"errors":1},"tx":{"packets":0,"errors":0}},
            {"name":"p1","rx":{"packets":0,"errors":0},"tx":{"packets":6,"errors":0}}]"#;
        let errors = r#"[{"node":"ip4-lookup","reason":"no-route","packets":1}]"#;
        let workers = r#"[{"id":0},{"id":1,"stalls":{"count":2,"total_us":900.5,"longest_us":600,
            "latest":[{"ended_unix_s":1.5,"length_us":300.5}]}}]"#;
        let told = counters([ports, errors, workers]).unwrap();
        assert_eq!((told.received, told.sent), (7, 6));
        let drops = [("p0 rx".to_owned(), 1), ("ip4-lookup no-route".to_owned(), 1)];
        assert_eq!(told.drops, drops.into());
        let stalls = told.stalls.unwrap();
        assert_eq!((stalls.workers, stalls.count, stalls.total_us), (1, 2, 900));
        assert_eq!(told.away, [AwayAt { until_unix_ns: 1_500_000_000, length_ns: 300_500 }]);
    }

    #[test]
    fn the_switches_of_a_bridge_are_those_of_all_its_ports() {
        let port = |flags: &str| format!(r#"{{"port":"p","flags":[{flags}]}}"#);
        let of = |ageing_s: u64, second: &str| {
            let ports = [port(r#""learn","flood_unknown","flood_groups""#), port(second)];
            let told =
                switches(&format!(r#"[{{"ageing_s":{ageing_s},"ports":[{}]}}]"#, ports.join(",")));
            told.unwrap().iter().map(|it| it.1).collect::<Vec<_>>()
        };
        assert_eq!(of(300, r#""learn","flood_unknown","flood_groups""#), [true; 4]);
        assert_eq!(of(7_200, r#""flood_unknown""#), [false, false, true, false]);
    }

    #[test]
    fn an_answer_that_is_none_is_named() {
        let error = counters(["[]", "{", "[]"]).unwrap_err().to_string();
        assert!(error.contains("GET /v1/errors"), "{error}");
    }
}
