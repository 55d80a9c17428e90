//! Whatever comes in, nothing panics and every packet is accounted for.

use crate::rig::*;
use nodes::interface::{MirrorTo, mirror_input::MirrorInput, mirror_output::MirrorOutput};
use nodes::tables::Heeds;
use proptest::prelude::*;
use std::net::Ipv6Addr;
use wire::{checksum, craft, ipv4, ipv6};

/// A frame that gets further than any bytes would: good but for some of its octets.
fn nearly_good() -> impl Strategy<Value = Vec<u8>> {
    let targets = prop::sample::select(vec![
        HOST,
        FAR,
        US,
        US_OUTSIDE,
        [10, 2, 0, 1],
        [10, 4, 0, 1],
        [10, 5, 0, 1],
        [172, 16, 0, 1],
        [198, 51, 100, 77],
        [192, 0, 2, 255],
    ]);
    let sources = prop::sample::select(vec![HOST, FAR, US, [172, 16, 0, 9], [192, 0, 2, 255]]);
    let protocols = prop::sample::select(vec![1u8, 6, 17, 132]);
    let options = prop_oneof![
        2 => Just(Vec::new()),
        1 => prop::collection::vec(any::<u8>(), 0..=40),
        1 => Just(vec![7, 11, 4, 0, 0, 0, 0, 0, 0, 0, 0]),
        1 => Just(vec![68, 12, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
    ];
    let data = prop::collection::vec(any::<u8>(), 0..300);
    let damage = prop::collection::vec((0..80usize, any::<u8>()), 0..3);
    let fields = (any::<u8>(), any::<u16>(), prop::bool::weighted(0.7));
    (sources, targets, protocols, options, data, damage, fields).prop_map(
        |(source, target, protocol, options, data, damage, (ttl, bits, whole))| {
            let packet = craft::ethernet(HOST_MAC, our_mac(0)).ipv4(source, target).ttl(ttl);
            let packet = packet.fragment_bits(if whole { bits & 0x4000 } else { bits });
            let packet = packet.protocol(protocol).raw_options(&options).payload(&data);
            let mut frame = packet.build();
            for (at, octet) in damage {
                if let Some(hit) = frame.get_mut(at) {
                    *hit = octet;
                }
            }
            with_checksum(frame)
        },
    )
}

/// Sets the header checksum right as far as the header lies in the frame.
fn with_checksum(mut frame: Vec<u8>) -> Vec<u8> {
    let packet = &mut frame[14..];
    let Some(mut header) = ipv4::HeaderMut::new(packet) else { return frame };
    header.set_checksum(0);
    let header_len = header.view().header_len().min(packet.len());
    let sum = checksum::of(&packet[..header_len]);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    frame
}

/// The same of IPv6, with extension headers, to us more often than not.
fn nearly_good_ip6() -> impl Strategy<Value = Vec<u8>> {
    let address = |text: &str| text.parse::<Ipv6Addr>().unwrap();
    let targets = ["ff02::1", "ff02::1:ff00:1", "fe80::99", "3fff::1", "2001:db8:a:5::1"];
    let targets =
        targets.map(address).into_iter().chain([US6, FAR6, HOST6, link_local(0), TENTATIVE6]);
    let sources = vec![HOST6, LINK_HOST, US6, FAR6, Ipv6Addr::UNSPECIFIED];
    let (targets, sources) = (targets.collect::<Vec<_>>(), prop::sample::select(sources));
    let numbers = prop::sample::select(vec![0u8, 6, 17, 43, 44, 58, 58, 58, 60, 132]);
    let message = prop_oneof![any::<u8>(), Just(128), 133u8..138];
    let data = prop::collection::vec(any::<u8>(), 0..1400);
    let damage = prop::collection::vec((0..120usize, any::<u8>()), 0..3);
    let extensions =
        prop::collection::vec((0u8..4, prop::collection::vec(any::<u8>(), 0..9)), 0..3);
    let fields = (prop_oneof![any::<u8>(), Just(255)], numbers, message, extensions);
    (sources, prop::sample::select(targets), data, damage, fields).prop_map(
        |(source, target, data, damage, (hops, number, message, extensions))| {
            let start = craft::ethernet(HOST_MAC, our_mac(0)).ipv6(source, target).hop_limit(hops);
            let mut frame = if number == 58 {
                start.icmp6(message, 0, [0; 4]).payload(&data).build()
            } else if let [(kind, content), rest @ ..] = &extensions[..] {
                let number_of = |kind: &u8| [0, 43, 44, 60][usize::from(*kind)];
                let mut chain = start.next_header(number_of(kind)).destination_options(content);
                for (kind, content) in rest {
                    chain = chain.next_header(number_of(kind)).destination_options(content);
                }
                chain.next_header(number).payload(&data).build()
            } else {
                start.next_header(number).payload(&data).build()
            };
            for (at, octet) in damage {
                if let Some(hit) = frame.get_mut(at) {
                    *hit = octet;
                }
            }
            frame
        },
    )
}

fn arp() -> impl Strategy<Value = Vec<u8>> {
    let addresses = || prop::sample::select(vec![HOST, US, FAR, [0; 4], [192, 0, 2, 9]]);
    let macs = prop::sample::select(vec![HOST_MAC, our_mac(0), [0; 6], [0xff; 6]]);
    (addresses(), addresses(), macs, 0u16..4).prop_map(|(sender, target, mac, operation)| {
        let frame = craft::ethernet(HOST_MAC, [0xff; 6]).arp_request(mac, sender, target);
        frame.operation(operation).target_mac(our_mac(0)).build()
    })
}

/// A packet of a tunnel, or nearly: with any frame or packet inside, over either family.
fn in_tunnel() -> impl Strategy<Value = Vec<u8>> {
    let inside = prop_oneof![
        3 => nearly_good(),
        1 => nearly_good().prop_map(|frame| frame[14..].to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..40),
    ];
    let flags = prop::sample::select(vec![8u8, 8, 8, 0]);
    let vni = prop::sample::select(vec![VNI as u8, VNI as u8, 43]);
    let key = prop::sample::select(vec![GRE_KEY as u8, GRE_LINK_KEY as u8, 77]);
    let kind = prop::sample::select(vec![[0x65, 0x58], [8, 0], [0x86, 0xdd], [1, 1]]);
    let number = prop::sample::select(vec![4u8, 41]);
    (inside, flags, vni, key, kind, number, 0u8..6).prop_map(
        |(inside, flags, vni, key, kind, number, how)| {
            let link = || craft::ethernet(HOST_MAC, our_mac(0));
            let vxlan = || [&[flags, 0, 0, 0, 0, 0, vni, 0][..], &inside].concat();
            let gre = || [&[0x20, 0, kind[0], kind[1], 0, 0, 0, key][..], &inside].concat();
            match how {
                0 => link().ipv4(FAR, US).udp(50_000, 4789).payload(&vxlan()).build(),
                1 => link().ipv6(FAR6, US6).udp(50_000, 4789).payload(&vxlan()).build(),
                2 => link().ipv4(FAR, US).protocol(47).payload(&gre()).build(),
                3 => link().ipv4(FAR, US).protocol(number).payload(&inside).build(),
                4 => link().ipv6(FAR6, US6).next_header(number).payload(&inside).build(),
                _ => link().ipv6(FAR6, US6).next_header(47).payload(&gre()).build(),
            }
        },
    )
}

fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        1 => prop::collection::vec(any::<u8>(), 0..120),
        6 => nearly_good(),
        6 => nearly_good_ip6(),
        4 => in_tunnel(),
        1 => arp(),
    ]
}

