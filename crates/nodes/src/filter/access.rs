//! Access lists as workers see them, and what lists may ask of a frame.
//!
//! ```text
//!  Ethernet ─ tags ─▶ IPv4 (RFC 791) │ IPv6 (RFC 8200), its extension headers ─▶ ports │ type and code
//!  MAC        VLAN    addresses, protocol                                        TCP flags
//! ```
//! A fragment that is not the first has no ports: only rules that ask for none fit it. What could
//! be laid over ports or flags that were judged already is not let through by any list (RFC 1858,
//! RFC 3128): fragments of TCP that begin within its header, and first ones that end there.

use crate::filter::Reflecting;
use acl::{Acl4, Acl6, Fields, RuleCounters, Transport, Wide4, Wide6};
use std::sync::Arc;
use wire::ethernet::ethertype;
use wire::ip::protocol;
use wire::{ethernet, ip, ipv4, ipv6, tcp, vlan};

/// A list of the configuration: its rules for either family, and how often each decided.
#[derive(Debug)]
pub struct AccessList {
    /// The rules that may fit IPv4 packets.
    pub ip4: Acl4,
    /// The rules that may fit IPv6 packets.
    pub ip6: Acl6,
    /// All rules, where some ask for what few do: the others are empty then.
    pub wide: Option<Box<WideList>>,
    /// One set a worker; a list that is amended goes on counting there.
    pub counters: Arc<[RuleCounters]>,
}

impl AccessList {
    /// Bytes that its rules take.
    pub fn bytes(&self) -> usize {
        let wide = self.wide.as_ref().map(|wide| [wide.ip4.shape(), wide.ip6.shape()]);
        let all =
            [self.ip4.shape(), self.ip6.shape()].into_iter().chain(wide.into_iter().flatten());
        all.map(|shape| shape.bytes).sum()
    }

    /// Whether a rule has answers come back.
    pub fn reflects(&self) -> bool {
        let wide = self.wide.as_ref().is_some_and(|it| it.ip4.reflects() || it.ip6.reflects());
        wide || self.ip4.reflects() || self.ip6.reflects()
    }
}

/// Rules that ask for all that is known of packets.
#[derive(Debug)]
pub struct WideList {
    /// The rules that may fit IPv4 packets.
    pub ip4: Wide4,
    /// The rules that may fit IPv6 packets.
    pub ip6: Wide6,
}

/// The list that an interface's packets are held to. Two are the same that are one list, and keep
/// the same connections.
#[derive(Clone, Debug)]
pub struct Access {
    list: Arc<AccessList>,
    reflecting: Option<Arc<Reflecting>>,
    /// Nothing is asked but what nearly all lists ask: nothing wide, and no connections.
    is_plain: bool,
}

impl Access {
    /// To a list alone. What fits a rule of it that has answers come back is dropped: nobody keeps
    /// its connections.
    pub fn new(list: Arc<AccessList>) -> Self {
        Self::tracked(list, None)
    }

    /// To a list, of an interface that keeps connections, or does not.
    pub fn tracked(list: Arc<AccessList>, reflecting: Option<Arc<Reflecting>>) -> Self {
        let is_plain = list.wide.is_none() && reflecting.is_none() && !list.reflects();
        Self { list, reflecting, is_plain }
    }

    /// The list.
    #[inline]
    pub fn list(&self) -> &Arc<AccessList> {
        &self.list
    }

    /// The connections that its interface keeps, for this list or the other one.
    pub fn reflecting(&self) -> Option<&Arc<Reflecting>> {
        self.reflecting.as_ref()
    }

    /// See the field.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.is_plain
    }
}

impl PartialEq for Access {
    fn eq(&self, other: &Self) -> bool {
        let same = match (&self.reflecting, &other.reflecting) {
            (Some(own), Some(others)) => Arc::ptr_eq(own, others),
            (own, others) => own.is_none() && others.is_none(),
        };
        same && Arc::ptr_eq(&self.list, &other.list)
    }
}

impl Eq for Access {}

/// What a list is asked about a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// An IPv4 packet.
    Ip4(Fields<u32>),
    /// An IPv6 packet.
    Ip6(Fields<u128>),
    /// No packet of IP: lists say nothing about it.
    NotIp,
    /// It says that it is IP, and cannot be read as such.
    Unreadable,
}

impl Question {
    /// Reads a frame from its Ethernet header on, whose outer tag, of this VLAN, was taken off or
    /// is put on later; none where it has all its tags.
    #[inline(never)]
    pub fn about_any(frame: &[u8], outer: Option<u16>) -> Self {
        let (Some(header), Some(walk)) = (ethernet::Header::new(frame), vlan::walk(frame)) else {
            return Self::NotIp;
        };
        let first = || walk.tags().first().map_or(0, |tag| tag.vid());
        let vlan = outer.unwrap_or_else(first);
        let (mac, packet) = (header.source(), &frame[walk.offset..]);
        match walk.ethertype {
            ethertype::IPV4 => ip4(packet, vlan, mac.0).map_or(Self::Unreadable, Self::Ip4),
            ethertype::IPV6 => ip6(packet, vlan, mac.0).map_or(Self::Unreadable, Self::Ip6),
            _ => Self::NotIp,
        }
    }

    /// Reads a packet from its IP header on: nobody knows a station or a VLAN.
    #[inline]
    pub fn about_packet(packet: &[u8]) -> Self {
        let found = match ip::version(packet) {
            4 => ip4(packet, 0, [0; 6]).map(Self::Ip4),
            6 => ip6(packet, 0, [0; 6]).map(Self::Ip6),
            _ => None,
        };
        found.unwrap_or(Self::Unreadable)
    }
}

