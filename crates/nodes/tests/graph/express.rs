//! The express way does to packets what the ordinary one does, octet for octet, and does it to all
//! that are plain.

use crate::property::any_frame;
use crate::rig::*;
use graph::{CaptureRequest, Mail, TraceRequest};
use nodes::tables::{Heeds, Kind};
use proptest::prelude::*;
use std::net::Ipv6Addr;
use std::sync::atomic::Ordering;
use std::sync::mpsc::sync_channel;
use wire::craft;

/// A router on which nobody takes the express way: some port could have a policy.
fn ordinary() -> Rig {
    let rig = Rig::new();
    rig.dataplane.has_policies.store(true, Ordering::Relaxed);
    rig
}

/// Packets that went the express way, and those that came to it.
fn express(rig: &Rig) -> (u64, u64) {
    let totals = rig.dataplane.node_totals(None);
    let of = |name: &str| totals.iter().find(|node| node.name == name).unwrap();
    let names = ["ip-express", "ip4-express", "ip6-express"];
    (names.map(|name| of(name).exits[0]).into_iter().sum(), of("ip-express").packets)
}

/// The frames of each flow in order: nobody promised more.
fn by_flow(mut sent: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    sent.sort_by_key(|frame| {
        let flow = match frame.get(12..14) {
            Some([8, 0]) => 26..38,
            Some([0x86, 0xdd]) => 22..58,
            _ => 12..14,
        };
        let flow = frame.get(flow).map(<[u8]>::to_vec);
        (frame.get(12..14).map(<[u8]>::to_vec), flow)
    });
    sent
}

/// What is left of a vector: all that was sent, dropped, answered, counted and marked.
fn outcome(rig: &mut Rig) -> impl PartialEq + std::fmt::Debug + use<> {
    rig.run();
    let sent: Vec<_> = (0..6).map(|id| by_flow(rig.sent(id))).collect();
    let used: Vec<_> = (0..13)
        .map(|id| rig.dataplane.adjacencies.take_used(fib::adjacency::AdjacencyId(id)))
        .collect();
    let totals: Vec<_> =
        (0..6).map(|id| format!("{:?}", rig.dataplane.interface_totals(id))).collect();
    let by_next_hop: Vec<_> = (0..13).map(|id| rig.dataplane.next_hop_totals(id)).collect();
    (sent, used, totals, by_next_hop, rig.drops(), rig.answered())
}

/// A packet that is forwarded, by a next hop of many, with padding or without.
fn plain() -> impl Strategy<Value = (u16, Vec<u8>)> {
    let four = vec![FAR, HOST, [10, 6, 0, 1], [10, 5, 0, 1], [10, 9, 9, 9]];
    let six = ["2001:db8:a:6::1", "2001:db8:a:5::1"].map(|text| text.parse::<Ipv6Addr>().unwrap());
    let six = six.into_iter().chain([FAR6, HOST6]).collect::<Vec<_>>();
    let which = (0u16..2, prop::sample::select(four), prop::sample::select(six), any::<bool>());
    (which, 2u8.., any::<u16>(), 0usize..60, prop::bool::weighted(0.3)).prop_map(
        |((port, to, to6, is_ip6), hops, word, length, padded)| {
            let from = craft::ethernet([HOST_MAC, GATEWAY_MAC][usize::from(port)], our_mac(port));
            let pad = if padded { 130 } else { 0 };
            let frame = match is_ip6 {
                true => from.ipv6(HOST6, to6).hop_limit(hops).udp(word % 4, 2),
                false => from.ipv4(HOST, to).ttl(hops).identification(word).udp(word % 4, 2),
            };
            (port, frame.payload_len(length).pad_to(pad).build())
        },
    )
}

