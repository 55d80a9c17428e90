//! One line a person can read about a packet, as tcpdump would print it.
//!
//! ```text
//! vlan 10 IPv4 10.0.0.1 > 10.0.1.2 ttl 64 len 84 ICMP echo request id 7 seq 1
//! └ tags  └ network layer                        └ upper layer; the len of UDP and TCP is that of their data
//! ```
//! It takes any bytes: what is cut short or lies is said so, in brackets, and ends the line.

mod icmp;

use std::fmt::{self, Display, Formatter};

use crate::{
    arp, checksum,
    ethernet::{self, ethertype},
    geneve, gre,
    ip::protocol,
    ipv4,
    ipv6::{self, extension},
    tcp, udp, vlan, vxlan,
};

/// The line about some bytes, made when displayed.
#[derive(Clone, Copy, Debug)]
pub struct Description<'a> {
    bytes: &'a [u8],
    start: Start,
    depth: usize,
}

/// What the bytes begin with.
#[derive(Clone, Copy, Debug)]
enum Start {
    Frame,
    Packet,
}

/// Packets inside packets are described down to this depth.
const MAX_DEPTH: usize = 4;

/// Describes an Ethernet frame.
pub fn frame(bytes: &[u8]) -> Description<'_> {
    Description { bytes, start: Start::Frame, depth: 0 }
}

/// Describes an IPv4 or IPv6 packet, told apart by its version.
pub fn packet(bytes: &[u8]) -> Description<'_> {
    Description { bytes, start: Start::Packet, depth: 0 }
}

impl Display for Description<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let line = Line { depth: self.depth };
        match self.start {
            _ if self.depth == MAX_DEPTH => f.write_str("…"),
            Start::Frame => line.frame(f, self.bytes),
            Start::Packet => line.ip(f, self.bytes),
        }
    }
}

/// The line under way, inside `depth` other packets.
#[derive(Clone, Copy)]
struct Line {
    depth: usize,
}

impl Line {
    fn frame(self, f: &mut Formatter<'_>, bytes: &[u8]) -> fmt::Result {
        let (Some(header), Some(walk)) = (ethernet::Header::new(bytes), vlan::walk(bytes)) else {
            return write!(f, "Ethernet [cut short, {} octets]", bytes.len());
        };
        for tci in walk.tags() {
            write!(f, "vlan {} ", tci.vid())?;
        }
        let payload = &bytes[walk.offset..];
        match walk.ethertype {
            ethertype::ARP => arp(f, payload),
            ethertype::IPV4 => self.ip4(f, payload),
            ethertype::IPV6 => self.ip6(f, payload),
            other => {
                write!(f, "{} > {} ", header.source(), header.destination())?;
                if other < ethertype::FIRST {
                    return write!(f, "802.3 len {other}");
                }
                write!(f, "ethertype 0x{other:04x} len {}", bytes.len())
            }
        }
    }

    fn ip(self, f: &mut Formatter<'_>, bytes: &[u8]) -> fmt::Result {
        match bytes.first().map(|first| first >> 4) {
            Some(4) => self.ip4(f, bytes),
            Some(6) => self.ip6(f, bytes),
            Some(version) => write!(f, "IP [version {version}]"),
            None => f.write_str("IP [empty]"),
        }
    }

    fn ip4(self, f: &mut Formatter<'_>, bytes: &[u8]) -> fmt::Result {
        let Some(header) = ipv4::Header::new(bytes) else {
            return write!(f, "IPv4 [cut short, {} octets]", bytes.len());
        };
        let (source, destination) = (header.source_addr(), header.destination_addr());
        write!(f, "IPv4 {source} > {destination} ttl {}", header.ttl())?;
        write!(f, " len {}", header.total_len())?;
        let header_len = header.header_len();
        let end = usize::from(header.total_len()).min(bytes.len());
        if !header.is_sound() || end < header_len {
            return write!(f, " [bad header: version {} ihl {header_len}]", header.version());
        }
        if !checksum::is_valid(&bytes[..header_len]) {
            f.write_str(" [bad checksum]")?;
        }
        if header_len > ipv4::Header::LEN {
            write!(f, " options {}", header_len - ipv4::Header::LEN)?;
        }
        if header.is_fragment() {
            let more = if header.more_fragments() { "+" } else { "" };
            write!(
                f,
                " frag id {} at {}{more}",
                header.identification(),
                header.fragment_offset()
            )?;
        }
        if header.fragment_offset() != 0 {
            return write!(f, " proto {}", header.protocol());
        }
        self.upper(f, header.protocol(), &bytes[header_len..end])
    }

