//! Packets there and back, octet by octet, and against sums that are made as RFC 1071 reads.

use super::*;
use proptest::prelude::*;
use wire::craft::{self, Craft, Ipv4, Ipv6};
use wire::ipv6::extension;

const HOST: [u8; 16] = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];
const FRIEND6: [u8; 16] = [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, 203, 0, 113, 7];
const ROUTER6: [u8; 16] = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xfe];
const OUTER: [u8; 4] = [198, 51, 100, 1];
const FRIEND: [u8; 4] = [203, 0, 113, 7];
const ROUTER: [u8; 4] = [172, 16, 0, 1];
/// What the translator says where it has to tell packets apart.
const ID: u16 = 0x1234;

fn four(address: [u8; 4]) -> u32 {
    u32::from_be_bytes(address)
}

fn six(address: [u8; 16]) -> u128 {
    u128::from_be_bytes(address)
}

/// From the host, which is port 5000 outside, and to it.
fn sent(protocol: u8, to: u16) -> Tuple {
    Tuple::ip4((four(OUTER), 5000), (four(FRIEND), to), protocol, 0)
}

fn answered(protocol: u8, from: u16) -> Tuple {
    Tuple::ip6((six(FRIEND6), from), (six(HOST), 4000), protocol, 0)
}

fn out6() -> Craft<Ipv6> {
    craft::ipv6(HOST, FRIEND6)
}

fn out4() -> Craft<Ipv4> {
    craft::ipv4(OUTER, FRIEND)
}

fn in4() -> Craft<Ipv4> {
    craft::ipv4(FRIEND, OUTER)
}

fn in6() -> Craft<Ipv6> {
    craft::ipv6(FRIEND6, HOST)
}

fn put_in_front(packet: &[u8], front: &Front) -> Vec<u8> {
    let whole = [front.bytes(), &packet[front.replaces..front.end]].concat();
    assert_eq!(whole.len(), front.total());
    whole
}

fn there(mut packet: Vec<u8>, to: &Tuple) -> Result<Vec<u8>, Uncrossable> {
    let front = to4(&mut packet, to, || ID)?;
    Ok(put_in_front(&packet, &front))
}

fn back(mut packet: Vec<u8>, to: &Tuple) -> Result<Vec<u8>, Uncrossable> {
    let front = to6(&mut packet, to)?;
    Ok(put_in_front(&packet, &front))
}

#[test]
fn a_segment_goes_there_and_an_answer_comes_back() {
    let data = b"what is said";
    let packet = out6().hop_limit(9).traffic_class(0xb9).flow_label(77);
    let packet = packet.tcp(4000, 80).option(2, &[5, 0xa0]).payload(data).build();
    let expected = out4().ttl(9).tos(0xb9).identification(ID);
    let expected = expected.tcp(5000, 80).option(2, &[5, 0xa0]).payload(data).build();
    assert_eq!(there(packet, &sent(protocol::TCP, 80)), Ok(expected));
    let answer = in4().ttl(7).tos(0x2e).dont_fragment().tcp(80, 5000).payload(data).build();
    let expected = in6().hop_limit(7).traffic_class(0x2e).tcp(80, 4000).payload(data).build();
    assert_eq!(back(answer, &answered(protocol::TCP, 80)), Ok(expected));
}

#[test]
fn datagrams_and_echoes_likewise() {
    for data in [&b"even"[..], b"odd"] {
        let packet = out6().udp(4000, 53).payload(data).build();
        let expected = out4().identification(ID).udp(5000, 53).payload(data).build();
        assert_eq!(there(packet, &sent(protocol::UDP, 53)), Ok(expected));
        let answer = in4().udp(53, 5000).payload(data).build();
        let expected = in6().udp(53, 4000).payload(data).build();
        assert_eq!(back(answer, &answered(protocol::UDP, 53)), Ok(expected));
        let packet = out6().icmp_echo(4000, 3).payload(data).build();
        let expected = out4().identification(ID).icmp_echo(5000, 3).payload(data).build();
        assert_eq!(there(packet, &sent(protocol::ICMP4, 8 << 8)), Ok(expected));
        let answer = in4().icmp_echo_reply(5000, 3).payload(data).build();
        let expected = in6().icmp_echo_reply(4000, 3).payload(data).build();
        let tuple = Tuple::ip6((six(FRIEND6), 4000), (six(HOST), 129 << 8), protocol::ICMP6, 0);
        assert_eq!(back(answer, &tuple), Ok(expected));
    }
}

