//! The frames in which a bridge asks who listens (RFC 3376 section 4.1, RFC 3810 section 5.1).
//!
//! ```text
//!  Ethernet │ IPv4, TTL 1, router alert │ IGMP, version 3, 12 octets
//!  Ethernet │ IPv6, hop limit 1 │ router alert │ ICMPv6, MLD version 2, 28 octets
//! ```

use super::family::Ask;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use wire::icmp6::message::MLD_QUERY;
use wire::ip::{dscp, protocol};
use wire::{MacAddr, craft, igmp, ipv6, mld};

/// The option that has routers look at a packet (RFC 2113).
const ROUTER_ALERT4: [u8; 4] = [0x94, 4, 0, 0];
/// The same of IPv6, of MLD (RFC 2711).
const ROUTER_ALERT6: [u8; 4] = [5, 2, 0, 0];
/// How often what matters is said (RFC 3376 section 8.1).
const ROBUSTNESS: u8 = 2;

/// Who asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Asker {
    pub(super) mac: [u8; 6],
    pub(super) ip4: Ipv4Addr,
    pub(super) ip6: Ipv6Addr,
}

impl Asker {
    /// Its address of a family.
    pub(super) fn of(self, is_ip6: bool) -> IpAddr {
        if is_ip6 { self.ip6.into() } else { self.ip4.into() }
    }
}

/// A question's frame, of the family of its group, or of this one.
pub(super) fn frame(asker: Asker, ask: &Ask, is_ip6: bool, interval_ns: u64) -> Vec<u8> {
    let (within_ms, every_s) = (ask.within_ns / 1_000_000, (interval_ns / 1_000_000_000) as u32);
    match ask.group {
        Some(IpAddr::V6(group)) => frame6(asker, Some(group), within_ms, every_s),
        None if is_ip6 => frame6(asker, None, within_ms, every_s),
        Some(IpAddr::V4(group)) => frame4(asker, Some(group), within_ms, every_s),
        None => frame4(asker, None, within_ms, every_s),
    }
}

fn frame4(asker: Asker, group: Option<Ipv4Addr>, within_ms: u64, every_s: u32) -> Vec<u8> {
    let to = group.unwrap_or(igmp::ALL_HOSTS);
    craft::ethernet(asker.mac, MacAddr::of_ip4_group(to.into()))
        .ipv4(asker.ip4, to)
        .ttl(1)
        .dscp(dscp::CS6)
        .raw_options(&ROUTER_ALERT4)
        .protocol(protocol::IGMP)
        .payload(&igmp::write_question(group, (within_ms / 100) as u32, ROBUSTNESS, every_s))
        .pad_to(60)
        .build()
}

fn frame6(asker: Asker, group: Option<Ipv6Addr>, within_ms: u64, every_s: u32) -> Vec<u8> {
    let to = group.map_or(ipv6::ALL_NODES, u128::from);
    // Longer times than these need an exponent, and have no use.
    let [high, low] = (within_ms.min(0x7fff) as u16).to_be_bytes();
    craft::ethernet(asker.mac, MacAddr::of_ip6_group(to))
        .ipv6(asker.ip6, Ipv6Addr::from(to))
        .hop_limit(1)
        .hop_by_hop(&ROUTER_ALERT6)
        .icmp6(MLD_QUERY, 0, [high, low, 0, 0])
        .payload(&mld::question_content(group, ROBUSTNESS, every_s))
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::listeners::{Message, Question, Seen, look};

    fn asked(group: Option<IpAddr>, is_ip6: bool) -> (Vec<u8>, Question) {
        let asker = Asker {
            mac: [2, 0, 0, 0, 0, 9],
            ip4: Ipv4Addr::new(10, 0, 9, 9),
            ip6: Ipv6Addr::from(ipv6::link_local_of(MacAddr([2, 0, 0, 0, 0, 9]))),
        };
        let ask = Ask { port: None, group, within_ns: 10_000_000_000 };
        let frame = frame(asker, &ask, is_ip6, 125_000_000_000);
        let Seen::Said { source, message: Message::Question(question), .. } = look(&frame) else {
            panic!("{frame:02x?}");
        };
        assert_eq!(source, asker.of(is_ip6));
        (frame, question)
    }

    #[test]
    fn questions_are_as_hosts_read_them() {
        let all = Question { group: None, version: 3, within_ms: 10_000, suppress: false };
        let (frame, question) = asked(None, false);
        assert_eq!(question, all);
        let ip = [0x46, 0xc0, 0, 36, 0, 0, 0, 0, 1, 2];
        assert_eq!((&frame[..6], &frame[14..24]), (&[1, 0, 0x5e, 0, 0, 1][..], &ip[..]));
        assert_eq!(frame[34..38], ROUTER_ALERT4);
        assert_eq!(frame[46..50], [2, 125, 0, 0]);
        let (frame, question) = asked(None, true);
        assert_eq!(question, Question { version: 2, ..all });
        assert_eq!((&frame[..6], frame[21]), (&[0x33, 0x33, 0, 0, 0, 1][..], 1));
        let group: IpAddr = "239.1.2.3".parse().unwrap();
        let (frame, question) = asked(Some(group), false);
        assert_eq!((question.group, &frame[30..34]), (Some(group), &[239, 1, 2, 3][..]));
        let group: IpAddr = "ff0e::77".parse().unwrap();
        assert_eq!(asked(Some(group), true).1.group, Some(group));
    }
}
