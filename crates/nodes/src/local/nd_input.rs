//! Neighbour discovery (RFC 4861): answers questions for our addresses, and tells the control
//! thread who is where and who looks for routers.
//!
//! ```text
//!  icmp6_input ─▶ nd_input ┬▶ interface_output   the answer, in the question's buffer
//!                          ├▶ (control thread)   punts of neighbours, so many a second
//!                          ├▶ twin_output        advertisements, which the kernel may have asked for
//!                          └▶ drop
//! ```
//! Questions for tentative addresses are not answered (RFC 4862 section 5.4.3): the control thread
//! hears of them, and of whoever advertises an address of ours. Redirects are for hosts.

use crate::ip::{PacketRoutes, is_on_link};
use crate::local::{
    NdAnswer,
    ip6_local::{strip_extensions, upper_layer},
    proxy_nd::Proxy,
    twin_output,
};
use crate::tables::{
    Interface, Interfaces, Lane, MOST_INTERFACES, NdHeard, NdSaid, Punt, RateLimits, RouterWanted,
    Setup, SlowPath, Vrfs,
};
use fib::adjacency::AdjacencyTable;
use fib::ecmp::EcmpTable;
use graph::{Context, ExitIndex, Exits, Node, Published};
use packet::{Frame, PacketView};
use std::net::Ipv6Addr;
use std::sync::Arc;
use wire::icmp6::message;
use wire::nd::{self, flag, option};
use wire::{MacAddr, ethernet, ipv6};

/// Answers, and likewise other punts, a second, interface and worker: more than a healthy link has
/// to tell, and than we ask for, less than the control thread can hear.
const PUNTS_PER_SECOND: u32 = 2_000;

/// See the module.
pub struct NdInput {
    interfaces: Published<Interfaces>,
    vrfs: Published<Vrfs>,
    adjacencies: Arc<AdjacencyTable>,
    groups: Arc<EcmpTable>,
    slow_path: SlowPath,
    /// Apart: a flood of questions keeps nobody from answering ours.
    answers: RateLimits,
    others: RateLimits,
}

graph::exits! {
    /// What becomes of a message that is not punted alone.
    pub enum Exit {
        /// The answer to a question for one of our addresses.
        Advertise => node "interface-output",
        /// RFC 4389: the answer to a question for an address that we stand in for.
        Proxied => node "interface-output",
        /// Punts, and the interface has a twin: the kernel may have asked.
        Twin => node "twin-output" cause twin_output::PACKET,
        /// RFC 4861 section 7.1: a hop limit below 255: it is not from this link.
        NotFromLink => drop "Nothing: it claims to be from this link and is not. Capture some to \
            see who sends it.",
        /// RFC 4861 sections 6.1 and 7.1: a length, code, target or option that must not be.
        Malformed => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// The sender's MAC is not one station's, or it is our own.
        BadSenderMac => drop "If it is our MAC: there is a loop, or another router has the same. \
            Else the sender is broken.",
        /// The sender's address, or the one it tells of, is not on the link.
        OffLinkAddress => drop "The host is in another subnet than the port: compare its address \
            with `volley show ports`.",
        /// A question for an address that is not ours.
        NotForUs => drop "Nothing: hosts on the link ask for each other.",
        /// RFC 4861 section 6.2.7: another router's advertisement teaches a router nothing.
        RouterAdvertisement => drop "Nothing, if another router is meant to be there; a `twin` \
            takes them to the kernel, where FRR wants them.",
        /// RFC 4861 section 8.2: a router does not follow redirects.
        Redirect => drop "Nothing: routes come from the configuration or a routing protocol \
            alone.",
        /// More than the control thread takes.
        SlowPathFull => drop "Somebody floods neighbour discovery: `volley show neighbor-shares` \
            tells behind which port; neighbours in use stay known.",
    }
}