#[test]
fn an_echo_is_called_otherwise_on_the_other_side() {
    let asked = Tuple::ip6((six(HOST), 7), (six(FRIEND6), 128 << 8), protocol::ICMP6, 3);
    let crossed = Tuple::ip4((1, 7), (four(FRIEND), 8 << 8), protocol::ICMP4, 3);
    assert_eq!(asked.across4(1, four(FRIEND)), Some(crossed));
    assert_eq!(crossed.across6(six(HOST), six(FRIEND6)), Some(asked));
    assert_eq!(crossed.inverse().across6(six(FRIEND6), six(HOST)), Some(asked.inverse()));
    // A question for neighbours, and what has no ports.
    let other = Tuple::ip6((six(HOST), 0), (six(FRIEND6), 135 << 8), protocol::ICMP6, 3);
    assert_eq!(other.across4(1, 2), None);
    assert_eq!(Tuple::ip4((1, 0), (2, 0), protocol::GRE, 3).across6(1, 2), None);
}

#[test]
fn longer_packets_must_not_be_cut_and_shorter_ones_may() {
    // 20 octets of IPv4 and 8 of UDP make 1260.
    let to = sent(protocol::UDP, 53);
    let packet = |len| out6().udp(4000, 53).payload_len(len).build();
    let short = out4().identification(ID).udp(5000, 53).payload_len(1232).build();
    assert_eq!(there(packet(1232), &to), Ok(short));
    let long = out4().dont_fragment().udp(5000, 53).payload_len(1233).build();
    assert_eq!(there(packet(1233), &to), Ok(long));
}

#[test]
fn what_may_be_cut_and_is_too_long_for_any_link_is_to_be_cut() {
    let to = answered(protocol::UDP, 53);
    let front = |packet: Craft<Ipv4>, len: usize| {
        let mut packet = packet.identification(9).udp(53, 5000).payload_len(len).build();
        let front = to6(&mut packet, &to).unwrap();
        (front.is_cut, put_in_front(&packet, &front))
    };
    let whole = |len| in6().udp(53, 4000).payload_len(len).build();
    // 40 octets of IPv6 and 8 of UDP make 1280.
    assert_eq!(front(in4(), 1232), (false, whole(1232)));
    assert_eq!(front(in4().dont_fragment(), 1300), (false, whole(1300)));
    let (is_cut, packet) = front(in4(), 1300);
    let upper = &whole(1300)[ipv6::Header::LEN..];
    let expected = in6().fragment_header(0, false, 9).payload(upper).build();
    let of_next = |mut packet: Vec<u8>| {
        packet[ipv6::Header::LEN] = protocol::UDP;
        packet
    };
    assert_eq!((is_cut, packet), (true, of_next(expected)));
}

#[test]
fn a_sum_that_was_left_out_is_made_and_one_that_is_wrong_stays_wrong() {
    let data = b"abc";
    let to = answered(protocol::UDP, 53);
    let none = in4().udp(53, 5000).checksum(0).payload(data).build();
    assert_eq!(back(none, &to), Ok(in6().udp(53, 4000).payload(data).build()));
    let wrong = |sum: u16| in4().udp(53, 5000).checksum(sum).payload(data).build();
    let right = in4().udp(53, 5000).payload(data).build();
    let sum = u16::from_be_bytes([right[26], right[27]]);
    let crossed = back(wrong(sum ^ 0x100), &to).unwrap();
    assert!(!is_whole(&crossed));
    // IPv6 has no such packets.
    let none = out6().udp(4000, 53).checksum(0).payload(data).build();
    assert_eq!(there(none, &sent(protocol::UDP, 53)), Err(Uncrossable::Broken));
    // Of a header of IPv4, it would not show.
    let damaged = in4().checksum(9).udp(53, 5000).build();
    assert_eq!(back(damaged, &to), Err(Uncrossable::Broken));
}

