//! Which frames somebody wants to see: by hosts, protocol and ports, in the outermost headers or in
//! those of a packet inside a tunnel.
//!
//! ```text
//!  frame ─▶ tags ─▶ IPv4, IPv6, ARP ─▶ ports ─┬─▶ all that was asked for is so: wanted
//!                                            └─▶ else what is inside VXLAN, GRE, IP in IP, likewise
//! ```
//! It takes any bytes; what cannot be read is not what was asked for. A fragment that is not its
//! packet's first has no ports.

use crate::ethernet::{self, ethertype};
use crate::ip::{self, protocol};
use crate::ipv6::extension;
use crate::{arp, gre, ipv4, ipv6, udp, vlan, vxlan};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Packets inside packets are looked at down to this depth.
const MAX_DEPTH: usize = 4;
/// Protocols that begin with two ports.
const WITH_PORTS: [u8; 3] = [protocol::TCP, protocol::UDP, protocol::SCTP];

/// A network, or one address of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Net {
    /// Its address.
    pub address: IpAddr,
    /// How many of its bits are the network's.
    pub length: u8,
}

/// What a frame carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Carried {
    /// Anything of this EtherType.
    Type(u16),
    /// IP of either version, with this protocol.
    Protocol(u8),
}

/// What must be so of a frame; what is `None` may be anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Choice {
    /// One of its addresses.
    pub host: Option<Net>,
    /// Where it comes from.
    pub source: Option<Net>,
    /// Where it goes.
    pub destination: Option<Net>,
    /// What it is.
    pub carried: Option<Carried>,
    /// The port that it comes from.
    pub source_port: Option<u16>,
    /// The port that it goes to.
    pub destination_port: Option<u16>,
}

/// What was read of a packet.
#[derive(Clone, Copy)]
struct Read<'a> {
    ethertype: u16,
    ends: Option<(IpAddr, IpAddr)>,
    protocol: Option<u8>,
    ports: Option<(u16, u16)>,
    inside: Option<Inside<'a>>,
}

