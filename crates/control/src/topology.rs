//! What stands on what, read off the configuration, with what ports say of their links and what
//! routing daemons tell of far ends.
//!
//! ```text
//!  port ─▶ bond ─▶ vlan ─┬─▶ bridge ─▶ its own station ─▶ VRF
//!          tunnel ───────┴─▶ VRF;  outside in a VRF, to far ends
//! ```

use crate::config::Config;
use crate::config::objects::bridge::{Bridge, BridgeMode};
use crate::config::objects::mirror::Direction;
use crate::config::objects::port::{Port, PortName};
use crate::config::objects::port_kind::PortKind;
use crate::config::objects::vrf::{DEFAULT_NAME, name_of};
use crate::control_loop::Control;
use crate::view::{self, All, Answer, Answered, Place, PlaceKind, Shown, Tie, Topology};
use std::collections::{BTreeMap, BTreeSet, HashMap};

impl Answer<Topology> for Control {
    fn answer(&mut self, _: &All) -> Answered<Topology> {
        let engine = self.engine.as_mut();
        let ports = Answer::<view::Port>::answer(engine, &All)?.whole();
        let evpn = Answer::<view::Evpn>::answer(engine, &All)?.whole();
        let config = self.transaction.config().clone();
        Ok(Shown::Later(Box::new(move || topology(&config, &ports, &evpn))))
    }
}

/// What a configuration makes of its ports.
fn topology(config: &Config, live: &[view::Port], evpn: &[view::Evpn]) -> Topology {
    let mut it = Drawn::default();
    let links: HashMap<&str, bool> =
        live.iter().map(|port| (&port.name[..], port.admin_up && port.link_up)).collect();
    for (name, port) in config.ports.iter() {
        it.port(name, port, links.get(name.as_str()).copied());
    }
    let led: BTreeSet<&PortName> = it.groups(config, evpn);
    it.vrfs(config, &led);
    it.translations(config);
    it.done()
}

#[derive(Default)]
struct Drawn {
    /// In the order of what stands on what.
    places: Vec<Place>,
    ties: Vec<Tie>,
    far: BTreeMap<String, BTreeSet<String>>,
}

fn port_id(name: &PortName) -> String {
    format!("port {name}")
}

fn vrf_id(name: &str) -> String {
    format!("vrf {name}")
}

impl Drawn {
    fn place(&mut self, kind: PlaceKind, id: String, name: &str, about: String, up: Option<bool>) {
        self.places.push(Place { id, kind, name: name.to_owned(), about, up });
    }

    fn tie(&mut self, from: String, to: String, what: impl Into<String>) {
        self.ties.push(Tie { from, to, what: what.into() });
    }

    fn port(&mut self, name: &PortName, port: &Port, up: Option<bool>) {
        let id = port_id(name);
        let mut about = vec![match &port.kind {
            PortKind::Vlan(vlan) => vlan.text(),
            PortKind::Vxlan(vxlan) => format!("VXLAN {}", vxlan.vni),
            PortKind::Geneve(geneve) => format!("Geneve {}", geneve.vni),
            kind => kind.name().word().to_owned(),
        }];
        about.extend(port.kind.claim());
        about.extend(port.kind.ends().and_then(|ends| Some(format!("from {}", ends.address()?))));
        about.extend(port.addresses.iter().map(ToString::to_string));
        about.extend(port.unnumbered.as_ref().map(|lender| format!("addresses of {lender}")));
        about.extend(port.twin.as_ref().map(|_| "with a twin in Linux".to_owned()));
        let kind = match &port.kind {
            PortKind::Vlan(vlan) => {
                self.tie(port_id(&vlan.parent), id.clone(), "VLAN");
                PlaceKind::Vlan
            }
            PortKind::Bond(bond) => {
                for member in &bond.members {
                    self.tie(port_id(member), id.clone(), "member");
                }
                PlaceKind::Bond
            }
            PortKind::Bvi => PlaceKind::Station,
            kind if kind.device().is_some() => PlaceKind::Port,
            kind => {
                let outside = name_of(kind.underlay_vrf());
                self.tie(id.clone(), vrf_id(outside), view::OUTSIDE);
                let ends = kind.ends().into_iter().flat_map(|ends| ends.remotes.listed());
                for far in ends {
                    self.far.entry(far.to_string()).or_default().insert(id.clone());
                }
                PlaceKind::Tunnel
            }
        };
        self.place(kind, id, name.as_str(), about.join(", "), up);
    }