#[test]
fn options_go_and_ways_that_are_not_gone_yet_do_not_pass() {
    let to = sent(protocol::UDP, 53);
    let plain = out4().identification(ID).udp(5000, 53).payload(b"x").build();
    let with = |packet: Craft<craft::Extension>| packet.udp(4000, 53).payload(b"x").build();
    let gone = out6().hop_by_hop(&[5, 2, 0, 0]).destination_options(&[]).routing(&[4, 0, 0, 0]);
    assert_eq!(there(with(gone), &to), Ok(plain));
    let to_go = with(out6().routing(&[4, 1, 0, 0]));
    assert_eq!(there(to_go, &to), Err(Uncrossable::Unsupported));
    let behind = with(out6().fragment_header(0, true, 9).destination_options(&[]));
    assert_eq!(there(behind, &to), Err(Uncrossable::Unsupported));
    let cut_off = out6().hop_by_hop(&[]).build();
    assert_eq!(there(cut_off[..44].to_vec(), &to), Err(Uncrossable::Broken));

    let to = answered(protocol::UDP, 53);
    let plain = in6().udp(53, 4000).payload(b"x").build();
    let with = |kind, data: &[u8]| in4().option(kind, data).udp(53, 5000).payload(b"x").build();
    assert_eq!(back(with(148, &[0, 0]), &to), Ok(plain.clone()));
    // The pointer is behind the last address, and at it.
    assert_eq!(back(with(131, &[8, 1, 2, 3, 4]), &to), Ok(plain));
    assert_eq!(back(with(131, &[4, 1, 2, 3, 4]), &to), Err(Uncrossable::Unsupported));
    assert_eq!(back(with(137, &[4, 1, 2, 3, 4]), &to), Err(Uncrossable::Unsupported));
}

#[test]
fn what_the_other_side_has_not_does_not_pass() {
    let to = sent(protocol::UDP, 53);
    let gre = out6().next_header(protocol::GRE).payload_len(8).build();
    assert_eq!(there(gre, &to), Err(Uncrossable::Unsupported));
    let authentic = out6().extension(protocol::AH, &[0; 6]).udp(1, 2).build();
    assert_eq!(there(authentic, &to), Err(Uncrossable::Unsupported));
    let gre = in4().protocol(protocol::GRE).payload_len(8).build();
    assert_eq!(back(gre, &answered(protocol::UDP, 53)), Err(Uncrossable::Unsupported));
}

#[test]
fn pieces_have_their_places_there_and_back() {
    let (data, id) = ([7; 24], 0x0009_0102);
    let upper = out6().udp(4000, 53).payload(&[5; 24]).build()[40..].to_vec();
    let crossed = out4().udp(5000, 53).payload(&[5; 24]).build()[20..].to_vec();
    let of = |mut packet: Vec<u8>| {
        packet[40] = protocol::UDP;
        packet
    };
    let piece = |offset, more, data: &[u8]| {
        of(out6().fragment_header(offset, more, id).payload(data).build())
    };
    let piece4 = |offset, more, data: &[u8]| {
        let ip = out4().identification(0x0102).fragment(offset, more);
        ip.protocol(protocol::UDP).payload(data).build()
    };
    let to = sent(protocol::UDP, 53);
    assert_eq!(there(piece(0, true, &upper), &to), Ok(piece4(0, true, &crossed)));
    assert_eq!(there(piece(32, true, &data), &to), Ok(piece4(32, true, &data)));
    assert_eq!(there(piece(56, false, &data), &to), Ok(piece4(56, false, &data)));
    // One that is all of its packet.
    assert_eq!(there(piece(0, false, &upper), &to), Ok(piece4(0, false, &crossed)));

    let upper = in4().udp(53, 5000).payload(&[5; 24]).build()[20..].to_vec();
    let crossed = in6().udp(53, 4000).payload(&[5; 24]).build()[40..].to_vec();
    let piece4 = |offset, more, data: &[u8]| {
        let ip = in4().identification(0x0102).fragment(offset, more);
        ip.protocol(protocol::UDP).payload(data).build()
    };
    let piece = |offset, more, data: &[u8]| {
        of(in6().fragment_header(offset, more, 0x0102).payload(data).build())
    };
    let to = answered(protocol::UDP, 53);
    assert_eq!(back(piece4(0, true, &upper), &to), Ok(piece(0, true, &crossed)));
    assert_eq!(back(piece4(32, false, &data), &to), Ok(piece(32, false, &data)));
}

