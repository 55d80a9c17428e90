//! Describing ICMP and ICMPv6.

use std::{
    fmt::{self, Formatter},
    net::Ipv6Addr,
};

use super::{Start, inner};
use crate::{icmp4, icmp6, nd};

/// Describes an ICMP message.
pub(super) fn icmp4(f: &mut Formatter<'_>, bytes: &[u8], depth: usize) -> fmt::Result {
    use icmp4::{message as m, unreachable as u};
    let Some(header) = icmp4::Header::new(bytes) else {
        return write!(f, "ICMP [cut short, {} octets]", bytes.len());
    };
    let code = header.code();
    match (header.message_type(), code) {
        (m::ECHO_REQUEST, 0) => {
            echo(f, "ICMP echo request", header.identifier(), header.sequence())
        }
        (m::ECHO_REPLY, 0) => echo(f, "ICMP echo reply", header.identifier(), header.sequence()),
        (m::UNREACHABLE, u::NET) => f.write_str("ICMP net unreachable"),
        (m::UNREACHABLE, u::HOST) => f.write_str("ICMP host unreachable"),
        (m::UNREACHABLE, u::PROTOCOL) => f.write_str("ICMP protocol unreachable"),
        (m::UNREACHABLE, u::PORT) => f.write_str("ICMP port unreachable"),
        (m::UNREACHABLE, u::FRAGMENTATION_NEEDED) => {
            write!(f, "ICMP fragmentation needed mtu {}", header.next_hop_mtu())
        }
        (m::UNREACHABLE, u::ADMIN_PROHIBITED) => f.write_str("ICMP admin prohibited"),
        (m::TIME_EXCEEDED, icmp4::time_exceeded::TTL) => f.write_str("ICMP time exceeded"),
        (m::TIME_EXCEEDED, icmp4::time_exceeded::REASSEMBLY) => {
            f.write_str("ICMP reassembly time exceeded")
        }
        (m::REDIRECT, _) => {
            write!(f, "ICMP redirect to {}", std::net::Ipv4Addr::from(header.rest()))
        }
        (other, _) => write!(f, "ICMP type {other} code {code}"),
    }?;
    if header.is_error() {
        about(f, &bytes[icmp4::Header::LEN..], depth)?;
    }
    Ok(())
}

/// Describes an ICMPv6 message.
pub(super) fn icmp6(f: &mut Formatter<'_>, bytes: &[u8], depth: usize) -> fmt::Result {
    use icmp6::{message as m, unreachable as u};
    let Some(header) = icmp6::Header::new(bytes) else {
        return write!(f, "ICMPv6 [cut short, {} octets]", bytes.len());
    };
    let code = header.code();
    match (header.message_type(), code) {
        (m::ECHO_REQUEST, 0) => {
            echo(f, "ICMPv6 echo request", header.identifier(), header.sequence())
        }
        (m::ECHO_REPLY, 0) => echo(f, "ICMPv6 echo reply", header.identifier(), header.sequence()),
        (m::UNREACHABLE, u::NO_ROUTE) => f.write_str("ICMPv6 no route"),
        (m::UNREACHABLE, u::ADMIN_PROHIBITED) => f.write_str("ICMPv6 admin prohibited"),
        (m::UNREACHABLE, u::ADDRESS) => f.write_str("ICMPv6 address unreachable"),
        (m::UNREACHABLE, u::PORT) => f.write_str("ICMPv6 port unreachable"),
        (m::PACKET_TOO_BIG, _) => write!(f, "ICMPv6 packet too big mtu {}", header.rest()),
        (m::TIME_EXCEEDED, icmp6::time_exceeded::HOP_LIMIT) => f.write_str("ICMPv6 time exceeded"),
        (m::TIME_EXCEEDED, icmp6::time_exceeded::REASSEMBLY) => {
            f.write_str("ICMPv6 reassembly time exceeded")
        }
        (m::PARAMETER_PROBLEM, _) => {
            write!(f, "ICMPv6 parameter problem code {code} at {}", header.rest())
        }
        (m::ROUTER_SOLICITATION, _) => f.write_str("ICMPv6 router solicitation"),
        (m::ROUTER_ADVERTISEMENT, _) => f.write_str("ICMPv6 router advertisement"),
        (m::NEIGHBOR_SOLICITATION, _) => neighbor(f, "who has", bytes),
        (m::NEIGHBOR_ADVERTISEMENT, _) => neighbor(f, "neighbor", bytes),
        (other, _) => write!(f, "ICMPv6 type {other} code {code}"),
    }?;
    if header.is_error() {
        about(f, &bytes[icmp6::Header::LEN..], depth)?;
    }
    Ok(())
}