    fn ip6(self, f: &mut Formatter<'_>, bytes: &[u8]) -> fmt::Result {
        let Some(header) = ipv6::Header::new(bytes) else {
            return write!(f, "IPv6 [cut short, {} octets]", bytes.len());
        };
        let (source, destination) = (header.source_addr(), header.destination_addr());
        write!(f, "IPv6 {source} > {destination} hlim {}", header.hop_limit())?;
        write!(f, " len {}", header.payload_len())?;
        if header.version() != 6 {
            return write!(f, " [bad header: version {}]", header.version());
        }
        let rest = &bytes[ipv6::Header::LEN..];
        let payload = &rest[..rest.len().min(header.payload_len().into())];
        let upper = match extension::walk(header.next_header(), payload) {
            Ok(upper) => upper,
            Err(stop) => return write!(f, " [extension headers: {stop:?}]"),
        };
        if let Some(fragment) = upper.fragment {
            let more = if fragment.more_fragments() { "+" } else { "" };
            write!(f, " frag id {} at {}{more}", fragment.identification(), fragment.offset())?;
            if fragment.offset() != 0 {
                return write!(f, " proto {}", upper.protocol);
            }
        }
        self.upper(f, upper.protocol, &payload[upper.offset..])
    }

    fn upper(self, f: &mut Formatter<'_>, protocol: u8, bytes: &[u8]) -> fmt::Result {
        f.write_str(" ")?;
        match protocol {
            protocol::ICMP4 => icmp::icmp4(f, bytes, self.depth),
            protocol::ICMP6 => icmp::icmp6(f, bytes, self.depth),
            protocol::UDP => self.udp(f, bytes),
            protocol::TCP => tcp(f, bytes),
            protocol::GRE => self.gre(f, bytes),
            protocol::IPV4 | protocol::IPV6 => self.inner(f, Start::Packet, bytes),
            protocol::NO_NEXT => f.write_str("no next header"),
            other => write!(f, "proto {other}"),
        }
    }

    fn udp(self, f: &mut Formatter<'_>, bytes: &[u8]) -> fmt::Result {
        let Some(header) = udp::Header::new(bytes) else {
            return write!(f, "UDP [cut short, {} octets]", bytes.len());
        };
        write!(f, "UDP {} > {}", header.source_port(), header.destination_port())?;
        match udp::Datagram::parse(bytes) {
            Ok(datagram) if header.destination_port() == udp::port::VXLAN => {
                f.write_str(" ")?;
                self.vxlan(f, datagram.payload)
            }
            Ok(datagram) if header.destination_port() == udp::port::GENEVE => {
                f.write_str(" ")?;
                self.geneve(f, datagram.payload)
            }
            Ok(datagram) => write!(f, " len {}", datagram.payload.len()),
            Err(_) => write!(f, " [length {} of {}]", header.length(), bytes.len()),
        }
    }

    fn vxlan(self, f: &mut Formatter<'_>, bytes: &[u8]) -> fmt::Result {
        let Some(header) = vxlan::Header::new(bytes) else {
            return write!(f, "VXLAN [cut short, {} octets]", bytes.len());
        };
        if !header.is_valid() {
            return write!(f, "VXLAN [flags 0x{:02x}]", header.flags());
        }
        write!(f, "VXLAN vni {} ", header.vni())?;
        self.inner(f, Start::Frame, &bytes[vxlan::Header::LEN..])
    }

    fn geneve(self, f: &mut Formatter<'_>, bytes: &[u8]) -> fmt::Result {
        let whole = geneve::Header::new(bytes)
            .and_then(|header| Some((header, bytes.get(header.header_len()..)?)));
        let Some((header, inside)) = whole else {
            return write!(f, "Geneve [cut short, {} octets]", bytes.len());
        };
        write!(f, "Geneve vni {} ", header.vni())?;
        match header.ethertype() {
            ethertype::TEB => self.inner(f, Start::Frame, inside),
            kind => write!(f, "ethertype 0x{kind:04x} len {}", inside.len()),
        }
    }

