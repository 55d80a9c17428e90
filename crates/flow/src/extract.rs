//! A key of a frame's bytes. What is cut short ends there: fields behind it are zero.

use crate::key::{END_OF_PACKET, Key, TPID};
use crate::labels;

/// Bits of a fragment: one of several, and not the first.
const FRAGMENT: u64 = 1;
const LATER: u64 = 2;

/// Reads a frame that came in by a port. Words of what is known beside it stay as they are.
pub fn extract(frame: &[u8], in_port: u16, key: &mut Key) {
    let words = &mut key.words;
    words[21] = words[21] & !0xffff | u64::from(in_port);
    words[22..END_OF_PACKET].fill(0);
    let Some(ethernet) = frame.first_chunk::<14>() else { return };
    let [d0, d1, d2, d3, d4, d5, s0, s1, s2, s3, s4, s5, t0, t1] = *ethernet;
    words[22] = u64::from_be_bytes([d0, d1, d2, d3, d4, d5, 0, 0]);
    words[23] = u64::from_be_bytes([s0, s1, s2, s3, s4, s5, 0, 0]);
    let mut kind = u16::from_be_bytes([t0, t1]);
    let mut rest = &frame[14..];
    if matches!(kind, 0x8100 | 0x88a8)
        && let Some((&[a, b, c, d], behind)) = rest.split_first_chunk()
    {
        // The bit of the format says that there is a tag.
        words[23] |= u64::from(u16::from_be_bytes([a, b]) | 0x1000);
        words[TPID.0] |= u64::from(kind) << TPID.1;
        kind = u16::from_be_bytes([c, d]);
        rest = behind;
    }
    // What has a length in place of a type has none.
    words[22] |= if kind < 0x600 { 0 } else { u64::from(kind) };
    match kind {
        0x0800 => ip4(rest, words),
        0x86dd => ip6(rest, words),
        0x0806 | 0x8035 => arp(rest, words),
        0x8847 | 0x8848 => labels::extract(rest, words),
        _ => {}
    }
}

#[inline(always)]
fn number(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(all) if bytes.len() == 8 => u64::from_be_bytes(*all),
        _ => bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)),
    }
}

fn ip4(packet: &[u8], words: &mut [u64]) {
    let Some(header) = packet.first_chunk::<20>() else { return };
    let length = usize::from(header[0] & 0xf) * 4;
    let total = usize::from(u16::from_be_bytes([header[2], header[3]]));
    // Of a packet that is not there whole nothing is believed.
    if header[0] >> 4 != 4 || length < 20 || total < length || total > packet.len() {
        return;
    }
    let place = u16::from_be_bytes([header[6], header[7]]);
    let mut fragment = 0;
    if place & 0x3fff != 0 {
        fragment = if place & 0x1fff != 0 { FRAGMENT | LATER } else { FRAGMENT };
    }
    let [tos, ttl, proto] = [header[1], header[8], header[9]].map(u64::from);
    words[25] = number(&header[12..20]);
    words[30] = proto | tos << 8 | ttl << 16 | fragment << 24;
    if fragment & LATER == 0 {
        transport(header[9], &packet[length..total], words, false);
    }
}

fn ip6(packet: &[u8], words: &mut [u64]) {
    let Some(header) = packet.first_chunk::<40>() else { return };
    let total = header.len() + number(&header[4..6]) as usize;
    if header[0] >> 4 != 6 || total > packet.len() {
        return;
    }
    let first = number(&header[..4]);
    let (label, class) = (first & 0xf_ffff, first >> 20 & 0xff);
    for (at, word) in [8, 16, 24, 32].into_iter().zip(26..) {
        words[word] = number(&header[at..at + 8]);
    }
    let (mut next, mut rest, mut fragment) = (header[6], &packet[40..total], 0);
    // Extension headers: hop-by-hop, routing, destination, authentication, fragment.
    while matches!(next, 0 | 43 | 60 | 51 | 44) {
        // Of a packet that ends in one the addresses alone are known, as to Open vSwitch.
        let [kind, length, ..] = rest else { return };
        let bytes = match next {
            44 => 8,
            51 => (usize::from(*length) + 2) * 4,
            _ => (usize::from(*length) + 1) * 8,
        };
        let Some((extension, behind)) = rest.split_at_checked(bytes) else { return };
        if next == 44 {
            // A packet of one piece (RFC 6946) is none; what a later one continues is not looked
            // at.
            match number(&extension[2..4]) {
                0 => {}
                place if place & 0xfff8 != 0 => {
                    fragment = FRAGMENT | LATER;
                    break;
                }
                _ => fragment = FRAGMENT,
            }
        }
        (next, rest) = (*kind, behind);
    }
    words[30] =
        u64::from(next) | class << 8 | u64::from(header[7]) << 16 | fragment << 24 | label << 32;
    if fragment & LATER == 0 {
        transport(next, rest, words, true);
    }
}

