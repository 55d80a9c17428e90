//! What configurations are made of here: one line a piece, drawn together at random.
//!
//! ```text
//!  FIXED     two ports that no change touches, and what is settled at the start
//!  PORTS     five more: each there or not, with at most one of each group of fields
//!  LINES     objects in one line, one of several ways each
//!  TABLES    rows of arrays, likewise
//! ```
//! Not every drawing is a configuration: what the check refuses is not applied, and that is right.

use crate::chance::Chance;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What every configuration has: the ports of the flows that nothing may disturb.
pub(crate) const FIXED: &str = r#"
workers = { mode = "single-thread" }
memory = { buffers = 4096, hugepages = "never", routes = 20000, ip6_routes = 20000, macs = 1024 }
port.s0 = { kind = "af_packet", device = "d0", addresses = ["10.1.0.1/24", "2001:db8:1::1/64"] }
port.s1 = { kind = "af_packet", device = "d1", addresses = ["10.2.0.1/24", "2001:db8:2::1/64"] }
"#;

/// How many connections are known where nothing else is said: full before long.
const FEW_CONNECTIONS: &str = "connections = { max = 64 }\n";

/// The first device of ports that come and go, and how many there are.
pub(crate) const FIRST: usize = 2;
/// See [`FIRST`].
pub(crate) const COUNT: usize = 5;

