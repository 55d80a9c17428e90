//! What packets of one flow have in common, read from their first octets.
//!
//! ```text
//!  Ethernet (tags) ─┬ IPv4, IPv6 ─ protocol, class ─ ports, or type and code of ICMP
//!                   └ anything else: addresses of stations, ethertype
//! ```
//! What is counted is compared as seven words ([`Key::words`]): where, then ports, then addresses,
//! then what a flow says.

use std::net::{Ipv4Addr, Ipv6Addr};
use wire::ip::protocol;
use wire::{ethernet, ipv4, ipv6};

const IP4: u16 = 0x0800;
const IP6: u16 = 0x86dd;

/// Where a packet was seen.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// The interface that it came in by; 0: unknown.
    pub input: u32,
    /// The interface that it leaves by; 0: unknown.
    pub output: u32,
    /// Seen where it leaves; else where it comes in.
    pub is_sent: bool,
}

/// Between whom.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Hosts {
    /// Of IPv4: source and destination.
    V4(Ipv4Addr, Ipv4Addr),
    /// Of IPv6.
    V6(Ipv6Addr, Ipv6Addr),
    /// Something else, by its ethertype.
    Other(u16),
}

/// What packets of a flow have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Key {
    /// Where.
    pub place: Place,
    /// The outer tag's VLAN; 0: none.
    pub vlan: u16,
    /// Between which stations: source and destination, where it is not IP.
    pub stations: ([u8; 6], [u8; 6]),
    /// Between whom.
    pub hosts: Hosts,
    /// The protocol of IP.
    pub protocol: u8,
    /// The octet of DSCP and ECN.
    pub class: u8,
    /// From which port.
    pub source_port: u16,
    /// To which; of ICMP, type and code.
    pub destination_port: u16,
    /// In which observation domain, and at which point, where a flow of a switch says so.
    pub observed: (u32, u32),
}

/// What a packet says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// Its flow.
    pub key: Key,
    /// Its octets: of IP from there on, of others all.
    pub bytes: u32,
    /// The flags of TCP.
    pub tcp_flags: u8,
}

impl Packet {
    /// Reads a frame's first octets; it has `length` in all. None of what is no frame.
    pub fn read(frame: &[u8], length: u32, place: Place) -> Option<Self> {
        let header = ethernet::Header::new(frame)?;
        let (mut ethertype, mut at, mut vlan) = (header.ethertype(), ethernet::Header::LEN, 0);
        for _ in 0..2 {
            let Some(&[high, low, type_high, type_low]) =
                frame.get(at..).and_then(|rest| rest.first_chunk::<4>())
            else {
                break;
            };
            if !matches!(ethertype, 0x8100 | 0x88a8) {
                break;
            }
            if vlan == 0 {
                vlan = u16::from_be_bytes([high, low]) & 0x0fff;
            }
            (ethertype, at) = (u16::from_be_bytes([type_high, type_low]), at + 4);
        }
        let key = Key { vlan, ..Key::other(place, ethertype) };
        let rest = frame.get(at..).unwrap_or_default();
        let packet = match ethertype {
            IP4 => read4(rest, key),
            IP6 => read6(rest, key),
            _ => None,
        };
        let stations = (header.source().octets(), header.destination().octets());
        let other = Self { key: Key { stations, ..key }, bytes: length, tcp_flags: 0 };
        Some(packet.unwrap_or(other))
    }

    /// The same of a packet of IP that has no header of a link. None of what is none.
    pub fn read_ip(packet: &[u8], place: Place) -> Option<Self> {
        match packet.first()? >> 4 {
            4 => read4(packet, Key::other(place, IP4)),
            6 => read6(packet, Key::other(place, IP6)),
            _ => None,
        }
    }
}

impl Key {
    /// Of a packet of which nothing is known but its ethertype.
    fn other(place: Place, ethertype: u16) -> Self {
        Self {
            place,
            vlan: 0,
            stations: ([0; 6], [0; 6]),
            hosts: Hosts::Other(ethertype),
            protocol: 0,
            class: 0,
            source_port: 0,
            destination_port: 0,
            observed: (0, 0),
        }
    }

