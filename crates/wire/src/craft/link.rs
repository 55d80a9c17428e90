//! Crafting Ethernet, VLAN tags and ARP.

use std::net::Ipv4Addr;

use super::{Craft, Kind};
use crate::{
    MacAddr, arp, ethernet,
    vlan::{self, Tci},
};

/// The layer named last is an Ethernet header.
#[derive(Clone, Debug)]
pub struct Ethernet;
/// The layer named last is a VLAN tag.
#[derive(Clone, Debug)]
pub struct Vlan;
/// The layer named last is an ARP packet.
#[derive(Clone, Debug)]
pub struct Arp;

impl<L> Craft<L> {
    /// An Ethernet header; its type follows from the next layer.
    pub fn ethernet(
        self,
        source: impl Into<MacAddr>,
        destination: impl Into<MacAddr>,
    ) -> Craft<Ethernet> {
        let mut bytes = [0; ethernet::Header::LEN];
        let mut header = ethernet::HeaderMut::of(&mut bytes);
        header.set_source(source.into());
        header.set_destination(destination.into());
        self.push(Kind::Ethernet, bytes.to_vec())
    }

    /// A customer tag (0x8100) of a VLAN.
    pub fn vlan(self, vid: u16) -> Craft<Vlan> {
        self.push(Kind::Vlan, tag(vid))
    }

    /// A service tag (0x88a8) of a VLAN.
    pub fn service_vlan(self, vid: u16) -> Craft<Vlan> {
        self.push(Kind::ServiceVlan, tag(vid))
    }

    /// An ARP packet: who has `target_ip`?
    pub fn arp_request(
        self,
        sender_mac: impl Into<MacAddr>,
        sender_ip: impl Into<Ipv4Addr>,
        target_ip: impl Into<Ipv4Addr>,
    ) -> Craft<Arp> {
        let sender = (sender_mac.into(), sender_ip.into());
        self.push(Kind::Arp, arp(arp::REQUEST, sender, (MacAddr::ZERO, target_ip.into())))
    }

    /// An ARP packet: the sender has `sender_ip`, told to the target.
    pub fn arp_reply(
        self,
        sender_mac: impl Into<MacAddr>,
        sender_ip: impl Into<Ipv4Addr>,
        target_mac: impl Into<MacAddr>,
        target_ip: impl Into<Ipv4Addr>,
    ) -> Craft<Arp> {
        let sender = (sender_mac.into(), sender_ip.into());
        self.push(Kind::Arp, arp(arp::REPLY, sender, (target_mac.into(), target_ip.into())))
    }
}

fn tag(vid: u16) -> Vec<u8> {
    let mut bytes = [0; vlan::Tag::LEN];
    vlan::TagMut::of(&mut bytes).set_tci_bits(Tci::new(0, vid).0);
    bytes.to_vec()
}

fn arp(operation: u16, sender: (MacAddr, Ipv4Addr), target: (MacAddr, Ipv4Addr)) -> Vec<u8> {
    let mut bytes = [0; arp::Packet::LEN];
    let mut packet = arp::PacketMut::of(&mut bytes);
    packet.set_hardware_type(arp::HARDWARE_ETHERNET);
    packet.set_protocol_type(ethernet::ethertype::IPV4);
    packet.set_hardware_len(6);
    packet.set_protocol_len(4);
    packet.set_operation(operation);
    packet.set_sender_mac(sender.0);
    packet.set_sender_ip(sender.1.into());
    packet.set_target_mac(target.0);
    packet.set_target_ip(target.1.into());
    bytes.to_vec()
}

impl Craft<Ethernet> {
    /// The type field, whatever follows.
    pub fn ethertype(self, ethertype: u16) -> Self {
        self.set_next(12, &ethertype.to_be_bytes())
    }
}

impl Craft<Vlan> {
    /// Priority code point, 0 to 7.
    pub fn pcp(self, pcp: u8) -> Self {
        self.edit(|layer| layer.bytes[0] = layer.bytes[0] & 0x1f | pcp << 5)
    }

    /// May be dropped first.
    pub fn drop_eligible(self) -> Self {
        self.edit(|layer| layer.bytes[0] |= 0x10)
    }

    /// The type field, whatever follows.
    pub fn ethertype(self, ethertype: u16) -> Self {
        self.set_next(2, &ethertype.to_be_bytes())
    }
}

impl Craft<Arp> {
    /// Kind of link.
    pub fn hardware_type(self, kind: u16) -> Self {
        self.set(0, &kind.to_be_bytes())
    }

    /// Kind of address.
    pub fn protocol_type(self, kind: u16) -> Self {
        self.set(2, &kind.to_be_bytes())
    }

    /// Lengths of link and protocol addresses, as the header says.
    pub fn address_lens(self, hardware: u8, protocol: u8) -> Self {
        self.set(4, &[hardware, protocol])
    }

    /// What is asked or told: 1 is a request, 2 a reply.
    pub fn operation(self, operation: u16) -> Self {
        self.set(6, &operation.to_be_bytes())
    }

    /// The target's link address.
    pub fn target_mac(self, mac: impl Into<MacAddr>) -> Self {
        self.set(18, &mac.into().octets())
    }
}

#[cfg(test)]
mod tests {
    use crate::{MacAddr, arp, craft, ethernet::ethertype, vlan};

    #[test]
    fn tags_carry_priority_and_the_type_of_what_follows() {
        let frame = craft::ethernet([2; 6], [4; 6])
            .service_vlan(7)
            .vlan(8)
            .pcp(5)
            .drop_eligible()
            .ipv6(1, 2)
            .build();
        assert_eq!(frame[12..20], [0x88, 0xa8, 0, 7, 0x81, 0, 0xb0, 8]);
        assert_eq!(vlan::walk(&frame).unwrap().ethertype, ethertype::IPV6);
    }

    #[test]
    fn types_can_lie() {
        let frame =
            craft::ethernet([2; 6], [4; 6]).ethertype(1).vlan(7).ethertype(2).ipv4(1, 2).build();
        assert_eq!((&frame[12..14], &frame[16..18]), (&[0, 1][..], &[0, 2][..]));
    }

    #[test]
    fn an_arp_reply_carries_both_ends_and_can_lie() {
        let crafted =
            craft::ethernet([2; 6], [4; 6]).arp_reply([2; 6], [10, 0, 0, 1], [4; 6], [10, 0, 0, 2]);
        let frame = crafted.build();
        let packet = arp::Packet::parse(&frame[14..]).unwrap();
        assert_eq!((packet.operation(), packet.target_mac()), (arp::REPLY, MacAddr([4; 6])));
        let lie = crafted
            .hardware_type(6)
            .protocol_type(9)
            .address_lens(8, 16)
            .operation(3)
            .target_mac([6; 6]);
        assert_eq!(lie.build()[14..22], [0, 6, 0, 9, 8, 16, 0, 3]);
        assert_eq!(lie.build()[32..38], [6; 6]);
    }
}
