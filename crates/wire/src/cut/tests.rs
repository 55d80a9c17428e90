//! Large frames are built as a host has them, cut, and compared with the packets that it would have
//! sent itself.

use super::*;
use crate::craft::{self, Craft};
use proptest::prelude::*;

const A4: [u8; 4] = [10, 0, 0, 1];
const B4: [u8; 4] = [10, 0, 0, 2];
const A6: [u16; 8] = [0xfd00, 0, 0, 0, 0, 0, 0, 1];
const B6: [u16; 8] = [0xfd00, 0, 0, 0, 0, 0, 0, 2];

fn payload(range: std::ops::Range<usize>) -> Vec<u8> {
    range.map(|n| ((n * 7) >> 3) as u8).collect()
}

fn link() -> Craft<craft::Ethernet> {
    craft::ethernet([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2])
}

/// Cuts `make(0, payload, true)` of `length` octets and compares with `make(number, piece, last)`.
fn is_cut_like(
    (length, size, header_bytes): (usize, usize, usize),
    make: impl Fn(usize, &[u8], bool) -> Vec<u8>,
) -> Cut {
    let mut frame = make(0, &payload(0..length), true);
    let at = frame.len() - length - header_bytes;
    let cut = Cut::new(&frame, Some(at), size).unwrap();
    assert!(!cut.is_plain() || Cut::new(&frame, None, size).unwrap().transport_at() == at);
    // As the sender left it.
    let sum_at = cut.transport_at() + cut.transport().sum_at();
    frame[sum_at] ^= 0x55;
    let mut told = Vec::new();
    for number in 0..cut.packets() {
        let mut packet = vec![0; cut.longest()];
        let length = cut.write(&frame, number, &mut packet).unwrap();
        packet.truncate(length);
        told.push(packet);
    }
    assert_eq!(cut.write(&frame, told.len(), &mut [0; 9000]), None);
    assert_eq!(cut.write(&frame, 0, &mut vec![0; cut.longest() - 1]), None);
    let expected: Vec<_> = (0..length.div_ceil(size))
        .map(|number| {
            let to = length.min((number + 1) * size);
            make(number, &payload(number * size..to), to == length)
        })
        .collect();
    assert_eq!(told, expected);
    cut
}

/// The flags of piece `number`: FIN, PSH and CWR of the whole.
fn flags(number: usize, last: bool) -> u8 {
    0x10 | if last { LAST_ALONE } else { 0 } | if number == 0 { FIRST_ALONE } else { 0 }
}

#[test]
fn tcp_over_ipv4_is_cut_into_what_the_host_would_have_sent() {
    for size in [64, 999, 1448] {
        let cut = is_cut_like((5000, size, 20), |number, piece, last| {
            let packet = link().ipv4(A4, B4).identification(9 + number as u16);
            let packet = packet
                .tcp(1000, 80)
                .sequence((u32::MAX - 100).wrapping_add((number * size) as u32));
            packet.flags(flags(number, last)).payload(piece).build()
        });
        assert!(cut.is_plain() && !cut.is_ip6());
    }
}

#[test]
fn tcp_over_ipv6_behind_tags_and_extensions_too() {
    let cut = is_cut_like((4001, 1000, 20), |number, piece, last| {
        let packet = link().service_vlan(5).vlan(7).ipv6(A6, B6).hop_by_hop(&[1, 4, 0, 0, 0, 0]);
        let packet = packet.tcp(1000, 80).sequence((number * 1000) as u32);
        packet.flags(flags(number, last)).payload(piece).build()
    });
    assert!(cut.is_plain() && cut.is_ip6());
}

#[test]
fn datagrams_each_get_a_length_and_a_checksum() {
    let cut = is_cut_like((3001, 1000, 8), |number, piece, _| {
        let packet = link().ipv4(A4, B4).identification(number as u16);
        packet.udp(1000, 53).payload(piece).build()
    });
    assert_eq!((cut.transport(), cut.packets()), (Transport::Udp, 4));
    is_cut_like((3000, 1000, 8), |_, piece, _| {
        link().ipv6(A6, B6).udp(1000, 53).payload(piece).build()
    });
}

#[test]
fn what_is_in_tunnels_is_cut_with_all_the_headers_around_it() {
    let inner = |number: usize, piece: &[u8], last: bool| {
        let packet = link().ipv4(A4, B4).identification(number as u16);
        let packet = packet.tcp(1, 2).sequence((number * 800) as u32);
        packet.flags(flags(number, last)).payload(piece).build()
    };
    let cut = is_cut_like((4000, 800, 20), |number, piece, last| {
        let outer = link().ipv4(B4, A4).identification(77 + number as u16);
        outer.udp(4000, 4789).checksum(0).vxlan(7).payload(&inner(number, piece, last)).build()
    });
    assert!(!cut.is_plain());
    is_cut_like((4000, 800, 20), |number, piece, last| {
        link().ipv6(A6, B6).udp(4000, 4789).vxlan(7).payload(&inner(number, piece, last)).build()
    });
    is_cut_like((4000, 800, 20), |number, piece, last| {
        let outer = link().ipv4(B4, A4).identification(number as u16);
        outer.gre().ethertype(0x800).payload(&inner(number, piece, last)[14..]).build()
    });
}

