//! What is written back: numbers, links, counters, errors, and that all is done.

use std::collections::BTreeMap;

use control::view;
use ovsdb::{Atom, Datum, Rows};
use serde_json::{Value, json};

use super::make::Outcome;
use super::router::Running;
use super::rstp;
use super::wanted::Wanted;

/// Kinds of interfaces that there are.
const KINDS: [&str; 10] = [
    "dpdk",
    "dpdkvhostuser",
    "dpdkvhostuserclient",
    "geneve",
    "gre",
    "internal",
    "patch",
    "system",
    "tap",
    "vxlan",
];

/// Columns of a row that are to be other than they are.
pub(super) struct Columns(BTreeMap<(&'static str, String), BTreeMap<&'static str, Datum>>);

/// What is written with every round, and what with counters alone.
pub(super) fn columns(rows: &Rows, wanted: &Wanted, outcome: &Outcome, counts: bool) -> Columns {
    let mut told = Columns(BTreeMap::new());
    for (uuid, _) in rows.table("Interface") {
        let name = wanted.interfaces.get(uuid);
        let port = name.and_then(|name| outcome.running.ports.get(name));
        let fault = outcome.faults.get(uuid);
        let number = wanted.numbers.get(uuid).filter(|_| port.is_some());
        let is_meant = name.is_some() || fault.is_some();
        told.tell_interface(uuid, is_meant, number.copied(), port, fault);
        if let Some(port) = port.filter(|_| counts) {
            told.put("Interface", uuid, "statistics", statistics(port));
        }
    }
    for (name, mirror) in wanted.mirrors.iter().filter(|_| counts) {
        if let Some(copies) = copies(name, &outcome.running) {
            told.put("Mirror", &mirror.of, "statistics", copies);
        }
    }
    for (uuid, datapath) in &wanted.datapaths {
        told.put("Bridge", uuid, "datapath_id", Datum::text(datapath));
        told.put("Bridge", uuid, "datapath_version", Datum::text(env!("CARGO_PKG_VERSION")));
    }
    for bridge in wanted.bridges.iter().filter(|(_, bridge)| !bridge.controllers.is_empty()) {
        told.tell_controllers(rows, bridge.0, &bridge.1.of, &outcome.running.controllers);
    }
    told.tell_trees(rows, wanted, outcome, counts);
    if let Some((uuid, root)) = rows.table("Open_vSwitch").next() {
        let kinds = KINDS.iter().map(|kind| Atom::Text((*kind).to_owned()));
        told.put("Open_vSwitch", uuid, "iface_types", Datum::Set(kinds.collect()));
        told.put(
            "Open_vSwitch",
            uuid,
            "cur_cfg",
            Datum::whole(root.whole("next_cfg").unwrap_or(0)),
        );
    }
    told
}

impl Columns {
    fn put(&mut self, table: &'static str, uuid: &str, column: &'static str, datum: Datum) {
        self.0.entry((table, uuid.to_owned())).or_default().insert(column, datum);
    }

    fn tell_interface(
        &mut self,
        uuid: &str,
        is_meant: bool,
        number: Option<u16>,
        port: Option<&view::Port>,
        fault: Option<&String>,
    ) {
        let mut put = |column, datum| self.put("Interface", uuid, column, datum);
        // -1 is what could not be; nothing is of a row that no bridge names.
        let number = number.map(i64::from).or(is_meant.then_some(-1));
        put("ofport", number.map_or_else(Datum::default, Datum::whole));
        put("error", Datum::maybe_text(fault));
        let state = |is_up: bool| if is_up { "up" } else { "down" };
        put("admin_state", Datum::maybe_text(port.map(|port| state(port.admin_up))));
        put("link_state", Datum::maybe_text(port.map(|port| state(port.link_up))));
        put("mac_in_use", Datum::maybe_text(port.map(|port| port.mac.as_str())));
        put("mtu", port.map_or_else(Datum::default, |port| Datum::whole(port.mtu.into())));
        let speed = port.map(|port| i64::from(port.link_mbps) * 1_000_000).filter(|it| *it != 0);
        put("link_speed", speed.map_or_else(Datum::default, Datum::whole));
        let driver = port.map(|port| ("driver_name", Atom::Text(format!("volley {}", port.kind))));
        put("status", Datum::map(driver));
    }

    /// What bridges and ports are to spanning trees; nothing, where they are part of none.
    fn tell_trees(&mut self, rows: &Rows, wanted: &Wanted, outcome: &Outcome, counts: bool) {
        let trees = &outcome.running.trees;
        let bridges = rows.table("Bridge");
        for (uuid, row) in bridges.filter(|(uuid, _)| wanted.datapaths.contains_key(*uuid)) {
            let tree = trees.iter().find(|tree| row.text("name") == Some(&tree.bridge));
            if tree.is_some() || row.has("rstp_status") {
                let status = tree.map_or_else(none, rstp::bridge_status);
                self.put("Bridge", uuid, "rstp_status", status);
            }
        }
        for (uuid, row) in rows.table("Port") {
            let port = wanted.spanned.get(uuid).and_then(|(bridge, name)| {
                let tree = trees.iter().find(|tree| tree.bridge == *bridge)?;
                tree.ports.iter().find(|port| port.port == *name)
            });
            if port.is_some() || row.has("rstp_status") {
                self.put("Port", uuid, "rstp_status", port.map_or_else(none, rstp::port_status));
            }
            if let Some(port) = port.filter(|_| counts) {
                self.put("Port", uuid, "rstp_statistics", rstp::port_statistics(port));
            }
        }
    }

    fn tell_controllers(
        &mut self,
        rows: &Rows,
        bridge: &str,
        uuid: &str,
        shown: &[view::Controller],
    ) {
        let Some(row) = rows.get("Bridge", uuid) else { return };
        for (uuid, controller) in rows.named(row, "controller", "Controller") {
            let target = controller.text("target").unwrap_or_default();
            let is_it = |it: &&view::Controller| it.bridge == bridge && is_same(&it.target, target);
            let Some(seen) = shown.iter().find(is_it) else { continue };
            let is_connected = seen.connected > 0;
            self.put(
                "Controller",
                uuid,
                "is_connected",
                Datum::Set(vec![Atom::Bool(is_connected)]),
            );
            let role =
                seen.role.as_deref().map(|role| if role == "equal" { "other" } else { role });
            self.put("Controller", uuid, "role", Datum::maybe_text(role));
            let state = if is_connected { "ACTIVE" } else { "BACKOFF" };
            let mut status = vec![("state", Atom::Text(state.to_owned()))];
            if let Some(problem) = &seen.problem {
                status.push(("last_error", Atom::Text(problem.clone())));
            }
            self.put("Controller", uuid, "status", Datum::map(status));
        }
    }

    /// The operations that make rows what they are to be, of columns that the schema has, where
    /// they are not so already.
    pub(super) fn changes(&self, rows: &Rows, has: impl Fn(&str, &str) -> bool) -> Vec<Value> {
        let mut changes = Vec::new();
        for ((table, uuid), columns) in &self.0 {
            let Some(row) = rows.get(table, uuid) else { continue };
            let differs = |(column, datum): &(&&'static str, &Datum)| {
                has(table, column) && row.get(column) != *datum
            };
            let changed: serde_json::Map<String, Value> = columns
                .iter()
                .filter(differs)
                .map(|(column, datum)| ((*column).to_owned(), datum.write()))
                .collect();
            if !changed.is_empty() {
                changes.push(json!({
                    "op": "update",
                    "table": table,
                    "where": [["_uuid", "==", ["uuid", uuid]]],
                    "row": changed,
                }));
            }
        }
        changes
    }
}

/// A map without anything.
fn none() -> Datum {
    Datum::map([])
}

/// Whether a target as the router writes it is one as a person may.
fn is_same(ours: &str, theirs: &str) -> bool {
    use control::config::field::Field;
    use control::config::objects::bridge_controller::Target;
    Target::from_text(theirs).is_ok_and(|target| target.text() == ours)
}

/// How many frames a mirror copied; their bytes are what left where nothing else does.
fn copies(name: &str, running: &Running) -> Option<Datum> {
    let mirror = running.mirrors.get(name)?;
    let packets = mirror.sources.iter().map(|it| it.received + it.sent).sum::<u64>();
    let bytes = running.ports.get(&mirror.destination).map_or(0, |port| port.tx.bytes);
    let whole = |value: u64| Atom::Whole(value.min(i64::MAX as u64) as i64);
    Some(Datum::map([("tx_bytes", whole(bytes)), ("tx_packets", whole(packets))]))
}

fn statistics(port: &view::Port) -> Datum {
    let counters = |of: view::PortCounters, names: [&'static str; 4]| {
        let values = [of.packets, of.bytes, of.drops, of.errors];
        names.into_iter().zip(values.map(|value| Atom::Whole(value.min(i64::MAX as u64) as i64)))
    };
    let received = counters(port.rx, ["rx_packets", "rx_bytes", "rx_dropped", "rx_errors"]);
    let sent = counters(port.tx, ["tx_packets", "tx_bytes", "tx_dropped", "tx_errors"]);
    Datum::map(received.chain(sent))
}
