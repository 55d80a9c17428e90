//! What the daemon knows and commands tell: bridges with the numbers of their ports, counters over
//! time.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use ovsdb::Rows;

use super::super::rstp;
use super::super::wanted::Wanted;

/// So long is looked back.
const PAST: Duration = Duration::from_secs(3600);

/// See the module.
#[derive(Debug, Default)]
pub(in crate::ovs) struct Known {
    pub(super) bridges: BTreeMap<String, KnownBridge>,
    /// Bridges that are part of a spanning tree, and whether the old protocol was asked for.
    pub(super) trees: BTreeMap<String, bool>,
    /// Counters every so often, the newest last.
    pub(super) samples: VecDeque<(Instant, BTreeMap<String, u64>)>,
    /// Most flows that there were when somebody asked.
    most_flows: usize,
}

/// A bridge of the database's.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct KnownBridge {
    /// Its ports by number.
    pub(super) ports: BTreeMap<u16, KnownPort>,
    /// Bridges of the router's that it is made of, with the VLANs whose frames they have.
    pub(super) parts: BTreeMap<String, u16>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct KnownPort {
    pub(super) name: String,
    /// The bond that it is a member of, if it is one's.
    pub(super) bond: Option<String>,
    /// The type of its interface.
    pub(super) kind: String,
    /// Its options, as the database has them.
    pub(super) options: BTreeMap<String, String>,
}

impl Known {
    /// Takes note of a round.
    pub(in crate::ovs) fn learn(&mut self, rows: &Rows, wanted: &Wanted) {
        self.bridges.clear();
        self.trees.clear();
        for (part, bridge) in &wanted.bridges {
            let Some(row) = rows.get("Bridge", &bridge.of) else { continue };
            let name = row.text("name").unwrap_or_default();
            let vlan = part.strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
            if let Some(is_old) = rstp::is_old(row) {
                self.trees.insert(name.to_owned(), is_old);
            }
            let known = self.bridges.entry(name.to_owned()).or_default();
            known.parts.insert(part.clone(), vlan.and_then(|it| it.parse().ok()).unwrap_or(0));
            for (_, of_port) in rows.named(row, "ports", "Port") {
                let interfaces: Vec<_> = rows.named(of_port, "interfaces", "Interface").collect();
                let bond = of_port.text("name").filter(|_| interfaces.len() > 1);
                for (uuid, interface) in interfaces {
                    let Some(number) = wanted.numbers.get(uuid) else { continue };
                    let text = |column| interface.text(column).unwrap_or_default().to_owned();
                    let port = KnownPort {
                        name: text("name"),
                        bond: bond.map(str::to_owned),
                        kind: text("type"),
                        options: interface.get("options").pairs(),
                    };
                    known.ports.insert(*number, port);
                }
            }
        }
    }

    /// So many flows there are: the most that there were.
    pub(super) fn flows_seen(&mut self, now: usize) -> usize {
        self.most_flows = self.most_flows.max(now);
        self.most_flows
    }

    /// Takes note of counters.
    pub(in crate::ovs) fn count(&mut self, now: Instant, counters: BTreeMap<String, u64>) {
        self.samples.push_back((now, counters));
        while self.samples.len() > 1
            && self.samples.front().is_some_and(|(then, _)| now.duration_since(*then) > PAST)
        {
            self.samples.pop_front();
        }
    }
}