#[test]
fn whoever_takes_a_large_frame_out_of_its_tunnel_finds_the_tunnels_checksum_right() {
    let inner = link().ipv4(A4, B4).tcp(1, 2).payload(&payload(0..3001)).build();
    let mut frame = link().ipv6(A6, B6).udp(9, 4789).vxlan(1).payload(&inner).build();
    frame[14 + 40 + 6] ^= 1;
    let cut = Cut::new(&frame, Some(frame.len() - 3021), 1000).unwrap();
    cut.leave_out(&mut frame);
    let udp = &frame[54..];
    let pseudo = Sum::ZERO.bytes(&frame[22..54]).u32(udp.len() as u32).u32(17);
    assert!(pseudo.bytes(udp).is_valid());
}

#[test]
fn what_is_no_large_frame_is_not_cut() {
    let whole = link().ipv4(A4, B4).tcp(1, 2).payload(&payload(0..3000)).build();
    let of = |frame: &[u8]| Cut::new(frame, None, 1000).is_some();
    assert!(of(&whole));
    let fragment = link().ipv4(A4, B4).fragment(0, true).tcp(1, 2).payload(&[0; 3000]).build();
    let other = link().ipv4(A4, B4).icmp_echo(1, 1).payload(&[0; 3000]).build();
    let strange = link().ethertype(0x88b5).payload(&[0; 3000]).build();
    for frame in [&fragment[..], &other, &strange, &whole[..54], &[]] {
        assert!(!of(frame), "{frame:02x?}");
    }
    assert!(Cut::new(&whole, Some(35), 1000).is_none(), "no header begins there");
    assert!(Cut::new(&whole, None, 0).is_none());
    assert!(Cut::new(&whole, None, 2).is_none(), "1500 packets of two octets");
    let datagrams = link().ipv4(A4, B4).udp(1, 2).payload(&payload(0..3000)).build();
    assert!(Cut::new(&datagrams, None, 23).is_none(), "more than Linux sends at once");
}

#[test]
fn a_checksum_that_was_left_out_is_finished_and_the_pseudo_header_is_left() {
    for odd in [0, 1] {
        let right = link().ipv4(A4, B4).tcp(1, 2).payload(&payload(0..1001 - odd)).build();
        let mut frame = right.clone();
        let cut = Cut::new(&frame, None, 500).unwrap();
        cut.leave_out(&mut frame);
        assert_ne!(frame, right);
        assert!(complete(&mut frame, cut.transport_at(), cut.transport().sum_at()));
        assert_eq!(frame, right);
    }
    let mut short = vec![0; 40];
    assert!(!complete(&mut short, 41, 0) && !complete(&mut short, 34, 5));
    assert!(!complete(&mut short, 0, usize::MAX));
    assert_eq!(short, [0; 40]);
}

proptest! {
    #[test]
    fn any_bytes_are_cut_into_packets_of_at_most_the_longest_or_not_at_all(
        seed in prop::sample::select(vec![0usize, 1, 2, 3]),
        edits in prop::collection::vec((0usize..120, any::<u8>()), 0..6),
        size in 0usize..3000,
        at in prop::option::of(0usize..200),
    ) {
        let mut frame = match seed {
            0 => link().ipv4(A4, B4).tcp(1, 2).payload(&payload(0..5000)).build(),
            1 => link().ipv6(A6, B6).udp(1, 2).payload(&payload(0..5000)).build(),
            2 => link().ipv4(A4, B4).udp(1, 4789).vxlan(1).payload(
                &link().ipv6(A6, B6).tcp(1, 2).payload(&payload(0..3000)).build()).build(),
            _ => link().ipv4(A4, B4).gre().ethertype(0x800).payload(
                &link().ipv4(A4, B4).tcp(1, 2).payload(&payload(0..3000)).build()[14..]).build(),
        };
        for (place, value) in edits {
            frame[place] = value;
        }
        if let Some(cut) = Cut::new(&frame, at, size) {
            let mut room = vec![0; cut.longest()];
            let mut carried = 0;
            for number in 0..cut.packets() {
                let length = cut.write(&frame, number, &mut room).unwrap();
                prop_assert!(length <= cut.longest());
                carried += length - cut.payload_at();
            }
            prop_assert_eq!(carried, frame.len() - cut.payload_at());
        }
    }
}
