//! Reverse path checks (RFC 3704, uRPF): does the source of what an interface receives have a route
//! back?
//!
//! ```text
//!  interface_input, (a feature) ─▶ urpf_input ┬▶ (the next feature), interface_enter
//!                                             └▶ drop
//!
//!  loose     some route leads to the source
//!  strict    a next hop of that route leaves by the interface that the packet came by; one of several is enough, as a
//!            neighbour may choose among equal ways, too
//! ```
//! The default route counts where the setting says so. Routes are those of the interface's VRF. Who
//! has no address yet passes: DHCP's clients, duplicate address detection; and link-local sources,
//! which are every link's own. Tagged frames of sub-interfaces are theirs to judge.

use crate::filter::{Source, SourceLookup};
use crate::ip::leaves_by;
use crate::tables::{Feature, Kind, Received, Run, Setup, Vrfs, Work};
use fib::Forward;
use fib::adjacency::AdjacencyTable;
use fib::ecmp::{EcmpTable, GroupId};
use graph::{Context, Exits, Published};
use packet::Frame;
use std::sync::Arc;

/// See the module.
pub struct UrpfInput {
    vrfs: Published<Vrfs>,
    ways: Ways,
    ip4: SourceLookup<u32>,
    ip6: SourceLookup<u128>,
}

/// How strict the check is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reverse {
    /// Any route will do.
    Loose,
    /// One that leads back by the interface.
    Strict,
}

/// What an interface checks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Urpf {
    /// Of IPv4 packets.
    pub ip4: Option<Reverse>,
    /// Of IPv6 packets.
    pub ip6: Option<Reverse>,
    /// The default route counts.
    pub allow_default: bool,
}

graph::exits! {
    /// Why a frame goes no further.
    pub enum Exit {
        /// RFC 3704 section 2.4: no route leads to the source, or one that forbids it.
        NoReverseRoute => drop "If the source is real, it lacks a route back: `volley lookup` \
            tells; else somebody forges sources, and this is what stops it.",
        /// RFC 3704 section 2.2: the route to the source leaves by other interfaces.
        WrongInterface => drop "If paths are asymmetric here, set the port's `urpf` to `loose`; \
            else somebody forges sources.",
        /// It says that it is IP, and has no header.
        Truncated => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
    }
}

impl Feature for UrpfInput {
    const NAME: &'static str = "urpf-input";
    const ABOUT: &'static str = "checks that sources have a route back";
    const PLACE: u8 = 30;
    type Side = Received;
    type Work = Self;
}

impl Work for UrpfInput {
    type Setting = Urpf;
    type Exit = Exit;

    fn new(setup: &Setup) -> Self {
        let shared = &setup.shared;
        Self {
            vrfs: shared.vrfs.clone(),
            ways: Ways {
                adjacencies: Arc::clone(&shared.adjacencies),
                groups: Arc::clone(&shared.groups),
                known: [(Forward::NONE.bits(), Way::Nowhere); KNOWN],
            },
            ip4: SourceLookup::new(),
            ip6: SourceLookup::new(),
        }
    }

    fn hold(
        &mut self,
        run: Run<'_, Urpf>,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let vrfs = self.vrfs.get(context);
        let Self { ways, ip4, ip6, .. } = self;
        let (row, urpf) = (run.row, run.setting);
        ip4.clear();
        ip6.clear();
        for slot in run.slots {
            match Source::of(frame.view(slot).header(), row.carries_packets()) {
                Source::Ip4(source) if urpf.ip4.is_some() => ip4.ask(slot, source),
                Source::Ip6(source) if urpf.ip6.is_some() => ip6.ask(slot, source),
                Source::Truncated => exits.set(slot, Exit::Truncated),
                _ => {}
            }
        }
        ways.known.fill((Forward::NONE.bits(), Way::Nowhere));
        let place = (vrfs, row.vrf, urpf.allow_default);
        ip4.answer(place, |slot, found| judge(ways.of(found, run.id), urpf.ip4, slot, exits));
        ip6.answer(place, |slot, found| judge(ways.of(found, run.id), urpf.ip6, slot, exits));
    }
}

