//! Writing another address and port into packets, and what that makes of their checksums.
//!
//! ```text
//!  IPv4   addresses ─▶ header checksum, and the pseudo header's part of TCP's and UDP's
//!  TCP, UDP ports, ICMP identifier ─▶ their own checksum
//!  ICMP error: the same within, and then its own (RFC 5508 section 4.2)
//! ```
//! A checksum changes by what it covers (RFC 1624): one that was wrong stays wrong.

use crate::tuple::Tuple;
use wire::checksum::{update_u16, update_u32};
use wire::ip::protocol;
use wire::{ipv4, ipv6};

/// Makes a packet, from its IPv4 header on, the one of this tuple. Of a piece that is not the first
/// the addresses alone are there.
#[inline]
pub fn translate4(packet: &mut [u8], to: &Tuple) {
    let Some(mut header) = ipv4::HeaderMut::new(packet) else { return };
    let view = header.view();
    let (old_source, old_destination) = (view.source(), view.destination());
    let (at, protocol) = (view.header_len(), view.protocol());
    let is_later = view.fragment_offset() != 0;
    let (source, destination) = (to.source4(), to.destination4());
    let sum = update_u32(view.checksum(), old_source, source);
    header.set_checksum(update_u32(sum, old_destination, destination));
    header.set_source(source);
    header.set_destination(destination);
    let Some(behind) = packet.get_mut(at..).filter(|_| !is_later) else { return };
    let addresses =
        |sum| update_u32(update_u32(sum, old_source, source), old_destination, destination);
    ports(behind, protocol, to, addresses);
}

/// The same of what is behind the IP header, as far as it is there.
#[inline]
fn ports(behind: &mut [u8], protocol: u8, to: &Tuple, addresses: impl Fn(u16) -> u16) {
    match protocol {
        protocol::TCP => {
            // Of an inner packet that is cut off, the ports may be there alone.
            exchange(behind, 0, to.source_port(), |sum| sum, 16);
            exchange(behind, 2, to.destination_port(), addresses, 16);
        }
        protocol::UDP => {
            // RFC 768: none was computed, and none is.
            let has_sum = behind.get(6..8).is_some_and(|sum| sum != [0, 0]);
            if !has_sum {
                put(behind, 0, to.source_port());
                put(behind, 2, to.destination_port());
                return;
            }
            exchange(behind, 0, to.source_port(), |sum| sum, 6);
            exchange(behind, 2, to.destination_port(), addresses, 6);
            if behind.get(6..8) == Some(&[0, 0]) {
                put(behind, 6, 0xffff);
            }
        }
        protocol::ICMP4 => {
            exchange(behind, 4, to.source_port(), |sum| sum, 2);
        }
        _ => {}
    }
}

/// Puts a word at a place, and changes the checksum at another by that, and by `more`. The word
/// alone where no checksum is.
#[inline]
fn exchange(bytes: &mut [u8], at: usize, new: u16, more: impl Fn(u16) -> u16, sum_at: usize) {
    let Some(old) = get(bytes, at) else { return };
    put(bytes, at, new);
    if let Some(sum) = get(bytes, sum_at) {
        put(bytes, sum_at, more(update_u16(sum, old, new)));
    }
}

#[inline]
pub(crate) fn get(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[inline]
pub(crate) fn put(bytes: &mut [u8], at: usize, word: u16) {
    if let Some(place) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
        *place = word.to_be_bytes();
    }
}

/// Octets of an inner packet that may change: its header with options, and that of TCP.
const INNER: usize = ipv4::MAX_HEADER_LEN + 20;

/// Makes an ICMP error, from its IPv4 header on, one from `source` to `destination`, that tells at
/// `at` of a packet of this tuple.
pub fn translate_error4(
    packet: &mut [u8],
    at: usize,
    source: u32,
    destination: u32,
    inner: &Tuple,
) {
    let Some(mut header) = ipv4::HeaderMut::new(packet) else { return };
    let view = header.view();
    let outer = view.header_len();
    let sum = update_u32(view.checksum(), view.source(), source);
    let sum = update_u32(sum, view.destination(), destination);
    header.set_checksum(sum);
    header.set_source(source);
    header.set_destination(destination);
    let Some(within) = packet.get_mut(at..) else { return };
    let mut before = [0; INNER];
    let many = within.len().min(INNER);
    before[..many].copy_from_slice(&within[..many]);
    translate4(within, inner);
    let mut after = [0; INNER];
    after[..many].copy_from_slice(&within[..many]);
    let Some(message) = packet.get_mut(outer..) else { return };
    let Some(sum) = get(message, 2) else { return };
    let pairs = before.as_chunks::<2>().0.iter().zip(after.as_chunks::<2>().0);
    let sum = pairs.filter(|(old, new)| old != new).fold(sum, |sum, (old, new)| {
        update_u16(sum, u16::from_be_bytes(*old), u16::from_be_bytes(*new))
    });
    put(message, 2, sum);
}