#[test]
fn pieces_whose_sum_the_whole_packet_alone_has_do_not_pass() {
    let echo = out6().fragment_header(0, true, 9).icmp6(128, 0, [0; 4]).payload_len(16).build();
    assert_eq!(there(echo, &sent(protocol::ICMP4, 8 << 8)), Err(Uncrossable::Unsummed));
    let echo = in4().fragment(0, true).icmp_echo_reply(5000, 3).payload_len(16).build();
    assert_eq!(back(echo, &answered(protocol::ICMP6, 0)), Err(Uncrossable::Unsummed));
    let none = in4().fragment(0, true).udp(53, 5000).checksum(0).payload_len(16).build();
    assert_eq!(back(none, &answered(protocol::UDP, 53)), Err(Uncrossable::Unsummed));
}

/// The packets that errors tell of: as the translator sent it, and as its sender did.
fn told_out() -> Vec<(Tuple, Vec<u8>, Vec<u8>)> {
    let six = |to: u16, protocol| Tuple::ip6((six(HOST), 4000), (six(FRIEND6), to), protocol, 0);
    vec![
        (
            six(80, protocol::TCP),
            out4().dont_fragment().tcp(5000, 80).payload_len(1300).build(),
            out6().tcp(4000, 80).payload_len(1300).build(),
        ),
        (
            six(53, protocol::UDP),
            out4().dont_fragment().udp(5000, 53).payload(b"odd").build(),
            out6().udp(4000, 53).payload(b"odd").build(),
        ),
        (
            six(128 << 8, protocol::ICMP6),
            out4().dont_fragment().icmp_echo(5000, 1).payload(b"ping").build(),
            out6().icmp_echo(4000, 1).payload(b"ping").build(),
        ),
    ]
}

#[test]
fn an_error_of_ip4_tells_of_the_packet_as_its_sender_knows_it() {
    let router6 = Prefix64::WELL_KNOWN.ip6_of(four(ROUTER));
    for (inner, as_sent, as_known) in told_out() {
        // As much as there is, and eight octets of it.
        for length in [as_sent.len().min(548), 28] {
            let about = &as_sent[..length];
            let told = &as_known[..length + 20];
            let error = craft::ipv4(ROUTER, OUTER).ttl(60).icmp4(11, 0, [0; 4]);
            let mut error = error.payload(about).build();
            let front = error_to6(&mut error, 28, (router6, six(HOST)), &inner).unwrap();
            let expected = craft::ipv6(router6.to_be_bytes(), HOST).hop_limit(60);
            let expected = expected.icmp6(3, 0, [0; 4]).payload(told).build();
            assert_eq!(put_in_front(&error, &front), expected, "{inner:?} {length}");
        }
    }
}

