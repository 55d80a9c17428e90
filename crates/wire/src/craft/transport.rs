//! Crafting UDP and TCP.

use super::{Craft, Kind};
use crate::{options::END, tcp, udp};

/// The layer named last is a UDP header.
#[derive(Clone, Debug)]
pub struct Udp;
/// The layer named last is a TCP header.
#[derive(Clone, Debug)]
pub struct Tcp;

impl<L> Craft<L> {
    /// A UDP header.
    pub fn udp(self, source_port: u16, destination_port: u16) -> Craft<Udp> {
        let mut bytes = [0; udp::Header::LEN];
        let mut header = udp::HeaderMut::of(&mut bytes);
        header.set_source_port(source_port);
        header.set_destination_port(destination_port);
        self.push(Kind::Udp, bytes.to_vec())
    }

    /// A TCP header: an acknowledgement with window 65535.
    pub fn tcp(self, source_port: u16, destination_port: u16) -> Craft<Tcp> {
        let mut bytes = [0; tcp::Header::LEN];
        let mut header = tcp::HeaderMut::of(&mut bytes);
        header.set_source_port(source_port);
        header.set_destination_port(destination_port);
        header.set_offset_bits(0x50);
        header.set_flags(tcp::flag::ACK);
        header.set_window(u16::MAX);
        self.push(Kind::Tcp, bytes.to_vec())
    }
}

impl Craft<Udp> {
    /// Length, whatever it really is.
    pub fn length(self, len: u16) -> Self {
        self.set_len(4, &len.to_be_bytes())
    }

    /// Checksum, right or wrong; 0 says "none".
    pub fn checksum(self, checksum: u16) -> Self {
        self.set_checksum(6, checksum)
    }
}

impl Craft<Tcp> {
    /// Number of the first octet of data.
    pub fn sequence(self, sequence: u32) -> Self {
        self.set(4, &sequence.to_be_bytes())
    }

    /// Number of the next octet awaited.
    pub fn acknowledgement(self, acknowledgement: u32) -> Self {
        self.set(8, &acknowledgement.to_be_bytes())
    }

    /// Flags, of [`tcp::flag`].
    pub fn flags(self, flags: u8) -> Self {
        self.set(13, &[flags])
    }

    /// Octets the sender will take.
    pub fn window(self, window: u16) -> Self {
        self.set(14, &window.to_be_bytes())
    }

    /// Where urgent data ends.
    pub fn urgent(self, urgent: u16) -> Self {
        self.set(18, &urgent.to_be_bytes())
    }

    /// Appends an option, padded to a full word; the data offset follows unless it was set after.
    pub fn option(self, kind: u8, data: &[u8]) -> Self {
        self.edit(|layer| {
            layer.bytes.extend([kind, (data.len() + 2) as u8]);
            layer.bytes.extend(data);
            layer.bytes.resize(layer.bytes.len().next_multiple_of(4), END);
            layer.bytes[12] = layer.bytes[12] & 0x0f | ((layer.bytes.len() / 4) as u8) << 4;
        })
    }

    /// Data offset in words, whatever it really is.
    pub fn data_offset(self, words: u8) -> Self {
        self.edit(|layer| layer.bytes[12] = layer.bytes[12] & 0x0f | words << 4)
    }

    /// Checksum, right or wrong.
    pub fn checksum(self, checksum: u16) -> Self {
        self.set_checksum(16, checksum)
    }
}

#[cfg(test)]
mod tests {
    use crate::craft;

    #[test]
    fn a_tcp_header_can_lie() {
        let packet = craft::ipv4(1, 2).tcp(1, 2).data_offset(15).checksum(7).urgent(8).build();
        assert_eq!((packet[32], &packet[36..40]), (0xf0, &[0, 7, 0, 8][..]));
    }

    #[test]
    fn udp_inside_a_tunnel_takes_the_inner_addresses() {
        let inner = craft::ipv6(3, 4).udp(5, 6).payload(b"x").build();
        let packet = craft::ipv4(1, 2).ipv6(3, 4).udp(5, 6).payload(b"x").build();
        assert_eq!(packet[20..], inner);
    }

    #[test]
    fn udp_without_an_ip_header_still_builds() {
        assert_eq!(craft::ethernet([2; 6], [4; 6]).udp(1, 2).build().len(), 22);
    }
}