    fn gre(self, f: &mut Formatter<'_>, bytes: &[u8]) -> fmt::Result {
        let packet = match gre::Packet::parse(bytes) {
            Ok(packet) => packet,
            Err(error) => return write!(f, "GRE [{error}]"),
        };
        f.write_str("GRE ")?;
        if let Some(key) = packet.key {
            write!(f, "key {key} ")?;
        }
        if let Some(sequence) = packet.sequence {
            write!(f, "seq {sequence} ")?;
        }
        match packet.ethertype {
            ethertype::TEB => self.inner(f, Start::Frame, packet.payload),
            ethertype::IPV4 | ethertype::IPV6 => self.inner(f, Start::Packet, packet.payload),
            other => write!(f, "ethertype 0x{other:04x} len {}", packet.payload.len()),
        }
    }

    fn inner(self, f: &mut Formatter<'_>, start: Start, bytes: &[u8]) -> fmt::Result {
        inner(f, start, bytes, self.depth)
    }
}

/// Describes a packet inside another, in brackets.
fn inner(f: &mut Formatter<'_>, start: Start, bytes: &[u8], depth: usize) -> fmt::Result {
    write!(f, "({})", Description { bytes, start, depth: depth + 1 })
}

fn arp(f: &mut Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    let packet = match arp::Packet::parse(bytes) {
        Ok(packet) => packet,
        Err(error) => return write!(f, "ARP [{error}]"),
    };
    let sender = std::net::Ipv4Addr::from(packet.sender_ip());
    let target = std::net::Ipv4Addr::from(packet.target_ip());
    match packet.operation() {
        arp::REQUEST => write!(f, "ARP who has {target} tell {sender} ({})", packet.sender_mac()),
        _ => write!(f, "ARP {sender} is at {}", packet.sender_mac()),
    }
}

