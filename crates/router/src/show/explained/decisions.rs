//! What nodes decided of a packet, in words: each names the table, row or rule that the node asked.
//!
//! ```text
//!  node and packet, as they were ─▶ the same table, asked again ─▶ "route: static 10.0.0.0/8 …"
//! ```
//! What became of the packet is what the node did; here is only told by what.

use crate::router::Router;
use control::view::Decision;
use fib::adjacency::AdjacencyId;
use fib::mac::MacKey;
use graph::{TraceRecord, tsc};
use nodes::filter::{
    AclInput, AclOutput, Belongs, Moment, Policed, PolicerInput, PolicerOutput, Sight, Treatment,
    colour_of, verdict_on,
};
use nodes::port::{Classifier, ForwardedIn};
use nodes::tables::{Interface, Link, Mode, Spanning, bridge_port};
use police::Colour;
use sched::{ClassId, Report, Shape};
use std::collections::BTreeMap;
use std::net::IpAddr;
use wire::{MacAddr, ethernet, ip, ipv4, ipv6};

/// A step, and what stands around it.
pub(super) struct Look<'a> {
    pub(super) router: &'a Router,
    pub(super) step: &'a TraceRecord,
    /// The step that follows, of the same packet.
    pub(super) next: Option<&'a TraceRecord>,
    /// What schedulers of ports did with it, where that was tried.
    pub(super) reports: &'a BTreeMap<u16, Report>,
    /// It was so: a worker had the packet, and what it changed in tables is there.
    pub(super) was: bool,
}

