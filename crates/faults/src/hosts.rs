//! Who is at the other ends of links: hosts that answer ARP, neighbour discovery, and what speaks
//! to them by IPv4, while they live.

use std::net::{Ipv4Addr, Ipv6Addr};
use wire::ip::protocol::{ICMP4 as ICMP, TCP, UDP};
use wire::{craft, ethernet, ipv4, nd, tcp};

const ARP: [u8; 2] = [0x08, 0x06];
const IP4: [u8; 2] = [0x08, 0x00];
const IP6: [u8; 2] = [0x86, 0xdd];
const ICMP6: u8 = 58;
const SOLICITATION: u8 = 135;
const ADVERTISEMENT: u8 = 136;
/// A request of it.
const ECHO: u8 = 8;

/// A host.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    /// The link it is on.
    pub(crate) line: usize,
    /// Its station.
    pub(crate) mac: [u8; 6],
    /// Its addresses.
    pub(crate) ip4: Ipv4Addr,
    /// See above.
    pub(crate) ip6: Ipv6Addr,
    /// It answers.
    pub(crate) lives: bool,
}

impl Host {
    /// The one of a number on a link.
    pub(crate) fn new(line: usize, number: u8) -> Self {
        // Networks are numbered as `blocks` does.
        let network = if line < 2 { line as u8 + 1 } else { line as u8 + 10 };
        let third = if line < 2 { line as u16 + 1 } else { 0x10 + line as u16 };
        Self {
            line,
            mac: [0x0a, 0, 0, 0, line as u8, number],
            ip4: Ipv4Addr::new(10, network, 0, number),
            ip6: Ipv6Addr::new(0x2001, 0xdb8, third, 0, 0, 0, 0, number.into()),
            lives: true,
        }
    }

    /// What it says to a frame that its link carries, if anything.
    pub(crate) fn answer(&self, frame: &[u8]) -> Option<Vec<u8>> {
        match <[u8; 2]>::try_from(frame.get(12..14)?).ok()? {
            ARP => self.answer_arp(frame),
            IP4 => self.answer_ip4(frame),
            IP6 => self.answer_nd(frame),
            _ => None,
        }
    }

    fn answer_arp(&self, frame: &[u8]) -> Option<Vec<u8>> {
        let asked: [u8; 4] = frame.get(38..42)?.try_into().ok()?;
        if frame[20..22] != [0, 1] || asked != self.ip4.octets() {
            return None;
        }
        let mac: [u8; 6] = frame[22..28].try_into().ok()?;
        let sender: [u8; 4] = frame[28..32].try_into().ok()?;
        if sender == self.ip4.octets() {
            return None;
        }
        let reply = craft::ethernet(self.mac, mac).arp_reply(self.mac, self.ip4, mac, sender);
        Some(reply.pad_to(ethernet::MIN_FRAME_LEN).build())
    }

    /// To questions by UDP, to who begins a connection by TCP, and to echoes.
    fn answer_ip4(&self, frame: &[u8]) -> Option<Vec<u8>> {
        let packet = ipv4::Packet::parse(&frame[14..]).ok()?;
        let (header, upper) = (packet.header, packet.payload);
        let is_whole = header.fragment_bits() & 0x3fff == 0;
        let is_ours = frame[..6] == self.mac && header.destination() == u32::from(self.ip4);
        if !is_ours || !is_whole {
            return None;
        }
        let router: [u8; 6] = frame[6..12].try_into().ok()?;
        let back = craft::ethernet(self.mac, router).ipv4(self.ip4, header.source());
        let pair = |at: usize| Some(u16::from_be_bytes([*upper.get(at)?, *upper.get(at + 1)?]));
        let frame = match header.protocol() {
            UDP if pair(2)? == 53 => back.udp(53, pair(0)?).payload(upper.get(8..)?).build(),
            TCP if pair(2)? == 80 && upper.get(13)? & 0x12 == tcp::flag::SYN => {
                back.tcp(80, pair(0)?).flags(tcp::flag::SYN | tcp::flag::ACK).build()
            }
            ICMP if upper.first()? == &ECHO => {
                back.icmp_echo_reply(pair(4)?, pair(6)?).payload(upper.get(8..)?).build()
            }
            _ => return None,
        };
        Some(frame)
    }

