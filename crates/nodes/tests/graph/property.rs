//! Whatever comes in, nothing panics and every packet is accounted for.

use crate::rig::*;
use proptest::prelude::*;
use wire::{checksum, craft, ipv4};

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

fn arp() -> impl Strategy<Value = Vec<u8>> {
    let addresses = || prop::sample::select(vec![HOST, US, FAR, [0; 4], [192, 0, 2, 9]]);
    let macs = prop::sample::select(vec![HOST_MAC, our_mac(0), [0; 6], [0xff; 6]]);
    (addresses(), addresses(), macs, 0u16..4).prop_map(|(sender, target, mac, operation)| {
        let frame = craft::ethernet(HOST_MAC, [0xff; 6]).arp_request(mac, sender, target);
        frame.operation(operation).target_mac(our_mac(0)).build()
    })
}

fn any_frame() -> impl Strategy<Value = (u16, Vec<u8>)> {
    let bytes = prop_oneof![
        1 => prop::collection::vec(any::<u8>(), 0..120),
        6 => nearly_good(),
        1 => arp(),
    ];
    (prop::sample::select(vec![0u16, 0, 0, 1, 2, 4, 5]), bytes)
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

/// What the router made or changed has right lengths and checksums.
fn is_whole(frame: &[u8]) -> bool {
    match &frame[12..14] {
        [8, 0] => ipv4::Packet::parse(&frame[14..])
            .is_ok_and(|packet| 14 + usize::from(packet.header.total_len()) == frame.len()),
        kind => kind == [8, 6] && frame.len() == 60,
    }
}