impl Node for NdInput {
    const NAME: &'static str = "nd-input";
    const ABOUT: &'static str = "answers neighbour solicitations and learns from neighbours";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            vrfs: setup.shared.vrfs.clone(),
            adjacencies: Arc::clone(&setup.shared.adjacencies),
            groups: Arc::clone(&setup.shared.groups),
            slow_path: setup.shared.slow_path.clone(),
            answers: RateLimits::new(MOST_INTERFACES, PUNTS_PER_SECOND),
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
                // A routing protocol beside us finds its neighbours by them.
                Err(Exit::RouterAdvertisement) if interfaces.has_twin(packet.rx()) => {
                    Exit::Twin.into()
                }
                Err(exit) => exit.into(),
            }
        });
    }
}

/// RFC 4861 section 6.1.2: what every advertisement of a router has.
const ADVERTISEMENT_BYTES: usize = 16;

/// What becomes of a router's advertisement.
fn advertised_by_router(heard: &Heard<'_>, code: u8) -> Exit {
    let is_whole = code == 0 && heard.bytes.len() >= ADVERTISEMENT_BYTES;
    match is_whole && ipv6::is_link_local(heard.source) {
        true => Exit::RouterAdvertisement,
        false => Exit::Malformed,
    }
}

/// A message as it was read, its sender's frame included.
struct Heard<'a> {
    source: u128,
    to_group: bool,
    bytes: &'a [u8],
    frame_mac: MacAddr,
}

impl NdInput {
    /// Ok if the message was punted, and no more is to be done.
    fn hear(
        &mut self,
        packet: &mut PacketView<'_>,
        interface: &Interface,
        routes: PacketRoutes<'_>,
        now_tsc: u64,
    ) -> Result<(), Exit> {
        let (header, bytes) = upper_layer(packet).ok_or(Exit::Malformed)?;
        if header.hop_limit() != nd::HOP_LIMIT {
            return Err(Exit::NotFromLink);
        }
        // A tag that was taken off may stand in front of it.
        let link = ethernet::Header::of(packet.consumed_last().ok_or(Exit::Malformed)?);
        let heard = Heard {
            source: header.source(),
            to_group: ipv6::is_multicast(header.destination()),
            bytes,
            frame_mac: link.source(),
        };
        if !heard.frame_mac.is_unicast() || heard.frame_mac.octets() == interface.mac {
            return Err(Exit::BadSenderMac);
        }
        let said = match bytes.first_chunk::<2>() {
            Some(&[message::NEIGHBOR_SOLICITATION, 0]) => solicited(&heard, header.destination()),
            Some(&[message::NEIGHBOR_ADVERTISEMENT, 0]) => advertised(&heard),
            Some(&[message::ROUTER_SOLICITATION, 0]) => router_wanted(&heard),
            Some(&[message::ROUTER_ADVERTISEMENT, code]) => Err(advertised_by_router(&heard, code)),
            Some(&[message::REDIRECT, _]) => Err(Exit::Redirect),
            _ => Err(Exit::Malformed),
        };
        let (said, mac) = said?;
        if mac.is_some_and(|mac| !mac.is_unicast() || mac.octets() == interface.mac) {
            return Err(Exit::BadSenderMac);
        }
        let (source, frame_mac) = (heard.source, heard.frame_mac);
        let (rx, adjacencies) = (packet.rx(), &self.adjacencies);
        let is_routed_here = |address: u128| {
            is_on_link(routes.to(address), Ipv6Addr::from(address).into(), rx, adjacencies)
        };
        let on_link = |address| {
            ipv6::is_link_local(address)
                || interface.reaches_ip6(address)
                || is_routed_here(address)
        };
        // As long as our own address is tentative, so is whether its subnet is on the link.
        let is_claim = match said {
            Some(NdSaid::Advertised { target, .. }) => interface.claims_ip6(target),
            Some(NdSaid::Solicited { .. }) | None => false,
        };
        if source != 0 && !on_link(source) && !is_claim {
            return Err(Exit::OffLinkAddress);
        }
        let proxy = Proxy { adjacencies, groups: &self.groups, routes };
        let stands_in = match said {
            Some(NdSaid::Solicited { target }) => {
                proxy.stands_in(rx, interface, target, source == 0)
            }
            Some(NdSaid::Advertised { .. }) | None => false,
        };
        let asked = match said {
            Some(NdSaid::Solicited { target }) if stands_in => Some(target),
            Some(NdSaid::Solicited { target }) if !interface.claims_ip6(target) => {
                return Err(Exit::NotForUs);
            }
            Some(NdSaid::Solicited { target }) => {
                Some(target).filter(|&own| interface.has_ip6(own))
            }
            Some(NdSaid::Advertised { target, .. }) if !on_link(target) && !is_claim => {
                return Err(Exit::OffLinkAddress);
            }
            Some(NdSaid::Advertised { .. }) | None => None,
        };
        // Who looks whether an address of ours is free learns that it is not, and teaches nothing.
        let told = if asked.is_some() && source == 0 {
            Ok(())
        } else {
            // One who looks whether an address is free tells no MAC but that of its frame.
            let mac = mac.or((source == 0).then_some(frame_mac)).map(MacAddr::octets);
            let interface = packet.rx();
            let punt = match said {
                Some(said) => Punt::Nd(NdHeard { interface, source, mac, said }),
                None => Punt::RouterWanted(RouterWanted { interface, source, mac }),
            };
            self.tell(punt, interface, now_tsc)
        };
        match asked {
            Some(own) => {
                let from = if stands_in { stand_in_address(interface, source) } else { Some(own) };
                let Some(from) = from else { return Err(Exit::NotForUs) };
                strip_extensions(packet);
                let answer = NdAnswer {
                    address: own,
                    source: from,
                    mac: MacAddr(interface.mac),
                    // RFC 4861 section 7.2.8: its owner's own answer replaces this one.
                    flags: if stands_in { 0 } else { flag::ROUTER | flag::OVERRIDE },
                    asker: source,
                    asker_mac: mac.unwrap_or(frame_mac),
                };
                answer.write(packet);
                Err(if stands_in { Exit::Proxied } else { Exit::Advertise })
            }
            None => told,
        }
    }