    /// Bridges and cross-connects; returns the ports whose frames are led by them.
    fn groups<'c>(&mut self, config: &'c Config, evpn: &[view::Evpn]) -> BTreeSet<&'c PortName> {
        let mut led = BTreeSet::new();
        for (name, bridge) in config.bridges.iter() {
            let id = format!("bridge {name}");
            self.place(
                PlaceKind::Bridge,
                id.clone(),
                &name.to_string(),
                about_bridge(bridge),
                None,
            );
            for member in &bridge.ports {
                let kind = config.ports.get(&member.port).map(|port| &port.kind);
                let port = port_id(&member.port);
                if matches!(kind, Some(PortKind::Bvi)) {
                    self.tie(id.clone(), port, "its own station");
                    continue;
                }
                led.insert(&member.port);
                let what = if member.isolated { "isolated member" } else { "member" };
                self.tie(port.clone(), id.clone(), what);
                if kind.is_some_and(PortKind::has_remotes) {
                    let told = evpn.iter().filter(|it| it.bridge == name.to_string());
                    for far in told.flat_map(|it| &it.flooded_to) {
                        self.far.entry(far.clone()).or_default().insert(port.clone());
                    }
                }
            }
        }
        for (pair, _) in config.xconnects.iter() {
            let [one, other] = pair.ports();
            let id = format!("cross-connect {pair}");
            let about = "what comes in at one leaves by the other".to_owned();
            self.place(
                PlaceKind::CrossConnect,
                id.clone(),
                &format!("{one} ↔ {other}"),
                about,
                None,
            );
            for port in [one, other] {
                led.insert(port);
                self.tie(port_id(port), id.clone(), "wired");
            }
        }
        led
    }

    /// VRFs, those that ports are in that route.
    fn vrfs(&mut self, config: &Config, led: &BTreeSet<&PortName>) {
        let named = config.vrfs.iter().map(|(name, _)| name.as_str());
        for name in std::iter::once(DEFAULT_NAME).chain(named) {
            let id = vrf_id(name);
            let ports = config.ports.iter().filter(|(port, it)| {
                name_of(it.vrf.as_ref()) == name && it.routes() && !led.contains(port)
            });
            let ties: Vec<Tie> = ports
                .map(|(port, _)| Tie {
                    from: port_id(port),
                    to: id.clone(),
                    what: "routed".to_owned(),
                })
                .collect();
            // One that nothing is in is nobody's.
            if ties.is_empty() && !self.ties.iter().any(|tie| tie.to == id) && name == DEFAULT_NAME
            {
                continue;
            }
            self.ties.extend(ties);
            self.place(PlaceKind::Vrf, id, name, "a routing table".to_owned(), None);
        }
    }

    /// Translations and mirrors.
    fn translations(&mut self, config: &Config) {
        for (name, nat) in config.nats.iter() {
            let id = format!("nat {name}");
            for inside in &nat.inside {
                self.tie(port_id(inside), id.clone(), "inside");
            }
            self.tie(id.clone(), port_id(&nat.outside), "outside port");
            let about = "translates addresses".to_owned();
            self.place(PlaceKind::Nat, id, &name.to_string(), about, None);
        }
        for (name, mirror) in config.mirrors.iter() {
            let id = format!("mirror {name}");
            for source in &mirror.sources {
                let what = match source.direction {
                    Direction::Received => "what it receives",
                    Direction::Sent => "what it sends",
                    Direction::Both => "all that it carries",
                };
                self.tie(port_id(&source.port), id.clone(), what);
            }
            self.tie(id.clone(), port_id(&mirror.destination), "copies");
            let about = "copies of what ports carry".to_owned();
            self.place(PlaceKind::Mirror, id, &name.to_string(), about, None);
        }
    }

    fn done(mut self) -> Topology {
        for (far, tunnels) in std::mem::take(&mut self.far) {
            let id = format!("far {far}");
            for tunnel in tunnels {
                self.tie(tunnel, id.clone(), "to");
            }
            self.place(PlaceKind::FarEnd, id, &far, "the other end of tunnels".to_owned(), None);
        }
        Topology { places: self.places, ties: self.ties }
    }
}

