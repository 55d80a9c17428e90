//! The IPv4 header of packets that the router itself sends.

use wire::{checksum, ipv4};

/// What our packets' TTL is set to. They take the way of forwarded packets, on which `ip4-rewrite`
/// counts it down: they leave with the 64 that hosts start with (RFC 1122 section 3.2.1.7), and the
/// fast path need not tell them from others.
pub const OWN_TTL: u8 = 65;

/// The fields that differ between our packets.
pub struct OwnIp4 {
    /// DSCP and ECN.
    pub tos: u8,
    /// Identification: another for each packet, so that fragments are told apart.
    pub identification: u16,
    /// Flags; our packets are no fragments.
    pub flags: u16,
    /// What follows the header.
    pub protocol: u8,
    /// One of our addresses.
    pub source: u32,
    /// Whom it is for.
    pub destination: u32,
}

impl OwnIp4 {
    /// Writes a header without options at the start of `packet`, whose length it takes. A packet
    /// shorter than a header is left alone.
    pub fn write(&self, packet: &mut [u8]) {
        let total_len = packet.len() as u16;
        let Some(mut header) = ipv4::HeaderMut::new(packet) else { return };
        header.set_version_ihl(0x45);
        header.set_tos(self.tos);
        header.set_total_len(total_len);
        header.set_identification(self.identification);
        header.set_fragment_bits(self.flags);
        header.set_ttl(OWN_TTL);
        header.set_protocol(self.protocol);
        header.set_source(self.source);
        header.set_destination(self.destination);
        sum_ip4_header(&mut packet[..ipv4::Header::LEN]);
    }
}

/// Writes the checksum of `header`, options included.
pub fn sum_ip4_header(header: &mut [u8]) {
    if let Some(mut fields) = ipv4::HeaderMut::new(header) {
        fields.set_checksum(0);
    }
    let checksum = checksum::of(header);
    if let Some(mut fields) = ipv4::HeaderMut::new(header) {
        fields.set_checksum(checksum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{craft, ip::protocol};

    #[test]
    fn a_written_header_is_the_crafted_one() {
        let crafted = craft::ipv4(1, 2).ttl(OWN_TTL).tos(0xc0).identification(7).dont_fragment();
        let crafted = crafted.udp(3, 4).payload(b"abc").build();
        let mut packet = crafted.clone();
        packet[..20].fill(0xee);
        let (flags, protocol) = (ipv4::DONT_FRAGMENT, protocol::UDP);
        let (source, destination) = (1, 2);
        let own = OwnIp4 { tos: 0xc0, identification: 7, flags, protocol, source, destination };
        own.write(&mut packet);
        assert_eq!(packet, crafted);
    }
}
