//! What a tunnel that only passes carries: the IP packet inside, for those that want its flow.
//!
//! ```text
//!  IP ─┬─ IP                                            RFC 2003, 2473, 4213
//!      ├─ GRE ─┬─ IP                                    RFC 2784
//!      │       └─ Ethernet, up to two tags ─ IP         NVGRE, EoGRE
//!      └─ UDP ─┬─ VXLAN ─ Ethernet, tags ─ IP           RFC 7348
//!              └─ GTP-U ─ IP                            3GPP TS 29.281
//! ```
//! Nothing here is an error: what cannot be read is not there. Of a fragment nothing is inside, so
//! that all of a packet go one way.

use crate::tables::FlowRule;
use wire::ethernet::ethertype;
use wire::ip::{self, protocol};
use wire::{gre, gtp_u, ipv4, ipv6, udp, vlan, vxlan};

/// How many tunnels inside each other are looked through.
const DEEPEST: usize = 3;

/// The innermost IP packet that is found, from its network header on; the packet itself if none is
/// inside.
pub fn innermost<'a>(packet: &'a [u8], rule: &FlowRule) -> &'a [u8] {
    let mut found = packet;
    for _ in 0..DEEPEST {
        match inside(found, rule) {
            Some(packet) => found = packet,
            None => break,
        }
    }
    found
}

fn inside<'a>(packet: &'a [u8], rule: &FlowRule) -> Option<&'a [u8]> {
    let (kind, payload) = payload(packet)?;
    match kind {
        protocol::IPV4 => Some(payload).filter(|inside| ip::version(inside) == 4),
        protocol::IPV6 => Some(payload).filter(|inside| ip::version(inside) == 6),
        protocol::GRE => in_gre(payload),
        protocol::UDP => in_datagram(payload, rule),
        _ => None,
    }
}

/// What an IP packet carries, and its protocol; none of a fragment.
fn payload(packet: &[u8]) -> Option<(u8, &[u8])> {
    match ip::version(packet) {
        4 => {
            let header = ipv4::Header::new(packet).filter(|header| !header.is_fragment())?;
            Some((header.protocol(), packet.get(header.header_len()..)?))
        }
        6 => {
            let header = ipv6::Header::new(packet)?;
            let payload = packet.get(ipv6::Header::LEN..)?;
            // RFC 2473 section 4.1.1: tunnels of Linux put their limit of encapsulations there.
            if header.next_header() != protocol::DESTINATION_OPTIONS {
                return Some((header.next_header(), payload));
            }
            let &[next, eights] = payload.first_chunk()?;
            Some((next, payload.get(8 * (usize::from(eights) + 1)..)?))
        }
        _ => None,
    }
}

fn in_gre(bytes: &[u8]) -> Option<&[u8]> {
    let header = gre::Header::new(bytes)?;
    let behind = bytes.get(header.header_len()..)?;
    if header.flags() & gre::MUST_BE_ZERO != 0 {
        return None;
    }
    match header.ethertype() {
        ethertype::TEB => in_frame(behind),
        kind => of_kind(kind, behind),
    }
}

fn in_datagram<'a>(bytes: &'a [u8], rule: &FlowRule) -> Option<&'a [u8]> {
    let port = udp::Header::new(bytes)?.destination_port();
    let data = bytes.get(udp::Header::LEN..)?;
    if port != 0 && rule.vxlan_ports.contains(&port) {
        vxlan::Header::new(data).filter(|header| header.is_valid())?;
        return in_frame(data.get(vxlan::Header::LEN..)?);
    }
    let packet = gtp_u::packet(data).filter(|_| port == udp::port::GTP_U)?;
    matches!(ip::version(packet), 4 | 6).then_some(packet)
}

fn in_frame(frame: &[u8]) -> Option<&[u8]> {
    let walk = vlan::walk(frame)?;
    of_kind(walk.ethertype, frame.get(walk.offset..)?)
}

