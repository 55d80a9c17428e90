//! Spanning trees: what rows say of them, and what is written back.
//!
//! ```text
//!  Bridge rstp_enable, stp_enable, other_config ─▶ bridge set … rstp on …
//!  Port other_config ─▶ bridge join … path_cost …
//!  the router's trees ─▶ rstp_status, rstp_statistics, in Open vSwitch's words
//! ```

use std::collections::BTreeMap;

use control::view;
use ovsdb::{Atom, Datum, Row};

/// Priorities go by these.
const STEP: u64 = 4096;
const PORT_STEP: u64 = 16;

/// Whether a row says that its bridge is part of a spanning tree.
pub(super) fn is_enabled(bridge: &Row) -> bool {
    says(bridge, "rstp_enable") || says(bridge, "stp_enable")
}

/// Whether it is part of one by the old protocol, if it is part of one.
pub(super) fn is_old(bridge: &Row) -> Option<bool> {
    is_enabled(bridge).then(|| !says(bridge, "rstp_enable"))
}

fn says(row: &Row, column: &str) -> bool {
    row.get(column).atoms().first() == Some(&Atom::Bool(true))
}

/// What is said of the tree: nothing where the bridge is part of none. The old protocol
/// (`stp_enable`) is the new one forced to speak it.
pub(super) fn bridge_words(name: &str, bridge: &Row) -> Result<String, String> {
    if !is_enabled(bridge) {
        return Ok(String::new());
    }
    let is_old = !says(bridge, "rstp_enable");
    if !is_old && says(bridge, "stp_enable") {
        return Err(format!("{name}: stp_enable and rstp_enable exclude each other"));
    }
    let other = bridge.get("other_config").pairs();
    let prefix = if is_old { "stp" } else { "rstp" };
    let number = |key: &str| whole(&other, &format!("{prefix}-{key}"), name);
    let within = |key: &str, least: u64, most: u64, usual: u64| {
        let told = number(key)?.unwrap_or(usual);
        match (least..=most).contains(&told) {
            true => Ok(told),
            false => Err(format!("{name}: {prefix}-{key} is {told}, not {least} to {most}")),
        }
    };
    let priority = within("priority", 0, 65_535, 32_768)?;
    if !is_old && priority % STEP != 0 {
        return Err(format!("{name}: rstp-priority is {priority}, no multiple of 4096"));
    }
    let max_age = within("max-age", 6, 40, 20)?;
    let delay = within("forward-delay", 4, 30, 15)?;
    let version = match is_old {
        true => 0,
        false => within("force-protocol-version", 0, 2, 2)?,
    };
    let version = match version {
        0 => "stp",
        2 => "rstp",
        _ => return Err(format!("{name}: rstp-force-protocol-version is neither 0 nor 2")),
    };
    let mut words = format!(
        " rstp on version {version} priority {} forward_delay {delay}s max_age {max_age}s",
        priority - priority % STEP
    );
    if !is_old {
        words.push_str(&format!(" hold_count {}", within("xmit-hold-count", 1, 10, 6)?));
    }
    let key = if is_old { "stp-system-id" } else { "rstp-address" };
    if let Some(address) = other.get(key) {
        let read = super::wanted::wire_mac(address);
        let read = read.ok_or_else(|| format!("{name}: {key} is `{address}`"))?;
        words.push_str(&format!(" address {read}"));
    }
    Ok(words)
}

/// What the tree has the bridge remember stations for, where nothing else is said.
pub(super) fn ageing(name: &str, bridge: &Row) -> Result<Option<u64>, String> {
    let other = bridge.get("other_config").pairs();
    match is_enabled(bridge) {
        true => whole(&other, "rstp-ageing-time", name),
        false => Ok(None),
    }
}