/// Names an exit where the way back is not what was asked for. In line in both loops: as a call it
/// cost half as much again as all the rest of the node.
#[inline(always)]
fn judge(way: Way, reverse: Option<Reverse>, slot: usize, exits: &mut Exits<'_, Exit>) {
    match way {
        Way::Nowhere => exits.set(slot, Exit::NoReverseRoute),
        Way::Elsewhere if reverse == Some(Reverse::Strict) => {
            exits.set(slot, Exit::WrongInterface);
        }
        Way::Back | Way::Elsewhere => {}
    }
}

/// Routes' answers that are kept for the packets of one interface.
const KNOWN: usize = 64;

/// Finds out where routes leave, seen from one interface.
struct Ways {
    adjacencies: Arc<AdjacencyTable>,
    groups: Arc<EcmpTable>,
    /// Answers by the route's word: packets that follow each other often have few.
    known: [(u32, Way); KNOWN],
}

/// Where a source's route leaves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// It leads nowhere, or to ourselves.
    Nowhere,
    /// By another interface.
    Elsewhere,
    /// By the one that the packet came by.
    Back,
}

impl Ways {
    #[inline(always)]
    fn of(&mut self, found: Forward, rx: u16) -> Way {
        let place = found.id() as usize % KNOWN;
        let (bits, way) = self.known[place];
        if bits == found.bits() {
            return way;
        }
        let way = self.find(found, rx);
        self.known[place] = (found.bits(), way);
        way
    }