#[test]
fn a_link_that_takes_less_is_told_of_in_the_lengths_of_the_other_side() {
    let (inner, as_sent, as_known) = told_out().remove(0);
    let error = craft::ipv4(ROUTER, OUTER).icmp4(3, 4, [0, 0, 5, 120]);
    let mut error = error.payload(&as_sent[..548]).build();
    let front = error_to6(&mut error, 28, (9, six(HOST)), &inner).unwrap();
    let expected = craft::ipv6(9_u128.to_be_bytes(), HOST).icmp6(2, 0, [0, 0, 5, 140]);
    assert_eq!(put_in_front(&error, &front), expected.payload(&as_known[..568]).build());
    // What is behind the packet that it tells of is left out, and so is what is too long.
    let long = craft::ipv4(ROUTER, OUTER).icmp4(11, 0, [0, 32, 0, 0]);
    let mut error = long.payload(&[&as_sent[..128], &[9; 40]].concat()).build();
    let front = error_to6(&mut error, 28, (9, six(HOST)), &inner).unwrap();
    let expected = craft::ipv6(9_u128.to_be_bytes(), HOST).icmp6(3, 0, [0; 4]);
    assert_eq!(put_in_front(&error, &front), expected.payload(&as_known[..148]).build());
    let mut error = craft::ipv4(ROUTER, OUTER).icmp4(11, 0, [0; 4]).payload(&as_sent).build();
    let front = error_to6(&mut error, 28, (9, six(HOST)), &inner).unwrap();
    assert_eq!(front.total(), ipv6::MIN_MTU);
    assert!(is_whole(&put_in_front(&error, &front)));
}

#[test]
fn an_error_of_ip6_tells_of_the_packet_as_its_sender_knows_it() {
    let four_of =
        |from: u16, protocol| Tuple::ip4((four(FRIEND), from), (four(OUTER), 5000), protocol, 0);
    let told = [
        (
            four_of(80, protocol::TCP),
            in6().tcp(80, 4000).payload_len(1400).build(),
            in4().dont_fragment().tcp(80, 5000).payload_len(1400).build(),
        ),
        (
            four_of(53, protocol::UDP),
            in6().udp(53, 4000).payload(b"odd").build(),
            in4().udp(53, 5000).payload(b"odd").build(),
        ),
        (
            Tuple::ip4((four(FRIEND), 5000), (four(OUTER), 0), protocol::ICMP4, 0),
            in6().icmp_echo_reply(4000, 1).payload(b"ping").build(),
            in4().icmp_echo_reply(5000, 1).payload(b"ping").build(),
        ),
    ];
    for (inner, as_sent, as_known) in told {
        for length in [as_sent.len().min(1232), 48] {
            let error = craft::ipv6(ROUTER6, FRIEND6).hop_limit(60).icmp6(2, 0, [0, 0, 5, 0x8c]);
            let mut error = error.payload(&as_sent[..length]).build();
            let ends = (four(OUTER), four(FRIEND));
            let front = error_to4(&mut error, 48, ends, &inner, || ID).unwrap();
            // No longer than errors may be.
            let told = &as_known[..(length - 20).min(548)];
            let expected = craft::ipv4(OUTER, FRIEND).ttl(60).identification(ID);
            let expected = expected.icmp4(3, 4, [0, 0, 5, 0x78]).payload(told).build();
            assert_eq!(put_in_front(&error, &front), expected, "{inner:?} {length}");
        }
    }
}

#[test]
fn an_error_whose_sum_is_wrong_tells_nobody() {
    let (inner, as_sent, as_known) = told_out().remove(1);
    let error = craft::ipv4(ROUTER, OUTER).icmp4(11, 0, [0; 4]).checksum(9);
    let mut error = error.payload(&as_sent).build();
    let crossed = error_to6(&mut error, 28, (9, six(HOST)), &inner);
    assert_eq!(crossed.err(), Some(Uncrossable::Broken));
    let error = craft::ipv6(ROUTER6, FRIEND6).icmp6(1, 4, [0; 4]).checksum(9);
    let mut error = error.payload(&as_known).build();
    let inner = sent(protocol::UDP, 53);
    let crossed = error_to4(&mut error, 48, (1, 2), &inner, || ID);
    assert_eq!(crossed.err(), Some(Uncrossable::Broken));
}

