//! Writing the headers of a tunnel's packets.
//!
//! ```text
//!  │ IP │ UDP │ VXLAN │ frame …        │ IP │ GRE │ frame or packet …        │ IP │ packet …
//!  │ IP │ UDP │ LISP │ packet …         │ IP │ UDP │ Geneve │ frame …
//!          └ source port, and over IPv6 the flow label: the flow of what is inside
//! ```

mod whole;

pub(super) use whole::{Different, WholeHeaders};

use super::erspan::{CopyHeaders, CopyTold, Sequence};
use super::inner::{Marks, flow_of_frame, flow_of_packet};
use crate::ip::{OWN_TTL, OwnIp4, OwnIp6};
use crate::tables::{Ends, Inside, Numbered, Tunnel, Wrap, gre_bytes};
use crate::tunnel::erspan_bytes;
use wire::ethernet::ethertype;
use wire::ip::{self, protocol};
use wire::{checksum, geneve, gre, ipv4, ipv6, lisp, udp, vxlan};

/// First of the ports that flows are spread over (RFC 7348 section 5: the dynamic ones).
const FIRST_PORT: u16 = 0xc000;
/// The bits of an IPv6 flow label.
const FLOW_LABEL: u32 = 0x000f_ffff;

/// Octets of the longest header between IP and what is inside.
const WRAP_BYTES: usize = udp::Header::LEN + vxlan::Header::LEN;

/// The headers of a tunnel's packets, all written but for lengths, sums, flows, and what is told of
/// what is inside.
#[derive(Clone, Debug)]
pub struct TunnelHeaders {
    /// Whose they are.
    pub tunnel: Tunnel,
    /// Octets of them all.
    bytes: usize,
    ip: [u8; ipv6::Header::LEN],
    wrap: [u8; WRAP_BYTES],
    /// Of the IPv4 header without what is written for each packet.
    sum: checksum::Sum,
    /// Its own class of service, and the bits that are those of what is inside: always the
    /// congestion marks (RFC 6040 section 4.1, normal mode).
    tos: u8,
    inner_tos: u8,
    /// Its own TTL, or 0: that of what is inside. Like all it is counted down as the packet leaves.
    ttl: u8,
    /// What stands behind the IP header of copies.
    copies: Option<CopyHeaders>,
}

impl TunnelHeaders {
    /// Those of a tunnel.
    pub fn new(tunnel: Tunnel) -> Self {
        Self::numbering(tunnel, Sequence::default())
    }

    /// Those of a tunnel; one of copies numbers them in this sequence.
    pub fn numbering(tunnel: Tunnel, sequence: Sequence) -> Self {
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
                    header.set_ttl(0);
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
        let copies = match tunnel.key.wrap {
            Wrap::Erspan(shape) => Some(CopyHeaders::new(shape, sequence)),
            _ => None,
        };
        // Nobody slows down because a copy was marked: copies are told to know no marks.
        let marks = if copies.is_some() { 0 } else { ip::ecn::MASK };
        let (tos, inner_tos) = match tunnel.dscp {
            Some(dscp) => (dscp << 2, marks),
            None => (0, !ip::ecn::MASK | marks),
        };
        let ttl = tunnel.ttl.map_or(0, |ttl| ttl.saturating_add(1));
        let (bytes, wrap) = (tunnel.header_bytes(), wrap_of(&tunnel));
        Self { tunnel, bytes, ip, wrap, sum, tos, inner_tos, ttl, copies }
    }

    /// Octets of them all.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// What the outer header says of service, and of how far the packet may go.
    #[inline(always)]
    fn marks(&self, inner: Marks) -> (u8, u8) {
        let ttl = match (self.ttl, inner.ttl) {
            (0, 0) => OWN_TTL,
            (0, inside) => inside.saturating_add(1),
            (own, _) => own,
        };
        (self.tos | inner.tos & self.inner_tos, ttl)
    }

