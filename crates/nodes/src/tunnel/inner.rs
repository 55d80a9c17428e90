//! What a tunnel's headers take from what they are put around: whose flow it is, so that routers on
//! the way spread flows and keep each in order, its class of service, and how far it may go.
//!
//! Two questions that look at the same octets, and are asked apart: the flow is the last thing that
//! its function works out, so that it costs no more than the hash; the marks are two octets.

use crate::ip::{ip4_header_and_ports, ip6_flow};
use fib::ecmp::flow_hash;
use wire::ethernet::{self, ethertype};
use wire::{ip, ipv4, ipv6, vlan};

/// Class of service and reach of what is inside; 0 of what is no IP packet.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Marks {
    /// DSCP and ECN.
    pub(super) tos: u8,
    /// TTL or hop limit.
    pub(super) ttl: u8,
}

/// The flow of a frame.
#[inline(always)]
pub(super) fn flow_of_frame(frame: &[u8]) -> u32 {
    let Some((link, packet)) = frame.split_first_chunk::<{ ethernet::Header::LEN }>() else {
        return 0;
    };
    let header = ethernet::Header::of(link);
    match header.ethertype() {
        ethertype::IPV4 => flow_of_ip4(packet),
        ethertype::IPV6 => ip6_flow(0, packet),
        _ => flow_of_another(frame, header),
    }
}

/// The flow of an IPv4 packet.
#[inline(always)]
fn flow_of_ip4(packet: &[u8]) -> u32 {
    let Some((header, ports)) = ip4_header_and_ports(packet) else { return 0 };
    flow_of_words(header.source(), header.destination(), header.protocol().into(), ports)
}

/// The flow of addresses, protocol and ports: in words of 32 bits, so that those of many packets
/// are worked out at once.
#[inline(always)]
pub(super) fn flow_of_words(source: u32, destination: u32, protocol: u32, ports: u32) -> u32 {
    // Each step takes a word in, multiplies, and brings the upper bits, which all lower ones
    // reached, down again. Odd constants with as many ones as zeros.
    let step = |state: u32, word: u32, odd: u32| {
        let product = (state ^ word).wrapping_mul(odd);
        product ^ product >> 15
    };
    let addresses = step(step(0x2545_f491, source, 0x9e37_79b1), destination, 0x85eb_ca77);
    step(step(addresses, ports, 0xc2b2_ae3d), protocol, 0x27d4_eb2f)
}

/// The flow of a frame with tags, or of what is no IP packet.
#[inline(never)]
fn flow_of_another(frame: &[u8], header: ethernet::Header<'_>) -> u32 {
    if let Some(packet) = packet_of_frame(frame) {
        return flow_of_packet(packet);
    }
    let word = |mac: [u8; 6]| {
        let [a, b, c, d, e, f] = mac;
        u128::from(u64::from_be_bytes([0, 0, a, b, c, d, e, f]))
    };
    let (source, destination) = (header.source().octets(), header.destination().octets());
    flow_hash(0, word(source), word(destination), 0, header.ethertype().into())
}

/// The IP packet of a frame, behind its tags.
pub(super) fn packet_of_frame(frame: &[u8]) -> Option<&[u8]> {
    let walk = vlan::walk(frame)?;
    let is_packet = matches!(walk.ethertype, ethertype::IPV4 | ethertype::IPV6);
    frame.get(walk.offset..).filter(|_| is_packet)
}

/// The flow of a packet.
#[inline]
pub(super) fn flow_of_packet(packet: &[u8]) -> u32 {
    if ip::version(packet) == 6 { ip6_flow(0, packet) } else { flow_of_ip4(packet) }
}

impl Marks {
    /// Those of a frame.
    #[inline(always)]
    pub(super) fn of_frame(frame: &[u8]) -> Self {
        match frame.split_first_chunk::<{ ethernet::Header::LEN }>() {
            Some((link, packet)) => match ethernet::Header::of(link).ethertype() {
                ethertype::IPV4 => Self::of_ip4(packet),
                _ => Self::of_another(frame),
            },
            None => Self::default(),
        }
    }

    /// Those of a packet.
    #[inline(always)]
    pub(super) fn of_packet(packet: &[u8]) -> Self {
        if ip::version(packet) == 6 { Self::of_ip6(packet) } else { Self::of_ip4(packet) }
    }

    #[inline(always)]
    fn of_ip4(packet: &[u8]) -> Self {
        let header = ipv4::Header::new(packet);
        header.map_or(Self::default(), |it| Self { tos: it.tos(), ttl: it.ttl() })
    }

    #[inline]
    fn of_ip6(packet: &[u8]) -> Self {
        let header = ipv6::Header::new(packet);
        header.map_or(Self::default(), |it| Self { tos: it.traffic_class(), ttl: it.hop_limit() })
    }

    /// Those of a frame of IPv6, of one with tags, or of none that has any.
    #[inline(never)]
    fn of_another(frame: &[u8]) -> Self {
        match vlan::walk(frame) {
            Some(walk) => match walk.ethertype {
                ethertype::IPV4 => Self::of_ip4(&frame[walk.offset..]),
                ethertype::IPV6 => Self::of_ip6(&frame[walk.offset..]),
                _ => Self::default(),
            },
            None => Self::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::craft;

    #[test]
    fn neighbours_spread_over_ports_and_over_the_ways_that_routers_make_of_them() {
        let flows: [fn(u32) -> u32; 4] = [
            |n| flow_of_words(0x0a00_0001, 0x0a00_0002, 17, n << 16 | 53),
            |n| flow_of_words(0x0a00_0000 | n, 0x0a00_0002, 6, 0x9c40_0050),
            |n| flow_of_words(0x0a00_0001, 0x0a00_0000 | n, 1, 0),
            |n| flow_of_words(0x0a00_0000 | n, 0x0a01_0000 | n, 132, n << 16 | n),
        ];
        for flow_of in flows {
            let flows: Vec<_> = (0..4096).map(flow_of).collect();
            let ports: std::collections::HashSet<_> = flows.iter().map(|it| it & 0x3fff).collect();
            // Thrown at random it would be 3,624 of 16,384.
            assert!((3500..3750).contains(&ports.len()), "{}", ports.len());
            for ways in [2, 3, 4, 7, 16] {
                for shift in [0, 4, 10] {
                    let mut counts = vec![0_usize; ways as usize];
                    flows.iter().for_each(|it| counts[((it >> shift) % ways) as usize] += 1);
                    let fair = 4096 / ways as usize;
                    assert!(counts.iter().all(|it| it.abs_diff(fair) * 5 < fair), "{counts:?}");
                }
            }
        }
    }

    #[test]
    fn a_frame_is_of_the_flow_of_its_packet_whatever_its_tags() {
        let packet = |port| craft::ipv4(1, 2).udp(port, 9).build();
        let link = |tags: &[u8]| [&[2; 6], &[4; 6], tags].concat();
        for tags in [&[8, 0][..], &[0x81, 0, 0, 7, 8, 0], &[0x88, 0xa8, 0, 7, 0x81, 0, 0, 8, 8, 0]]
        {
            let flow = |port| flow_of_frame(&[link(tags), packet(port)].concat());
            assert_eq!(flow(1), flow_of_packet(&packet(1)));
            assert_ne!(flow(1), flow(2));
        }
        let other = |last| {
            flow_of_frame(&craft::ethernet([2; 6], [4, 4, 4, 4, 4, last]).ethertype(0x88b5).build())
        };
        assert_ne!(other(1), other(2));
        assert_eq!(flow_of_frame(&[4; 13]), 0);
    }
}