#[derive(Clone, Copy)]
enum Inside<'a> {
    Frame(&'a [u8]),
    Packet(&'a [u8]),
}

impl Net {
    fn has(self, address: IpAddr) -> bool {
        let beyond = |bits: u32| bits.saturating_sub(self.length.into());
        match (self.address, address) {
            (IpAddr::V4(net), IpAddr::V4(it)) => {
                let differing = net.to_bits() ^ it.to_bits();
                differing.checked_shr(beyond(32)).unwrap_or(0) == 0
            }
            (IpAddr::V6(net), IpAddr::V6(it)) => {
                let differing = net.to_bits() ^ it.to_bits();
                differing.checked_shr(beyond(128)).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

impl Choice {
    /// Whether anything was asked for.
    pub fn is_any(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the frame is wanted.
    pub fn takes(&self, frame: &[u8]) -> bool {
        let mut next = Some(Inside::Frame(frame));
        for _ in 0..MAX_DEPTH {
            let Some(read) = next.and_then(read) else { return false };
            if self.fits(&read) {
                return true;
            }
            next = read.inside;
        }
        false
    }

    fn fits(&self, read: &Read<'_>) -> bool {
        let end = |net: Option<Net>, fits: fn(Net, (IpAddr, IpAddr)) -> bool| {
            net.is_none_or(|net| read.ends.is_some_and(|ends| fits(net, ends)))
        };
        let port = |wanted: Option<u16>, pick: fn((u16, u16)) -> u16| {
            wanted.is_none_or(|wanted| read.ports.map(pick) == Some(wanted))
        };
        end(self.host, |net, (from, to)| net.has(from) || net.has(to))
            && end(self.source, |net, (from, _)| net.has(from))
            && end(self.destination, |net, (_, to)| net.has(to))
            && self.carried.is_none_or(|carried| match carried {
                Carried::Type(wanted) => read.ethertype == wanted,
                Carried::Protocol(wanted) => read.protocol == Some(wanted),
            })
            && port(self.source_port, |(from, _)| from)
            && port(self.destination_port, |(_, to)| to)
    }
}

fn read(inside: Inside<'_>) -> Option<Read<'_>> {
    let (ethertype, bytes) = match inside {
        Inside::Frame(frame) => {
            let walk = vlan::walk(frame)?;
            (walk.ethertype, &frame[walk.offset..])
        }
        Inside::Packet(packet) => match ip::version(packet) {
            4 => (ethertype::IPV4, packet),
            6 => (ethertype::IPV6, packet),
            _ => return None,
        },
    };
    let bare = Read { ethertype, ends: None, protocol: None, ports: None, inside: None };
    Some(match ethertype {
        ethertype::IPV4 => ip4(bytes).unwrap_or(bare),
        ethertype::IPV6 => ip6(bytes).unwrap_or(bare),
        ethertype::ARP => Read { ends: arp_ends(bytes), ..bare },
        _ => bare,
    })
}

fn arp_ends(bytes: &[u8]) -> Option<(IpAddr, IpAddr)> {
    let packet = arp::Packet::parse(bytes).ok()?;
    let address = |bits: u32| IpAddr::from(Ipv4Addr::from_bits(bits));
    Some((address(packet.sender_ip()), address(packet.target_ip())))
}

fn ip4(bytes: &[u8]) -> Option<Read<'_>> {
    let header = ipv4::Header::new(bytes)?;
    let ends = (header.source_addr().into(), header.destination_addr().into());
    let end = usize::from(header.total_len()).min(bytes.len());
    let upper = bytes.get(header.header_len()..end).filter(|_| header.is_sound());
    let upper = upper.filter(|_| header.fragment_offset() == 0);
    Some(Read { ethertype: ethertype::IPV4, ..above(ends, header.protocol(), upper) })
}

fn ip6(bytes: &[u8]) -> Option<Read<'_>> {
    let header = ipv6::Header::new(bytes)?;
    let ends: (Ipv6Addr, Ipv6Addr) = (header.source_addr(), header.destination_addr());
    let ends = (ends.0.into(), ends.1.into());
    let rest = &bytes[ipv6::Header::LEN..];
    let payload = &rest[..rest.len().min(header.payload_len().into())];
    let Ok(found) = extension::walk(header.next_header(), payload) else {
        return Some(above(ends, header.next_header(), None));
    };
    let is_first = found.fragment.is_none_or(|fragment| fragment.offset() == 0);
    let upper = payload.get(found.offset..).filter(|_| is_first);
    Some(above(ends, found.protocol, upper))
}

/// What stands above the addresses, of IPv6 unless somebody says otherwise.
fn above(ends: (IpAddr, IpAddr), protocol: u8, upper: Option<&[u8]>) -> Read<'_> {
    let ports = upper.and_then(|upper| match upper {
        &[a, b, c, d, ..] if WITH_PORTS.contains(&protocol) => {
            Some((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])))
        }
        _ => None,
    });
    let inside = upper.and_then(|upper| inside_of(protocol, upper));
    let (ethertype, ends, protocol) = (ethertype::IPV6, Some(ends), Some(protocol));
    Read { ethertype, ends, protocol, ports, inside }
}

fn inside_of(protocol: u8, upper: &[u8]) -> Option<Inside<'_>> {
    match protocol {
        protocol::IPV4 | protocol::IPV6 => Some(Inside::Packet(upper)),
        protocol::GRE => {
            let packet = gre::Packet::parse(upper).ok()?;
            match packet.ethertype {
                ethertype::TEB => Some(Inside::Frame(packet.payload)),
                ethertype::IPV4 | ethertype::IPV6 => Some(Inside::Packet(packet.payload)),
                _ => None,
            }
        }
        protocol::UDP => {
            // The first octets of a long datagram are enough.
            let to = udp::Header::new(upper)?.destination_port();
            let frame = upper.get(udp::Header::LEN + vxlan::Header::LEN..)?;
            (to == udp::port::VXLAN && frame.len() >= ethernet::Header::LEN)
                .then_some(Inside::Frame(frame))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{MacAddr, craft};

    const A: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
    const B: MacAddr = MacAddr([2, 0, 0, 0, 0, 2]);

    fn net(text: &str, length: u8) -> Option<Net> {
        Some(Net { address: text.parse().unwrap(), length })
    }

    fn udp4() -> Vec<u8> {
        craft::ethernet(A, B).vlan(7).ipv4([10, 0, 1, 2], [10, 0, 2, 9]).udp(1000, 53).build()
    }

    #[test]
    fn each_field_takes_what_it_says_and_nothing_else() {
        let any = Choice::default();
        assert!(any.is_any() && any.takes(&udp4()));
        let takes = |choice: Choice| (choice.takes(&udp4()), choice.is_any());
        for (choice, wanted) in [
            (Choice { host: net("10.0.1.2", 32), ..any }, true),
            (Choice { host: net("10.0.2.9", 32), ..any }, true),
            (Choice { host: net("10.0.2.0", 24), ..any }, true),
            (Choice { host: net("10.0.3.0", 24), ..any }, false),
            (Choice { host: net("0.0.0.0", 0), ..any }, true),
            (Choice { host: net("::", 0), ..any }, false),
            (Choice { source: net("10.0.1.0", 24), ..any }, true),
            (Choice { source: net("10.0.2.0", 24), ..any }, false),
            (Choice { destination: net("10.0.2.9", 32), ..any }, true),
            (Choice { destination: net("10.0.1.2", 32), ..any }, false),
            (Choice { carried: Some(Carried::Protocol(17)), ..any }, true),
            (Choice { carried: Some(Carried::Protocol(6)), ..any }, false),
            (Choice { carried: Some(Carried::Type(ethertype::IPV4)), ..any }, true),
            (Choice { carried: Some(Carried::Type(ethertype::ARP)), ..any }, false),
            (Choice { source_port: Some(1000), ..any }, true),
            (Choice { source_port: Some(53), ..any }, false),
            (Choice { destination_port: Some(53), ..any }, true),
            (Choice { destination_port: Some(1000), ..any }, false),
            (Choice { source_port: Some(1000), destination_port: Some(54), ..any }, false),
        ] {
            assert_eq!(takes(choice), (wanted, false), "{choice:?}");
        }
    }

    #[test]
    fn arp_has_addresses_and_icmp_no_ports() {
        let ask = craft::ethernet(A, B).arp_request(A, [10, 0, 0, 1], [10, 0, 0, 2]).build();
        let arp = Some(Carried::Type(ethertype::ARP));
        let choice = Choice { host: net("10.0.0.2", 32), carried: arp, ..Choice::default() };
        assert!(choice.takes(&ask));
        assert!(!Choice { source: net("10.0.0.2", 32), ..Choice::default() }.takes(&ask));
        let ping = craft::ethernet(A, B).ipv4(1, 2).icmp_echo(7, 1).build();
        assert!(!Choice { source_port: Some(0x0800), ..Choice::default() }.takes(&ping));
    }

    #[test]
    fn six_is_read_past_its_extensions_and_a_later_fragment_has_no_ports() {
        let choice = Choice {
            source: net("::1", 128),
            carried: Some(Carried::Protocol(17)),
            destination_port: Some(6),
            ..Choice::default()
        };
        let packet = craft::ethernet(A, B).ipv6(1, 2).udp(5, 6).build();
        assert!(choice.takes(&packet));
        assert!(
            !Choice { source: net("::", 0), destination: net("::3", 128), ..choice }.takes(&packet)
        );
        let mut later = craft::ethernet(A, B).ipv4(1, 2).udp(5, 6).payload_len(32).build();
        later[21] = 1;
        let by_port = Choice { destination_port: Some(6), ..Choice::default() };
        assert!(!by_port.takes(&later));
        later[21] = 0;
        assert!(by_port.takes(&later));
    }

    #[test]
    fn what_is_inside_a_tunnel_is_asked_too() {
        let outer = || craft::ethernet(A, B).ipv4([10, 0, 0, 1], [10, 0, 0, 2]);
        let inside =
            Choice { source: net("192.0.2.1", 32), destination_port: Some(6), ..Choice::default() };
        let (from, to) = ([192, 0, 2, 1], [192, 0, 2, 2]);
        let packets = [
            outer().udp(50000, 4789).vxlan(42).ethernet(A, B).ipv4(from, to).udp(5, 6).build(),
            outer().gre().key(9).ipv4(from, to).udp(5, 6).build(),
            outer().gre().ethernet(A, B).ipv4(from, to).udp(5, 6).build(),
            outer().ipv4(from, to).udp(5, 6).build(),
        ];
        for packet in packets {
            assert!(inside.takes(&packet));
            // Not half of it outside and half inside.
            assert!(!Choice { source: net("10.0.0.1", 32), ..inside }.takes(&packet));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken_or_not(bytes in prop::collection::vec(any::<u8>(), 0..120), kind in 0..3usize) {
            let mut bytes = bytes;
            if bytes.len() > 14 {
                let kind = [ethertype::IPV4, ethertype::IPV6, ethertype::ARP][kind];
                bytes[12..14].copy_from_slice(&kind.to_be_bytes());
            }
            let choice = Choice { source_port: Some(1), host: net("10.0.0.0", 8), ..Choice::default() };
            choice.takes(&bytes);
        }
    }
}