/// Groups of fields of a port; `N` is its number.
const FIELDS: &[&[&str]] = &[
    &[
        r#"addresses = ["10.1N.0.1/24"]"#,
        r#"addresses = ["10.1N.0.1/24", "2001:db8:1N::1/64"]"#,
        r#"addresses = ["10.1N.0.1/24", "10.1N.1.1/24", "2001:db8:1N::1/64"]"#,
        r#"addresses = ["2001:db8:1N::1/64"]"#,
        r#"unnumbered = "s0""#,
    ],
    &["up = false"],
    &["mtu = 1400", "mtu = 1280", "mtu = 576"],
    &[r#"vrf = "red""#],
    &[r#"mac = "02:00:00:00:02:0N""#],
    &[r#"acl_in = "edge""#],
    &[r#"acl_out = "edge""#],
    &[r#"policy = "ways""#],
    &[r#"urpf = { ip4 = "strict", ip6 = "loose" }"#, r#"urpf = { ip4 = "loose" }"#],
    &[r#"allow = { from = ["10.1N.0.0/24", "2001:db8::/32"] }"#],
    &[r#"police_in = "slow""#, r#"police_out = "slow""#],
    &[r#"mark_dscp = "ef""#],
    &[
        r#"qos = { kind = "fq_codel", rate = "1mbit", burst = "32kb" }"#,
        r#"qos = { kind = "sfq" }"#,
        r#"qos = { kind = "tbf", rate = "100kbit", burst = "4kb", limit = "20kb" }"#,
        r#"qos = { kind = "codel" }"#,
        r#"qos = { kind = "cake", bandwidth = "1mbit", tins = "diffserv4", ack_filter = true }"#,
        r#"qos = { kind = "pfifo", limit = 8 }"#,
        r#"qos = { kind = "htb", default = "1:2", class = [{ id = "1:1", rate = "1mbit" }, { id = "1:2", parent = "1:1", rate = "500kbit" }] }"#,
    ],
    &["redirects = true"],
    &[r#"proxy_arp = ["10.0.0.0/8"]"#],
    &[r#"proxy_nd = ["2001:db8::/32"]"#],
    &["directed_broadcasts = true"],
    &["ra = true"],
    &["routing = true"],
    &["rx_queues = 2"],
];

/// Objects of one line.
const LINES: &[&[&str]] = &[
    &["vrf.red = {}"],
    &[
        r#"policer.slow = { rate = "1mbit", burst = "10kb" }"#,
        r#"policer.slow = { rate = "10kbit", burst = "2kb", exceed = "drop" }"#,
    ],
    &[
        r#"acl.edge = { default = "deny", rule = [{ action = "permit" }] }"#,
        r#"acl.edge = { default = "permit", rule = [{ action = "deny", protocol = "tcp", destination_port = "1-1024" }] }"#,
        r#"acl.edge = { default = "deny", rule = [{ action = "permit", source = "10.0.0.0/8", fragment = "none" }, { action = "permit", protocol = "icmp" }] }"#,
        r#"acl.edge = { default = "deny", rule = [{ action = "permit", protocol = "icmp" }, { action = "reflect" }] }"#,
    ],
    &[
        r#"acl.ways = { default = "permit", rule = [{ action = "route", protocol = "udp", via = "10.1.0.2", port = "s0" }] }"#,
        r#"acl.ways = { default = "permit", rule = [{ action = "route", source = "10.0.0.0/8", vrf = "red", fallback = "drop" }] }"#,
    ],
    &[
        r#"mirror.m = { destination = "p6", sources = ["p2"] }"#,
        r#"mirror.m = { destination = "p6", sources = ["p2", { port = "p3", direction = "rx" }], truncate = 100, sample = 2 }"#,
        r#"mirror.m = { destination = "er", sources = ["p2"] }"#,
    ],
    &[
        r#"bridge.lan = { ports = ["p3", "p4"] }"#,
        r#"bridge.lan = { ports = ["p3", "p4", { port = "vx", group = 1, isolated = true }], answer_arp = true }"#,
        r#"bridge.lan = { ports = ["p4", "bv", { port = "p5", storm_pps = 10, learn = false }], answer_nd = true, ageing = "10s", mac_limit = 16 }"#,
        r#"bridge.lan = { ports = ["p3", "p4"], rstp = true }"#,
        r#"bridge.lan = { ports = ["p3", { port = "p4", path_cost = 7, admin_edge = true }, { port = "vx", group = 1 }], rstp = { priority = 4096, forward_delay = "4s", max_age = "6s" } }"#,
        r#"bridge.lan = { ports = ["p3", { port = "p4", auto_edge = false, mcheck = true }, "bv"], rstp = { version = "stp", hold_count = 1 } }"#,
    ],
    &[
        r#"bridge.fl = { mode = "flow", ports = ["p5", "p6"] }"#,
        r#"bridge.fl = { mode = "flow", ports = ["p6", "bv"], fail_mode = "secure" }"#,
        r#"bridge.fl = { mode = "flow", ports = [{ port = "p3", number = 7 }, "p5", "p6"] }"#,
        r#"bridge.fl = { mode = "flow", ports = ["p5", "gn"] }"#,
        r#"bridge.fl = { mode = "flow", ports = ["p5", { port = "p6", point_to_point = false }], rstp = { priority = 8192 } }"#,
    ],
    &[
        r#"nat.home = { outside = "s1", inside = ["p2"], nat64 = "64:ff9b::/96" }"#,
        r#"nat.home = { outside = "s1", inside = ["p2", "p3"], nat64 = "64:ff9b::/96", ports = "4000-4015", open = true }"#,
        r#"nat.home = { outside = "p3", inside = ["p2"], nat64 = "2001:db8:64::/48", pool = ["10.13.0.1", "10.13.0.77-10.13.0.78"] }"#,
        r#"nat.home = { outside = "s1", inside = ["p2"], forward = [{ protocol = "tcp", port = "80", to = "10.12.0.9" }] }"#,
    ],
    &[
        r#"connections = { max = 100, tcp_established = "30s" }"#,
        r#"connections = { max = 64, udp = "1s", tcp_loose = false }"#,
    ],
    &[
        r#"port.v7 = { kind = "vlan", parent = "p2", vlan = 7, addresses = ["10.77.0.1/24", "2001:db8:77::1/64"] }"#,
        r#"port.v7 = { kind = "vlan", parent = "p2", vlan = 8, inner = 9, mtu = 1300 }"#,
    ],
    &[r#"port.v8 = { kind = "vlan", parent = "b0", vlan = 8, addresses = ["10.88.0.1/24"] }"#],
    &[
        r#"port.vx = { kind = "vxlan", vni = 5, local = "10.12.0.1", remotes = ["10.12.0.7"] }"#,
        r#"port.vx = { kind = "vxlan", vni = 6, local = "10.1.0.1", remotes = ["10.1.0.2"], learn_remotes = true }"#,
    ],
    &[
        r#"port.gr = { kind = "gre", payload = "packets", local = "10.1.0.1", remote = "10.1.0.2", addresses = ["10.78.0.1/30"] }"#,
        r#"port.gr = { kind = "gre", key = 7, local = "10.12.0.1", remote = "10.12.0.7" }"#,
    ],
    &[
        r#"port.ip = { kind = "ipip", local = "10.12.0.1", remote = "10.12.0.7", addresses = ["10.79.0.1/30"] }"#,
    ],
    &[
        r#"port.gn = { kind = "geneve", vni = "flow", local = "10.12.0.1", remote = "10.12.0.7" }"#,
        r#"port.gn = { kind = "vxlan", vni = "flow", local = "10.12.0.1", remote = "10.12.0.7" }"#,
        r#"port.gn = { kind = "vxlan", vni = "flow", local = "10.12.0.1", remote = "flow" }"#,
        r#"port.gn = { kind = "vxlan", vni = "flow", local = "flow", remote = "flow" }"#,
        r#"port.gn = { kind = "geneve", vni = 9, remote = "10.12.0.7" }"#,
        r#"port.gn = { kind = "geneve", vni = 9, local = "10.12.0.1", remote = "10.12.0.7" }"#,
    ],
    &[r#"port.er = { kind = "erspan", session = 5, local = "10.12.0.1", remote = "10.12.0.7" }"#],
    &[
        r#"port.b0 = { kind = "bond", members = ["p5", "p6"], mode = "balance-xor", addresses = ["10.80.0.1/24"] }"#,
        r#"port.b0 = { kind = "bond", members = ["p5", "p6"], mode = "active-backup", primary = "p5", min_links = 1 }"#,
        r#"port.b0 = { kind = "bond", members = ["p5", "p6"], mode = "802.3ad", lacp_rate = "fast" }"#,
        r#"port.b0 = { kind = "bond", members = ["p5", "p6"], mode = "balance-slb", addresses = ["10.80.0.1/24"] }"#,
    ],
    &[r#"port.bv = { kind = "bvi", addresses = ["10.81.0.1/24"] }"#],
    &[r#"port.li = { kind = "lisp", locators = ["10.12.0.1"] }"#],
    &[r#"icmp = { errors_pps = 7 }"#, r#"icmp = { echo = false, echo_broadcasts = true }"#],
    &[
        r#"arp = { lifetime = "30s", retry = "100ms", attempts = 2 }"#,
        r#"arp = { keep = true, requests_pps = 50 }"#,
    ],
    &[
        r#"flows = { symmetric = true }"#,
        r#"flows = { fields = ["source", "destination"], inner = true }"#,
    ],
    &[r#"next_hops = { counters = true }"#],
    &[r#"ip4 = { class_e = true }"#],
    &[
        r#"lisp = { map_server = true, probe = "10s" }"#,
        r#"lisp = { map_resolvers = ["10.12.0.53"], pending = 4 }"#,
    ],
    &[r#"lisp_site.east = { key = "secret", eids = ["10.90.0.0/16"] }"#],
];

/// Rows of arrays: the table's name, then ways of the row.
const TABLES: &[(&str, &[&str])] = &[
    (
        "route",
        &[
            r#"prefix = "100.64.0.0/10", via = "10.12.0.9""#,
            r#"prefix = "100.64.0.0/10", via = "10.1.0.2""#,
        ],
    ),
    (
        "route",
        &[
            r#"prefix = "100.64.1.0/24", blackhole = true"#,
            r#"prefix = "100.64.1.0/24", unreachable = true"#,
        ],
    ),
    (
        "route",
        &[
            r#"prefix = "100.64.2.0/24", via = ["10.12.0.9", { address = "10.13.0.9", weight = 3 }, "10.2.0.2"]"#,
        ],
    ),
    ("route", &[r#"prefix = "100.65.0.0/16", via = "100.64.2.1""#]),
    ("route", &[r#"prefix = "100.66.0.0/16", port = "p2""#]),
    (
        "route",
        &[
            r#"prefix = "0.0.0.0/0", via = "10.2.0.2""#,
            r#"prefix = "0.0.0.0/0", via = "10.13.0.9""#,
        ],
    ),
    (
        "route",
        &[
            r#"prefix = "2001:db8:f::/48", via = "2001:db8:12::9""#,
            r#"prefix = "::/0", via = "2001:db8:2::2""#,
        ],
    ),
    (
        "route",
        &[
            r#"vrf = "red", prefix = "0.0.0.0/0", via_vrf = "default""#,
            r#"vrf = "red", prefix = "100.67.0.0/16", via = "10.14.0.9""#,
        ],
    ),
    ("neighbor", &[r#"port = "p2", address = "10.12.0.9", mac = "06:00:00:00:00:09""#]),
    ("neighbor", &[r#"port = "p3", address = "2001:db8:13::9", mac = "06:00:00:00:00:19""#]),
    ("mac", &[r#"bridge = "lan", address = "06:00:00:00:00:01", port = "p4""#]),
    ("xconnect", &[r#"ports = ["p5", "p6"]"#, r#"ports = ["p2", "p3"]"#]),
    ("lisp_eid", &[r#"prefix = "10.91.0.0/16", port = "li""#]),
    ("lisp_map", &[r#"eid = "10.92.0.0/16", port = "li", rlocs = ["10.12.0.9"]"#]),
    ("lisp_server", &[r#"address = "10.12.0.53", key = "secret""#]),
];

/// A drawing: what of it there is, and which way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Drawing {
    ports: BTreeMap<usize, BTreeMap<usize, usize>>,
    lines: BTreeMap<usize, usize>,
    rows: BTreeMap<usize, usize>,
}

impl Drawing {
    /// What a run begins with, which chance alone draws rarely: a bridge of flows or none, a tunnel
    /// of several remotes in a bridge, hosts of IPv6 that reach those of IPv4, a spanning tree.
    pub(crate) fn first(seed: u64) -> Self {
        let line = |begins: &str| LINES.iter().position(|ways| ways[0].starts_with(begins));
        let mut it = Self::default();
        if seed & 1 != 0 {
            it.ports.extend([5, 6].map(|number| (number, BTreeMap::new())));
            it.lines.extend(line("bridge.fl").map(|at| (at, 0)));
        }
        if seed & 2 != 0 {
            it.ports.insert(2, BTreeMap::from([(0, 0)]));
            it.ports.extend([3, 4].map(|number| (number, BTreeMap::new())));
            it.lines.extend(line("bridge.lan").map(|at| (at, 1)));
            it.lines.extend(line("port.vx").map(|at| (at, 0)));
        }
        if seed & 4 != 0 {
            it.ports.insert(2, BTreeMap::from([(0, 1)]));
            it.lines.extend(line("nat.home").map(|at| (at, (seed >> 4) as usize & 1)));
            if seed >> 4 & 1 != 0 {
                it.ports.entry(3).or_default();
            }
        }
        if seed & 8 != 0 {
            it.ports.entry(3).or_default();
            it.ports.entry(4).or_default();
            it.lines.extend(line("bridge.lan").map(|at| (at, if seed & 2 != 0 { 4 } else { 3 })));
        }
        it
    }

    /// One piece of it comes, goes, or is another.
    pub(crate) fn change(&mut self, chance: &mut Chance) {
        match chance.below(8) {
            0 => {
                let number = FIRST + chance.below(COUNT);
                if self.ports.remove(&number).is_none() {
                    self.ports.insert(number, BTreeMap::from([(0, chance.below(4))]));
                }
            }
            1..4 => {
                let number = FIRST + chance.below(COUNT);
                let fields = self.ports.entry(number).or_default();
                turn(fields, FIELDS, |field| field.len(), chance);
            }
            4 | 5 => turn(&mut self.lines, LINES, |line| line.len(), chance),
            _ => turn(&mut self.rows, TABLES, |(_, ways)| ways.len(), chance),
        }
    }

    /// As a file has it.
    pub(crate) fn text(&self) -> String {
        let mut text = FIXED.to_owned();
        for (number, fields) in &self.ports {
            let _ =
                write!(text, "port.p{number} = {{ kind = \"af_packet\", device = \"d{number}\"");
            for (field, way) in fields {
                let _ =
                    write!(text, ", {}", FIELDS[*field][*way].replace('N', &number.to_string()));
            }
            text += " }\n";
        }
        for (line, way) in &self.lines {
            let _ = writeln!(text, "{}", LINES[*line][*way]);
        }
        if !text.contains("connections = ") {
            text += FEW_CONNECTIONS;
        }
        let mut tables: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (row, way) in &self.rows {
            let (table, ways) = TABLES[*row];
            tables.entry(table).or_default().push(ways[*way]);
        }
        for (table, rows) in tables {
            let rows: Vec<_> = rows.iter().map(|row| format!("{{ {row} }}")).collect();
            let _ = writeln!(text, "{table} = [{}]", rows.join(", "));
        }
        text
    }
}

/// A piece of a list goes if it is there, or comes some way.
fn turn<T>(
    had: &mut BTreeMap<usize, usize>,
    list: &[T],
    ways: impl Fn(&T) -> usize,
    chance: &mut Chance,
) {
    let piece = chance.below(list.len());
    let way = chance.below(ways(&list[piece]));
    match had.get(&piece) {
        Some(there) if *there == way => _ = had.remove(&piece),
        _ => _ = had.insert(piece, way),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::config::{Host, Source, parse};

    /// Whether a file is a configuration with this much more.
    fn stands(drawing: &Drawing) -> Result<(), String> {
        let source = Source::new("drawn", drawing.text());
        parse(&source, &Host::any()).map(drop).map_err(|problems| format!("{problems}"))
    }

    #[test]
    fn every_field_every_line_and_every_row_is_understood() {
        // What names others that are not there is refused for that, and not for how it is written.
        let known = ["unknown", "there is no", "no port", "not there"];
        let mut alone = 0;
        let mut look = |what: &str, drawing: &Drawing| match stands(drawing) {
            Ok(()) => alone += 1,
            Err(why) => assert!(
                !["key", "syntax", "expected `", "invalid"].iter().any(|it| why.contains(it))
                    || known.iter().any(|it| why.contains(it)),
                "{what}: {why}"
            ),
        };
        for (field, ways) in FIELDS.iter().enumerate() {
            for way in 0..ways.len() {
                let fields = BTreeMap::from([(0, 1), (field, way)]);
                let ports = BTreeMap::from([(FIRST, fields)]);
                look(ways[way], &Drawing { ports, ..Drawing::default() });
            }
        }
        for (line, ways) in LINES.iter().enumerate() {
            for way in 0..ways.len() {
                let lines = BTreeMap::from([(line, way)]);
                look(ways[way], &Drawing { lines, ..Drawing::default() });
            }
        }
        for (row, (_, ways)) in TABLES.iter().enumerate() {
            for way in 0..ways.len() {
                let rows = BTreeMap::from([(row, way)]);
                look(ways[way], &Drawing { rows, ..Drawing::default() });
            }
        }
        assert!(alone > 40, "{alone}");
    }

    #[test]
    fn what_a_run_begins_with_stands() {
        let pieces = |seed| {
            let drawing = Drawing::first(seed);
            stands(&drawing).unwrap();
            (drawing.ports.len(), drawing.lines.len())
        };
        assert_eq!([0, 1, 2, 3].map(pieces), [(0, 0), (2, 1), (3, 2), (5, 3)]);
        assert_eq!(
            [4, 20, 8, 10, 12, 31].map(pieces),
            [(1, 1), (2, 1), (2, 1), (3, 2), (3, 2), (5, 4)]
        );
        (0..32).for_each(|seed| assert!(pieces(seed).0 <= COUNT));
    }

    #[test]
    fn many_changes_lead_to_configurations_that_have_a_bit_of_everything() {
        let (mut chance, mut standing, mut drawing) = (Chance::Seed(1), 0, Drawing::default());
        for _ in 0..400 {
            let mut next = drawing.clone();
            next.change(&mut chance);
            if stands(&next).is_ok() {
                (drawing, standing) = (next, standing + 1);
            }
        }
        assert!(standing > 200, "{standing} of 400");
        assert!(drawing.ports.len() > 1 && drawing.lines.len() > 5 && drawing.rows.len() > 3);
    }
}