fn transport(proto: u8, bytes: &[u8], words: &mut [u64], is_ip6: bool) {
    let ports = |bytes: &[u8; 4]| {
        let [a, b, c, d] = *bytes;
        u64::from(u16::from_be_bytes([a, b])) | u64::from(u16::from_be_bytes([c, d])) << 16
    };
    match proto {
        6 => {
            let header = bytes.first_chunk::<20>();
            let is_whole = |header: &&[u8; 20]| {
                let length = usize::from(header[12] >> 4) * 4;
                (20..=bytes.len()).contains(&length)
            };
            if let Some(header) = header.filter(is_whole) {
                let flags = number(&header[12..14]) & 0xfff;
                words[35] = ports(&[header[0], header[1], header[2], header[3]]) | flags << 32;
            }
        }
        17 | 132 => {
            let least = if proto == 17 { 8 } else { 12 };
            if let Some(header) = bytes.first_chunk::<4>().filter(|_| bytes.len() >= least) {
                words[35] = ports(header);
            }
        }
        1 if !is_ip6 => {
            if let Some(header) = bytes.first_chunk::<8>() {
                words[35] = u64::from(header[0]) | u64::from(header[1]) << 16;
            }
        }
        58 if is_ip6 => {
            if let Some(header) = bytes.first_chunk::<8>() {
                words[35] = u64::from(header[0]) | u64::from(header[1]) << 16;
                if matches!(header[..2], [135 | 136, 0]) {
                    discovery(header[0], bytes, words);
                }
            }
        }
        _ => {}
    }
}

/// Target and link-layer addresses of neighbour discovery.
fn discovery(kind: u8, message: &[u8], words: &mut [u64]) {
    let Some((fixed, mut options)) = message.split_first_chunk::<24>() else { return };
    // Addresses of who sends it, and of the target.
    let mut said = [0; 2];
    while let [option, eights, ..] = *options {
        let this = options.split_at_checked(usize::from(eights) * 8);
        let Some((this, behind)) = this.filter(|_| eights > 0) else { break };
        if let (1 | 2, 8) = (option, this.len()) {
            let place = &mut said[usize::from(option) - 1];
            // What says one twice says nothing, as Open vSwitch has it.
            if *place != 0 {
                return;
            }
            *place = number(&this[2..]);
        }
        options = behind;
    }
    (words[31], words[32]) = (number(&fixed[8..16]), number(&fixed[16..24]));
    match kind {
        135 => words[33] = said[0],
        _ => words[34] = said[1],
    }
}