fn echo(f: &mut Formatter<'_>, name: &str, identifier: u16, sequence: u16) -> fmt::Result {
    write!(f, "{name} id {identifier} seq {sequence}")
}

/// The packet an error is about.
fn about(f: &mut Formatter<'_>, bytes: &[u8], depth: usize) -> fmt::Result {
    f.write_str(" ")?;
    inner(f, Start::Packet, bytes, depth)
}

fn neighbor(f: &mut Formatter<'_>, verb: &str, bytes: &[u8]) -> fmt::Result {
    let Some(message) = nd::Neighbor::new(bytes) else {
        return write!(f, "ICMPv6 {verb} [cut short, {} octets]", bytes.len());
    };
    write!(f, "ICMPv6 {verb} {}", Ipv6Addr::from(message.target()))?;
    let macs = nd::Options::new(&bytes[nd::Neighbor::LEN..]).map_while(Result::ok);
    match macs.filter_map(|option| option.mac()).next() {
        Some(mac) if message.message_type() == icmp6::message::NEIGHBOR_ADVERTISEMENT => {
            write!(f, " is at {mac}")
        }
        Some(mac) => write!(f, " ({mac})"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use crate::{craft, describe::packet};

    const MAC: [u8; 6] = [2, 0, 0, 0, 0, 7];

    #[test]
    fn an_error_shows_the_packet_it_is_about() {
        let lost = craft::ipv4(1, 2).ttl(1).udp(5, 33434).build();
        let error = craft::ipv4(3, 1).icmp4(11, 0, [0; 4]).payload(&lost).build();
        assert_eq!(
            packet(&error).to_string(),
            "IPv4 0.0.0.3 > 0.0.0.1 ttl 64 len 56 ICMP time exceeded \
             (IPv4 0.0.0.1 > 0.0.0.2 ttl 1 len 28 UDP 5 > 33434 len 0)"
        );
    }

    #[test]
    fn path_mtus_are_shown() {
        let four = craft::ipv4(1, 2).icmp4(3, 4, [0, 0, 5, 0]).payload(&[0x50]).build();
        assert!(
            packet(&four)
                .to_string()
                .ends_with("ICMP fragmentation needed mtu 1280 (IP [version 5])")
        );
        let six = craft::ipv6(1, 2).icmp6(2, 0, [0, 0, 5, 0]).build();
        assert!(packet(&six).to_string().ends_with("ICMPv6 packet too big mtu 1280 (IP [empty])"));
    }

    #[test]
    fn neighbours_are_asked_for_and_named() {
        let ask = craft::ipv6(1, 2).neighbor_solicitation(9, MAC).build();
        assert!(packet(&ask).to_string().ends_with("ICMPv6 who has ::9 (02:00:00:00:00:07)"));
        let tell = craft::ipv6(1, 2).neighbor_advertisement(9, MAC, 0).build();
        assert!(packet(&tell).to_string().ends_with("ICMPv6 neighbor ::9 is at 02:00:00:00:00:07"));
        let probe = craft::ipv6(0, 2).neighbor(135, 9, 0).build();
        assert!(packet(&probe).to_string().ends_with("ICMPv6 who has ::9"));
    }
}
