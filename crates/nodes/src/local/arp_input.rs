//! Answers questions for our addresses, and tells the control thread who is where (RFC 826).
//!
//! ```text
//!  ethernet_input ─▶ arp_input ┬▶ interface_output   the answer, in the question's buffer
//!                              ├▶ (control thread)   punts of neighbours, so many a second
//!                              ├▶ twin_output        answers, which the kernel may have asked for
//!                              └▶ drop
//! ```
//! An interface may answer for others, too (RFC 1027): for addresses of networks that it names, as
//! long as their packets leave by another interface. So hosts that take the whole world for their
//! link reach it by us.
//!
//! Hosts of the link are those of the interface's subnets, and of networks that routes put there.
//! Others may ask, too, as one does whose packets carry an address of no link: they are answered
//! and not learned.
//!
//! A probe (RFC 5227, sender 0.0.0.0) is answered and teaches nothing. Whoever claims an address of
//! ours gets no answer here: the control thread hears of it and decides.

use crate::ip::{PacketRoutes, is_on_link, leaves_by};
use crate::local::Twin;
use crate::local::{answer_arp, twin_output};
use crate::tables::{
    ArpHeard, Interface, Interfaces, Kind, Lane, MOST_INTERFACES, Punt, RateLimits, Setup,
    SlowPath, Vrfs,
};
use fib::Ip4Prefix;
use fib::adjacency::AdjacencyTable;
use fib::ecmp::{EcmpTable, GroupId};
use graph::{Attach, Context, ExitIndex, Exits, Node, Published};
use packet::{Frame, PacketView};
use std::net::Ipv4Addr;
use std::sync::Arc;
use wire::arp::{self, REPLY, REQUEST};
use wire::ethernet::ethertype;
use wire::{MacAddr, ipv4};

/// Replies, and likewise other punts, a second, interface and worker: more than a healthy link has
/// to tell, and than we ask for, less than the control thread can hear.
const PUNTS_PER_SECOND: u32 = 2_000;

/// Networks whose addresses an interface answers for, too, where their packets leave by another
/// interface (RFC 1027).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProxyArp(pub Vec<Ip4Prefix>);

/// See the module.
pub struct ArpInput {
    interfaces: Published<Interfaces>,
    vrfs: Published<Vrfs>,
    adjacencies: Arc<AdjacencyTable>,
    groups: Arc<EcmpTable>,
    slow_path: SlowPath,
    /// Apart: a flood of questions keeps nobody from answering ours.
    replies: RateLimits,
    others: RateLimits,
}

graph::exits! {
    /// What becomes of an ARP packet that is not punted alone.
    pub enum Exit {
        /// The answer to a question for one of our addresses.
        Reply => node "interface-output",
        /// RFC 1027: the answer to a question for an address that we stand in for.
        Proxied => node "interface-output",
        /// An answer, punted as well, and the interface has a twin: the kernel may have asked.
        Twin => node "twin-output" cause twin_output::PACKET,
        /// Fewer bytes than an ARP packet.
        Truncated => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// Not about IPv4 over Ethernet.
        UnknownFormat => drop "Nothing for an Ethernet router: who sends it means another \
            network.",
        /// Neither request nor reply.
        UnknownOperation => drop "Nothing: reverse ARP and its like.",
        /// RFC 1812 section 3.3.2: the sender's MAC is not one station's, or it is our own.
        BadSenderMac => drop "If it is our MAC: there is a loop, or another router has the same. \
            Else the sender is broken.",
        /// The sender's address is no host's on the link, and the packet no question for us.
        BadSenderAddress => drop "The host is in another subnet than the port: compare its address \
            with `volley show ports`.",
        /// A question or an answer between others.
        NotForUs => drop "Nothing: hosts on the link ask for each other.",
        /// More than the control thread takes.
        SlowPathFull => drop "Somebody floods ARP: `volley show neighbor-shares` tells behind \
            which port; neighbours in use stay known.",
    }
}