    /// All of it in seven words, that are compared faster. Interfaces have numbers below 65536.
    #[inline]
    pub fn words(&self) -> [u64; 7] {
        let Self { place, vlan, stations, hosts, protocol, class, .. } = self;
        let (kind, ethertype) = match hosts {
            Hosts::V4(..) => (4, 0),
            Hosts::V6(..) => (6, 0),
            Hosts::Other(ethertype) => (0, *ethertype),
        };
        let kind = kind | u64::from(place.is_sent) << 7;
        let places = u64::from(place.input as u16) | u64::from(place.output as u16) << 16;
        let first = places | u64::from(*vlan) << 32 | kind << 48 | u64::from(*protocol) << 56;
        let ports = u64::from(self.source_port) | u64::from(self.destination_port) << 16;
        let second = ports | u64::from(ethertype) << 32 | u64::from(*class) << 48;
        let addresses = match hosts {
            Hosts::V4(source, destination) => {
                [u64::from(source.to_bits()) << 32 | u64::from(destination.to_bits()), 0, 0, 0]
            }
            Hosts::V6(source, destination) => {
                let (source, destination) = (source.to_bits(), destination.to_bits());
                let halves = |it: u128| ((it >> 64) as u64, it as u64);
                let ((a, b), (c, d)) = (halves(source), halves(destination));
                [a, b, c, d]
            }
            Hosts::Other(_) => [station_word(stations.0), station_word(stations.1), 0, 0],
        };
        let [a, b, c, d] = addresses;
        let observed = u64::from(self.observed.0) << 32 | u64::from(self.observed.1);
        [first, second, a, b, c, d, observed]
    }

    /// The key of such words.
    pub fn from_words([first, second, a, b, c, d, observed]: [u64; 7]) -> Self {
        let kind = (first >> 48) as u8;
        let place = Place {
            input: u32::from(first as u16),
            output: u32::from((first >> 16) as u16),
            is_sent: kind & 0x80 != 0,
        };
        let both =
            |high: u64, low: u64| Ipv6Addr::from_bits(u128::from(high) << 64 | u128::from(low));
        let mut stations = ([0; 6], [0; 6]);
        let hosts = match kind & 0x7f {
            4 => Hosts::V4(Ipv4Addr::from_bits((a >> 32) as u32), Ipv4Addr::from_bits(a as u32)),
            6 => Hosts::V6(both(a, b), both(c, d)),
            _ => {
                stations = (station(a), station(b));
                Hosts::Other((second >> 32) as u16)
            }
        };
        Self {
            place,
            vlan: (first >> 32) as u16,
            stations,
            hosts,
            protocol: (first >> 56) as u8,
            class: (second >> 48) as u8,
            source_port: second as u16,
            destination_port: (second >> 16) as u16,
            observed: ((observed >> 32) as u32, observed as u32),
        }
    }
}

fn station_word([a, b, c, d, e, f]: [u8; 6]) -> u64 {
    u64::from_be_bytes([0, 0, a, b, c, d, e, f])
}

fn station(word: u64) -> [u8; 6] {
    let [_, _, a, b, c, d, e, f] = word.to_be_bytes();
    [a, b, c, d, e, f]
}

fn read4(bytes: &[u8], key: Key) -> Option<Packet> {
    let header = ipv4::Header::new(bytes).filter(|header| header.is_sound())?;
    let key = Key {
        hosts: Hosts::V4(header.source_addr(), header.destination_addr()),
        protocol: header.protocol(),
        class: header.tos(),
        ..key
    };
    let upper = bytes.get(header.header_len()..).filter(|_| header.fragment_offset() == 0);
    Some(with_ports(key, upper.unwrap_or_default(), header.total_len().into()))
}

fn read6(bytes: &[u8], key: Key) -> Option<Packet> {
    let header = ipv6::Header::new(bytes).filter(|header| header.version() == 6)?;
    let mut next = header.next_header();
    let mut at = ipv6::Header::LEN;
    // As many as fit what is kept of a packet.
    while matches!(next, protocol::HOP_BY_HOP | protocol::ROUTING | protocol::DESTINATION_OPTIONS) {
        let Some(&[after, eights]) = bytes.get(at..).and_then(|rest| rest.first_chunk::<2>())
        else {
            break;
        };
        (next, at) = (after, at + 8 * (1 + usize::from(eights)));
    }
    let key = Key {
        hosts: Hosts::V6(header.source_addr(), header.destination_addr()),
        protocol: next,
        class: header.traffic_class(),
        ..key
    };
    let length = u32::from(header.payload_len()) + ipv6::Header::LEN as u32;
    Some(with_ports(key, bytes.get(at..).unwrap_or_default(), length))
}