/// The same of IPv6, whose errors have their addresses in their checksum, too.
pub fn translate_error6(
    packet: &mut [u8],
    at: usize,
    source: u128,
    destination: u128,
    inner: &Tuple,
) {
    let Some(own) = at.checked_sub(ICMP) else { return };
    let Some(mut sum) = get(packet, own + 2) else { return };
    let Some((protocol, upper)) = upper6(packet, at) else { return };
    address6(packet, 8, source, &mut [&mut sum]);
    address6(packet, 24, destination, &mut [&mut sum]);
    let sum_at = match protocol {
        protocol::TCP => Some(upper + 16),
        protocol::UDP => Some(upper + 6),
        protocol::ICMP6 => Some(upper + 2),
        _ => None,
    };
    // Of a packet that is cut off it may not be there.
    let sum_at = sum_at.filter(|at| get(packet, *at).is_some());
    let mut within = sum_at.and_then(|at| get(packet, at)).unwrap_or(0);
    let mut sums = [&mut sum, &mut within];
    address6(packet, at + 8, inner.source6(), &mut sums);
    address6(packet, at + 24, inner.destination6(), &mut sums);
    if matches!(protocol, protocol::TCP | protocol::UDP) {
        replace(packet, upper, inner.source_port(), &mut sums);
        replace(packet, upper + 2, inner.destination_port(), &mut sums);
    }
    if let Some(at) = sum_at {
        let new = if protocol == protocol::UDP && within == 0 { 0xffff } else { within };
        replace(packet, at, new, &mut [&mut sum]);
    }
    put(packet, own + 2, sum);
}

/// Octets of a header of ICMP.
const ICMP: usize = 8;

/// What a packet within another carries, and where.
fn upper6(packet: &[u8], at: usize) -> Option<(u8, usize)> {
    let header = ipv6::Header::new(packet.get(at..)?)?;
    let behind = packet.get(at + ipv6::Header::LEN..)?;
    let upper = ipv6::extension::walk(header.next_header(), behind).ok()?;
    Some((upper.protocol, at + ipv6::Header::LEN + upper.offset))
}

fn address6(packet: &mut [u8], at: usize, address: u128, sums: &mut [&mut u16]) {
    for (nth, word) in address.to_be_bytes().as_chunks::<2>().0.iter().enumerate() {
        replace(packet, at + 2 * nth, u16::from_be_bytes(*word), sums);
    }
}

