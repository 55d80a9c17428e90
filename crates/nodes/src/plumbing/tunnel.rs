//! Tunnels as workers see them: the two ends, and what stands in front of a frame inside.
//!
//! ```text
//!  VXLAN  │ IPv4 20 │ UDP 8 │ VXLAN 8 │ frame …          RFC 7348 section 5
//!  GRE    │ IPv4 20 │ GRE 4 or 8      │ frame …          RFC 2784, with a key RFC 2890
//! ```
//! Several remotes of one network are several tunnels in one bridge, of one split-horizon group: then
//! flooding reaches every remote, and stations are learned behind theirs.

use crate::plumbing::OwnIp4;
use fib::ecmp::flow_hash;
use wire::ethernet::{self, ethertype};
use wire::ip::protocol;
use wire::{gre, ipv4, udp, vxlan};

/// What wraps a frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Wrap {
    /// VXLAN, by its network identifier.
    Vxlan(u32),
    /// GRE, by its key if it has one.
    Gre(Option<u32>),
}

/// A tunnel over IPv4: also what tells arriving packets of different tunnels apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tunnel {
    /// What wraps the frames.
    pub wrap: Wrap,
    /// Our end.
    pub local: u32,
    /// The other end.
    pub remote: u32,
}

/// First of the ports that flows are spread over (RFC 7348 section 5: the dynamic ones).
const FIRST_PORT: u16 = 0xc000;

impl Tunnel {
    /// Octets in front of the frame inside.
    #[inline]
    pub fn header_bytes(&self) -> usize {
        ipv4::Header::LEN
            + match self.wrap {
                Wrap::Vxlan(_) => udp::Header::LEN + vxlan::Header::LEN,
                Wrap::Gre(None) => gre::Header::LEN,
                Wrap::Gre(Some(_)) => gre::Header::LEN + 4,
            }
    }

    /// Writes the headers at the start of `packet`, for the frame behind them.
    #[inline]
    pub fn write(&self, packet: &mut [u8]) {
        let Some((headers, frame)) = packet.split_at_mut_checked(self.header_bytes()) else {
            return;
        };
        let (protocol, inside) = (self.protocol(), &mut headers[ipv4::Header::LEN..]);
        match self.wrap {
            Wrap::Vxlan(vni) => {
                let (datagram, header) = inside.split_at_mut(udp::Header::LEN);
                header.copy_from_slice(&vxlan::header(vni));
                let length = udp::Header::LEN + vxlan::Header::LEN + frame.len();
                if let Some(mut udp) = udp::HeaderMut::new(datagram) {
                    udp.set_source_port(source_port(frame));
                    udp.set_destination_port(udp::port::VXLAN);
                    udp.set_length(length as u16);
                    // RFC 7348 section 5: over IPv4 it should be zero.
                    udp.set_checksum(0);
                }
            }
            Wrap::Gre(key) => {
                if let Some(mut header) = gre::HeaderMut::new(inside) {
                    header.set_flags(if key.is_some() { gre::KEY } else { 0 });
                    header.set_ethertype(ethertype::TEB);
                }
                if let Some(key) = key {
                    inside[gre::Header::LEN..].copy_from_slice(&key.to_be_bytes());
                }
            }
        }
        // RFC 7348 section 4.3: a tunnel's packets are not fragmented.
        let (flags, source, destination) = (ipv4::DONT_FRAGMENT, self.local, self.remote);
        OwnIp4 { tos: 0, identification: 0, flags, protocol, source, destination }.write(packet);
    }

    fn protocol(&self) -> u8 {
        match self.wrap {
            Wrap::Vxlan(_) => protocol::UDP,
            Wrap::Gre(_) => protocol::GRE,
        }
    }
}

/// The port that tells the flow of the frame inside (RFC 7348 section 5), so that routers on the way
/// can spread flows and keep each in order.
#[inline]
fn source_port(frame: &[u8]) -> u16 {
    FIRST_PORT | (flow_of(frame) & 0x3fff) as u16
}

#[inline]
fn flow_of(frame: &[u8]) -> u32 {
    let Some((link, packet)) = frame.split_first_chunk::<{ ethernet::Header::LEN }>() else {
        return 0;
    };
    let header = ethernet::Header::of(link);
    if header.ethertype() == ethertype::IPV4
        && let Some(ip) = ipv4::Header::new(packet)
    {
        let ports = packet.get(ip.header_len()..).and_then(<[u8]>::first_chunk::<4>);
        let has_ports = matches!(ip.protocol(), protocol::TCP | protocol::UDP) && !ip.is_fragment();
        let ports = ports.filter(|_| has_ports).map_or(0, |ports| u32::from_be_bytes(*ports));
        return flow_hash(0, ip.source().into(), ip.destination().into(), ip.protocol(), ports);
    }
    let word = |mac: [u8; 6]| {
        let [a, b, c, d, e, f] = mac;
        u128::from(u64::from_be_bytes([0, 0, a, b, c, d, e, f]))
    };
    let (source, destination) = (header.source().octets(), header.destination().octets());
    flow_hash(0, word(source), word(destination), 0, header.ethertype().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plumbing::OWN_TTL;
    use wire::craft;

    fn inner(port: u16) -> Vec<u8> {
        craft::ethernet([2; 6], [4; 6]).ipv4(1, 2).udp(port, 6).payload(b"inside").build()
    }

    fn written(wrap: Wrap, inner: &[u8]) -> Vec<u8> {
        let tunnel = Tunnel { wrap, local: 7, remote: 8 };
        let mut packet = vec![0; tunnel.header_bytes()];
        packet.extend_from_slice(inner);
        tunnel.write(&mut packet);
        packet
    }

    #[test]
    fn a_vxlan_packet_is_the_crafted_one() {
        let packet = written(Wrap::Vxlan(42), &inner(5));
        let port = u16::from_be_bytes([packet[20], packet[21]]);
        let outer = craft::ipv4(7, 8).ttl(OWN_TTL).identification(0).dont_fragment();
        let crafted = outer.udp(port, 4789).checksum(0).vxlan(42);
        let crafted = crafted.ethernet([2; 6], [4; 6]).ipv4(1, 2).udp(5, 6).payload(b"inside");
        assert_eq!(packet, crafted.build());
        assert!(port >= FIRST_PORT);
    }

    #[test]
    fn the_source_port_is_the_flows() {
        let port = |inner: &[u8]| written(Wrap::Vxlan(42), inner)[20..22].to_vec();
        assert_eq!(port(&inner(5)), port(&inner(5)));
        let ports: std::collections::HashSet<_> = (0..64).map(|n| port(&inner(n))).collect();
        assert!(ports.len() > 60, "{} ports for 64 flows", ports.len());
        let arp = craft::ethernet([2; 6], [255; 6]).arp_request([2; 6], 1, 2).build();
        assert_ne!(port(&arp), port(&inner(5)));
    }

    #[test]
    fn a_gre_packet_has_its_key() {
        for (key, length) in [(None, 24), (Some(0x0102_0304), 28)] {
            let packet = written(Wrap::Gre(key), &inner(5));
            let parsed = gre::Packet::parse(&packet[20..]).unwrap();
            assert_eq!((parsed.key, parsed.payload), (key, &inner(5)[..]));
            assert_eq!((parsed.ethertype, packet.len() - inner(5).len()), (ethertype::TEB, length));
        }
    }
}