    #[inline(never)]
    fn find(&self, found: Forward, rx: u16) -> Way {
        if found.kind() != Kind::Group as u8 {
            return match leaves_by(found, &self.adjacencies) {
                None => Way::Nowhere,
                Some(interface) if interface == rx => Way::Back,
                Some(_) => Way::Elsewhere,
            };
        }
        let members = self.groups.each(GroupId(found.id()));
        let ways = members.filter(|to| to.kind() != Kind::Group as u8).map(|to| self.find(to, rx));
        ways.fold(Way::Nowhere, |best, way| match (best, way) {
            (Way::Back, _) | (_, Way::Back) => Way::Back,
            (Way::Elsewhere, _) | (_, Way::Elsewhere) => Way::Elsewhere,
            _ => Way::Nowhere,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::InTurn;
    use crate::tables::VrfId;
    use crate::testing::{
        FAR, FAR6, GATEWAY, GRE_LINK, HOST, HOST_MAC, HOST6, INSIDE_GRE, LINK_HOST, RED, TO_HOST,
        US, World, our_mac,
    };
    use graph::harness::NodeHarness;
    use std::net::Ipv6Addr;
    use wire::craft::{self, Craft, Ethernet};

    const OTHER: [u8; 4] = [172, 16, 0, 1];

    fn frame() -> Craft<Ethernet> {
        craft::ethernet(HOST_MAC, our_mac(0))
    }

    fn from4(source: [u8; 4]) -> Vec<u8> {
        frame().ipv4(source, [10, 0, 0, 77]).udp(1, 2).build()
    }

    fn from6(source: Ipv6Addr) -> Vec<u8> {
        frame().ipv6(source, FAR6).udp(1, 2).build()
    }

    fn urpf(reverse: Reverse, allow_default: bool) -> Urpf {
        Urpf { ip4: Some(reverse), ip6: Some(reverse), allow_default }
    }

    fn check(world: &mut World, id: u16, urpf: Urpf, frames: &[Vec<u8>]) -> Vec<String> {
        world.change_interface(id, |row| row.set::<UrpfInput>(Some(urpf)));
        let mut node = NodeHarness::<InTurn<UrpfInput>>::new(&world.setup).unwrap();
        node.run(frames, id, 0).into_iter().map(|out| out.exit).collect()
    }

    #[test]
    fn a_loose_check_asks_for_some_route_and_a_strict_one_for_one_back() {
        let sources = [HOST, [192, 0, 2, 77], FAR, GATEWAY, OTHER, US, [10, 1, 0, 1]].map(from4);
        let six = [HOST6, FAR6, "3fff::1".parse().unwrap()].map(from6);
        let all = [&sources[..], &six].concat();
        let (none, wrong, enter) = ("no-reverse-route", "wrong-interface", "enter");
        let loose = check(&mut World::new(), 0, urpf(Reverse::Loose, false), &all);
        assert_eq!(loose, [enter, enter, enter, enter, none, none, none, enter, enter, none]);
        let strict = check(&mut World::new(), 0, urpf(Reverse::Strict, false), &all);
        assert_eq!(strict, [enter, enter, wrong, wrong, none, none, none, enter, wrong, none]);
    }

    #[test]
    fn one_of_several_next_hops_is_enough() {
        let shared = [from4([10, 6, 0, 1]), from6("2001:db8:a:6::1".parse().unwrap())];
        let mut world = World::new();
        for (id, exit) in [(0, "enter"), (1, "enter"), (5, "wrong-interface")] {
            let found = check(&mut world, id, urpf(Reverse::Strict, false), &shared);
            assert_eq!(found, [exit; 2], "interface {id}");
        }
    }

    #[test]
    fn the_default_route_counts_where_that_is_allowed() {
        let mut world = World::new();
        let to_host = Forward::new(Kind::Rewrite as u8, TO_HOST);
        let tables = world.vrfs.only().unwrap().clone();
        tables.ip4.insert("0.0.0.0/0".parse().unwrap(), to_host).unwrap();
        tables.ip6.insert("::/0".parse().unwrap(), to_host).unwrap();
        let frames = [from4(OTHER), from6("3fff::1".parse().unwrap())];
        let mut exits = |id, urpf| check(&mut world, id, urpf, &frames);
        assert_eq!(exits(0, urpf(Reverse::Loose, false)), ["no-reverse-route"; 2]);
        assert_eq!(exits(0, urpf(Reverse::Strict, true)), ["enter"; 2]);
        assert_eq!(exits(1, urpf(Reverse::Strict, true)), ["wrong-interface"; 2]);
        assert_eq!(exits(1, urpf(Reverse::Loose, true)), ["enter"; 2]);
    }

    #[test]
    fn who_has_no_address_yet_passes_and_so_do_link_local_sources() {
        let any: Ipv6Addr = 0.into();
        let frames = [
            frame().ipv4([0; 4], [255; 4]).udp(68, 67).build(),
            frame().ipv4([0; 4], FAR).udp(68, 67).build(),
            frame().ipv6(any, "ff02::1:ff00:2".parse::<Ipv6Addr>().unwrap()).build(),
            frame().ipv6(any, FAR6).build(),
            frame().ipv6(LINK_HOST, FAR6).build(),
            frame().arp_request(HOST_MAC, OTHER, US).build(),
        ];
        let found = check(&mut World::new(), 0, urpf(Reverse::Strict, false), &frames);
        let none = "no-reverse-route";
        assert_eq!(found, ["enter", none, "enter", none, "enter", "enter"]);
    }

    #[test]
    fn a_family_that_is_not_asked_for_passes() {
        let frames = [from4(OTHER), from6("3fff::1".parse().unwrap())];
        let urpf = Urpf { ip6: None, ..urpf(Reverse::Loose, false) };
        assert_eq!(check(&mut World::new(), 0, urpf, &frames), ["no-reverse-route", "enter"]);
    }

    #[test]
    fn a_tag_without_a_vlan_hides_nothing() {
        let plain = from4(OTHER);
        let tagged = |vid: u8| [&plain[..12], &[0x81, 0, 0, vid], &plain[12..]].concat();
        let found =
            check(&mut World::new(), 0, urpf(Reverse::Loose, false), &[tagged(0), tagged(5)]);
        assert_eq!(found, ["no-reverse-route", "enter"]);
    }

    #[test]
    fn a_tunnel_of_packets_is_checked_too() {
        let packets = [INSIDE_GRE, HOST].map(|from| craft::ipv4(from, FAR).udp(1, 2).build());
        let found = check(&mut World::new(), GRE_LINK, urpf(Reverse::Strict, false), &packets);
        assert_eq!(found, ["enter", "wrong-interface"]);
    }

    #[test]
    fn routes_are_those_of_the_interfaces_vrf() {
        let mut world = World::new();
        let strict = urpf(Reverse::Strict, false);
        let to_default = Forward::new(Kind::Vrf as u8, u32::from(VrfId::DEFAULT.0));
        let red = world.add_red().ip4.clone();
        assert_eq!(world.interfaces.vrf(1), RED);
        assert_eq!(check(&mut world, 1, strict, &[from4(FAR)]), ["no-reverse-route"]);
        red.insert("10.0.0.0/8".parse().unwrap(), to_default).unwrap();
        assert_eq!(check(&mut world, 1, strict, &[from4(FAR)]), ["enter"]);
    }
}