impl Node for ArpInput {
    const NAME: &'static str = "arp-input";
    const ABOUT: &'static str = "answers ARP requests and learns from ARP";
    const ATTACH: &'static [Attach] =
        &[Attach { of: "ethernet-input", key: ethertype::ARP as u32 }];
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            vrfs: setup.shared.vrfs.clone(),
            adjacencies: Arc::clone(&setup.shared.adjacencies),
            groups: Arc::clone(&setup.shared.groups),
            slow_path: setup.shared.slow_path.clone(),
            replies: RateLimits::new(MOST_INTERFACES, PUNTS_PER_SECOND),
            others: RateLimits::new(MOST_INTERFACES, PUNTS_PER_SECOND),
        }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let (interfaces, vrfs) = (self.interfaces.get(context), self.vrfs.get(context));
        exits.each(frame, |packet| {
            let heard = interfaces.get(packet.rx()).ok_or(Exit::NotForUs);
            let routes = PacketRoutes::new(vrfs, interfaces, packet.rx());
            let now_tsc = context.now_tsc;
            match heard.and_then(|interface| self.hear(packet, interface, routes, now_tsc)) {
                Ok(()) if interfaces.has_twin(packet.rx()) => Exit::Twin.into(),
                Ok(()) => {
                    packet.release(context.cache);
                    ExitIndex::TAKEN
                }
                Err(exit) => exit.into(),
            }
        });
    }
}

impl ArpInput {
    /// Ok if the packet was punted, and no more is to be done.
    fn hear(
        &mut self,
        packet: &mut PacketView<'_>,
        interface: &Interface,
        routes: PacketRoutes<'_>,
        now_tsc: u64,
    ) -> Result<(), Exit> {
        let heard = arp::Packet::new(packet.header()).ok_or(Exit::Truncated)?;
        check(heard, interface)?;
        let (sender, target) = (heard.sender_ip(), heard.target_ip());
        let asks_us = heard.operation() == REQUEST && interface.has_ip4(target);
        let of_link = heard.is_probe()
            || interface.reaches_ip4(sender)
            || self.is_routed_on_link(packet.rx(), sender, routes);
        if !of_link && asks_us && !routes.are_ours(sender) {
            answer_arp(packet, target, MacAddr(interface.mac));
            return Err(Exit::Reply);
        }
        if !of_link {
            return Err(Exit::BadSenderAddress);
        }
        let to_us = heard.target_mac().octets() == interface.mac && interface.has_ip4(target);
        let claims_ours = interface.has_ip4(sender);
        let asks_proxy = heard.operation() == REQUEST
            && !heard.is_probe()
            && stands_in_for(interface, target)
            && self.leaves_elsewhere(packet.rx(), target, routes);
        let punt = ArpHeard {
            interface: packet.rx(),
            address: sender,
            mac: heard.sender_mac().octets(),
            is_reply: heard.operation() == REPLY,
            is_gratuitous: heard.is_gratuitous() || claims_ours,
            is_for_us: asks_us || asks_proxy || heard.operation() == REPLY && to_us,
        };
        let is_punt = punt.is_for_us || punt.is_gratuitous;
        // The kernel asks from any address of the router's.
        let to_kernel = interface.has::<Twin>() && heard.operation() == REPLY;
        let told = if to_kernel && heard.target_mac().octets() == interface.mac && !is_punt {
            Err(Exit::Twin)
        } else if !is_punt {
            Err(Exit::NotForUs)
        } else if heard.is_probe() {
            Ok(())
        } else {
            self.tell(punt, now_tsc)
        };
        if asks_us && !claims_ours {
            answer_arp(packet, target, MacAddr(interface.mac));
            return Err(Exit::Reply);
        }
        if asks_proxy && !claims_ours {
            answer_arp(packet, target, MacAddr(interface.mac));
            return Err(Exit::Proxied);
        }
        told
    }

    /// True if a route says that `address` is on the link of interface `rx`.
    fn is_routed_on_link(&self, rx: u16, address: u32, routes: PacketRoutes<'_>) -> bool {
        let host = Ipv4Addr::from(address).into();
        is_on_link(routes.to(address), host, rx, &self.adjacencies)
    }

    /// True if packets from interface `rx` to `address` are sent on, and not back to where they
    /// came from.
    fn leaves_elsewhere(&self, rx: u16, address: u32, routes: PacketRoutes<'_>) -> bool {
        let mut to = routes.to(address);
        if to.kind() == Kind::Group as u8 {
            to = self.groups.pick(GroupId(to.id()), address);
        }
        leaves_by(to, &self.adjacencies).is_some_and(|interface| interface != rx)
    }

