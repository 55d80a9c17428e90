//! The answer to a neighbour solicitation, in the solicitation's own buffer (RFC 4861 section
//! 7.2.4).

use crate::ip::OwnIp6;
use crate::local::sum_icmp;
use packet::PacketView;
use wire::ip::protocol;
use wire::nd::{self, flag, option};
use wire::{MacAddr, checksum, ethernet, ethernet::ethertype, icmp6::message, ipv6};

/// Octets of an answer: IPv6 header, advertisement, one option with a MAC.
const OPTION_BYTES: usize = 8;
const ANSWER_BYTES: usize = ipv6::Header::LEN + nd::Neighbor::LEN + OPTION_BYTES;

/// Who has an address, and who asked.
pub struct NdAnswer {
    /// The address.
    pub address: u128,
    /// Whose the answer is: the same, or one who stands in for it.
    pub source: u128,
    /// Who has it.
    pub mac: MacAddr,
    /// [`flag::ROUTER`] and [`flag::OVERRIDE`] as they apply.
    pub flags: u8,
    /// Who asked; 0: one who has no address yet.
    pub asker: u128,
    /// The asker's MAC address.
    pub asker_mac: MacAddr,
}

impl NdAnswer {
    /// Turns the question into the answer, a whole frame, which leaves by the interface that it
    /// came in by. The packet begins with the IPv6 header, right behind which the message stands;
    /// its link header was consumed right before.
    pub fn write(self, packet: &mut PacketView<'_>) {
        // Nobody can be told but all, who asked for an address that is taken.
        let (asker, asker_mac, solicited) = match self.asker {
            0 => (ipv6::ALL_NODES, MacAddr::of_ip6_group(ipv6::ALL_NODES), 0),
            asker => (asker, self.asker_mac, flag::SOLICITED),
        };
        // A question without an option is shorter than its answer.
        packet.extend(ANSWER_BYTES.saturating_sub(packet.length()));
        packet.truncate(ANSWER_BYTES);
        let header = OwnIp6 {
            traffic_class: 0,
            next_header: protocol::ICMP6,
            source: self.source,
            destination: asker,
        };
        header.write(packet.header_mut());
        if let Some(mut header) = ipv6::HeaderMut::new(packet.header_mut()) {
            header.set_hop_limit(nd::HOP_LIMIT);
        }
        if let Some(message) = packet.header_mut().get_mut(ipv6::Header::LEN..) {
            message.fill(0);
            if let Some(mut advertisement) = nd::NeighborMut::new(message) {
                advertisement.set_message_type(message::NEIGHBOR_ADVERTISEMENT);
                advertisement.set_flags(self.flags | solicited);
                advertisement.set_target(self.address);
            }
            if let Some(option) = message.get_mut(nd::Neighbor::LEN..) {
                option[..2].copy_from_slice(&[option::TARGET_LINK_ADDRESS, 1]);
                option[2..].copy_from_slice(&self.mac.octets());
            }
            let length = message.len() as u32;
            let pseudo = checksum::pseudo6(self.source, asker, protocol::ICMP6, length);
            sum_icmp(message, pseudo);
        }
        packet.prepend(ethernet::Header::LEN);
        if let Some(mut link) = ethernet::HeaderMut::new(packet.header_mut()) {
            link.set_destination(asker_mac);
            link.set_source(self.mac);
            link.set_ethertype(ethertype::IPV6);
        }
        let rx = packet.rx();
        packet.set_tx(rx);
    }
}