    fn answer_nd(&self, frame: &[u8]) -> Option<Vec<u8>> {
        let target: [u8; 16] = frame.get(62..78)?.try_into().ok()?;
        let is_asked = frame[20] == ICMP6 && frame[54] == SOLICITATION;
        let source: [u8; 16] = frame[22..38].try_into().ok()?;
        if !is_asked || target != self.ip6.octets() || source == [0; 16] {
            return None;
        }
        let mac: [u8; 6] = frame[6..12].try_into().ok()?;
        let flags = nd::flag::SOLICITED | nd::flag::OVERRIDE;
        let reply = craft::ethernet(self.mac, mac).ipv6(self.ip6, source).neighbor_advertisement(
            u128::from_be_bytes(target),
            self.mac,
            flags,
        );
        Some(reply.build())
    }
}

/// Whether a frame is a neighbour's answer: an ARP reply, a neighbour advertisement.
pub(crate) fn tells_of_neighbour(frame: &[u8]) -> bool {
    match frame.get(12..14) {
        Some(kind) if kind == ARP => frame.get(20..22) == Some(&[0, 2][..]),
        Some(kind) if kind == IP6 => {
            frame.get(20) == Some(&ICMP6) && frame.get(54) == Some(&ADVERTISEMENT)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_answers_for_its_own_addresses_alone() {
        let host = Host::new(2, 9);
        assert_eq!(
            (host.ip4, host.ip6),
            ([10, 12, 0, 9].into(), "2001:db8:12::9".parse().unwrap())
        );
        let us = [2, 0, 0, 0, 0, 1];
        let ask = |ip| craft::ethernet(us, [0xff; 6]).arp_request(us, [10, 12, 0, 1], ip).build();
        let reply = host.answer(&ask(host.ip4)).unwrap();
        assert_eq!((&reply[..6], &reply[22..28]), (&us[..], &host.mac[..]));
        assert!(tells_of_neighbour(&reply) && !tells_of_neighbour(&ask(host.ip4)));
        assert_eq!(host.answer(&ask([10, 12, 0, 8].into())), None);
        let solicit = |target: Ipv6Addr| {
            let from: Ipv6Addr = "2001:db8:12::1".parse().unwrap();
            let to = craft::ethernet(us, [0x33, 0x33, 0xff, 0, 0, 9]).ipv6(from, target);
            to.neighbor_solicitation(target.into(), us).build()
        };
        let reply = host.answer(&solicit(host.ip6)).unwrap();
        assert_eq!(&reply[..6], &us[..]);
        assert!(tells_of_neighbour(&reply) && !tells_of_neighbour(&solicit(host.ip6)));
        assert!(!tells_of_neighbour(&[0; 14]));
        assert_eq!(host.answer(&solicit("2001:db8:12::8".parse().unwrap())), None);
        assert_eq!(host.answer(&[0; 20]), None);
        let from = [10, 2, 0, 1];
        let asks = |mac, ip| craft::ethernet(us, mac).ipv4(from, ip).udp(4000, 53).payload(b"who");
        let said = craft::ethernet(host.mac, us).ipv4(host.ip4, from).udp(53, 4000).payload(b"who");
        assert_eq!(host.answer(&asks(host.mac, host.ip4).build()), Some(said.build()));
        assert_eq!(host.answer(&asks([2; 6], host.ip4).build()), None);
        assert_eq!(host.answer(&asks(host.mac, [10, 12, 0, 8].into()).build()), None);
        let call = craft::ethernet(us, host.mac).ipv4(from, host.ip4).tcp(4000, 80).flags(2);
        let said = craft::ethernet(host.mac, us).ipv4(host.ip4, from).tcp(80, 4000).flags(18);
        assert_eq!(host.answer(&call.build()), Some(said.build()));
        let echo = craft::ethernet(us, host.mac).ipv4(from, host.ip4).icmp_echo(7, 1);
        let said = craft::ethernet(host.mac, us).ipv4(host.ip4, from).icmp_echo_reply(7, 1);
        assert_eq!(host.answer(&echo.build()), Some(said.build()));
    }
}