fn with_ports(key: Key, upper: &[u8], bytes: u32) -> Packet {
    let word = |at: usize| {
        let octets = upper.get(at..at + 2).and_then(|octets| octets.first_chunk::<2>());
        octets.map_or(0, |octets| u16::from_be_bytes(*octets))
    };
    let (source_port, destination_port, tcp_flags) = match key.protocol {
        protocol::TCP => (word(0), word(2), upper.get(13).copied().unwrap_or(0)),
        protocol::UDP | protocol::SCTP => (word(0), word(2), 0),
        protocol::ICMP4 | protocol::ICMP6 => (0, word(0), 0),
        _ => (0, 0, 0),
    };
    Packet { key: Key { source_port, destination_port, ..key }, bytes, tcp_flags }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wire::craft;

    const PLACE: Place = Place { input: 1, output: 0, is_sent: false };

    fn read(frame: &[u8]) -> Packet {
        Packet::read(frame, frame.len() as u32, PLACE).unwrap()
    }

    #[test]
    fn packets_of_ip_are_told_by_hosts_and_ports() {
        let link = || craft::ethernet([2; 6], [4; 6]);
        let udp =
            read(&link().ipv4([10, 0, 0, 1], [10, 0, 0, 2]).udp(1000, 53).payload(&[0; 9]).build());
        assert_eq!(udp.key.hosts, Hosts::V4([10, 0, 0, 1].into(), [10, 0, 0, 2].into()));
        assert_eq!(
            (udp.key.protocol, udp.key.source_port, udp.key.destination_port),
            (17, 1000, 53)
        );
        assert_eq!((udp.bytes, udp.key.vlan, udp.key.stations.0), (37, 0, [0; 6]));
        let tagged = link().service_vlan(7).vlan(9).ipv4([10, 0, 0, 1], [10, 0, 0, 2]).tcp(1, 2);
        let tcp = read(&tagged.flags(0x12).build());
        assert_eq!((tcp.key.vlan, tcp.key.protocol, tcp.tcp_flags), (7, 6, 0x12));
        let six = link().ipv6(1, 2).hop_by_hop(&[1, 4, 0, 0, 0, 0]).icmp6(128, 0, [0; 4]).build();
        let six = read(&six);
        assert_eq!((six.key.protocol, six.key.destination_port), (58, 0x8000));
        let piece = link().ipv4([10, 0, 0, 1], [10, 0, 0, 2]).protocol(17).fragment(8, true);
        assert_eq!(read(&piece.payload(&[9; 8]).build()).key.destination_port, 0);
    }

    #[test]
    fn others_are_told_by_stations_and_what_is_short_is_nothing() {
        let arp = craft::ethernet([2; 6], [0xff; 6]).arp_request([2; 6], 1, 2).pad_to(60).build();
        let other = read(&arp);
        assert_eq!((other.key.hosts, other.bytes), (Hosts::Other(0x0806), 60));
        assert_eq!(other.key.stations, ([2; 6], [0xff; 6]));
        assert_eq!(Packet::read(&arp[..13], 13, PLACE), None);
        let broken = craft::ethernet([2; 6], [4; 6]).ethertype(0x0800).payload(&[0x45; 10]).build();
        assert_eq!(read(&broken).key.hosts, Hosts::Other(0x0800));
    }

    #[test]
    fn packets_without_a_link_are_told_as_those_of_frames_are() {
        let link = craft::ethernet([2; 6], [4; 6]);
        let frame = link.ipv4([10, 0, 0, 1], [10, 0, 0, 2]).udp(1000, 53).payload(&[0; 9]).build();
        assert_eq!(Packet::read_ip(&frame[14..], PLACE), Some(read(&frame)));
        let six = craft::ethernet([2; 6], [4; 6]).ipv6(1, 2).udp(1, 2).build();
        assert_eq!(Packet::read_ip(&six[14..], PLACE), Some(read(&six)));
        assert_eq!(Packet::read_ip(&[], PLACE), None);
        assert_eq!(Packet::read_ip(&[0x50; 40], PLACE), None);
        assert_eq!(Packet::read_ip(&frame[14..30], PLACE), None);
    }

    proptest! {
        #[test]
        fn a_key_is_what_its_words_say(
            numbers in any::<(u16, u16, bool, u16, u8, u8, u16, u16)>(),
            kind in 0..3, addresses in any::<(u128, u128, u16, [u8; 6], [u8; 6])>(),
            observed in any::<(u32, u32)>(),
        ) {
            let (input, output, is_sent, vlan, protocol, class, source_port, destination_port) = numbers;
            let place = Place { input: input.into(), output: output.into(), is_sent };
            let (source, destination, ethertype, from, to) = addresses;
            let mut stations = ([0; 6], [0; 6]);
            let hosts = match kind {
                0 => Hosts::V4(Ipv4Addr::from_bits(source as u32), Ipv4Addr::from_bits(destination as u32)),
                1 => Hosts::V6(Ipv6Addr::from_bits(source), Ipv6Addr::from_bits(destination)),
                _ => {
                    stations = (from, to);
                    Hosts::Other(ethertype)
                }
            };
            let key = Key {
                place, vlan, stations, hosts, protocol, class, source_port, destination_port, observed,
            };
            prop_assert_eq!(Key::from_words(key.words()), key);
        }
    }
}
