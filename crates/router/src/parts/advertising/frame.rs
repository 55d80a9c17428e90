//! The router advertisement of a port (RFC 4861 section 4.2, RFC 4191, RFC 8106), a
//! whole frame.
//!
//! ```text
//!  Ethernet │ IPv6, link-local to all nodes │ advertisement │ our MAC │ MTU │ each prefix once │ name servers │ domains
//! ```

use crate::interfaces::OpenPort;
use control::config::objects::domain_name::DomainName;
use control::config::objects::port_ra::{Preference, Ra};
use fib::Ip6Prefix;
use std::collections::BTreeSet;
use std::net::Ipv6Addr;
use std::time::Duration;
use wire::nd::{option, prefix_flag, router_flag};
use wire::{MacAddr, craft, ipv6};

/// Hosts make addresses of prefixes of this length alone (RFC 4862 section 5.5.3, RFC 4291
/// section 2.5.1).
const AUTONOMOUS_LENGTH: u8 = 64;

/// What the port advertises, or says at last: that hosts use neither the router nor the names that
/// it told any more. None as long as it has no link-local address to do so from.
pub(crate) fn frame(port: &OpenPort, ra: &Ra, is_last: bool) -> Option<Vec<u8>> {
    let own = port.valid6.iter().find(|&&(own, _)| ipv6::is_link_local(own))?.0;
    let to = craft::ethernet(port.mac, MacAddr::of_ip6_group(ipv6::ALL_NODES));
    let packet = to.ipv6(Ipv6Addr::from(own), Ipv6Addr::from(ipv6::ALL_NODES));
    let lifetime_s =
        if is_last { 0 } else { u16::try_from(ra.lifetime.as_secs()).unwrap_or(u16::MAX) };
    let [high, low] = ra.link_mtu.unwrap_or(port.config.mtu).to_be_bytes();
    let mut message = packet
        .router_advertisement(lifetime_s)
        .for_hosts(ra.hop_limit, flags(ra), ms(ra.reachable), ms(ra.retransmit))
        .nd_option(option::SOURCE_LINK_ADDRESS, &port.mac)
        .nd_option(option::MTU, &[0, 0, 0, 0, high, low]);
    let global = port.valid6.iter().filter(|&&(own, _)| !ipv6::is_link_local(own));
    let prefixes = global.filter_map(|&(own, length)| Ip6Prefix::new(own, length).ok());
    for prefix in prefixes.collect::<BTreeSet<_>>() {
        message = message.nd_option(option::PREFIX_INFORMATION, &prefix_information(prefix, ra));
    }
    let names_s = if is_last { 0 } else { seconds(ra.names_lifetime()) };
    for (kind, names) in [(option::DNS_SERVERS, dns(ra)), (option::DNS_SEARCH, domains(ra))] {
        if !names.is_empty() {
            let head = [&[0, 0][..], &names_s.to_be_bytes()].concat();
            message = message.nd_option(kind, &[head, names].concat());
        }
    }
    Some(message.build())
}

/// RFC 4191 section 2.2: who is no default router has no preference.
fn flags(ra: &Ra) -> u8 {
    let preference = match ra.preference {
        _ if ra.lifetime.is_zero() => 0,
        Preference::Low => router_flag::LAST,
        Preference::Medium => 0,
        Preference::High => router_flag::PREFERRED,
    };
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    flag(ra.managed, router_flag::MANAGED) | flag(ra.other, router_flag::OTHER) | preference
}

/// Milliseconds of a time, as far as they can be said.
fn ms(time: Duration) -> u32 {
    u32::try_from(time.as_millis()).unwrap_or(u32::MAX)
}

/// Seconds of a time; as many as can be said are for ever.
fn seconds(time: Duration) -> u32 {
    u32::try_from(time.as_secs()).unwrap_or(u32::MAX)
}

fn dns(ra: &Ra) -> Vec<u8> {
    ra.dns.iter().flat_map(Ipv6Addr::octets).collect()
}

fn domains(ra: &Ra) -> Vec<u8> {
    ra.domains.iter().flat_map(DomainName::encoded).collect()
}

