//! Writing the headers of a tunnel's packets.
//!
//! ```text
//!  │ IP │ UDP │ VXLAN │ frame …        │ IP │ GRE │ frame or packet …
//!          └ source port, and over IPv6 the flow label: the flow of what is inside
//! ```

use crate::ip::{OwnIp4, OwnIp6, ip4_flow, ip6_flow};
use crate::tables::{Ends, Inside, Tunnel, Wrap, gre_bytes};
use fib::ecmp::flow_hash;
use wire::ethernet::{self, ethertype};
use wire::ip::{self, protocol};
use wire::{checksum, gre, ipv4, ipv6, udp, vxlan};

/// First of the ports that flows are spread over (RFC 7348 section 5: the dynamic ones).
const FIRST_PORT: u16 = 0xc000;
/// The bits of an IPv6 flow label.
const FLOW_LABEL: u32 = 0x000f_ffff;

/// Octets of the longest header between IP and what is inside.
const WRAP_BYTES: usize = udp::Header::LEN + vxlan::Header::LEN;

/// The headers of a tunnel's packets, all written but for lengths, sums and flows.
#[derive(Clone, Debug)]
pub struct TunnelHeaders {
    /// Whose they are.
    pub tunnel: Tunnel,
    ip: [u8; ipv6::Header::LEN],
    wrap: [u8; WRAP_BYTES],
    /// Of the IPv4 header without its length.
    sum: checksum::Sum,
}

impl TunnelHeaders {
    /// Those of a tunnel.
    pub fn new(tunnel: Tunnel) -> Self {
        let mut ip = [0; ipv6::Header::LEN];
        let mut sum = checksum::Sum::ZERO;
        match tunnel.key.ends {
            Ends::V4 { local, remote } => {
                // RFC 7348 section 4.3: a tunnel's packets are not fragmented.
                let (flags, protocol) = (ipv4::DONT_FRAGMENT, tunnel.protocol());
                let (source, destination) = (local, remote);
                OwnIp4 { tos: 0, identification: 0, flags, protocol, source, destination }
                    .write(&mut ip[..ipv4::Header::LEN]);
                if let Some(mut header) = ipv4::HeaderMut::new(&mut ip) {
                    header.set_total_len(0);
                    header.set_checksum(0);
                }
                sum = sum.bytes(&ip[..ipv4::Header::LEN]);
            }
            Ends::V6 { local, remote } => {
                let (source, destination) = (local, remote);
                OwnIp6 { traffic_class: 0, next_header: tunnel.protocol(), source, destination }
                    .write(&mut ip);
            }
        }
        Self { tunnel, ip, wrap: wrap_of(tunnel.key.wrap), sum }
    }

    /// Writes the headers at the start of `packet`, for what is behind them.
    #[inline]
    pub fn write(&self, packet: &mut [u8]) {
        let length = packet.len() as u16;
        match self.tunnel.key.ends {
            Ends::V4 { local, remote } => {
                let headers = packet.split_first_chunk_mut::<{ ipv4::Header::LEN }>();
                let Some((ip, rest)) = headers else { return };
                self.write_wrap(rest);
                if self.tunnel.is_summed() {
                    let pseudo = checksum::pseudo4(local, remote, protocol::UDP, rest.len() as u16);
                    sum_udp(rest, pseudo);
                }
                ip.copy_from_slice(&self.ip[..ipv4::Header::LEN]);
                let mut header = ipv4::HeaderMut::of(ip);
                header.set_total_len(length);
                header.set_checksum(self.sum.u16(length).checksum());
            }
            Ends::V6 { local, remote } => {
                let headers = packet.split_first_chunk_mut::<{ ipv6::Header::LEN }>();
                let Some((ip, rest)) = headers else { return };
                let flow = self.write_wrap(rest);
                if self.tunnel.is_summed() {
                    let pseudo = checksum::pseudo6(local, remote, protocol::UDP, rest.len() as u32);
                    sum_udp(rest, pseudo);
                }
                *ip = self.ip;
                let mut header = ipv6::HeaderMut::of(ip);
                header.set_payload_len(rest.len() as u16);
                // RFC 6438: the label tells routers on the way which packets are of one flow.
                header.set_first_word(6 << 28 | flow & FLOW_LABEL);
            }
        }
    }

