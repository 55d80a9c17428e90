//! Crafting ICMP, ICMPv6 and neighbour discovery.

use super::{Craft, Ipv4, Ipv6, Kind};
use crate::{MacAddr, icmp4, icmp6, nd};

/// The layer named last is an ICMP message.
#[derive(Clone, Debug)]
pub struct Icmp4;
/// The layer named last is an ICMPv6 message.
#[derive(Clone, Debug)]
pub struct Icmp6;

impl<L> Craft<L> {
    /// Any ICMP header: type, code, octets 4 to 7.
    pub fn icmp4(self, message_type: u8, code: u8, rest: [u8; 4]) -> Craft<Icmp4> {
        self.push(Kind::Icmp4, header(message_type, code, rest))
    }

    /// Any ICMPv6 header: type, code, octets 4 to 7.
    pub fn icmp6(self, message_type: u8, code: u8, rest: [u8; 4]) -> Craft<Icmp6> {
        self.push(Kind::Icmp6, header(message_type, code, rest))
    }
}

impl Craft<Ipv4> {
    /// An echo request.
    pub fn icmp_echo(self, identifier: u16, sequence: u16) -> Craft<Icmp4> {
        self.icmp4(icmp4::message::ECHO_REQUEST, 0, echo(identifier, sequence))
    }

    /// An echo reply.
    pub fn icmp_echo_reply(self, identifier: u16, sequence: u16) -> Craft<Icmp4> {
        self.icmp4(icmp4::message::ECHO_REPLY, 0, echo(identifier, sequence))
    }
}

impl Craft<Ipv6> {
    /// An echo request.
    pub fn icmp_echo(self, identifier: u16, sequence: u16) -> Craft<Icmp6> {
        self.icmp6(icmp6::message::ECHO_REQUEST, 0, echo(identifier, sequence))
    }

    /// An echo reply.
    pub fn icmp_echo_reply(self, identifier: u16, sequence: u16) -> Craft<Icmp6> {
        self.icmp6(icmp6::message::ECHO_REPLY, 0, echo(identifier, sequence))
    }

    /// A neighbour solicitation with its sender's link address. The hop limit becomes 255, as for
    /// all of these.
    pub fn neighbor_solicitation(self, target: u128, source: impl Into<MacAddr>) -> Craft<Icmp6> {
        self.neighbor(icmp6::message::NEIGHBOR_SOLICITATION, target, 0)
            .nd_option(nd::option::SOURCE_LINK_ADDRESS, &source.into().octets())
    }

    /// A neighbour advertisement with the target's link address and flags of [`nd::flag`].
    pub fn neighbor_advertisement(
        self,
        target: u128,
        mac: impl Into<MacAddr>,
        flags: u8,
    ) -> Craft<Icmp6> {
        self.neighbor(icmp6::message::NEIGHBOR_ADVERTISEMENT, target, flags)
            .nd_option(nd::option::TARGET_LINK_ADDRESS, &mac.into().octets())
    }

    /// A neighbour message without options, as duplicate address detection sends it.
    pub fn neighbor(self, message_type: u8, target: u128, flags: u8) -> Craft<Icmp6> {
        let crafted = self.hop_limit(nd::HOP_LIMIT).icmp6(message_type, 0, [flags, 0, 0, 0]);
        crafted.edit(|layer| layer.bytes.extend(target.to_be_bytes()))
    }

    /// A router solicitation without options.
    pub fn router_solicitation(self) -> Craft<Icmp6> {
        let message_type = icmp6::message::ROUTER_SOLICITATION;
        self.hop_limit(nd::HOP_LIMIT).icmp6(message_type, 0, [0; 4])
    }

    /// A router advertisement without options, current hop limit 64.
    pub fn router_advertisement(self, lifetime_s: u16) -> Craft<Icmp6> {
        let [high, low] = lifetime_s.to_be_bytes();
        let message_type = icmp6::message::ROUTER_ADVERTISEMENT;
        self.hop_limit(nd::HOP_LIMIT)
            .icmp6(message_type, 0, [64, 0, high, low])
            .edit(|layer| layer.bytes.extend([0; 8]))
    }
}

impl Craft<Icmp4> {
    /// Checksum, right or wrong.
    pub fn checksum(self, checksum: u16) -> Self {
        self.set_checksum(2, checksum)
    }
}

impl Craft<Icmp6> {
    /// Checksum, right or wrong.
    pub fn checksum(self, checksum: u16) -> Self {
        self.set_checksum(2, checksum)
    }

    /// Of a router advertisement: the hop limit for hosts, flags of [`nd::router_flag`], and times
    /// in milliseconds.
    pub fn for_hosts(
        self,
        hop_limit: u8,
        flags: u8,
        reachable_ms: u32,
        retransmit_ms: u32,
    ) -> Self {
        self.edit(|layer| {
            if let Some(mut message) = nd::RouterAdvertisementMut::new(&mut layer.bytes) {
                message.set_hop_limit(hop_limit);
                message.set_flags(flags);
                message.set_reachable_ms(reachable_ms);
                message.set_retransmit_ms(retransmit_ms);
            }
        })
    }

    /// Appends a neighbour discovery option, padded to full eights.
    pub fn nd_option(self, kind: u8, data: &[u8]) -> Self {
        self.edit(|layer| {
            let len = (2 + data.len()).next_multiple_of(8);
            let end = layer.bytes.len() + len;
            layer.bytes.extend([kind, (len / 8) as u8]);
            layer.bytes.extend(data);
            layer.bytes.resize(end, 0);
        })
    }
}

fn header(message_type: u8, code: u8, rest: [u8; 4]) -> Vec<u8> {
    let [a, b, c, d] = rest;
    vec![message_type, code, 0, 0, a, b, c, d]
}

fn echo(identifier: u16, sequence: u16) -> [u8; 4] {
    let ([a, b], [c, d]) = (identifier.to_be_bytes(), sequence.to_be_bytes());
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use crate::{craft, icmp4};

    #[test]
    fn an_error_carries_the_packet_in_error() {
        let inner = craft::ipv4(3, 4).udp(5, 6).build();
        let packet = craft::ipv4(1, 2).icmp4(3, 4, [0, 0, 0x05, 0xdc]).payload(&inner).build();
        let header = icmp4::Header::parse(&packet[20..]).unwrap();
        assert_eq!((header.message_type(), header.code(), header.next_hop_mtu()), (3, 4, 1500));
    }

    #[test]
    fn checksums_can_lie() {
        let packet = craft::ipv4(1, 2).icmp_echo_reply(7, 1).checksum(5).build();
        assert_eq!(packet[20..24], [0, 0, 0, 5]);
        let packet = craft::ipv6(1, 2).icmp_echo_reply(7, 1).checksum(5).build();
        assert_eq!(packet[40..44], [129, 0, 0, 5]);
        let packet = craft::ipv6(1, 2).router_solicitation().build();
        assert_eq!((packet[7], packet[40]), (255, 133));
    }
}