    fn tell(&mut self, punt: Punt, interface: u16, now_tsc: u64) -> Result<(), Exit> {
        let Self { answers, others, .. } = self;
        let limits = if punt.lane() == Lane::Answers { answers } else { others };
        let allowed = limits.take(interface.into(), now_tsc);
        let told = allowed && self.slow_path.tell(punt).is_ok();
        if told { Ok(()) } else { Err(Exit::SlowPathFull) }
    }
}

/// The address of ours that answers in another's name: link-local, where all are told.
fn stand_in_address(interface: &Interface, asker: u128) -> Option<u128> {
    let near = || interface.ip6.iter().find(|(own, _)| ipv6::is_link_local(*own));
    match asker {
        0 => near().map(|&(own, _)| own),
        asker => interface.ip6_towards(asker),
    }
}

/// What was said of whom, or that routers are wanted; and the MAC that it tells of.
type Said = Result<(Option<NdSaid>, Option<MacAddr>), Exit>;

/// RFC 4861 section 7.1.1.
fn solicited(heard: &Heard<'_>, destination: u128) -> Said {
    let (target, mac) = target_and_mac(heard, option::SOURCE_LINK_ADDRESS)?;
    let from_nobody = heard.source == 0;
    if from_nobody && (mac.is_some() || destination != ipv6::solicited_node(target)) {
        return Err(Exit::Malformed);
    }
    Ok((Some(NdSaid::Solicited { target }), mac))
}

/// RFC 4861 section 7.1.2.
fn advertised(heard: &Heard<'_>) -> Said {
    let (target, mac) = target_and_mac(heard, option::TARGET_LINK_ADDRESS)?;
    let flags = nd::Neighbor::new(heard.bytes).map_or(0, |message| message.flags());
    let is = |bit: u8| flags & bit != 0;
    let (solicited, overrides) = (is(flag::SOLICITED), is(flag::OVERRIDE));
    if heard.source == 0 || solicited && heard.to_group {
        return Err(Exit::Malformed);
    }
    Ok((Some(NdSaid::Advertised { target, solicited, overrides }), mac))
}

/// RFC 4861 section 6.1.1.
fn router_wanted(heard: &Heard<'_>) -> Said {
    let options = heard.bytes.get(nd::ROUTER_SOLICITATION_LEN..).ok_or(Exit::Malformed)?;
    let mac = link_address(options, option::SOURCE_LINK_ADDRESS)?;
    if heard.source == 0 && mac.is_some() {
        return Err(Exit::Malformed);
    }
    Ok((None, mac))
}