    /// Writes what stands between the IP header and what is inside; says whose flow that is.
    #[inline(always)]
    fn write_wrap(&self, packet: &mut [u8]) -> u32 {
        let length = packet.len() as u16;
        match self.tunnel.key.wrap {
            Wrap::Vxlan(_) => {
                let headers = packet.split_first_chunk_mut::<WRAP_BYTES>();
                let Some((headers, inside)) = headers else { return 0 };
                let flow = frame_flow(inside);
                *headers = self.wrap;
                if let Some(mut udp) = udp::HeaderMut::new(headers) {
                    udp.set_source_port(FIRST_PORT | (flow & 0x3fff) as u16);
                    udp.set_length(length);
                }
                flow
            }
            Wrap::Gre(key) => {
                let headers = packet.split_at_mut_checked(gre_bytes(key));
                let Some((headers, inside)) = headers else { return 0 };
                let (kind, flow) = match self.tunnel.inside {
                    Inside::Frames => (ethertype::TEB, frame_flow(inside)),
                    Inside::Packets if ip::version(inside) == 6 => {
                        (ethertype::IPV6, ip6_flow(0, inside))
                    }
                    Inside::Packets => (ethertype::IPV4, ip4_flow(0, inside)),
                };
                headers.copy_from_slice(&self.wrap[..headers.len()]);
                if let Some(mut header) = gre::HeaderMut::new(headers) {
                    header.set_ethertype(kind);
                }
                flow
            }
        }
    }
}

fn wrap_of(wrap: Wrap) -> [u8; WRAP_BYTES] {
    let mut headers = [0; WRAP_BYTES];
    match wrap {
        Wrap::Vxlan(vni) => {
            // RFC 7348 section 5: over IPv4 the checksum should be zero.
            if let Some(mut udp) = udp::HeaderMut::new(&mut headers) {
                udp.set_destination_port(udp::port::VXLAN);
            }
            headers[udp::Header::LEN..].copy_from_slice(&vxlan::header(vni));
        }
        Wrap::Gre(key) => {
            if let Some(mut header) = gre::HeaderMut::new(&mut headers) {
                header.set_flags(if key.is_some() { gre::KEY } else { 0 });
            }
            if let Some(key) = key {
                headers[gre::Header::LEN..gre_bytes(Some(key))].copy_from_slice(&key.to_be_bytes());
            }
        }
    }
    headers
}

impl Tunnel {
    fn protocol(&self) -> u8 {
        match self.key.wrap {
            Wrap::Vxlan(_) => protocol::UDP,
            Wrap::Gre(_) => protocol::GRE,
        }
    }

    fn is_summed(&self) -> bool {
        self.summed && matches!(self.key.wrap, Wrap::Vxlan(_))
    }
}

/// Writes the checksum of a datagram.
fn sum_udp(datagram: &mut [u8], pseudo: checksum::Sum) {
    let sum = pseudo.bytes(datagram).udp_checksum();
    if let Some(mut header) = udp::HeaderMut::new(datagram) {
        header.set_checksum(sum);
    }
}

