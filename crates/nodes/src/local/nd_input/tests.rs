use super::*;
use crate::local::{ProxyNd, Twin};
use crate::tables::{Kind, VrfId};
use crate::testing::{
    FAR6, GATEWAY6, HOST_MAC, HOST6, LINK_HOST, QUEUE, TENTATIVE6, TO_GATEWAY6, US6, US6_OUTSIDE,
    World, link_local, our_mac,
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