    /// Writes the headers at the start of a packet that is a copy, has a number of its own, or
    /// whatever else it carries. `told`: what is told of the copy, or the number.
    #[inline(always)]
    pub(super) fn write_all(&self, packet: &mut [u8], told: u32, now_tsc: u64) {
        if let Some(copies) = &self.copies
            && let Some(behind) = packet.get_mut(self.ip_bytes()..)
        {
            copies.write(behind, CopyTold::of_bits(told), now_tsc);
        }
        self.write_numbered(packet, told);
    }

    fn ip_bytes(&self) -> usize {
        match self.tunnel.key.ends {
            Ends::V4 { .. } => ipv4::Header::LEN,
            Ends::V6 { .. } => ipv6::Header::LEN,
        }
    }

    /// Writes the headers at the start of `packet`, for what is behind them; those of copies behind
    /// the outer IP header are there.
    #[inline(always)]
    pub fn write(&self, packet: &mut [u8]) {
        self.write_numbered(packet, 0);
    }

    #[inline(always)]
    fn write_numbered(&self, packet: &mut [u8], number: u32) {
        let length = packet.len() as u16;
        match self.tunnel.key.ends {
            Ends::V4 { local, remote } => {
                let headers = packet.split_first_chunk_mut::<{ ipv4::Header::LEN }>();
                let Some((ip, rest)) = headers else { return };
                let (_, inner) = self.write_wrap(rest, number);
                let (tos, ttl) = self.marks(inner);
                let other = self.other_protocol(rest);
                if self.tunnel.is_summed() {
                    let pseudo = checksum::pseudo4(local, remote, protocol::UDP, rest.len() as u16);
                    sum_udp(rest, pseudo);
                }
                ip.copy_from_slice(&self.ip[..ipv4::Header::LEN]);
                let mut header = ipv4::HeaderMut::of(ip);
                header.set_tos(tos);
                header.set_total_len(length);
                header.set_ttl(ttl);
                if other != 0 {
                    header.set_protocol(protocol::IPV6);
                }
                let word = u16::from(ttl) << 8 | u16::from(other);
                let sum = self.sum.u16(length).u16(tos.into()).u16(word);
                header.set_checksum(sum.checksum());
            }
            Ends::V6 { local, remote } => {
                let headers = packet.split_first_chunk_mut::<{ ipv6::Header::LEN }>();
                let Some((ip, rest)) = headers else { return };
                let (flow, inner) = self.write_wrap(rest, number);
                let (tos, ttl) = self.marks(inner);
                let other = self.other_protocol(rest);
                if self.tunnel.is_summed() {
                    let pseudo = checksum::pseudo6(local, remote, protocol::UDP, rest.len() as u32);
                    sum_udp(rest, pseudo);
                }
                *ip = self.ip;
                let mut header = ipv6::HeaderMut::of(ip);
                header.set_payload_len(rest.len() as u16);
                header.set_hop_limit(ttl);
                if other != 0 {
                    header.set_next_header(protocol::IPV6);
                }
                // RFC 6438: the label tells routers on the way which packets are of one flow.
                header.set_first_word(6 << 28 | u32::from(tos) << 20 | flow & FLOW_LABEL);
            }
        }
    }

    /// What the number of what follows the outer header is above that of IPv4, where that is what
    /// is written: it is IPv6's, if IPv6 is inside (RFC 4213 section 3, RFC 2473 section 3).
    #[inline(always)]
    fn other_protocol(&self, inside: &[u8]) -> u8 {
        let is_other = self.tunnel.key.wrap == Wrap::Ip && ip::version(inside) == 6;
        if is_other { protocol::IPV6 - protocol::IPV4 } else { 0 }
    }