fn tcp(f: &mut Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    let Ok(segment) = tcp::Segment::parse(bytes) else {
        return write!(f, "TCP [bad header, {} octets]", bytes.len());
    };
    let header = segment.header;
    write!(f, "TCP {} > {} [", header.source_port(), header.destination_port())?;
    // tcpdump's letters, in its order; the dot is an acknowledgement.
    for (bit, letter) in [0, 1, 2, 3, 5, 6, 7, 4].into_iter().zip("FSRPUEW.".chars()) {
        if header.flags() >> bit & 1 != 0 {
            write!(f, "{letter}")?;
        }
    }
    write!(f, "] seq {}", header.sequence())?;
    if header.flags() & tcp::flag::ACK != 0 {
        write!(f, " ack {}", header.acknowledgement())?;
    }
    write!(f, " win {} len {}", header.window(), segment.payload.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{MacAddr, craft, tcp::flag};

    const A: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
    const B: MacAddr = MacAddr([2, 0, 0, 0, 0, 2]);

    #[track_caller]
    fn check(frame_bytes: Vec<u8>, expected: &str) {
        assert_eq!(frame(&frame_bytes).to_string(), expected);
    }

    fn ipv4() -> craft::Craft<craft::Ipv4> {
        craft::ethernet(A, B).ipv4([10, 0, 0, 1], [10, 0, 1, 2])
    }

    #[test]
    fn an_echo_request_reads_as_tcpdump_would_print_it() {
        check(
            ipv4().icmp_echo(7, 1).payload_len(56).build(),
            "IPv4 10.0.0.1 > 10.0.1.2 ttl 64 len 84 ICMP echo request id 7 seq 1",
        );
    }

    #[test]
    fn arp_asks_and_answers() {
        let ask =
            craft::ethernet(A, MacAddr::BROADCAST).arp_request(A, [10, 0, 0, 1], [10, 0, 0, 2]);
        check(ask.build(), "ARP who has 10.0.0.2 tell 10.0.0.1 (02:00:00:00:00:01)");
        let answer = craft::ethernet(B, A).arp_reply(B, [10, 0, 0, 2], A, [10, 0, 0, 1]);
        check(answer.build(), "ARP 10.0.0.2 is at 02:00:00:00:00:02");
        check(answer.operation(9).build(), "ARP [ARP operation: 9 (0x9), expected 1 or 2]");
    }

    #[test]
    fn transport_headers_show_ports_flags_and_data_length() {
        check(
            ipv4()
                .tcp(1000, 80)
                .flags(flag::SYN | flag::ACK)
                .sequence(5)
                .acknowledgement(6)
                .build(),
            "IPv4 10.0.0.1 > 10.0.1.2 ttl 64 len 40 TCP 1000 > 80 [S.] seq 5 ack 6 win 65535 len 0",
        );
        check(
            craft::ethernet(A, B).vlan(7).ipv6(1, 2).udp(5, 6).payload(b"abc").build(),
            "vlan 7 IPv6 ::1 > ::2 hlim 64 len 11 UDP 5 > 6 len 3",
        );
    }

    #[test]
    fn tunnels_show_the_packet_inside() {
        let outer = ipv4().udp(50000, 4789).vxlan(42).ethernet(A, B).ipv4(1, 2).udp(5, 6);
        check(
            outer.build(),
            "IPv4 10.0.0.1 > 10.0.1.2 ttl 64 len 78 UDP 50000 > 4789 VXLAN vni 42 \
             (IPv4 0.0.0.1 > 0.0.0.2 ttl 64 len 28 UDP 5 > 6 len 0)",
        );
        let inside = craft::ethernet(A, B).ipv4(1, 2).udp(5, 6).build();
        let geneve = [&geneve::header(42)[..], &inside].concat();
        check(
            ipv4().udp(50000, 6081).payload(&geneve).build(),
            "IPv4 10.0.0.1 > 10.0.1.2 ttl 64 len 78 UDP 50000 > 6081 Geneve vni 42 \
             (IPv4 0.0.0.1 > 0.0.0.2 ttl 64 len 28 UDP 5 > 6 len 0)",
        );
        check(
            ipv4().gre().key(9).ipv6(1, 2).build(),
            "IPv4 10.0.0.1 > 10.0.1.2 ttl 64 len 68 GRE key 9 (IPv6 ::1 > ::2 hlim 64 len 0 no next header)",
        );
        let mut nested = craft::ipv4(1, 2);
        for _ in 0..9 {
            nested = nested.ipv4(1, 2);
        }
        assert!(packet(&nested.build()).to_string().ends_with("(…))))"));
    }

    #[test]
    fn fragments_are_named_and_not_looked_into() {
        check(
            ipv4().identification(7).fragment(1480, true).udp(5, 6).build(),
            "IPv4 10.0.0.1 > 10.0.1.2 ttl 64 len 28 frag id 7 at 1480+ proto 17",
        );
        check(
            craft::ethernet(A, B).ipv6(1, 2).fragment_header(8, false, 7).udp(5, 6).build(),
            "IPv6 ::1 > ::2 hlim 64 len 16 frag id 7 at 8 proto 17",
        );
    }

    #[test]
    fn what_lies_is_said_to_lie() {
        check(vec![0; 9], "Ethernet [cut short, 9 octets]");
        check(
            craft::ethernet(A, B).build()[..14].to_vec(),
            "02:00:00:00:00:01 > 02:00:00:00:00:02 ethertype 0x88b5 len 14",
        );
        check(
            ipv4().ihl(4).build(),
            "IPv4 10.0.0.1 > 10.0.1.2 ttl 64 len 20 [bad header: version 4 ihl 16]",
        );
        check(
            ipv4().checksum(1).udp(5, 6).length(99).build(),
            "IPv4 10.0.0.1 > 10.0.1.2 ttl 64 len 28 [bad checksum] UDP 5 > 6 [length 99 of 8]",
        );
        check(
            craft::ethernet(A, B).ipv6(1, 2).next_header(0).build(),
            "IPv6 ::1 > ::2 hlim 64 len 0 [extension headers: Truncated]",
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_described(mut bytes in prop::collection::vec(any::<u8>(), 0..120), kind in 0usize..4) {
            let ethertype = [ethertype::IPV4, ethertype::IPV6, ethertype::ARP, ethertype::VLAN][kind];
            if bytes.len() > 24 {
                bytes[12..14].copy_from_slice(&ethertype.to_be_bytes());
                bytes[14] = [0x45, 0x60, 0, 0][kind];
            }
            prop_assert!(!frame(&bytes).to_string().is_empty());
            prop_assert!(!packet(&bytes).to_string().is_empty());
        }
    }
}