/// What is said of a port of a tree.
pub(super) fn port_words(name: &str, bridge: &Row, port: &Row) -> Result<String, String> {
    let other = port.get("other_config").pairs();
    let is_old = !says(bridge, "rstp_enable");
    let prefix = if is_old { "stp" } else { "rstp" };
    let text = |key: &str| other.get(&format!("{prefix}-{key}")).map(String::as_str);
    let number = |key: &str| whole(&other, &format!("{prefix}-{key}"), name);
    let mut words = vec![format!("spanning {}", text("enable") != Some("false"))];
    if let Some(cost) = number("path-cost")? {
        words.push(format!("path_cost {cost}"));
    }
    if let Some(number) = number("port-num")? {
        words.push(format!("port_number {number}"));
    }
    if let Some(priority) = number("port-priority")? {
        if priority > 240 && !is_old {
            return Err(format!("{name}: rstp-port-priority is {priority}, not 0 to 240"));
        }
        let priority = priority.min(255);
        words.push(format!("port_priority {}", priority - priority % PORT_STEP));
    }
    for (key, field, usual) in [
        ("port-admin-edge", "admin_edge", false),
        ("port-auto-edge", "auto_edge", true),
        ("port-mcheck", "mcheck", false),
    ] {
        let told = text(key).map_or(usual, |text| text == "true");
        if told != usual {
            words.push(format!("{field} {told}"));
        }
    }
    // 0: a shared network; 1: one neighbour; 2: found out, and links have one neighbour.
    if text("admin-p2p-mac") == Some("0") {
        words.push("point_to_point false".to_owned());
    }
    Ok(words.join(" "))
}

fn whole(other: &BTreeMap<String, String>, key: &str, name: &str) -> Result<Option<u64>, String> {
    match other.get(key).map(|text| text.parse::<u64>()) {
        None => Ok(None),
        Some(Ok(number)) => Ok(Some(number)),
        Some(Err(_)) => Err(format!("{name}: {key} is no number")),
    }
}

/// Bridge's `rstp_status`.
pub(super) fn bridge_status(tree: &view::SpanningTree) -> Datum {
    let text = |text: &str| Atom::Text(text.to_owned());
    Datum::map([
        ("rstp_bridge_id", text(&tree.bridge_id)),
        ("rstp_root_id", text(&tree.root_id)),
        ("rstp_root_path_cost", text(&tree.root_cost.to_string())),
        ("rstp_designated_id", text(&tree.designated_id)),
        ("rstp_designated_port_id", text(&port_id(tree.designated_port_id))),
        ("rstp_bridge_port_id", text(&port_id(tree.root_port_id))),
    ])
}

/// Port's `rstp_status`.
pub(super) fn port_status(port: &view::SpanningPort) -> Datum {
    let text = |text: &str| Atom::Text(text.to_owned());
    Datum::map([
        ("rstp_port_id", text(&port_id(port.port_id))),
        ("rstp_port_role", Atom::Text(capital(&port.role))),
        ("rstp_port_state", Atom::Text(capital(&port.state))),
        ("rstp_designated_bridge_id", text(&port.designated_id)),
        ("rstp_designated_port_id", text(&port_id(port.designated_port_id))),
        ("rstp_designated_path_cost", text(&port.designated_cost.to_string())),
    ])
}

/// Port's `rstp_statistics`.
pub(super) fn port_statistics(port: &view::SpanningPort) -> Datum {
    let whole = |value: u64| Atom::Whole(value.min(i64::MAX as u64) as i64);
    Datum::map([
        ("rstp_tx_count", whole(port.sent)),
        ("rstp_rx_count", whole(port.received)),
        ("rstp_error_count", whole(port.malformed)),
        ("rstp_uptime", whole(port.since_s)),
    ])
}

fn port_id(id: u16) -> String {
    format!("{id:04x}")
}