pub(crate) fn any_frame() -> impl Strategy<Value = (u16, Vec<u8>)> {
    (prop::sample::select(vec![0u16, 0, 0, 1, 2, 4, 5]), any_bytes())
}

/// A frame for a port of any kind: a trunk's may have tags.
fn any_switched() -> impl Strategy<Value = (u16, Vec<u8>)> {
    let ports = vec![0u16, 2, 6, 7, 9, TRUNK, BESIDE_TUNNELS];
    let tags = prop::sample::select(vec![vec![], vec![100], vec![400], vec![200, 7], vec![5]]);
    (prop::sample::select(ports), any_bytes(), tags).prop_map(|(port, mut frame, tags)| {
        let tagged = port == TRUNK && frame.len() > 12;
        for vid in tags.iter().rev().filter(|_| tagged) {
            frame.splice(12..12, [0x81, 0, (vid >> 8) as u8, *vid as u8]);
        }
        (port, frame)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_packet_is_accounted_for(frames in prop::collection::vec(any_frame(), 1..200)) {
        let mut rig = Rig::new();
        for (interface, frame) in frames {
            rig.receive(interface, frame);
        }
        rig.run();
        for id in 0..6 {
            for frame in rig.sent(id) {
                prop_assert!(id == 2 || id == 3 || is_whole(&frame), "sent {:x?}", frame);
            }
        }
        rig.settle();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_copy_is_accounted_for(frames in prop::collection::vec(any_switched(), 1..200)) {
        let mut rig = Rig::with_settings(4 * BUFFERS, |_| ());
        for id in [2, 6, TRUNK, BRIDGED_VLAN, VXLAN] {
            rig.change_interface(id, |row| {
                row.set::<MirrorInput>(Some(MirrorTo(5)));
                row.set::<MirrorOutput>(Some(MirrorTo(5)));
            });
        }
        for id in [6, 7, 8, 9, BRIDGED_VLAN, BESIDE_TUNNELS] {
            rig.change_port(id, |port| {
                let all = Heeds::ARP.with(Heeds::ND, true);
                port.heeds = all.with(Heeds::GROUPS, true);
            });
        }
        for (interface, frame) in frames {
            rig.receive(interface, frame);
        }
        rig.run();
        rig.settle();
    }
}

/// What the router made or changed has right lengths and checksums.
fn is_whole(frame: &[u8]) -> bool {
    match &frame[12..14] {
        [8, 0] => ipv4::Packet::parse(&frame[14..])
            .is_ok_and(|packet| 14 + usize::from(packet.header.total_len()) == frame.len()),
        [0x86, 0xdd] => ipv6::Packet::parse(&frame[14..])
            .is_ok_and(|packet| 54 + usize::from(packet.header.payload_len()) == frame.len()),
        kind => kind == [8, 6] && frame.len() == 60,
    }
}