    /// Writes what stands between the IP header and what is inside; says whose flow that is, and
    /// its marks.
    #[inline(always)]
    fn write_wrap(&self, packet: &mut [u8], number: u32) -> (u32, Marks) {
        let length = packet.len() as u16;
        match self.tunnel.key.wrap {
            Wrap::Vxlan { .. }
            | Wrap::Geneve { .. }
            | Wrap::ByFlows(Numbered::Vxlan { .. } | Numbered::Geneve { .. }) => {
                let headers = packet.split_first_chunk_mut::<WRAP_BYTES>();
                let Some((headers, inside)) = headers else { return (0, Marks::default()) };
                let flow = flow_of_frame(inside);
                *headers = self.wrap;
                if let Wrap::ByFlows(_) = self.tunnel.key.wrap {
                    // VXLAN and Geneve have it in the same place.
                    let bits = (number << 8).to_be_bytes();
                    headers[WRAP_BYTES - 4..].copy_from_slice(&bits);
                }
                if let Some(mut udp) = udp::HeaderMut::new(headers) {
                    udp.set_source_port(FIRST_PORT | (flow & 0x3fff) as u16);
                    udp.set_length(length);
                }
                (flow, Marks::of_frame(inside))
            }
            Wrap::Lisp { .. } => {
                let headers = packet.split_first_chunk_mut::<WRAP_BYTES>();
                let Some((headers, inside)) = headers else { return (0, Marks::default()) };
                let flow = flow_of_packet(inside);
                *headers = self.wrap;
                if let Some(mut udp) = udp::HeaderMut::new(headers) {
                    udp.set_source_port(FIRST_PORT | (flow & 0x3fff) as u16);
                    udp.set_length(length);
                }
                (flow, Marks::of_packet(inside))
            }
            Wrap::Gre(_) | Wrap::ByFlows(Numbered::Gre) => {
                let headers = packet.split_at_mut_checked(gre_bytes(self.tunnel.key_out));
                let Some((headers, inside)) = headers else { return (0, Marks::default()) };
                let (kind, flow, marks) = match self.tunnel.inside {
                    Inside::Frames => {
                        (ethertype::TEB, flow_of_frame(inside), Marks::of_frame(inside))
                    }
                    Inside::Packets => {
                        let is_6 = ip::version(inside) == 6;
                        let kind = if is_6 { ethertype::IPV6 } else { ethertype::IPV4 };
                        (kind, flow_of_packet(inside), Marks::of_packet(inside))
                    }
                };
                headers.copy_from_slice(&self.wrap[..headers.len()]);
                if let (Wrap::ByFlows(_), Some(key)) =
                    (self.tunnel.key.wrap, headers.last_chunk_mut())
                {
                    *key = number.to_be_bytes();
                }
                if let Some(mut header) = gre::HeaderMut::new(headers) {
                    header.set_ethertype(kind);
                }
                (flow, marks)
            }
            Wrap::Ip => (flow_of_packet(packet), Marks::of_packet(packet)),
            // Copies go one way, in the order of their numbers.
            Wrap::Erspan(shape) => {
                let frame = packet.get(erspan_bytes(shape.version)..).unwrap_or_default();
                (0, Marks::of_frame(frame))
            }
        }
    }
}

fn wrap_of(tunnel: &Tunnel) -> [u8; WRAP_BYTES] {
    let mut headers = [0; WRAP_BYTES];
    let mut in_udp = |port: u16, header: [u8; 8]| {
        if let Some(mut udp) = udp::HeaderMut::new(&mut headers) {
            udp.set_destination_port(port);
        }
        headers[udp::Header::LEN..].copy_from_slice(&header);
    };
    match tunnel.key.wrap {
        // RFC 7348 section 5: over IPv4 the checksum should be zero.
        Wrap::Vxlan { vni, port } => in_udp(port, vxlan::header(vni)),
        Wrap::ByFlows(Numbered::Vxlan { port }) => in_udp(port, vxlan::header(0)),
        Wrap::Geneve { vni, port } => in_udp(port, geneve::header(vni)),
        Wrap::ByFlows(Numbered::Geneve { port }) => in_udp(port, geneve::header(0)),
        Wrap::Lisp { instance, nonce } => {
            // RFC 9300 section 5.3: the checksum should be zero, over IPv6 too.
            in_udp(udp::port::LISP_DATA, lisp::header(nonce, instance));
        }
        Wrap::Gre(_) | Wrap::ByFlows(Numbered::Gre) => {
            let key = tunnel.key_out;
            if let Some(mut header) = gre::HeaderMut::new(&mut headers) {
                header.set_flags(if key.is_some() { gre::KEY } else { 0 });
            }
            if let Some(key) = key {
                headers[gre::Header::LEN..gre_bytes(Some(key))].copy_from_slice(&key.to_be_bytes());
            }
        }
        Wrap::Ip | Wrap::Erspan(_) => {}
    }
    headers
}

