//! The IPv6 header of packets that the router itself sends.

use crate::ip::OWN_TTL;
use wire::ipv6;

/// The fields that differ between our packets.
pub struct OwnIp6 {
    /// DSCP and ECN.
    pub traffic_class: u8,
    /// What follows the header.
    pub next_header: u8,
    /// One of our addresses.
    pub source: u128,
    /// Whom it is for.
    pub destination: u128,
}

impl OwnIp6 {
    /// Writes a header at the start of `packet`, whose length it takes. A packet shorter than a
    /// header is left alone.
    pub fn write(&self, packet: &mut [u8]) {
        let payload_len = packet.len().saturating_sub(ipv6::Header::LEN) as u16;
        let Some(mut header) = ipv6::HeaderMut::new(packet) else { return };
        header.set_first_word(6 << 28 | u32::from(self.traffic_class) << 20);
        header.set_payload_len(payload_len);
        header.set_next_header(self.next_header);
        header.set_hop_limit(OWN_TTL);
        header.set_source(self.source);
        header.set_destination(self.destination);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{craft, ip::protocol};

    #[test]
    fn a_written_header_is_the_crafted_one() {
        let crafted = craft::ipv6(1, 2).hop_limit(OWN_TTL).traffic_class(0xc1);
        let crafted = crafted.udp(3, 4).payload(b"abc").build();
        let mut packet = crafted.clone();
        packet[..40].fill(0xee);
        let (source, destination) = (1, 2);
        let own = OwnIp6 { traffic_class: 0xc1, next_header: protocol::UDP, source, destination };
        own.write(&mut packet);
        assert_eq!(packet, crafted);
    }
}