/// The option without its type and length.
fn prefix_information(prefix: Ip6Prefix, ra: &Ra) -> Vec<u8> {
    let autonomous = ra.autonomous && prefix.length() == AUTONOMOUS_LENGTH;
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    let flags = flag(ra.on_link, prefix_flag::ON_LINK) | flag(autonomous, prefix_flag::AUTONOMOUS);
    let mut bytes = vec![prefix.length(), flags];
    bytes.extend(seconds(ra.valid).to_be_bytes());
    bytes.extend(seconds(ra.preferred).to_be_bytes());
    bytes.extend([0; 4]);
    bytes.extend(prefix.address().to_be_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::config::field::Field;
    use control::config::objects::port::Port;
    use control::config::objects::port_kind::{Memory, PortKind};
    use wire::nd::{Options, RouterAdvertisement};

    fn port() -> OpenPort {
        let mut port = OpenPort::waiting(1, &Port::new(PortKind::Memory(Memory::default())));
        let own = ["fe80::1", "2001:db8:1::1"].map(|it| it.parse::<Ipv6Addr>().unwrap());
        port.valid6 = vec![(own[0].into(), 64), (own[1].into(), 64)];
        port.mac = [2, 0, 0, 0, 0, 1];
        port
    }

    /// Hop limit, flags, lifetime, times; and the options of a kind.
    fn said(ra: &Ra, is_last: bool, kind: u8) -> ([u32; 5], Vec<Vec<u8>>) {
        let frame = frame(&port(), ra, is_last).unwrap();
        let message = RouterAdvertisement::new(&frame[54..]).unwrap();
        let numbers = [
            message.hop_limit().into(),
            message.flags().into(),
            message.lifetime_s().into(),
            message.reachable_ms(),
            message.retransmit_ms(),
        ];
        let options = Options::new(&frame[70..]).map(Result::unwrap);
        (numbers, options.filter(|it| it.kind == kind).map(|it| it.bytes.to_vec()).collect())
    }

    #[test]
    fn what_is_not_said_is_as_it_always_was() {
        let (numbers, prefixes) = said(&Ra::default(), false, option::PREFIX_INFORMATION);
        assert_eq!(numbers, [64, 0, 1800, 0, 0]);
        assert_eq!(prefixes[0][..12], [3, 4, 64, 0xc0, 0, 0x27, 0x8d, 0, 0, 9, 0x3a, 0x80]);
        let (_, mtu) = said(&Ra::default(), false, option::MTU);
        assert_eq!(mtu, [[5, 1, 0, 0, 0, 0, 5, 0xdc]]);
        assert!(said(&Ra::default(), false, option::DNS_SERVERS).1.is_empty());
        assert!(said(&Ra::default(), false, option::DNS_SEARCH).1.is_empty());
    }

    #[test]
    fn each_option_is_said_in_its_place() {
        let time = Duration::from_secs;
        let ra = Ra {
            preference: Preference::High,
            managed: true,
            other: true,
            hop_limit: 9,
            reachable: time(30),
            retransmit: Duration::from_millis(500),
            link_mtu: Some(1400),
            on_link: false,
            autonomous: false,
            valid: time(7200),
            preferred: time(3600),
            dns: vec!["2001:db8::53".parse().unwrap(), "2001:db8::54".parse().unwrap()],
            domains: vec![DomainName::from_text("ab.c").unwrap()],
            dns_lifetime: Some(time(77)),
            ..Ra::default()
        };
        let (numbers, prefixes) = said(&ra, false, option::PREFIX_INFORMATION);
        assert_eq!(numbers, [9, 0xc8, 1800, 30_000, 500]);
        assert_eq!(prefixes[0][2..12], [64, 0, 0, 0, 0x1c, 0x20, 0, 0, 0x0e, 0x10]);
        assert_eq!(said(&ra, false, option::MTU).1, [[5, 1, 0, 0, 0, 0, 5, 0x78]]);
        let (_, dns) = said(&ra, false, option::DNS_SERVERS);
        assert_eq!((dns[0][..8].to_vec(), dns[0].len()), (vec![25, 5, 0, 0, 0, 0, 0, 77], 40));
        assert_eq!((dns[0][23], dns[0][39]), (0x53, 0x54));
        let (_, domains) = said(&ra, false, option::DNS_SEARCH);
        assert_eq!(domains, [b"\x1f\x02\0\0\0\0\0\x4d\x02ab\x01c\0\0\0"]);
        // At last neither router nor names are to be used, and who is no router has no preference.
        let (numbers, dns) = said(&ra, true, option::DNS_SERVERS);
        assert_eq!((numbers[2], &dns[0][4..8]), (0, &[0; 4][..]));
        let low = Ra { preference: Preference::Low, ..Ra::default() };
        assert_eq!(said(&low, false, 0).0[1], 0x18);
        assert_eq!(said(&Ra { lifetime: Duration::ZERO, ..low }, false, 0).0[1], 0);
        // Three intervals, where nothing is said.
        let named = Ra { dns: ra.dns.clone(), interval: time(10), ..Ra::default() };
        assert_eq!(said(&named, false, option::DNS_SERVERS).1[0][4..8], [0, 0, 0, 30]);
    }
}