impl Tunnel {
    fn protocol(&self) -> u8 {
        match self.key.wrap {
            Wrap::Vxlan { .. }
            | Wrap::Lisp { .. }
            | Wrap::Geneve { .. }
            | Wrap::ByFlows(Numbered::Vxlan { .. } | Numbered::Geneve { .. }) => protocol::UDP,
            Wrap::Gre(_) | Wrap::Erspan(_) | Wrap::ByFlows(Numbered::Gre) => protocol::GRE,
            Wrap::Ip => protocol::IPV4,
        }
    }

    fn is_summed(&self) -> bool {
        self.summed && self.protocol() == protocol::UDP
    }
}

/// Writes the checksum of a datagram.
fn sum_udp(datagram: &mut [u8], pseudo: checksum::Sum) {
    let sum = pseudo.bytes(datagram).udp_checksum();
    if let Some(mut header) = udp::HeaderMut::new(datagram) {
        header.set_checksum(sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{Erspan, ErspanVersion, TunnelKey};
    use flow::InTunnel;
    use wire::craft;

    const V4: Ends = Ends::V4 { local: 7, remote: 8 };
    const V6: Ends = Ends::V6 { local: 7, remote: 8 };

    fn inner(port: u16) -> Vec<u8> {
        craft::ethernet([2; 6], [4; 6]).ipv4(1, 2).udp(port, 6).payload(b"inside").build()
    }

    fn written(tunnel: &Tunnel, inner: &[u8]) -> Vec<u8> {
        let mut packet = vec![0; tunnel.header_bytes()];
        packet.extend_from_slice(inner);
        TunnelHeaders::new(*tunnel).write_all(&mut packet, 1, 0);
        packet
    }

    #[test]
    fn a_vxlan_packet_is_the_crafted_one() {
        let packet = written(&Tunnel::new(Wrap::vxlan(42), V4), &inner(5));
        let port = u16::from_be_bytes([packet[20], packet[21]]);
        let outer = craft::ipv4(7, 8).ttl(OWN_TTL).identification(0).dont_fragment();
        let crafted = outer.udp(port, 4789).checksum(0).vxlan(42);
        let crafted = crafted.ethernet([2; 6], [4; 6]).ipv4(1, 2).udp(5, 6).payload(b"inside");
        assert_eq!(packet, crafted.build());
        assert!(port >= FIRST_PORT);
    }

    #[test]
    fn a_number_that_flows_say_is_written_where_a_fixed_one_stands() {
        let numbered = |wrap: Numbered, number: u32| {
            let tunnel = Tunnel::new(Wrap::ByFlows(wrap), V4);
            let mut packet = vec![0; tunnel.header_bytes()];
            packet.extend_from_slice(&inner(5));
            TunnelHeaders::new(tunnel).write_all(&mut packet, number, 0);
            assert_eq!(tunnel.own_in(&packet), InTunnel::numbered(number));
            packet
        };
        let fixed = |wrap| written(&Tunnel::new(wrap, V4), &inner(5));
        let vxlan = Numbered::Vxlan { port: 4789 };
        assert_eq!(numbered(vxlan, 0x00ab_cdef), fixed(Wrap::vxlan(0x00ab_cdef)));
        assert_eq!(numbered(vxlan, 0), fixed(Wrap::vxlan(0)));
        let geneve = fixed(Wrap::geneve(0x00ab_cdef));
        assert_eq!(numbered(Numbered::Geneve { port: 6081 }, 0x00ab_cdef), geneve);
        let port_and_header = [0x17, 0xc1, 0, 64, 0, 0, 0, 0, 0x65, 0x58, 0xab, 0xcd, 0xef, 0];
        assert_eq!(geneve[22..36], port_and_header);
        assert_eq!(numbered(Numbered::Gre, u32::MAX), fixed(Wrap::Gre(Some(u32::MAX))));
        // Over IPv6 the number is in the sum.
        let tunnel = Tunnel::new(Wrap::ByFlows(vxlan), V6);
        let mut packet = vec![0; tunnel.header_bytes()];
        packet.extend_from_slice(&inner(5));
        TunnelHeaders::new(tunnel).write_all(&mut packet, 77, 0);
        assert_eq!(packet, written(&Tunnel::new(Wrap::vxlan(77), V6), &inner(5)));
    }

    #[test]
    fn datagrams_over_ipv6_have_a_checksum_unless_told_otherwise() {
        let tunnel = Tunnel::new(Wrap::vxlan(42), V6);
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
            written(&Tunnel { summed: true, ..Tunnel::new(Wrap::vxlan(42), V4) }, &inner(5));
        let pseudo = checksum::pseudo4(7, 8, protocol::UDP, (with_sum.len() - 20) as u16);
        assert!(with_sum[26..28] != [0, 0] && pseudo.bytes(&with_sum[20..]).is_valid());
    }

    #[test]
    fn the_source_port_is_the_flows() {
        let tunnel = Tunnel::new(Wrap::vxlan(42), V4);
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

    #[test]
    fn a_packet_inside_ip_is_told_by_the_outer_headers_protocol() {
        let inner4 = craft::ipv4(1, 2).tos(0xb9).ttl(9).udp(3, 4).payload(b"inside").build();
        let inner6 = craft::ipv6(1, 2).traffic_class(0xb9).udp(3, 4).payload(b"inside").build();
        for (inner, number) in [(&inner4, 4), (&inner6, 41)] {
            let packet = written(&Tunnel::new(Wrap::Ip, V4), inner);
            let outer = craft::ipv4(7, 8).ttl(OWN_TTL).tos(0xb9).identification(0);
            let outer = outer.dont_fragment().protocol(number).payload(inner).build();
            assert_eq!(packet, outer);
            let packet = written(&Tunnel::new(Wrap::Ip, V6), inner);
            let parsed = ipv6::Packet::parse(&packet).unwrap();
            let header = parsed.header;
            assert_eq!((header.source(), header.destination()), (7, 8));
            assert_eq!((header.next_header(), header.traffic_class()), (number, 0xb9));
            assert_eq!((header.hop_limit(), &packet[40..]), (OWN_TTL, &inner[..]));
            assert_ne!(header.flow_label(), 0);
        }
    }

    #[test]
    fn a_copy_has_headers_of_its_own_and_knows_no_marks() {
        let shape = Erspan { session: 5, version: ErspanVersion::II, index: 7 };
        let frame = craft::ethernet([2; 6], [4; 6]).ipv4(1, 2).tos(0xbb).ttl(9).udp(3, 4).build();
        for (dscp, tos) in [(Some(10), 10 << 2), (None, 0xb8)] {
            let tunnel = Tunnel { dscp, ..Tunnel::new(Wrap::Erspan(shape), V4) };
            let told = [&[0x10, 0, 0x88, 0xbe, 0, 0, 0, 0][..], &[0x10, 0, 4, 5, 0, 0, 0, 7]];
            let outer = craft::ipv4(7, 8).ttl(OWN_TTL).tos(tos).identification(0);
            let outer = outer.dont_fragment().protocol(47);
            let wanted = outer.payload(&[&told.concat()[..], &frame].concat()).build();
            assert_eq!(written(&tunnel, &frame), wanted);
            let tunnel = Tunnel { dscp, ..Tunnel::new(Wrap::Erspan(shape), V6) };
            let packet = written(&tunnel, &frame);
            let parsed = ipv6::Packet::parse(&packet).unwrap().header;
            assert_eq!((parsed.traffic_class(), parsed.next_header()), (tos, 47));
            assert_eq!(parsed.flow_label(), 0, "copies go one way");
            assert!(packet[40..].starts_with(&told.concat()) && packet.ends_with(&frame));
        }
    }

    /// Frames and packets with this class of service inside, and TTL 9.
    fn marked(tos: u8) -> [(Inside, Vec<u8>); 4] {
        let frame = || craft::ethernet([2; 6], [4; 6]);
        let four = craft::ipv4(1, 2).tos(tos).ttl(9).udp(3, 4).build();
        let six = craft::ipv6(1, 2).traffic_class(tos).hop_limit(9).udp(3, 4).build();
        [
            (Inside::Frames, frame().vlan(7).ipv4(1, 2).tos(tos).ttl(9).udp(3, 4).build()),
            (Inside::Frames, [&frame().ethertype(0x86dd).build()[..], &six].concat()),
            (Inside::Packets, four),
            (Inside::Packets, six),
        ]
    }

    /// Class of service and TTL of a tunnel's packet, whose sum must be right.
    fn outer(tunnel: &Tunnel, inner: &[u8]) -> (u8, u8) {
        let packet = written(tunnel, inner);
        match ip::version(&packet) {
            6 => {
                let header = ipv6::Packet::parse(&packet).unwrap().header;
                (header.traffic_class(), header.hop_limit())
            }
            _ => {
                let header = ipv4::Packet::parse(&packet).unwrap().header;
                assert!(checksum::is_valid(&packet[..20]));
                (header.tos(), header.ttl())
            }
        }
    }

    #[test]
    fn service_and_reach_are_those_of_what_is_inside_or_the_tunnels_own() {
        for ends in [V4, V6] {
            for ecn in 0..4 {
                for (inside, inner) in marked(0xb8 | ecn) {
                    let lisp = Wrap::Lisp { instance: 7, nonce: 1 };
                    for wrap in
                        [Wrap::vxlan(42), Wrap::geneve(4), Wrap::Gre(Some(7)), Wrap::Ip, lisp]
                    {
                        let only = match wrap {
                            Wrap::Vxlan { .. } | Wrap::Geneve { .. } => Some(Inside::Frames),
                            Wrap::Ip | Wrap::Lisp { .. } => Some(Inside::Packets),
                            _ => None,
                        };
                        if only.is_some_and(|only| only != inside) {
                            continue;
                        }
                        let usual = Tunnel { inside, ..Tunnel::new(wrap, ends) };
                        // All leave with one hop less.
                        assert_eq!(outer(&usual, &inner), (0xb8 | ecn, 65));
                        let fixed = Tunnel { dscp: Some(10), ttl: Some(3), ..usual };
                        assert_eq!(outer(&fixed, &inner), (10 << 2 | ecn, 4));
                        let inherits = Tunnel { ttl: None, ..usual };
                        assert_eq!(outer(&inherits, &inner), (0xb8 | ecn, 10));
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_no_packet_goes_as_our_own_packets_do() {
        let arp = craft::ethernet([2; 6], [255; 6]).arp_request([2; 6], 1, 2).build();
        let tunnel = Tunnel { ttl: None, ..Tunnel::new(Wrap::vxlan(42), V4) };
        assert_eq!(outer(&tunnel, &arp), (0, OWN_TTL));
        let furthest = craft::ethernet([2; 6], [4; 6]).ipv4(1, 2).ttl(255).udp(3, 4).build();
        assert_eq!(outer(&tunnel, &furthest), (0, 255));
    }

    #[test]
    fn the_port_and_the_key_out_are_the_tunnels() {
        let vxlan = Wrap::Vxlan { vni: 42, port: 8472 };
        assert_eq!(written(&Tunnel::new(vxlan, V4), &inner(5))[22..24], 8472u16.to_be_bytes());
        for key_out in [None, Some(9)] {
            let tunnel = Tunnel { key_out, ..Tunnel::new(Wrap::Gre(Some(7)), V4) };
            let packet = written(&tunnel, &inner(5));
            let parsed = gre::Packet::parse(&packet[20..]).unwrap();
            assert_eq!((parsed.key, parsed.payload), (key_out, &inner(5)[..]));
        }
    }
}
