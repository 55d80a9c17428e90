//! Who is at the other ends of links: hosts that answer ARP and neighbour discovery while they
//! live.

use std::net::{Ipv4Addr, Ipv6Addr};
use wire::{craft, ethernet, nd};

const ARP: [u8; 2] = [0x08, 0x06];
const IP6: [u8; 2] = [0x86, 0xdd];
const ICMP6: u8 = 58;
const SOLICITATION: u8 = 135;

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
        assert_eq!(host.answer(&ask([10, 12, 0, 8].into())), None);
        let solicit = |target: Ipv6Addr| {
            let from: Ipv6Addr = "2001:db8:12::1".parse().unwrap();
            let to = craft::ethernet(us, [0x33, 0x33, 0xff, 0, 0, 9]).ipv6(from, target);
            to.neighbor_solicitation(target.into(), us).build()
        };
        assert_eq!(&host.answer(&solicit(host.ip6)).unwrap()[..6], &us[..]);
        assert_eq!(host.answer(&solicit("2001:db8:12::8".parse().unwrap())), None);
        assert_eq!(host.answer(&[0; 20]), None);
    }
}