/// RFC 1071 as it reads, of several pieces one behind the other.
fn naive_sum(bytes: &[u8]) -> u16 {
    let mut sum = 0_u32;
    for pair in bytes.chunks(2) {
        sum += u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0));
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// Whether lengths and checksums of a packet that is no piece are right.
fn is_whole(packet: &[u8]) -> bool {
    let word = |at: usize| usize::from(packet[at]) << 8 | usize::from(packet[at + 1]);
    let (addresses, mut protocol, mut at) = match packet[0] >> 4 {
        4 => {
            if word(2) != packet.len() || naive_sum(&packet[..20]) != 0xffff {
                return false;
            }
            (&packet[12..20], packet[9], 20)
        }
        _ => (&packet[8..40], packet[6], 40),
    };
    if at == 40 && 40 + word(4) != packet.len() {
        return false;
    }
    if protocol == protocol::FRAGMENT {
        (protocol, at) = (packet[at], at + extension::Fragment::LEN);
    }
    let upper = &packet[at..];
    let length = (upper.len() as u32).to_be_bytes();
    let pseudo = match protocol {
        protocol::ICMP4 => Vec::new(),
        _ => [addresses, &length, &[0, 0, 0, protocol]].concat(),
    };
    naive_sum(&[&pseudo, upper].concat()) == 0xffff
}

proptest! {
    #[test]
    fn what_goes_there_and_comes_back_is_what_it_was(
        data in prop::collection::vec(any::<u8>(), 0..1500), which in 0..3u8, class: u8,
        hops: u8, (port, outer, server) in any::<(u16, u16, u16)>(),
        (host, address) in any::<(u128, u32)>(),
        prefix in any::<u128>().prop_map(|first| Prefix64::new(first & !(0xff << 56), 64).unwrap()),
    ) {
        let server6 = prefix.ip6_of(address);
        let ip = craft::ipv6(host, server6).hop_limit(hops).traffic_class(class);
        let (kind, to) = match which {
            0 => (protocol::TCP, server),
            1 => (protocol::UDP, server),
            _ => (protocol::ICMP6, 128 << 8),
        };
        let packet = match which {
            0 => ip.tcp(port, server).sequence(server.into()).payload(&data).build(),
            1 => ip.udp(port, server).payload(&data).build(),
            _ => ip.icmp_echo(port, server).payload(&data).build(),
        };
        prop_assert!(is_whole(&packet));
        let tuple = Tuple::ip6((host, port), (server6, to), kind, 0);
        let plain = tuple.across4(7, address).unwrap();
        let crossed = there(packet.clone(), &plain.from4(7, outer)).unwrap();
        prop_assert!(is_whole(&crossed));
        let header = ipv4::Header::new(&crossed).unwrap();
        prop_assert_eq!(header.dont_fragment(), crossed.len() > 1260);
        // The way back, as if nobody had been there.
        prop_assert_eq!(back(crossed, &tuple).unwrap(), packet);
    }

    #[test]
    fn any_octets_cross_without_harm(
        mut octets: Vec<u8>, head in prop::collection::vec(any::<u8>(), 0..90), at in 0..100usize,
    ) {
        octets.splice(0..0, head);
        let tuples = [sent(protocol::UDP, 53), answered(protocol::UDP, 53)];
        for first in [0x45, 0x60, 0x4f] {
            if let Some(octet) = octets.first_mut() {
                *octet = first;
            }
            for kind in [protocol::UDP, protocol::FRAGMENT, protocol::ICMP6, protocol::ICMP4] {
                for place in [6, 9] {
                    if let Some(octet) = octets.get_mut(place) {
                        *octet = kind;
                    }
                }
                let _ = to4(&mut octets.clone(), &tuples[0], || ID);
                let _ = to6(&mut octets.clone(), &tuples[1]);
                let _ = error_to4(&mut octets.clone(), at, (1, 2), &tuples[0], || ID);
                let _ = error_to6(&mut octets.clone(), at, (1, 2), &tuples[1]);
            }
        }
    }
}