/// A vector of one family, or of both, with something else among them perhaps.
fn vector() -> impl Strategy<Value = Vec<(u16, Vec<u8>)>> {
    let many = prop::collection::vec(plain(), 1..60);
    // An option of type 68 is given the time (RFC 791 section 3.1), which is never the same.
    let untimed = any_frame().prop_filter("no time", |(_, frame)| !frame.contains(&68));
    let other = prop::option::weighted(0.2, untimed);
    (many, other, any::<prop::sample::Index>(), 0u8..5).prop_map(|(mut many, other, at, family)| {
        let is_of = |first: u8| move |(_, frame): &(u16, Vec<u8>)| frame[12] == first;
        match family {
            0 | 1 => many.retain(is_of(8)),
            2 | 3 => many.retain(is_of(0x86)),
            _ => (),
        }
        if let Some(other) = other {
            many.insert(at.index(many.len() + 1), other);
        }
        many
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn both_ways_do_the_same(
        vectors in prop::collection::vec(vector(), 1..12),
        has_vrf: bool,
        counts: bool,
    ) {
        let (mut one, mut other) = (Rig::new(), ordinary());
        for rig in [&one, &other] {
            rig.dataplane.counts_next_hops.store(counts, Ordering::Relaxed);
        }
        for rig in [&mut one, &mut other].into_iter().filter(|_| has_vrf) {
            let red = rig.add_vrf();
            let to_host = fib::Forward::new(Kind::Rewrite as u8, TO_HOST);
            red.ip4.insert("0.0.0.0/0".parse().unwrap(), to_host).unwrap();
            let to_host = fib::Forward::new(Kind::Rewrite as u8, TO_HOST6);
            red.ip6.insert("::/0".parse().unwrap(), to_host).unwrap();
        }
        for vector in vectors {
            for (interface, frame) in vector {
                one.receive(interface, frame.clone());
                other.receive(interface, frame);
            }
            prop_assert_eq!(outcome(&mut one), outcome(&mut other));
        }
        prop_assert_eq!(express(&other).0, 0);
        one.settle();
        other.settle();
    }
}

/// A router on which nobody takes a short way: packets are followed, which nobody reads.
fn watched() -> Rig {
    let rig = Rig::new();
    let (into, _) = sync_channel(1);
    let request = TraceRequest { count: u32::MAX, ..TraceRequest::default() };
    rig.dataplane.worker(0).unwrap().tell(Mail::StartTrace(request, into));
    rig
}

/// A frame between some stations, or to all, or to one that nobody knows.
fn switched() -> impl Strategy<Value = (u16, Vec<u8>)> {
    let station = |number: u8| [2, 0, 0, 0, 9, number];
    let kinds = prop::sample::select(vec![0x0800u16, 0x88b5, 0x0806]);
    (prop::sample::select(vec![6u16, 7, 8, 9]), 0u8..6, 0u8..9, kinds, 60usize..70).prop_map(
        move |(port, from, to, kind, length)| {
            let to = match to {
                7 => [0xff; 6],
                8 => [1, 0x80, 0xc2, 0, 0, 0],
                to => station(to),
            };
            // Most stations stay where they are.
            let port = if from < 5 { 6 + u16::from(from % 4) } else { port };
            let frame = craft::ethernet(station(from), to).ethertype(kind).pad_to(length);
            (port, frame.build())
        },
    )
}

/// What is left of a vector of switched frames.
fn switched_outcome(rig: &mut Rig) -> impl PartialEq + std::fmt::Debug + use<> {
    rig.run();
    let sent: Vec<_> = (6..10).map(|id| rig.sent(id)).collect();
    let totals: Vec<_> = (6..10)
        .map(|id| {
            let Rig { dataplane, .. } = &*rig;
            format!("{:?} {:?}", dataplane.interface_totals(id), dataplane.bridged_totals(id))
        })
        .collect();
    (sent, totals, rig.drops())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_bridge_does_the_same_by_one_node_and_by_two(
        vectors in prop::collection::vec(prop::collection::vec(switched(), 1..40), 1..12),
        heeds: bool,
    ) {
        let (mut one, mut other) = (Rig::new(), watched());
        for rig in [&mut one, &mut other].into_iter().filter(|_| heeds) {
            rig.change_port(6, |port| port.heeds = Heeds::ARP);
        }
        for vector in vectors {
            for (interface, frame) in vector {
                one.receive(interface, frame.clone());
                other.receive(interface, frame);
            }
            prop_assert_eq!(switched_outcome(&mut one), switched_outcome(&mut other));
        }
        one.settle();
        other.settle();
    }
}

#[test]
fn frames_between_stations_that_are_known_are_bridged_by_one_node() {
    let mut rig = Rig::new();
    let frame = |from: u8, to: u8| {
        let station = |number| [2, 0, 0, 0, 9, number];
        craft::ethernet(station(from), station(to)).ethertype(0x88b5).pad_to(60).build()
    };
    let forwarded = |rig: &Rig| {
        let totals = rig.dataplane.node_totals(None);
        let of = |name: &str| totals.iter().find(|node| node.name == name).unwrap().packets;
        (of("l2-learn"), of("l2-forward"))
    };
    // Both are heard for the first time.
    for (port, from, to) in [(6, 1, 2), (7, 2, 1)] {
        rig.answer(port, frame(from, to));
    }
    assert_eq!(forwarded(&rig), (2, 2));
    for n in 0..200 {
        let (port, from, to) = [(6, 1, 2), (7, 2, 1)][n % 2];
        rig.receive(port, frame(from, to));
    }
    rig.run();
    assert_eq!(forwarded(&rig), (202, 2));
    assert_eq!((rig.sent(6).len(), rig.sent(7).len()), (100, 100));
    // To one that nobody knows, and where the bridge wants to hear ARP.
    assert_eq!(rig.answer(6, frame(1, 3)).len(), 1);
    assert_eq!(forwarded(&rig), (203, 3));
    rig.change_port(6, |port| port.heeds = Heeds::ARP);
    for seen in [4, 5] {
        assert_eq!(rig.answer(6, frame(1, 2)).len(), 1);
        assert_eq!(forwarded(&rig).1, seen);
    }
    rig.settle();
}

/// A thousand packets of these, from host and gateway in turn, in vectors.
fn thousand(frame_of: impl Fn(u16) -> (u16, Vec<u8>)) -> (Rig, (u64, u64)) {
    let mut rig = Rig::new();
    for n in 0..1000 {
        let (port, frame) = frame_of(n);
        rig.receive(port, frame);
    }
    rig.run();
    let counts = express(&rig);
    (rig, counts)
}

#[test]
fn plain_packets_of_all_ports_and_next_hops_go_the_express_way() {
    let (mut rig, counts) = thousand(|n| match n % 2 {
        0 => {
            let to = [FAR, [10, 6, 0, 1]][usize::from(n % 4 / 2)];
            (0, craft::ethernet(HOST_MAC, our_mac(0)).ipv4(HOST, to).udp(n, 2).build())
        }
        _ => (1, craft::ethernet(GATEWAY_MAC, our_mac(1)).ipv4(FAR, HOST).udp(n, 2).build()),
    });
    assert_eq!(counts, (1000, 1000));
    assert_eq!(rig.sent(0).len() + rig.sent(1).len(), 1000);
    let (rig, counts) = thousand(|n| {
        (0, craft::ethernet(HOST_MAC, our_mac(0)).ipv6(HOST6, FAR6).udp(n, 2).build())
    });
    assert_eq!(counts, (1000, 1000));
    rig.settle();
}

#[test]
fn of_a_mixed_vector_each_family_goes_the_express_way_and_the_rest_does_not() {
    let (mut rig, counts) = thousand(|n| {
        let from = craft::ethernet(HOST_MAC, our_mac(0));
        let frame = match n % 10 {
            0..5 => from.ipv4(HOST, FAR).udp(n, 2).build(),
            5..9 => from.ipv6(HOST6, FAR6).udp(n, 2).build(),
            _ => from.ethertype(0x88cc).pad_to(60).build(),
        };
        (0, frame)
    });
    assert_eq!(counts, (900, 1000));
    assert_eq!(rig.sent(1).len(), 900);
    assert_eq!(rig.drops(), [("ethernet-input/unknown-ethertype".to_owned(), 100)]);
    // Of one family again, all at once.
    let plain = || craft::ethernet(HOST_MAC, our_mac(0)).ipv4(HOST, FAR).udp(1, 2).build();
    for _ in 0..2 {
        assert_eq!(rig.answer(0, plain()).len(), 1);
    }
    let totals = rig.dataplane.node_totals(None);
    let whole = totals.iter().find(|node| node.name == "ip-express").unwrap();
    assert_eq!((express(&rig), whole.exits[0]), ((902, 1002), 1));
    rig.settle();
}

#[test]
fn one_short_frame_a_vector_takes_the_express_way_from_all_and_their_tries() {
    let (rig, counts) = thousand(|n| {
        let from = craft::ethernet(HOST_MAC, our_mac(0)).ipv4(HOST, FAR);
        (0, if n % 100 == 0 { from.build()[..33].to_vec() } else { from.udp(n, 2).build() })
    });
    assert_eq!(counts, (0, 1000));
    assert_eq!(rig.drops(), [("ip4-input/truncated".to_owned(), 10)]);
    rig.settle();
}

#[test]
fn vectors_that_are_no_use_are_looked_at_less_and_less() {
    let (rig, counts) = thousand(|n| {
        let ttl = if n % 100 == 0 { 1 } else { 9 };
        (0, craft::ethernet(HOST_MAC, our_mac(0)).ipv4(HOST, FAR).ttl(ttl).udp(n, 2).build())
    });
    assert_eq!(counts, (0, 1000));
    assert_eq!(rig.answered(), [("ip4-rewrite/ttl-expired".to_owned(), 10)]);
    rig.settle();
}

#[test]
fn packets_that_are_traced_or_captured_take_the_ordinary_way_and_those_behind_them_do_not() {
    let plain = || craft::ethernet(HOST_MAC, our_mac(0)).ipv4(HOST, FAR).udp(1, 2).build();
    let mut rig = Rig::new();
    let layout = rig.dataplane.layout.clone();
    let worker = |rig: &Rig, mail| rig.dataplane.worker(0).unwrap().tell(mail);
    let (into, records) = sync_channel(100);
    worker(&rig, Mail::StartTrace(TraceRequest { count: 2, ..TraceRequest::default() }, into));
    for forwarded in [0, 0, 1] {
        rig.answer(0, plain());
        assert_eq!(express(&rig).0, forwarded);
    }
    let slot = layout.slot("ip4-rewrite").unwrap();
    assert_eq!(records.try_iter().filter(|record| record.slot == slot).count(), 2);
    let (into, copies) = sync_channel(100);
    let exit = None;
    worker(&rig, Mail::StartCapture(CaptureRequest { slot, exit, snap_bytes: 60, into }));
    rig.answer(0, plain());
    assert_eq!((express(&rig).0, copies.try_iter().count()), (1, 1));
    worker(&rig, Mail::StopCaptures);
    rig.answer(0, plain());
    assert_eq!(express(&rig).0, 2);
    rig.settle();
}

#[test]
fn while_packets_are_routed_by_a_policy_all_take_the_ordinary_way() {
    let plain = || craft::ethernet(HOST_MAC, our_mac(0)).ipv4(HOST, FAR).udp(1, 2).build();
    let mut rig = Rig::new();
    for (is_on, forwarded) in [(false, 1), (true, 1), (false, 2)] {
        rig.dataplane.has_policies.store(is_on, Ordering::Relaxed);
        assert_eq!(rig.answer(0, plain()).len(), 1);
        assert_eq!(express(&rig).0, forwarded);
    }
    rig.settle();
}