/// Puts a word at a place, and changes checksums by that.
fn replace(packet: &mut [u8], at: usize, new: u16, sums: &mut [&mut u16]) {
    let Some(old) = get(packet, at) else { return };
    put(packet, at, new);
    sums.iter_mut().for_each(|sum| **sum = update_u16(**sum, old, new));
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::craft;

    const A: [u8; 4] = [10, 0, 0, 1];
    const B: [u8; 4] = [192, 0, 2, 7];
    const C: [u8; 4] = [203, 0, 113, 9];
    const D: [u8; 4] = [198, 51, 100, 4];

    fn to(protocol: u8, ports: (u16, u16)) -> Tuple {
        let n = u32::from_be_bytes;
        Tuple::ip4((n(C), ports.0), (n(D), ports.1), protocol, 0)
    }

    #[test]
    fn a_translated_packet_is_as_if_it_had_been_sent_so() {
        for data in [&b""[..], b"odd", b"even", &[0xff; 64]] {
            let mut tcp = craft::ipv4(A, B).tcp(1000, 80).payload(data).build();
            translate4(&mut tcp, &to(protocol::TCP, (2000, 8080)));
            assert_eq!(tcp, craft::ipv4(C, D).tcp(2000, 8080).payload(data).build());
            let mut udp = craft::ipv4(A, B).udp(1000, 53).payload(data).build();
            translate4(&mut udp, &to(protocol::UDP, (2000, 5353)));
            assert_eq!(udp, craft::ipv4(C, D).udp(2000, 5353).payload(data).build());
            let mut echo = craft::ipv4(A, B).icmp_echo(77, 5).payload(data).build();
            translate4(&mut echo, &to(protocol::ICMP4, (99, 8 << 8)));
            assert_eq!(echo, craft::ipv4(C, D).icmp_echo(99, 5).payload(data).build());
            let mut other = craft::ipv4(A, B).protocol(47).payload(data).build();
            translate4(&mut other, &to(47, (0, 0)));
            assert_eq!(other, craft::ipv4(C, D).protocol(47).payload(data).build());
        }
    }

    #[test]
    fn a_checksum_that_is_not_there_stays_away_and_one_that_is_wrong_stays_wrong() {
        let mut none = craft::ipv4(A, B).udp(1000, 53).checksum(0).payload(b"x").build();
        translate4(&mut none, &to(protocol::UDP, (2000, 5353)));
        assert_eq!(none, craft::ipv4(C, D).udp(2000, 5353).checksum(0).payload(b"x").build());
        let mut wrong = craft::ipv4(A, B).tcp(1, 2).payload(b"x").build();
        wrong[36] ^= 0x40;
        translate4(&mut wrong, &to(protocol::TCP, (3, 4)));
        let right = craft::ipv4(C, D).tcp(3, 4).payload(b"x").build();
        assert_ne!(wrong[36..38], right[36..38]);
        wrong[36] ^= 0x40;
        assert_eq!(wrong.len(), right.len());
    }

    #[test]
    fn all_ports_give_right_checksums() {
        for port in (0..=u16::MAX).step_by(7) {
            let mut sent = craft::ipv4(A, B).udp(1000, 53).payload(b"abc").build();
            translate4(&mut sent, &to(protocol::UDP, (port, !port)));
            assert_eq!(sent, craft::ipv4(C, D).udp(port, !port).payload(b"abc").build());
        }
    }

    #[test]
    fn of_a_later_piece_the_addresses_are_changed_alone() {
        let piece = |from: [u8; 4], to: [u8; 4]| {
            craft::ipv4(from, to).protocol(17).fragment(64, false).payload(&[7; 16]).build()
        };
        let mut sent = piece(A, B);
        translate4(&mut sent, &to(protocol::UDP, (2000, 5353)));
        assert_eq!(sent, piece(C, D));
    }

    #[test]
    fn an_error_of_ip6_tells_of_the_packet_as_its_sender_knows_it() {
        let one = |byte| u128::from_be_bytes([byte; 16]);
        let end = |byte| [byte; 16];
        let error = |from: u8, to: u8, about: &[u8]| {
            craft::ipv6(end(from), end(to)).icmp6(1, 4, [0; 4]).payload(about).build()
        };
        // Client 1, known as 3 to server 2; its port 1000 as 2000.
        let tcp = Tuple::ip6((one(1), 1000), (one(2), 53), protocol::TCP, 0);
        let udp = Tuple::ip6((one(1), 1000), (one(2), 53), protocol::UDP, 0);
        let echo = Tuple::ip6((one(1), 7), (one(2), 128 << 8), protocol::ICMP6, 0);
        let ip = |from: u8| craft::ipv6(end(from), end(2));
        let packets = [
            (
                tcp,
                ip(3).tcp(2000, 53).payload(b"question").build(),
                ip(1).tcp(1000, 53).payload(b"question").build(),
            ),
            (
                udp,
                ip(3).udp(2000, 53).payload(b"question").build(),
                ip(1).udp(1000, 53).payload(b"question").build(),
            ),
            (
                udp,
                ip(3).destination_options(&[]).udp(2000, 53).payload(b"odd").build(),
                ip(1).destination_options(&[]).udp(1000, 53).payload(b"odd").build(),
            ),
            (
                echo,
                ip(3).icmp_echo(7, 1).payload(b"ping").build(),
                ip(1).icmp_echo(7, 1).payload(b"ping").build(),
            ),
        ];
        for (inner, as_sent, as_known) in packets {
            for from in [2, 9] {
                let mut packet = error(from, 3, &as_sent);
                translate_error6(&mut packet, 48, one(from), one(1), &inner);
                assert_eq!(packet, error(from, 1, &as_known), "{inner:?}");
            }
        }
        // One that is cut off behind its ports.
        let (as_sent, as_known) = (&ip(3).tcp(2000, 53).build(), &ip(1).tcp(1000, 53).build());
        let mut packet = error(2, 3, &as_sent[..48]);
        translate_error6(&mut packet, 48, one(2), one(1), &tcp);
        assert_eq!(packet, error(2, 1, &as_known[..48]));
    }

    #[test]
    fn an_error_tells_of_the_packet_as_its_sender_knows_it() {
        let n = u32::from_be_bytes;
        let router = [172, 16, 0, 1];
        let error = |to: [u8; 4], about: &[u8]| {
            craft::ipv4(router, to).icmp4(11, 0, [0; 4]).payload(about).build()
        };
        let as_sent = craft::ipv4(C, B).udp(2000, 53).payload(b"question").build();
        let as_known = craft::ipv4(A, B).udp(1000, 53).payload(b"question").build();
        let inner = Tuple::ip4((n(A), 1000), (n(B), 53), protocol::UDP, 0);
        for (length, what) in [(as_sent.len(), "whole"), (28, "eight octets")] {
            let mut packet = error(C, &as_sent[..length]);
            translate_error4(&mut packet, 28, n(router), n(A), &inner);
            assert_eq!(packet, error(A, &as_known[..length]), "{what}");
        }
        let as_sent = craft::ipv4(C, B).tcp(2000, 8080).payload(b"data").build();
        let as_known = craft::ipv4(A, D).tcp(1000, 80).payload(b"data").build();
        let inner = Tuple::ip4((n(A), 1000), (n(D), 80), protocol::TCP, 0);
        for length in [28, as_sent.len()] {
            let mut packet = error(C, &as_sent[..length]);
            translate_error4(&mut packet, 28, n(router), n(A), &inner);
            assert_eq!(packet, error(A, &as_known[..length]), "{length}");
        }
    }
}