pub(super) type Told = Option<Vec<(&'static str, String)>>;

impl Look<'_> {
    /// What the node decided.
    pub(super) fn decisions(&self, node: &str) -> Vec<Decision> {
        if self.step.made {
            return Vec::new();
        }
        let told = match node {
            "port-rx" => self.entrance(),
            "vlan-input" => self.comes_as("VLAN"),
            "tunnel-decap" | "lisp-decap" => self.comes_as("tunnel"),
            "bond-input" => self.comes_as("bond"),
            "bond-output" => self.leaves_as("member"),
            "l2-xconnect" => self.leaves_as("cross-connect"),
            "vlan-output" => self.tags(),
            "tunnel-encap" | "lisp-encap" => self.tunnel(),
            "l2-spanning" => self.spanning(),
            "l2-learn" => self.learned(),
            "l2-forward" => self.station(),
            "acl-input" => self.rule::<AclInput>(true),
            "acl-output" => self.rule::<AclOutput>(false),
            "policer-input" => self.policer::<PolicerInput>(true),
            "policer-output" => self.policer::<PolicerOutput>(false),
            "ip4-lookup" | "ip6-lookup" => self.route(),
            "ip4-rewrite" | "ip6-rewrite" => self.next_hop(),
            "interface-output" => self.leaves(),
            "shape" => self.class(),
            "flow-input" if self.was => self.flows_of_bridge(),
            "flow-input" => self.bridge_of_flows(),
            "flow-upcall" => self.flows(),
            "nat44-input" => self.led_inside(),
            "nat44-output" => self.leaves_inside(),
            "nat64-input" => self.crosses(),
            _ => None,
        };
        let told = told.unwrap_or_default().into_iter();
        told.map(|(what, said)| Decision { what: what.to_owned(), said }).collect()
    }

    pub(super) fn row(&self, id: u16) -> Option<&Interface> {
        self.router.core.dataplane.interfaces().get(id)
    }

    pub(super) fn name(&self, id: u16) -> String {
        self.router.name_of(id)
    }

    /// From the header on that the node looked at.
    pub(super) fn header(&self) -> &[u8] {
        &self.step.bytes[self.step.consumed.min(self.step.bytes.len())..]
    }

    /// What becomes of frames of the interface that it comes in by.
    fn entrance(&self) -> Told {
        let row = self.row(self.step.rx)?;
        let vrf = || self.router.core.vrfs.name(row.vrf);
        let mode = match row.mode {
            Mode::Routed if row.routes => format!("routed in VRF {}", vrf()),
            Mode::Routed => "for its twin alone: it routes nothing".to_owned(),
            Mode::CrossConnect(to) => format!("cross-connected to {}", self.name(to.0)),
            Mode::Bridged(_) => format!("bridged in {}", row.bridge_name),
            Mode::Member(member) => format!("a member of {}", self.name(member.bond.0)),
        };
        Some(vec![("port", format!("{}, {mode}", row.name))])
    }

    /// The interface that it goes on as having come in by.
    fn comes_as(&self, what: &'static str) -> Told {
        let row = self.row(self.next?.rx)?;
        let vrf = self.router.core.vrfs.name(row.vrf);
        let place = match row.mode {
            Mode::Bridged(_) => format!("bridged in {}", row.bridge_name),
            Mode::Routed => format!("routed in VRF {vrf}"),
            Mode::CrossConnect(to) => format!("cross-connected to {}", self.name(to.0)),
            Mode::Member(_) => "a member of a bond".to_owned(),
        };
        (self.next?.rx != self.step.rx).then(|| vec![(what, format!("{}, {place}", row.name))])
    }

    /// The interface that it leaves by from here on.
    fn leaves_as(&self, what: &'static str) -> Told {
        Some(vec![(what, format!("out of {}", self.row(self.next?.tx)?.name))])
    }

    fn tags(&self) -> Told {
        let Link::Vlan(vlan) = self.row(self.step.tx)?.link else { return None };
        let parent = self.name(vlan.parent);
        let tags = [vlan.outer(), vlan.inner()].into_iter().flatten();
        let tags: Vec<String> = tags.map(|vid| vid.to_string()).collect();
        let said = match tags.is_empty() {
            true => format!("no tag, out of {parent}"),
            false => format!("tagged {}, out of {parent}", tags.join(" and ")),
        };
        Some(vec![("VLAN", said)])
    }

    fn tunnel(&self) -> Told {
        let is_tunnel = |row: &&Interface| matches!(row.link, Link::Tunnel(_) | Link::Lisp(_));
        let leaves_by = self.row(self.step.tx);
        // What left with the link header of its next hop came, from here on, from the tunnel.
        let came_by = self.next.and_then(|next| self.row(next.rx));
        let row = [leaves_by, came_by].into_iter().flatten().find(is_tunnel);
        let row = row.or_else(|| self.row(self.step.rx))?;
        let vrf = self.router.core.vrfs.name(row.vrf);
        let tunnel = ("tunnel", format!("by {}, its own interface in VRF {vrf}", row.name));
        let next_hop = leaves_by.filter(|row| !is_tunnel(row)).and_then(|_| self.next_hop());
        Some([tunnel].into_iter().chain(next_hop.into_iter().flatten()).collect())
    }

    /// What the spanning tree has the port do.
    fn spanning(&self) -> Told {
        let row = self.row(self.step.rx)?;
        let port = bridge_port(self.router.core.dataplane.interfaces(), self.step.rx)?;
        let does = match port.spanning {
            Spanning::None => "takes no part",
            Spanning::Discarding => "discards",
            Spanning::Learning => "learns",
            Spanning::Forwarding => "forwards",
        };
        Some(vec![("spanning tree", format!("of {}: {} {does}", row.bridge_name, row.name))])
    }

    /// What its bridge learns of it.
    fn learned(&self) -> Told {
        let (port, source) = (
            bridge_port(self.router.core.dataplane.interfaces(), self.step.rx)?,
            self.frame()?.source(),
        );
        let stations = &self.router.core.dataplane.stations;
        let known =
            stations.table.lookup(MacKey::new(port.bridge.0, source.octets()), stations.now());
        let said = match known {
            Some(entry) if entry.port == u32::from(self.step.rx) => "is known here".to_owned(),
            Some(entry) => format!("is known behind {}", self.name(entry.port as u16)),
            None => "is not known: it would be learned".to_owned(),
        };
        Some(vec![("source", format!("{source} {said}"))])
    }

    /// Where its bridge sends it.
    fn station(&self) -> Told {
        let (port, to) = (
            bridge_port(self.router.core.dataplane.interfaces(), self.step.rx)?,
            self.frame()?.destination(),
        );
        let stations = &self.router.core.dataplane.stations;
        let known = stations.table.lookup(MacKey::new(port.bridge.0, to.octets()), stations.now());
        let said = match known {
            _ if to.octets()[0] & 1 == 1 => "is a group: flooded".to_owned(),
            Some(entry) => format!("is behind {}", self.name(entry.port as u16)),
            None => "is not known: flooded".to_owned(),
        };
        let bridge = &self.row(self.step.rx)?.bridge_name;
        Some(vec![("bridge", bridge.clone()), ("station", format!("{to} {said}"))])
    }

    fn frame(&self) -> Option<ethernet::Header<'_>> {
        ethernet::Header::new(self.header())
    }

    /// The rule of an access list that decided.
    fn rule<F: nodes::tables::Feature>(&self, received: bool) -> Told
    where
        F::Work: nodes::tables::Work<Setting = nodes::filter::Access>,
    {
        let id = if received { self.step.rx } else { self.step.tx };
        let row = self.row(id)?;
        let list = row.setting::<F>()?;
        let parts = &self.router.parts.acls;
        let packet = whole(self.step);
        let sight = Sight::of(&packet, row.carries_packets());
        // It is only asked.
        let now = Moment { only_looks: true, ..Moment::at(tsc()) };
        let belongs = list.reflecting().and_then(|it| it.lets_pass(row, sight, now));
        if let Some(belongs) = belongs {
            let said = match belongs {
                Belongs::Answer => "answers a known one",
                Belongs::Error => "an error of a known one",
                Belongs::Piece => "a piece of a known one's packet",
            };
            let said = format!("{said}: passes before rules are asked");
            return Some(vec![("list", parts.named(list)?), ("connection", said)]);
        }
        let Some(verdict) = verdict_on(list.list(), row, self.header()) else {
            return Some(vec![(
                "list",
                format!("{} judges packets of IP alone", parts.named(list)?),
            )]);
        };
        let (name, rule) = parts.rule(list, verdict)?;
        let mut told = vec![("list", name), ("rule", rule)];
        if verdict.is_reflected()
            && let Some(reflecting) = list.reflecting()
        {
            told.push(("connection", reflecting.would_be(row, sight, now).to_owned()));
        }
        Some(told)
    }

    /// The policer, the colour, and what becomes of that.
    fn policer<F: nodes::tables::Feature>(&self, received: bool) -> Told
    where
        F::Work: nodes::tables::Work<Setting = Policed>,
    {
        let id = if received { self.step.rx } else { self.step.tx };
        let row = self.row(id)?;
        let policed = row.setting::<F>()?;
        let Some(named) = &policed.policer else {
            return Some(vec![("marked", "as the port says".to_owned())]);
        };
        if self.was {
            // Its colour was that of a moment that is over; what became of it is known.
            let passed = match self.router.reason(self.step) {
                Some(_) => "dropped",
                None => "passed",
            };
            let name = self.router.parts.policers.named(named)?;
            return Some(vec![("policer", format!("{name}: {passed}"))]);
        }
        let before = match named.policer.is_colour_aware() {
            true => colour_of(self.header(), row.carries_packets()),
            false => Colour::Green,
        };
        let moment = named.policer.at(tsc());
        let colour = named.policer.would_be(moment, self.step.length as u32, before);
        let treated = match named.treatments[colour as usize] {
            Treatment::Drop => "dropped",
            Treatment::Pass(_) => "passes",
        };
        let colour = control::view::PolicerColour::NAMES[colour as usize];
        let name = self.router.parts.policers.named(named)?;
        Some(vec![("policer", format!("{name}: {colour}, {treated}; no token is taken"))])
    }

    /// The route of its destination, and the next hop that it takes.
    fn route(&self) -> Told {
        let vrf = self.router.core.dataplane.interfaces().vrf(self.step.rx);
        let packet = self.header();
        let to: IpAddr = match ip::version(packet) {
            4 => ipv4::Header::new(packet)?.destination_addr().into(),
            _ => ipv6::Header::new(packet)?.destination_addr().into(),
        };
        let found = self.router.show_lookup(vrf, to);
        let route = match &found.route {
            Some(route) => route.line(),
            None => "none".to_owned(),
        };
        Some(vec![("VRF", found.vrf), ("route", format!("{to}: {route}")), ("way", found.outcome)])
    }

    /// The neighbour that it leaves by.
    fn next_hop(&self) -> Told {
        let entry =
            self.router.core.dataplane.adjacencies.entry(AdjacencyId(self.step.adjacency))?;
        let fields = entry.fields();
        let mac = match fields.is_complete() {
            true => format!("at {}", MacAddr(entry.destination())),
            false => "whose MAC address is not known yet".to_owned(),
        };
        let out_of = self.name(fields.interface());
        let said = format!("{} {mac}, out of {out_of}, MTU {}", entry.next_hop(), fields.mtu());
        Some(vec![("next hop", said)])
    }

    fn leaves(&self) -> Told {
        let row = self.row(self.step.tx)?;
        Some(vec![(
            "port",
            format!("out of {}{}", row.name, if row.up { "" } else { ", which is down" }),
        )])
    }

    /// The class of the port's scheduler that had it.
    fn class(&self) -> Told {
        let port = self.row(self.step.tx)?.port;
        if self.was {
            return self.class_by_filters(port);
        }
        let report = self.reports.get(&port)?;
        let mut way = Vec::new();
        walked(report, &mut way);
        Some(vec![("class", format!("{}; what waits there now was not asked", way.join(" > ")))])
    }
}