/// `forwarding` as `Forwarding`.
pub(super) fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(columns: &[(&str, bool)], other: &[(&'static str, &str)]) -> Row {
        let mut row = Row::default();
        for (column, set) in columns {
            row.set(column, Datum::Set(vec![Atom::Bool(*set)]));
        }
        let other = other.iter().map(|(key, value)| (*key, Atom::Text((*value).to_owned())));
        row.set("other_config", Datum::map(other));
        row
    }

    #[test]
    fn a_bridges_row_says_what_its_tree_is() {
        let words = |columns: &[(&str, bool)], other: &[(&'static str, &str)]| {
            bridge_words("br0", &row(columns, other))
        };
        assert_eq!(words(&[("rstp_enable", false)], &[("rstp-priority", "x")]), Ok(String::new()));
        assert_eq!(
            words(&[("rstp_enable", true)], &[]).unwrap(),
            " rstp on version rstp priority 32768 forward_delay 15s max_age 20s hold_count 6"
        );
        let all = [
            ("rstp-priority", "4096"),
            ("rstp-address", "00:AA:aa:aa:aa:aa"),
            ("rstp-forward-delay", "10"),
            ("rstp-max-age", "12"),
            ("rstp-force-protocol-version", "0"),
            ("rstp-xmit-hold-count", "3"),
        ];
        assert_eq!(
            words(&[("rstp_enable", true)], &all).unwrap(),
            " rstp on version stp priority 4096 forward_delay 10s max_age 12s hold_count 3 \
             address 00:aa:aa:aa:aa:aa"
        );
        assert_eq!(
            words(&[("stp_enable", true)], &[("stp-priority", "0x"), ("rstp-priority", "1")]),
            Err("br0: stp-priority is no number".to_owned())
        );
        assert_eq!(
            words(&[("stp_enable", true)], &[("stp-priority", "100")]).unwrap(),
            " rstp on version stp priority 0 forward_delay 15s max_age 20s"
        );
        for (other, why) in [
            (("rstp-priority", "100"), "br0: rstp-priority is 100, no multiple of 4096"),
            (("rstp-max-age", "41"), "br0: rstp-max-age is 41, not 6 to 40"),
            (("rstp-address", "1:2"), "br0: rstp-address is `1:2`"),
        ] {
            assert_eq!(words(&[("rstp_enable", true)], &[other]), Err(why.to_owned()));
        }
        let both = words(&[("rstp_enable", true), ("stp_enable", true)], &[]);
        assert_eq!(both, Err("br0: stp_enable and rstp_enable exclude each other".to_owned()));
    }

    #[test]
    fn a_ports_row_says_what_it_is_to_the_tree() {
        let bridge = row(&[("rstp_enable", true)], &[]);
        let words =
            |other: &[(&'static str, &str)]| port_words("br0", &bridge, &row(&[], other)).unwrap();
        assert_eq!(words(&[]), "spanning true");
        let all = [
            ("rstp-enable", "false"),
            ("rstp-port-num", "7"),
            ("rstp-path-cost", "200"),
            ("rstp-port-priority", "17"),
            ("rstp-port-admin-edge", "true"),
            ("rstp-port-auto-edge", "false"),
            ("rstp-port-mcheck", "true"),
            ("rstp-admin-p2p-mac", "0"),
        ];
        assert_eq!(
            words(&all),
            "spanning false path_cost 200 port_number 7 port_priority 16 admin_edge true \
             auto_edge false mcheck true point_to_point false"
        );
    }

    #[test]
    fn what_is_written_back_is_in_open_vswitchs_words() {
        let port = view::SpanningPort {
            port_id: 0x8001,
            role: "designated".into(),
            state: "forwarding".into(),
            ..view::SpanningPort::default()
        };
        let told = port_status(&port).pairs();
        let of = |key: &str| told.get(key).map(String::as_str);
        assert_eq!(
            [of("rstp_port_id"), of("rstp_port_role"), of("rstp_port_state")],
            [Some("8001"), Some("Designated"), Some("Forwarding")]
        );
    }
}