fn of_kind(kind: u16, packet: &[u8]) -> Option<&[u8]> {
    let is_one = match kind {
        ethertype::IPV4 => ip::version(packet) == 4,
        ethertype::IPV6 => ip::version(packet) == 6,
        _ => false,
    };
    is_one.then_some(packet)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wire::craft::{self, Craft, Ipv4, Ipv6, Udp};

    const EIGHTS: FlowRule = FlowRule { vxlan_ports: [4789, 8472, 0, 0], ..FlowRule::USUAL };

    fn four() -> Craft<Ipv4> {
        craft::ipv4([192, 0, 2, 1], [192, 0, 2, 2])
    }

    fn six() -> Craft<Ipv6> {
        craft::ipv6(7, 8)
    }

    fn gtp(outer: Craft<Udp>, inside: &[u8]) -> Vec<u8> {
        let header = [0x30, gtp_u::PACKET, 0, inside.len() as u8, 0, 0, 0, 9];
        outer.payload(&[&header, inside].concat()).build()
    }

    /// Every way to carry `inside`, a packet of IPv4.
    fn carried(inside: &[u8]) -> Vec<Vec<u8>> {
        let framed = |link: &[u8]| [&[2; 6], &[4; 6], link, inside].concat();
        let (plain, tagged) = (framed(&[8, 0]), framed(&[0x81, 0, 0, 7, 8, 0]));
        let of = |kind| move |outer: Craft<wire::craft::Gre>| outer.ethertype(kind);
        let (packets, frames) = (of(ethertype::IPV4), of(ethertype::TEB));
        vec![
            four().protocol(protocol::IPV4).payload(inside).build(),
            six().next_header(protocol::IPV4).payload(inside).build(),
            six()
                .destination_options(&[4, 1, 4])
                .next_header(protocol::IPV4)
                .payload(inside)
                .build(),
            packets(four().gre()).payload(inside).build(),
            packets(four().gre().key(7).sequence(8)).payload(inside).build(),
            frames(six().gre()).payload(&plain).build(),
            frames(four().gre().key(7)).payload(&tagged).build(),
            four().udp(9, 4789).vxlan(42).payload(&tagged).build(),
            six().udp(9, 8472).vxlan(42).payload(&plain).build(),
            gtp(four().udp(9, 2152), inside),
            gtp(six().udp(9, 2152), inside),
        ]
    }

    #[test]
    fn what_tunnels_carry_is_found() {
        let inside = craft::ipv4(1, 2).udp(3, 4).payload(b"inside").build();
        for (at, packet) in carried(&inside).iter().enumerate() {
            assert_eq!(innermost(packet, &EIGHTS), inside, "{at}: {packet:x?}");
            // In two tunnels, too.
            for twice in
                carried(packet).iter().take(if packet[0] >> 4 == 4 { usize::MAX } else { 0 })
            {
                assert_eq!(innermost(twice, &EIGHTS), inside, "{at}: {twice:x?}");
            }
        }
    }

    #[test]
    fn what_is_no_tunnel_or_a_piece_of_one_is_itself() {
        let inside = craft::ipv4(1, 2).udp(3, 4).build();
        for packet in [
            four().fragment(0, true).protocol(protocol::IPV4).payload(&inside).build(),
            four().fragment(8, false).gre().ethertype(ethertype::IPV4).payload(&inside).build(),
            six().fragment_header(0, true, 7).next_header(protocol::IPV4).payload(&inside).build(),
            four().protocol(protocol::IPV6).payload(&inside).build(),
            four().gre().flags(1).ethertype(ethertype::IPV4).payload(&inside).build(),
            four().gre().ethertype(ethertype::ARP).payload(&inside).build(),
            four().udp(9, 8473).vxlan(42).ethernet([2; 6], [4; 6]).ipv4(1, 2).udp(3, 4).build(),
            four().udp(9, 4789).vxlan(42).flags(0).ethernet([2; 6], [4; 6]).ipv4(1, 2).build(),
            gtp(four().udp(9, 2153), &inside),
            four().tcp(1, 2).build(),
        ] {
            assert_eq!(innermost(&packet, &EIGHTS), packet);
        }
    }

    proptest! {
        #[test]
        fn whatever_is_inside_is_the_end_of_the_packet(
            bytes in prop::collection::vec(any::<u8>(), 0..90),
            which in 0_usize..11,
            cut in 0_usize..90,
        ) {
            let mut packet = carried(&bytes)[which].clone();
            packet.truncate(packet.len().saturating_sub(cut));
            prop_assert!(packet.ends_with(innermost(&packet, &EIGHTS)));
        }
    }
}