fn ip4(packet: &[u8], vlan: u16, source_mac: [u8; 6]) -> Option<Fields<u32>> {
    let header = ipv4::Header::new(packet).filter(|header| header.is_sound())?;
    let behind = packet.get(header.header_len()..)?;
    let is_later = header.fragment_offset() != 0;
    let whole = usize::from(header.total_len()).saturating_sub(header.header_len());
    if header.is_fragment()
        && cuts_tcp(header.protocol(), header.fragment_offset(), whole.min(behind.len()))
    {
        return None;
    }
    let (transport, tcp_flags) = transport(header.protocol(), protocol::ICMP4, is_later, behind);
    Some(Fields {
        source: header.source(),
        destination: header.destination(),
        protocol: header.protocol(),
        transport,
        tcp_flags,
        vlan,
        source_mac,
    })
}

fn ip6(packet: &[u8], vlan: u16, source_mac: [u8; 6]) -> Option<Fields<u128>> {
    let header = ipv6::Header::new(packet).filter(|header| header.version() == 6)?;
    let payload = &packet[ipv6::Header::LEN..];
    let upper = ipv6::extension::walk(header.next_header(), payload).ok()?;
    let is_later = upper.fragment.is_some_and(|fragment| fragment.offset() != 0);
    let behind = payload.get(upper.offset..)?;
    let whole = usize::from(header.payload_len()).saturating_sub(upper.offset);
    if upper.fragment.is_some_and(|fragment| {
        !fragment.is_atomic()
            && cuts_tcp(upper.protocol, fragment.offset(), whole.min(behind.len()))
    }) {
        return None;
    }
    let (transport, tcp_flags) = transport(upper.protocol, protocol::ICMP6, is_later, behind);
    Some(Fields {
        source: header.source(),
        destination: header.destination(),
        protocol: upper.protocol,
        transport,
        tcp_flags,
        vlan,
        source_mac,
    })
}

/// Whether a fragment, `length` octets from `offset` on, has a part of a TCP header, and not all of
/// it.
fn cuts_tcp(number: u8, offset: usize, length: usize) -> bool {
    let is_part = match offset {
        0 => length < tcp::Header::LEN,
        offset => offset < tcp::Header::LEN,
    };
    number == protocol::TCP && is_part
}

/// What the transport header says, where `behind` begins with one.
#[inline]
fn transport(number: u8, icmp: u8, is_later: bool, behind: &[u8]) -> (Transport, Option<u8>) {
    let Some(&[a, b, c, d]) = behind.first_chunk().filter(|_| !is_later) else {
        return (Transport::Unknown, None);
    };
    match number {
        protocol::TCP | protocol::UDP | protocol::SCTP => {
            let ports = Transport::Ports(u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
            let header = tcp::Header::new(behind).filter(|_| number == protocol::TCP);
            (ports, header.map(|header| header.flags()))
        }
        _ if number == icmp => (Transport::Icmp(a, b), None),
        _ => (Transport::Unknown, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::craft;

    fn ip4_of(frame: &[u8]) -> Fields<u32> {
        match Question::about_any(frame, None) {
            Question::Ip4(fields) => fields,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_frame_is_read_from_its_mac_to_its_flags() {
        let frame = || craft::ethernet([2; 6], [4; 6]);
        let plain = frame().ipv4([10, 0, 0, 1], [10, 0, 0, 2]).tcp(5, 443).build();
        let mut tagged = plain[..12].to_vec();
        tagged.extend([0x81, 0, 5 << 5, 7]);
        tagged.extend(&plain[12..]);
        let found = ip4_of(&tagged);
        assert_eq!((found.vlan, found.protocol, found.source), (7, 6, 0x0a00_0001));
        assert_eq!(found.transport, Transport::Ports(5, 443));
        assert_eq!(found.tcp_flags, Some(plain[14 + 20 + 13]));
        assert_eq!(found.source_mac, plain[6..12]);
        assert_eq!(ip4_of(&plain).vlan, 0);
        let six = frame().ipv6([1; 16], [2; 16]).udp(5, 6).build();
        let Question::Ip6(found) = Question::about_any(&six, None) else { panic!("no IPv6") };
        assert_eq!((found.transport, found.tcp_flags), (Transport::Ports(5, 6), None));
    }

    #[test]
    fn a_later_fragment_has_no_ports_and_the_first_one_has() {
        let to = || craft::ethernet([2; 6], [4; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2]);
        let first = to().fragment(0, true).udp(5, 6).build();
        let later = to().fragment(185, false).protocol(17).payload(&[7; 40]).build();
        assert_eq!(ip4_of(&first).transport, Transport::Ports(5, 6));
        assert_eq!(ip4_of(&later).transport, Transport::Unknown);
    }

    #[test]
    fn what_is_no_ip_or_pretends_to_be_is_told_apart() {
        let good =
            craft::ethernet([2; 6], [4; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2]).udp(5, 6).build();
        for (at, first) in [(14, 0x65), (14, 0x44), (14, 0x4f)] {
            let mut lying = good[..40].to_vec();
            lying[at] = first;
            assert_eq!(Question::about_any(&lying, None), Question::Unreadable);
        }
        assert_eq!(Question::about_any(&good[..30], None), Question::Unreadable);
        assert_eq!(Question::about_any(&good[..9], None), Question::NotIp);
        let mut arp = good.clone();
        arp[12..14].copy_from_slice(&[8, 6]);
        assert_eq!(Question::about_any(&arp, None), Question::NotIp);
        // Cut behind the IP header, there is nothing to know of ports.
        assert_eq!(ip4_of(&good[..36]).transport, Transport::Unknown);
    }
}
