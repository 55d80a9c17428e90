//! What a tunnel's headers take from what they are put around: whose flow it is, so that routers on
//! the way spread flows and keep each in order, its class of service, and how far it may go.
//!
//! Two questions that look at the same octets, and are asked apart: the flow is the last thing that
//! its function works out, so that it costs no more than the hash; the marks are two octets.

use crate::ip::{ip4_flow, ip6_flow};
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
        ethertype::IPV4 => ip4_flow(0, packet),
        ethertype::IPV6 => ip6_flow(0, packet),
        _ => flow_of_another(frame, header),
    }
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
    if ip::version(packet) == 6 { ip6_flow(0, packet) } else { ip4_flow(0, packet) }
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