/// The flow of a frame, so that routers on the way can spread flows and keep each in order.
#[inline]
fn frame_flow(frame: &[u8]) -> u32 {
    let Some((link, packet)) = frame.split_first_chunk::<{ ethernet::Header::LEN }>() else {
        return 0;
    };
    let header = ethernet::Header::of(link);
    match header.ethertype() {
        ethertype::IPV4 => ip4_flow(0, packet),
        ethertype::IPV6 => ip6_flow(0, packet),
        other => {
            let word = |mac: [u8; 6]| {
                let [a, b, c, d, e, f] = mac;
                u128::from(u64::from_be_bytes([0, 0, a, b, c, d, e, f]))
            };
            let (source, destination) = (header.source().octets(), header.destination().octets());
            flow_hash(0, word(source), word(destination), 0, other.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ip::OWN_TTL;
    use crate::tables::TunnelKey;
    use wire::craft;

    const V4: Ends = Ends::V4 { local: 7, remote: 8 };
    const V6: Ends = Ends::V6 { local: 7, remote: 8 };

    fn inner(port: u16) -> Vec<u8> {
        craft::ethernet([2; 6], [4; 6]).ipv4(1, 2).udp(port, 6).payload(b"inside").build()
    }

    fn written(tunnel: &Tunnel, inner: &[u8]) -> Vec<u8> {
        let mut packet = vec![0; tunnel.header_bytes()];
        packet.extend_from_slice(inner);
        TunnelHeaders::new(*tunnel).write(&mut packet);
        packet
    }

    #[test]
    fn a_vxlan_packet_is_the_crafted_one() {
        let packet = written(&Tunnel::new(Wrap::Vxlan(42), V4), &inner(5));
        let port = u16::from_be_bytes([packet[20], packet[21]]);
        let outer = craft::ipv4(7, 8).ttl(OWN_TTL).identification(0).dont_fragment();
        let crafted = outer.udp(port, 4789).checksum(0).vxlan(42);
        let crafted = crafted.ethernet([2; 6], [4; 6]).ipv4(1, 2).udp(5, 6).payload(b"inside");
        assert_eq!(packet, crafted.build());
        assert!(port >= FIRST_PORT);
    }

    #[test]
    fn datagrams_over_ipv6_have_a_checksum_unless_told_otherwise() {
        let tunnel = Tunnel::new(Wrap::Vxlan(42), V6);
        for summed in [true, false] {
            let packet = written(&Tunnel { summed, ..tunnel }, &inner(5));
            let datagram = &packet[40..];
            let pseudo = checksum::pseudo6(7, 8, protocol::UDP, datagram.len() as u32);
            assert_eq!(datagram[6..8] != [0, 0], summed);
            assert_eq!(pseudo.bytes(datagram).is_valid(), summed);
            let parsed = ipv6::Packet::parse(&packet).unwrap();
            assert_eq!((parsed.header.source(), parsed.header.next_header()), (7, 17));
            assert_ne!(parsed.header.flow_label(), 0);
        }
        let with_sum =
            written(&Tunnel { summed: true, ..Tunnel::new(Wrap::Vxlan(42), V4) }, &inner(5));
        let pseudo = checksum::pseudo4(7, 8, protocol::UDP, (with_sum.len() - 20) as u16);
        assert!(with_sum[26..28] != [0, 0] && pseudo.bytes(&with_sum[20..]).is_valid());
    }

    #[test]
    fn the_source_port_is_the_flows() {
        let tunnel = Tunnel::new(Wrap::Vxlan(42), V4);
        let port = |inner: &[u8]| written(&tunnel, inner)[20..22].to_vec();
        assert_eq!(port(&inner(5)), port(&inner(5)));
        let ports: std::collections::HashSet<_> = (0..64).map(|n| port(&inner(n))).collect();
        assert!(ports.len() > 60, "{} ports for 64 flows", ports.len());
        let arp = craft::ethernet([2; 6], [255; 6]).arp_request([2; 6], 1, 2).build();
        assert_ne!(port(&arp), port(&inner(5)));
    }

    #[test]
    fn a_gre_packet_has_its_key() {
        for (ends, ip) in [(V4, 20), (V6, 40)] {
            for (key, length) in [(None, 4), (Some(0x0102_0304), 8)] {
                let packet = written(&Tunnel::new(Wrap::Gre(key), ends), &inner(5));
                let parsed = gre::Packet::parse(&packet[ip..]).unwrap();
                assert_eq!((parsed.key, parsed.payload), (key, &inner(5)[..]));
                assert_eq!(packet.len() - inner(5).len(), ip + length);
                assert_eq!(parsed.ethertype, ethertype::TEB);
            }
        }
    }

    #[test]
    fn a_packet_inside_gre_says_which_it_is() {
        let wrap = Wrap::Gre(None);
        let key = TunnelKey { wrap, ends: V4 };
        let tunnel = Tunnel { key, inside: Inside::Packets, ..Tunnel::new(wrap, V4) };
        for (packet, kind) in
            [(craft::ipv4(1, 2).build(), 0x0800), (craft::ipv6(1, 2).build(), 0x86dd)]
        {
            let written = written(&tunnel, &packet);
            let parsed = gre::Packet::parse(&written[20..]).unwrap();
            assert_eq!((parsed.ethertype, parsed.payload), (kind, &packet[..]));
        }
    }
}
