//! What a tunnel's headers take from what they are put around: whose flow it is, so that routers on
//! the way spread flows and keep each in order, its class of service, and how far it may go.

use crate::ip::{ip4_flow, ip6_flow};
use fib::ecmp::flow_hash;
use wire::ethernet::{self, ethertype};
use wire::{ip, ipv4, ipv6, vlan};

/// See the module.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Inner {
    /// Hash of the flow.
    pub(super) flow: u32,
    /// DSCP and ECN; 0 of what is no IP packet.
    pub(super) tos: u8,
    /// TTL or hop limit; 0 of what is no IP packet.
    pub(super) ttl: u8,
}

impl Inner {
    /// Of a frame.
    #[inline]
    pub(super) fn of_frame(frame: &[u8]) -> Self {
        let Some((link, packet)) = frame.split_first_chunk::<{ ethernet::Header::LEN }>() else {
            return Self::default();
        };
        let header = ethernet::Header::of(link);
        match header.ethertype() {
            ethertype::IPV4 => Self::of_ip4(packet),
            ethertype::IPV6 => Self::of_ip6(packet),
            other => {
                let word = |mac: [u8; 6]| {
                    let [a, b, c, d, e, f] = mac;
                    u128::from(u64::from_be_bytes([0, 0, a, b, c, d, e, f]))
                };
                let ends = (header.source().octets(), header.destination().octets());
                let flow = flow_hash(0, word(ends.0), word(ends.1), 0, other.into());
                Self { flow, ..Self::behind_tags(frame) }
            }
        }
    }

    /// Of a packet.
    #[inline]
    pub(super) fn of_packet(packet: &[u8]) -> Self {
        if ip::version(packet) == 6 { Self::of_ip6(packet) } else { Self::of_ip4(packet) }
    }

    #[inline]
    fn of_ip4(packet: &[u8]) -> Self {
        let Some(header) = ipv4::Header::new(packet) else { return Self::default() };
        Self { flow: ip4_flow(0, packet), tos: header.tos(), ttl: header.ttl() }
    }

    #[inline]
    fn of_ip6(packet: &[u8]) -> Self {
        let Some(header) = ipv6::Header::new(packet) else { return Self::default() };
        let (tos, ttl) = (header.traffic_class(), header.hop_limit());
        Self { flow: ip6_flow(0, packet), tos, ttl }
    }

    fn behind_tags(frame: &[u8]) -> Self {
        match vlan::walk(frame) {
            Some(walk) if walk.count != 0 => match walk.ethertype {
                ethertype::IPV4 => Self::of_ip4(&frame[walk.offset..]),
                ethertype::IPV6 => Self::of_ip6(&frame[walk.offset..]),
                _ => Self::default(),
            },
            _ => Self::default(),
        }
    }
}