    fn tell(&mut self, heard: ArpHeard, now_tsc: u64) -> Result<(), Exit> {
        let Self { replies, others, .. } = self;
        let punt = Punt::Arp(heard);
        let limits = if punt.lane() == Lane::Answers { replies } else { others };
        let allowed = limits.take(heard.interface.into(), now_tsc);
        let told = allowed && self.slow_path.tell(punt).is_ok();
        if told { Ok(()) } else { Err(Exit::SlowPathFull) }
    }
}

fn check(heard: arp::Packet<'_>, interface: &Interface) -> Result<(), Exit> {
    if !heard.is_ip4_over_ethernet() {
        return Err(Exit::UnknownFormat);
    }
    if !matches!(heard.operation(), REQUEST | REPLY) {
        return Err(Exit::UnknownOperation);
    }
    let mac = heard.sender_mac();
    if !mac.is_unicast() || mac.octets() == interface.mac {
        return Err(Exit::BadSenderMac);
    }
    let sender = heard.sender_ip();
    let is_probe = heard.is_probe() && heard.operation() == REQUEST;
    if !is_probe && ipv4::is_martian_source(sender) {
        return Err(Exit::BadSenderAddress);
    }
    Ok(())
}

/// True if the interface may answer for an address that is none of its own: never for one of its
/// own subnet.
fn stands_in_for(interface: &Interface, address: u32) -> bool {
    let proxied = interface
        .get::<ProxyArp>()
        .is_some_and(|ProxyArp(networks)| networks.iter().any(|network| network.contains(address)));
    proxied && !interface.reaches_ip4(address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::VrfId;
    use crate::testing::{
        FAR, GATEWAY, HOST, HOST_MAC, QUEUE, TO_GATEWAY, US, US_OUTSIDE, World, our_mac,
    };
    use fib::Forward;
    use graph::harness::{NodeHarness, Outcome};
    use wire::craft::{self, Arp, Craft};

    const ALL: [u8; 6] = [0xff; 6];

    fn run_on(world: &World, frames: &[Vec<u8>]) -> Vec<Outcome> {
        NodeHarness::<ArpInput>::new(&world.setup).unwrap().run(frames, 0, 14)
    }

    /// The exit, the frame as it leaves, and the punts.
    fn run(frame: &Craft<Arp>) -> (String, Vec<u8>, Vec<ArpHeard>) {
        let world = World::new();
        let out = run_on(&world, &[frame.build()]).remove(0);
        let punts = world.all_punts().into_iter().map(|punt| match punt {
            Punt::Arp(punt) => punt,
            other => panic!("{other:?}"),
        });
        (out.exit, out.header, punts.collect())
    }

    fn request(sender: [u8; 4], target: [u8; 4]) -> Craft<Arp> {
        craft::ethernet(HOST_MAC, ALL).arp_request(HOST_MAC, sender, target)
    }

    fn reply(to: [u8; 6], target_mac: [u8; 6], target: [u8; 4]) -> Craft<Arp> {
        craft::ethernet(HOST_MAC, to).arp_reply(HOST_MAC, HOST, target_mac, target)
    }

    fn punt() -> ArpHeard {
        ArpHeard {
            interface: 0,
            address: u32::from_be_bytes(HOST),
            mac: HOST_MAC,
            is_reply: false,
            is_gratuitous: false,
            is_for_us: false,
        }
    }

    #[test]
    fn a_question_for_our_address_is_answered_and_its_sender_learned() {
        let mut dirty = request(HOST, US).build();
        dirty.resize(64, 0xee);
        let world = World::new();
        let out = run_on(&world, &[dirty]).remove(0);
        let expected = craft::ethernet(our_mac(0), HOST_MAC);
        let expected = expected.arp_reply(our_mac(0), US, HOST_MAC, HOST).pad_to(60).build();
        assert_eq!((out.exit.as_str(), out.tx, out.header), ("reply", 0, expected));
        assert_eq!(run(&request(HOST, US)).2, [ArpHeard { is_for_us: true, ..punt() }]);
    }

    #[test]
    fn a_probe_is_answered_and_teaches_nothing() {
        let (exit, frame, learned) = run(&request([0; 4], US));
        let expected = craft::ethernet(our_mac(0), HOST_MAC);
        let expected = expected.arp_reply(our_mac(0), US, HOST_MAC, [0; 4]).pad_to(60).build();
        assert_eq!((exit.as_str(), frame, learned), ("reply", expected, vec![]));
        assert_eq!(run(&request([0; 4], HOST)).0, "not-for-us");
    }

    #[test]
    fn a_reply_to_us_is_punted() {
        let (exit, _, learned) = run(&reply(our_mac(0), our_mac(0), US));
        assert_eq!(exit, "taken");
        assert_eq!(learned, [ArpHeard { is_reply: true, is_for_us: true, ..punt() }]);
    }

    #[test]
    fn a_twin_gets_the_replies_to_our_mac() {
        let mut world = World::new();
        world.change_interface(0, |row| row.put(Some(Twin)));
        let exit = |frame: Craft<Arp>| run_on(&world, &[frame.build()]).remove(0).exit;
        assert_eq!(exit(reply(our_mac(0), our_mac(0), US)), "twin");
        assert_eq!(exit(reply(our_mac(0), our_mac(0), US_OUTSIDE)), "twin");
        assert_eq!(exit(reply(our_mac(0), [4; 6], US_OUTSIDE)), "not-for-us");
        assert_eq!(exit(request(HOST, US)), "reply");
    }

    #[test]
    fn an_announcement_is_punted_for_all() {
        for announcement in [request(HOST, HOST), reply(ALL, ALL, HOST)] {
            let (exit, _, learned) = run(&announcement);
            assert_eq!((exit.as_str(), learned.len()), ("taken", 1));
            assert!(learned[0].is_gratuitous && !learned[0].is_for_us);
        }
    }

    #[test]
    fn an_address_that_we_stand_in_for_is_answered_as_ours_if_its_packets_leave_elsewhere() {
        let asked = |networks: &[&str], frame: Craft<Arp>| {
            let mut world = World::new();
            let networks: Vec<_> = networks.iter().map(|text| text.parse().unwrap()).collect();
            world.change_interface(0, |row| row.put(Some(ProxyArp(networks.clone()))));
            let out = run_on(&world, &[frame.build()]).remove(0);
            (out.exit, out.header, world.all_punts())
        };
        let all: &[&str] = &["0.0.0.0/0"];
        let expected = craft::ethernet(our_mac(0), HOST_MAC);
        let expected = expected.arp_reply(our_mac(0), FAR, HOST_MAC, HOST).pad_to(60).build();
        let (exit, frame, punts) = asked(all, request(HOST, FAR));
        assert_eq!((exit.as_str(), frame), ("proxied", expected));
        let known = ArpHeard { is_for_us: true, ..self::punt() };
        assert!(matches!(punts[..], [Punt::Arp(told)] if told == known));
        let exit = |networks, to: [u8; 4]| asked(networks, request(HOST, to)).0;
        // A neighbour of another interface, one that shares next hops, and one of another network.
        assert_eq!(exit(all, GATEWAY), "proxied");
        assert_eq!(exit(&["10.6.0.0/16"], FAR), "not-for-us");
        // Of the own subnet, without a way, to be dropped, nobody's.
        for to in [[192, 0, 2, 9], [172, 16, 0, 1], [10, 1, 0, 1], [10, 3, 0, 1], [224, 0, 0, 1]] {
            assert_eq!(exit(all, to), "not-for-us", "{to:?}");
        }
        // Whoever tries an address is not kept from it.
        assert_eq!(asked(all, request([0; 4], FAR)).0, "not-for-us");
        assert_eq!(asked(all, reply(our_mac(0), our_mac(0), FAR)).0, "not-for-us");
        assert_eq!(exit(&[], FAR), "not-for-us");
    }

    #[test]
    fn whoever_claims_our_address_is_punted_and_gets_no_answer() {
        let (exit, _, learned) = run(&request(US, US));
        assert_eq!((exit.as_str(), learned[0].address), ("taken", u32::from_be_bytes(US)));
        let (_, _, learned) = run(&request(US, HOST));
        assert!(learned[0].is_gratuitous && !learned[0].is_for_us);
    }

    #[test]
    fn a_borrowed_address_answers_whoever_is_at_the_other_end() {
        let mut world = World::new();
        let run = |world: &World, frame: &Craft<Arp>| run_on(world, &[frame.build()]).remove(0);
        assert_eq!(run(&world, &request(FAR, US)).exit, "reply");
        assert_eq!(world.all_punts().len(), 0);
        world.change_interface(0, |row| row.ip4 = vec![(u32::from_be_bytes(US), 0)]);
        let out = run(&world, &request(FAR, US));
        assert_eq!(world.all_punts().len(), 1);
        let answer = craft::ethernet(our_mac(0), HOST_MAC).arp_reply(our_mac(0), US, HOST_MAC, FAR);
        assert_eq!(out.exit, "reply");
        assert!(out.header.starts_with(&answer.build()));
        assert_eq!(run(&world, &request([127, 0, 0, 1], US)).exit, "bad-sender-address");
    }

    #[test]
    fn who_asks_from_an_address_of_no_link_is_answered_and_not_learned() {
        let (exit, frame, learned) = run(&request(FAR, US));
        let answer = craft::ethernet(our_mac(0), HOST_MAC).arp_reply(our_mac(0), US, HOST_MAC, FAR);
        assert_eq!((exit.as_str(), frame), ("reply", answer.pad_to(60).build()));
        assert_eq!(learned, []);
        let says = craft::ethernet(HOST_MAC, our_mac(0)).arp_reply(HOST_MAC, FAR, our_mac(0), US);
        assert_eq!(run(&says).0, "bad-sender-address");
        assert_eq!(run(&request(FAR, HOST)).0, "bad-sender-address");
    }

    #[test]
    fn hosts_that_a_route_puts_on_the_link_are_learned() {
        let world = World::new();
        let says = craft::ethernet(HOST_MAC, our_mac(0)).arp_reply(HOST_MAC, FAR, our_mac(0), US);
        let exit = |world: &World| run_on(world, &[says.build()]).remove(0).exit;
        let lead = |prefix: &str, kind: Kind, id| {
            let to = Forward::new(kind as u8, id);
            let tables = world.vrfs.get(VrfId::DEFAULT).unwrap();
            tables.ip4.insert(prefix.parse().unwrap(), to).unwrap();
        };
        lead("10.0.0.0/24", Kind::Glean, 0);
        assert_eq!((exit(&world).as_str(), world.all_punts().len()), ("taken", 1));
        // Known by now: its own address leads to it. Another's way leads to that other's.
        lead("10.0.0.9/32", Kind::Rewrite, TO_GATEWAY);
        assert_eq!(exit(&world), "bad-sender-address");
        lead("10.0.0.9/32", Kind::Glean, 1);
        assert_eq!(exit(&world), "bad-sender-address");
    }

    #[test]
    fn what_is_wrong_or_between_others_is_dropped() {
        let other = [192, 0, 2, 9];
        let mine = craft::ethernet(our_mac(0), ALL).arp_request(our_mac(0), HOST, US);
        let group = craft::ethernet(HOST_MAC, ALL).arp_request([1, 0, 0, 0, 0, 9], HOST, US);
        for (exit, frame) in [
            ("unknown-format", request(HOST, US).hardware_type(6)),
            ("unknown-format", request(HOST, US).protocol_type(0x86dd)),
            ("unknown-format", request(HOST, US).address_lens(8, 4)),
            ("unknown-operation", request(HOST, US).operation(3)),
            ("bad-sender-mac", group),
            ("bad-sender-mac", mine),
            ("bad-sender-address", request(US_OUTSIDE, US)),
            ("bad-sender-address", request([127, 0, 0, 1], US)),
            ("bad-sender-address", request([0; 4], US).operation(REPLY)),
            ("not-for-us", request(HOST, other)),
            ("not-for-us", reply(our_mac(0), our_mac(0), other)),
            ("not-for-us", reply(our_mac(0), HOST_MAC, US)),
        ] {
            let (found, _, learned) = run(&frame);
            assert_eq!((found.as_str(), learned), (exit, vec![]), "{:?}", frame.build());
        }
        let short = request(HOST, US).build()[..41].to_vec();
        assert_eq!(run_on(&World::new(), &[short])[0].exit, "truncated");
    }

    #[test]
    fn a_flood_of_announcements_is_dropped_and_questions_are_still_answered() {
        let world = World::new();
        let mut frames = vec![request(HOST, HOST).build(); QUEUE + 1];
        frames.push(request(HOST, US).build());
        let exits: Vec<_> = run_on(&world, &frames).into_iter().map(|out| out.exit).collect();
        assert_eq!(exits[QUEUE - 1..], ["taken", "slow-path-full", "reply"]);
    }
}