fn arp(packet: &[u8], words: &mut [u64]) {
    let Some(header) = packet.first_chunk::<28>() else { return };
    // Ethernet and IPv4 alone.
    if header[..6] != [0, 1, 8, 0, 6, 4] {
        return;
    }
    // Operations of one octet, as Open vSwitch tells them.
    words[35] = Some(number(&header[6..8])).filter(|it| *it <= 0xff).unwrap_or(0);
    words[25] = number(&header[14..18]) << 32 | number(&header[24..28]);
    (words[33], words[34]) = (number(&header[8..14]), number(&header[18..24]));
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use openflow::Field;
    use proptest::prelude::*;

    /// A frame of UDP.
    pub(crate) fn udp(source: u8, port: u16) -> Vec<u8> {
        let mut frame = vec![2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, source, 8, 0];
        frame.extend([0x45, 0xb8, 0, 32, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, source, 10, 0, 1, 9]);
        frame.extend(1000u16.to_be_bytes());
        frame.extend(port.to_be_bytes());
        frame.extend([0, 12, 0, 0, 1, 2, 3, 4]);
        frame
    }

    #[test]
    fn of_ipv6_that_ends_in_an_extension_header_the_addresses_alone_are_known() {
        let mut frame = vec![0; 54];
        frame[12..16].copy_from_slice(&[0x86, 0xdd, 0x6b, 0x8f]);
        // No octet behind the header: without extensions the class is known all the same.
        (frame[21], frame[53]) = (64, 9);
        let classes = [59, 0].map(|next| {
            frame[20] = next;
            let mut key = Key::default();
            extract(&frame, 1, &mut key);
            [Field::Ip6Dst, Field::IpDscp, Field::IpTtl].map(|it| key.get(it))
        });
        assert_eq!(classes, [[9, 0x2e, 64], [9, 0, 0]]);
    }

    #[test]
    fn fields_of_a_packet_are_found() {
        let mut key = Key::default();
        extract(&udp(7, 53), 3, &mut key);
        let found = [
            Field::InPort,
            Field::EthType,
            Field::IpProto,
            Field::IpDscp,
            Field::IpTtl,
            Field::UdpSrc,
            Field::UdpDst,
            Field::IpSrc,
            Field::EthSrc,
        ]
        .map(|it| key.get(it));
        assert_eq!(found, [3, 0x800, 17, 46, 64, 1000, 53, 0x0a00_0007, 0x0200_0000_0007]);
    }

    #[test]
    fn a_tag_an_arp_and_a_solicitation_are_read() {
        let mut key = Key::default();
        let mut tagged = udp(7, 53);
        tagged.splice(12..12, [0x81, 0, 0x60, 5]);
        extract(&tagged, 1, &mut key);
        assert_eq!((key.get(Field::VlanTci), key.get(Field::EthType)), (0x7005, 0x800));
        let mut arp = vec![0xff; 6];
        arp.extend([2, 0, 0, 0, 0, 1, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
        arp.extend([2, 0, 0, 0, 0, 1, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 10, 0, 0, 2]);
        extract(&arp, 1, &mut key);
        let found = [Field::ArpOp, Field::ArpSpa, Field::ArpTpa, Field::ArpSha];
        assert_eq!(found.map(|it| key.get(it)), [1, 0x0a00_0001, 0x0a00_0002, 0x0200_0000_0001]);
        let mut ns = vec![0x33; 6];
        ns.extend([2, 0, 0, 0, 0, 1, 0x86, 0xdd, 0x60, 0, 0, 0, 0, 32, 58, 255]);
        ns.extend([0xfe; 32]);
        ns.extend([135, 0, 0, 0, 0, 0, 0, 0]);
        ns.extend([0x20; 16]);
        ns.extend([1, 1, 2, 0, 0, 0, 0, 1]);
        extract(&ns, 1, &mut key);
        assert_eq!(key.get(Field::Icmp6Type), 135);
        assert_eq!(key.get(Field::NdTarget), u128::from_be_bytes([0x20; 16]));
        assert_eq!(key.get(Field::NdSll), 0x0200_0000_0001);
    }

    #[test]
    fn an_advertisement_that_says_an_address_twice_says_nothing() {
        let mut frame =
            vec![2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 1, 0x86, 0xdd, 0x60, 0, 0, 0, 0, 40, 58, 255];
        frame.extend([0x20; 32]);
        frame.extend([136, 0, 0, 0, 0, 0, 0, 0]);
        frame.extend([0x20; 16]);
        let once = [2, 1, 2, 0, 0, 0, 0, 3];
        frame.extend(once);
        let mut key = Key::default();
        extract(&[&frame[..], &[1, 1, 2, 0, 0, 0, 0, 4]].concat(), 1, &mut key);
        assert_eq!((key.get(Field::NdTll), key.get(Field::NdSll)), (0x0200_0000_0003, 0));
        assert_eq!(key.get(Field::NdTarget), u128::from_be_bytes([0x20; 16]));
        extract(&[&frame[..], &once].concat(), 1, &mut key);
        assert_eq!((key.get(Field::NdTll), key.get(Field::NdTarget)), (0, 0));
        assert_eq!(key.get(Field::Icmp6Type), 136);
    }

    #[test]
    fn a_later_fragment_has_no_ports() {
        let (mut key, mut frame) = (Key::default(), udp(7, 53));
        frame[20..22].copy_from_slice(&[0x20, 3]);
        extract(&frame, 1, &mut key);
        assert_eq!((key.get(Field::IpFrag), key.get(Field::UdpDst)), (3, 0));
        assert!(!crate::has_field(&key, Field::UdpDst) && crate::has_field(&key, Field::IpDst));
    }

    proptest! {
        #[test]
        fn any_bytes_have_a_key(bytes in proptest::collection::vec(any::<u8>(), 0..120), kind in 0..4usize) {
            let mut frame = udp(1, 1);
            frame.truncate(12);
            frame.extend([[8, 0], [0x86, 0xdd], [8, 6], [0x81, 0]][kind]);
            frame.extend(bytes);
            extract(&frame, 1, &mut Key::default());
        }
    }
}