impl Look<'_> {
    /// The class that a port's filters put it into.
    fn class_by_filters(&self, port: u16) -> Told {
        let config = self.router.core.dataplane.shape_of(port)?;
        let (rx, tx) = (self.row(self.step.rx), self.row(self.step.tx));
        let either = |name: fn(&Interface) -> &str| {
            let mut names = [tx, rx].into_iter().flatten().map(name);
            names.find(|name| !name.is_empty()).unwrap_or("")
        };
        let forwarded_in = || ForwardedIn {
            bridge: either(|row| &row.bridge_name),
            vrf: either(|row| &row.vrf_name),
        };
        let classifier = Classifier::of_scheduler(config);
        let (packet, _) = classifier.describe(self.header(), forwarded_in, || None);
        let said = match packet.class {
            ClassId::NONE => match default_class(&config.root) {
                Some(class) => format!("{class}, the default: no filter takes it"),
                None if config.root.classes().is_some() => "none: no filter takes it".to_owned(),
                None => format!("{} has none", config.root.kind()),
            },
            class => class.to_string(),
        };
        Some(vec![("class", said)])
    }
}

/// A packet as long as it was: of a long one its first octets alone were kept, where all is that
/// tables are asked for, but who reads them looks whether the packet is whole.
pub(super) fn whole(step: &TraceRecord) -> Vec<u8> {
    let mut bytes = step.bytes[step.consumed.min(step.bytes.len())..].to_vec();
    bytes.resize(bytes.len().max(step.length), 0);
    bytes
}

/// Where packets go that no filter takes.
fn default_class(root: &Shape) -> Option<ClassId> {
    match root {
        Shape::Htb(htb) => htb.default,
        Shape::Hfsc(hfsc) => hfsc.default,
        _ => None,
    }
}

/// The classes and disciplines that a packet went through.
fn walked(report: &Report, way: &mut Vec<String>) {
    let id = report.id.to_string();
    way.push(match id.as_str() {
        "none" => report.kind.to_string(),
        id => format!("{} {id}", report.kind),
    });
    let had = |child: &&Report| {
        child.counters.sent_packets + child.counters.dropped + u64::from(child.backlog.packets) > 0
    };
    if let Some(child) = report.children.iter().find(had) {
        walked(child, way);
    }
}