fn about_bridge(bridge: &Bridge) -> String {
    match bridge.mode {
        BridgeMode::Learning => "by the stations that it has heard".to_owned(),
        BridgeMode::Flow => "by flows".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::parse_ok;

    /// Ties as `from > to: what`, sorted.
    fn ties(topology: &Topology) -> Vec<String> {
        let mut all: Vec<String> = topology
            .ties
            .iter()
            .map(|it| format!("{} > {}: {}", it.from, it.to, it.what))
            .collect();
        all.sort();
        all
    }

    const ALL: &str = r#"
[vrf.red]
[port.a]
kind = "memory"
[port.b]
kind = "memory"
[port.c]
kind = "af_packet"
device = "eth2"
addresses = ["192.0.2.1/24"]
[port.d]
kind = "memory"
[port.e]
kind = "memory"
[port.bond0]
kind = "bond"
members = ["a", "b"]
[port.v10]
kind = "vlan"
parent = "bond0"
vlan = 10
[port.vx]
kind = "vxlan"
vni = 42
local = "192.0.2.1"
remotes = ["192.0.2.8", "192.0.2.9"]
[port.bvi]
kind = "bvi"
vrf = "red"
addresses = ["10.0.0.1/24"]
[bridge.br]
ports = ["v10", { port = "vx", isolated = true }, "bvi"]
[[xconnect]]
ports = ["d", "e"]
"#;

    #[test]
    fn what_stands_on_what_is_told_from_below() {
        let drawn = topology(&parse_ok(ALL), &[], &[]);
        let wanted = [
            "bridge br > port bvi: its own station",
            "port a > port bond0: member",
            "port b > port bond0: member",
            "port bond0 > port v10: VLAN",
            "port bvi > vrf red: routed",
            "port c > vrf default: routed",
            "port d > cross-connect d e: wired",
            "port e > cross-connect d e: wired",
            "port v10 > bridge br: member",
            "port vx > bridge br: isolated member",
            "port vx > far 192.0.2.8: to",
            "port vx > far 192.0.2.9: to",
            "port vx > vrf default: outside",
        ];
        assert_eq!(ties(&drawn), wanted);
        let about = |id: &str| drawn.places.iter().find(|it| it.id == id).unwrap().about.clone();
        assert_eq!(about("port c"), "af_packet, device eth2, 192.0.2.1/24");
        assert_eq!(about("port vx"), "VXLAN 42, from 192.0.2.1");
        assert_eq!(about("port v10"), "VLAN 10 of bond0");
    }

    /// Every tie leads from a place to a place, whatever is configured.
    #[test]
    fn ties_are_between_places_that_there_are() {
        for text in [crate::config::tests::EXAMPLE, ALL] {
            let drawn = topology(&parse_ok(text), &[], &[]);
            let is_there = |id: &str| drawn.places.iter().any(|place| place.id == id);
            for tie in &drawn.ties {
                assert!(is_there(&tie.from) && is_there(&tie.to), "{tie:?}");
            }
            let ids: BTreeSet<&str> = drawn.places.iter().map(|place| &place.id[..]).collect();
            assert_eq!(ids.len(), drawn.places.len());
        }
    }

    #[test]
    fn what_a_routing_daemon_tells_of_is_a_far_end_of_the_bridge_s_tunnel() {
        let told = view::Evpn {
            bridge: "br".to_owned(),
            name: "br".to_owned(),
            netns: None,
            vni: Some(42),
            routes: false,
            problem: None,
            told_stations: 0,
            told_addresses: 0,
            stations: 0,
            addresses: 0,
            flooded_to: vec!["192.0.2.77".to_owned()],
            refused: 0,
            malformed: 0,
        };
        let drawn = topology(&parse_ok(ALL), &[], &[told]);
        assert!(ties(&drawn).contains(&"port vx > far 192.0.2.77: to".to_owned()));
    }

    #[test]
    fn a_port_is_up_as_its_link_says() {
        let drawn = topology(&parse_ok(ALL), &[], &[]);
        assert!(drawn.places.iter().all(|place| place.up.is_none()));
    }
}