/// The target of a neighbour message, and the MAC in its option of this kind.
fn target_and_mac(heard: &Heard<'_>, kind: u8) -> Result<(u128, Option<MacAddr>), Exit> {
    let message = nd::Neighbor::new(heard.bytes).ok_or(Exit::Malformed)?;
    let options = heard.bytes.get(nd::Neighbor::LEN..).ok_or(Exit::Malformed)?;
    if ipv6::is_multicast(message.target()) {
        return Err(Exit::Malformed);
    }
    Ok((message.target(), link_address(options, kind)?))
}

fn link_address(options: &[u8], kind: u8) -> Result<Option<MacAddr>, Exit> {
    nd::link_address(options, kind).map_err(|_| Exit::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::{ProxyNd, Twin};
    use crate::tables::{Kind, VrfId};
    use crate::testing::{
        FAR6, GATEWAY6, HOST_MAC, HOST6, LINK_HOST, QUEUE, TENTATIVE6, TO_GATEWAY6, US6,
        US6_OUTSIDE, World, link_local, our_mac,
    };
    use fib::Forward;
    use graph::harness::{NodeHarness, Outcome};
    use wire::craft::{self, Craft, Ethernet, Icmp6};

    const NOBODY: Ipv6Addr = Ipv6Addr::UNSPECIFIED;

    fn run_on(world: &World, frames: &[Vec<u8>]) -> Vec<Outcome> {
        let mut node = NodeHarness::<NdInput>::new(&world.setup).unwrap();
        node.run_prepared(frames, 0, 14, |frame| frame.adjacencies_mut().fill(40))
    }

    /// The exit, the frame as it leaves, and the punts.
    fn run(frame: &[u8]) -> (String, Vec<u8>, Vec<NdHeard>) {
        let world = World::new();
        let out = run_on(&world, &[frame.to_vec()]).remove(0);
        let punts = world.all_punts().into_iter().map(|punt| match punt {
            Punt::Nd(punt) => punt,
            other => panic!("{other:?}"),
        });
        (out.exit, out.header, punts.collect())
    }

    fn from_host() -> Craft<Ethernet> {
        craft::ethernet(HOST_MAC, [0x33, 0x33, 0xff, 0, 0, 1])
    }

    fn group_of(target: Ipv6Addr) -> Ipv6Addr {
        ipv6::solicited_node(target.into()).into()
    }

    fn ask(source: Ipv6Addr, target: Ipv6Addr) -> Craft<Icmp6> {
        from_host().ipv6(source, group_of(target)).neighbor_solicitation(target.into(), HOST_MAC)
    }

    fn probe(target: Ipv6Addr) -> Craft<Icmp6> {
        from_host().ipv6(NOBODY, group_of(target)).neighbor(135, target.into(), 0)
    }

    fn advertise(target: Ipv6Addr, flags: u8) -> Craft<Icmp6> {
        from_host().ipv6(HOST6, US6).neighbor_advertisement(target.into(), HOST_MAC, flags)
    }

    fn punt(source: Ipv6Addr, said: NdSaid) -> NdHeard {
        NdHeard { interface: 0, source: source.into(), mac: Some(HOST_MAC), said }
    }

    #[test]
    fn a_question_for_our_address_is_answered_and_its_sender_told() {
        for (asker, own) in [(HOST6, US6), (LINK_HOST, link_local(0)), (LINK_HOST, US6)] {
            let (exit, frame, learned) = run(&ask(asker, own).build());
            let expected = craft::ethernet(our_mac(0), HOST_MAC).ipv6(own, asker);
            let expected = expected.neighbor_advertisement(own.into(), our_mac(0), 0xe0).build();
            assert_eq!((exit.as_str(), frame), ("advertise", expected));
            assert_eq!(learned, [punt(asker, NdSaid::Solicited { target: own.into() })]);
        }
    }

    #[test]
    fn a_question_that_came_with_a_tag_is_answered() {
        let frame = [&[0x81, 0, 0, 100][..], &ask(HOST6, US6).build()].concat();
        let mut node = NodeHarness::<NdInput>::new(&World::new().setup).unwrap();
        let by = |frame: &mut Frame| frame.adjacencies_mut().fill(40);
        assert_eq!(node.run_prepared(&[frame], 0, 4 + 14, by)[0].exit, "advertise");
    }

    #[test]
    fn a_question_without_option_is_answered_to_where_it_came_from() {
        let question = from_host().ipv6(HOST6, US6).neighbor(135, US6.into(), 0).build();
        let (_, frame, learned) = run(&question);
        let expected = craft::ethernet(our_mac(0), HOST_MAC).ipv6(US6, HOST6);
        assert_eq!(frame, expected.neighbor_advertisement(US6.into(), our_mac(0), 0xe0).build());
        assert_eq!(learned[0].mac, None);
    }

    #[test]
    fn who_wants_our_address_is_told_by_all_that_it_is_taken() {
        let (exit, frame, learned) = run(&probe(US6).build());
        let all: Ipv6Addr = ipv6::ALL_NODES.into();
        let expected = craft::ethernet(our_mac(0), [0x33, 0x33, 0, 0, 0, 1]).ipv6(US6, all);
        let expected = expected.neighbor_advertisement(US6.into(), our_mac(0), 0xa0).build();
        assert_eq!((exit.as_str(), frame, learned), ("advertise", expected, vec![]));
    }

    #[test]
    fn a_tentative_address_is_told_of_and_not_answered_for() {
        let (exit, _, learned) = run(&probe(TENTATIVE6).build());
        let said = NdSaid::Solicited { target: TENTATIVE6.into() };
        assert_eq!((exit.as_str(), learned), ("taken", vec![punt(NOBODY, said)]));
    }

    #[test]
    fn an_advertisement_is_punted_with_its_flags() {
        for (flags, solicited, overrides) in
            [(0x60, true, true), (0x40, true, false), (0x20, false, true)]
        {
            let (exit, _, learned) = run(&advertise(LINK_HOST, flags).build());
            let said = NdSaid::Advertised { target: LINK_HOST.into(), solicited, overrides };
            assert_eq!((exit.as_str(), learned), ("taken", vec![punt(HOST6, said)]));
        }
    }

    #[test]
    fn hosts_that_a_route_puts_on_the_link_are_learned() {
        let world = World::new();
        let says = advertise(FAR6, 0x60).build();
        let exit = || run_on(&world, std::slice::from_ref(&says)).remove(0).exit;
        for (interface, expected) in [(1, "off-link-address"), (0, "taken")] {
            let to = Forward::new(Kind::Glean as u8, interface);
            let tables = world.vrfs.get(VrfId::DEFAULT).unwrap();
            tables.ip6.insert("2001:db8:a::/64".parse().unwrap(), to).unwrap();
            assert_eq!(exit(), expected);
        }
        assert_eq!(world.all_punts().len(), 1);
    }

    #[test]
    fn a_claim_on_a_tentative_address_is_heard_before_its_subnet_is_ours() {
        let mut world = World::new();
        let row = world.interfaces.get(0).map(|row| Interface { ip6: Vec::new(), ..row.clone() });
        world.interfaces.set(world.interfaces.with(0, row));
        let group: Ipv6Addr = ipv6::ALL_NODES.into();
        let claim = from_host().ipv6(TENTATIVE6, group);
        let claim = claim.neighbor_advertisement(TENTATIVE6.into(), HOST_MAC, 0x20).build();
        assert_eq!(run_on(&world, &[claim])[0].exit, "taken");
        assert_eq!(world.all_punts().len(), 1);
    }

    #[test]
    fn a_host_that_looks_for_routers_is_punted() {
        let asks = || from_host().ipv6(LINK_HOST, US6).router_solicitation();
        let tells = || asks().nd_option(option::SOURCE_LINK_ADDRESS, &HOST_MAC);
        for (frame, mac) in [(asks().build(), None), (tells().build(), Some(HOST_MAC))] {
            let world = World::new();
            assert_eq!(run_on(&world, &[frame])[0].exit, "taken");
            let expected = RouterWanted { interface: 0, source: LINK_HOST.into(), mac };
            let punts = world.all_punts();
            assert!(matches!(punts[..], [Punt::RouterWanted(told)] if told == expected));
        }
    }

    #[test]
    fn a_twin_gets_what_routers_advertise() {
        let mut world = World::new();
        world.change_interface(0, |row| row.put(Some(Twin)));
        let group = Ipv6Addr::from(ipv6::ALL_NODES);
        let exit = |from: Ipv6Addr| {
            let frame = from_host().ipv6(from, group).router_advertisement(9).build();
            run_on(&world, &[frame]).remove(0).exit
        };
        assert_eq!((exit(LINK_HOST), exit(HOST6)), ("twin".into(), "malformed".into()));
        assert!(world.all_punts().is_empty());
    }

    #[test]
    fn what_is_wrong_or_for_others_is_dropped() {
        let (source_mac, group) = (option::SOURCE_LINK_ADDRESS, Ipv6Addr::from(ipv6::ALL_NODES));
        let to_us = || from_host().ipv6(HOST6, US6);
        let ours = craft::ethernet(our_mac(0), HOST_MAC).ipv6(HOST6, US6);
        let ask_bare = |target: Ipv6Addr| to_us().neighbor(135, target.into(), 0);
        for (exit, packet) in [
            ("not-from-link", {
                let mut packet = ask(HOST6, US6).build();
                packet[14 + 7] = 254;
                packet
            }),
            ("malformed", to_us().hop_limit(255).icmp6(135, 0, [0; 4]).build()),
            ("malformed", to_us().hop_limit(255).icmp6(135, 1, [0; 4]).payload_len(16).build()),
            ("malformed", ask_bare(group).build()),
            ("malformed", ask_bare(US6).payload(&[1, 0, 0, 0, 0, 0, 0, 0]).build()),
            ("malformed", probe(US6).nd_option(source_mac, &HOST_MAC).build()),
            ("malformed", from_host().ipv6(NOBODY, US6).neighbor(135, US6.into(), 0).build()),
            ("malformed", from_host().ipv6(HOST6, group).neighbor(136, HOST6.into(), 0x40).build()),
            ("malformed", from_host().ipv6(NOBODY, group).neighbor(136, HOST6.into(), 0).build()),
            ("malformed", {
                let asked = from_host().ipv6(NOBODY, group).router_solicitation();
                asked.nd_option(source_mac, &HOST_MAC).build()
            }),
            ("bad-sender-mac", ask_bare(US6).nd_option(source_mac, &[1, 0, 0, 0, 0, 9]).build()),
            ("bad-sender-mac", ask_bare(US6).nd_option(source_mac, &our_mac(0)).build()),
            ("bad-sender-mac", ours.neighbor(135, US6.into(), 0).build()),
            ("off-link-address", ask(FAR6, US6).build()),
            ("off-link-address", advertise(FAR6, 0x60).build()),
            ("not-for-us", ask(HOST6, US6_OUTSIDE).build()),
            (
                "router-advertisement",
                from_host().ipv6(LINK_HOST, group).router_advertisement(9).build(),
            ),
            ("malformed", from_host().ipv6(HOST6, group).router_advertisement(9).build()),
            (
                "malformed",
                from_host().ipv6(LINK_HOST, group).hop_limit(255).icmp6(134, 0, [0; 4]).build(),
            ),
            ("redirect", to_us().neighbor(137, US6.into(), 0).build()),
        ] {
            let (found, _, learned) = run(&packet);
            assert_eq!((found.as_str(), learned), (exit, vec![]), "{packet:x?}");
        }
    }

    #[test]
    fn a_flood_of_advertisements_is_dropped_and_questions_are_still_answered() {
        let world = World::new();
        let mut frames = vec![advertise(HOST6, 0x20).build(); QUEUE + 1];
        frames.push(ask(HOST6, US6).build());
        let exits: Vec<_> = run_on(&world, &frames).into_iter().map(|out| out.exit).collect();
        assert_eq!(exits[QUEUE - 1..], ["taken", "slow-path-full", "advertise"]);
    }

    /// Interface 0 answers for networks; a host beyond interface 1 is known, and others are not.
    fn proxying(networks: &[&str]) -> World {
        let mut world = World::new();
        let networks = networks.iter().map(|text| text.parse().unwrap()).collect();
        world.change_interface(0, |row| row.put(Some(ProxyNd(networks))));
        let host = Forward::new(Kind::Rewrite as u8, TO_GATEWAY6);
        let ip6 = &world.vrfs.get(VrfId::DEFAULT).unwrap().ip6;
        ip6.insert("2001:db8:1::2/128".parse().unwrap(), host).unwrap();
        world
    }

    fn asks_for(source: Ipv6Addr, target: Ipv6Addr) -> Vec<u8> {
        let group = Ipv6Addr::from(ipv6::solicited_node(target.into()));
        let packet = craft::ethernet(HOST_MAC, MacAddr::of_ip6_group(group.into()));
        let packet = packet.ipv6(source, group);
        match source.is_unspecified() {
            true => packet.neighbor(message::NEIGHBOR_SOLICITATION, target.into(), 0).build(),
            false => packet.neighbor_solicitation(target.into(), HOST_MAC).build(),
        }
    }

    #[test]
    fn hosts_beyond_other_interfaces_are_answered_for_and_their_own_word_counts_more() {
        let world = proxying(&["2001:db8:1::/64"]);
        let out = run_on(&world, &[asks_for(HOST6, GATEWAY6)]).remove(0);
        let answer = craft::ethernet(our_mac(0), HOST_MAC).ipv6(US6, HOST6);
        let answer = answer.neighbor_advertisement(GATEWAY6.into(), our_mac(0), flag::SOLICITED);
        assert_eq!((out.exit.as_str(), out.header, out.tx), ("proxied", answer.build(), 0));
        // Who asks is learned.
        assert!(matches!(world.all_punts()[..], [Punt::Nd(heard)] if heard.source == HOST6.into()));
        // One that is not known yet, on the subnet there.
        let unknown = "2001:db8:1::77".parse().unwrap();
        assert_eq!(run_on(&world, &[asks_for(HOST6, unknown)])[0].exit, "proxied");
    }

    #[test]
    fn who_looks_whether_an_address_is_free_is_told_of_known_hosts_alone() {
        let world = proxying(&["::/0"]);
        let out = run_on(&world, &[asks_for(NOBODY, GATEWAY6)]).remove(0);
        let all = Ipv6Addr::from(ipv6::ALL_NODES);
        let answer = craft::ethernet(our_mac(0), MacAddr::of_ip6_group(all.into()));
        let answer = answer.ipv6(link_local(0), all);
        let answer = answer.neighbor_advertisement(GATEWAY6.into(), our_mac(0), 0);
        assert_eq!((out.exit.as_str(), out.header), ("proxied", answer.build()));
        for free in ["2001:db8:1::77", "2001:db8:a::9"] {
            let out = run_on(&world, &[asks_for(NOBODY, free.parse().unwrap())]).remove(0);
            assert_eq!(out.exit, "not-for-us", "{free}");
        }
        assert!(world.all_punts().is_empty());
    }

    #[test]
    fn nobody_is_answered_for_who_is_not_listed_or_not_elsewhere() {
        let world = proxying(&["::/0"]);
        // On the asker's own link; without a route; on no link but its own; our own.
        let near = "2001:db8::99".parse().unwrap();
        let nowhere = "2001:db8:ee::1".parse().unwrap();
        for target in [near, nowhere, "fe80::99".parse().unwrap()] {
            assert_eq!(run_on(&world, &[asks_for(HOST6, target)])[0].exit, "not-for-us");
        }
        assert_eq!(run_on(&world, &[asks_for(HOST6, US6)])[0].exit, "advertise");
        let listed = proxying(&["2001:db8:a::/48"]);
        assert_eq!(run_on(&listed, &[asks_for(HOST6, GATEWAY6)])[0].exit, "not-for-us");
        assert_eq!(run_on(&listed, &[asks_for(HOST6, FAR6)])[0].exit, "proxied");
    }
}
