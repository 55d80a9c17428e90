//! Who speaks with whom: addresses, ports, protocol and zone, as words that compare at once.
//!
//! ```text
//!  key    source port 16 │ destination port 16 │ zone 16 │ protocol 8 │ family 8
//!  IPv4   source 32 │ destination 32
//!  IPv6   source 64, destination 64 (their high halves), source 64, destination 64 (their low ones)
//! ```
//! Echo requests of ICMP have their identifier as the source port, and their type and code as the
//! destination port: what answers them has the type that answers.

use crate::status::End;
use wire::ip::protocol;
use wire::{icmp4, icmp6};

/// Of which addresses a tuple is, and whether it stands for something else than a connection.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Family {
    /// A connection of IPv4.
    Ip4 = 1,
    /// A connection of IPv6.
    Ip6 = 2,
    /// An endpoint of IPv4 inside, and the one that stands for it outside.
    Endpoint4 = 3,
    /// The pieces of one packet of IPv4.
    Pieces4 = 4,
    /// Who is expected at a port, of IPv4.
    Expected4 = 5,
    /// The same of IPv6.
    Expected6 = 6,
    /// A connection of IPv4 that expects somebody.
    Expecting4 = 7,
    /// The same of IPv6.
    Expecting6 = 8,
    /// An endpoint of IPv6 inside, for which one of IPv4 stands outside.
    Endpoint6 = 9,
    /// The pieces of one packet of IPv6.
    Pieces6 = 10,
}

/// Who speaks with whom.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tuple {
    pub(crate) key: u64,
    pub(crate) first: u64,
    pub(crate) rest: [u64; 3],
}

impl Tuple {
    /// A connection of IPv4.
    #[inline]
    pub fn ip4(
        (source, source_port): (u32, u16),
        (destination, destination_port): (u32, u16),
        protocol: u8,
        zone: u16,
    ) -> Self {
        let first = u64::from(source) << 32 | u64::from(destination);
        let key = key(source_port, destination_port, protocol, zone, Family::Ip4);
        Self { key, first, rest: [0; 3] }
    }

    /// A connection of IPv4, of words as they are in a packet.
    #[inline(always)]
    pub(crate) fn whole4(addresses: u64, ports: u32, protocol: u8, zone: u16) -> Self {
        let key = u64::from(ports) << 32 | key(0, 0, protocol, zone, Family::Ip4);
        Self { key, first: addresses, rest: [0; 3] }
    }

    /// Both addresses of IPv4, as they are in a packet.
    #[inline(always)]
    pub(crate) fn addresses4(&self) -> u64 {
        self.first
    }

    /// Both ports, as they are in a packet.
    #[inline(always)]
    pub(crate) fn ports(&self) -> u32 {
        (self.key >> 32) as u32
    }

    /// A connection of IPv6.
    #[inline]
    pub fn ip6(
        (source, source_port): (u128, u16),
        (destination, destination_port): (u128, u16),
        protocol: u8,
        zone: u16,
    ) -> Self {
        let key = key(source_port, destination_port, protocol, zone, Family::Ip6);
        let rest = [(destination >> 64) as u64, source as u64, destination as u64];
        Self { key, first: (source >> 64) as u64, rest }
    }

    /// An endpoint of IPv4, whoever it speaks with.
    #[inline]
    pub(crate) fn endpoint4((address, port): (u32, u16), protocol: u8, zone: u16) -> Self {
        let key = key(port, 0, protocol, zone, Family::Endpoint4);
        Self { key, first: u64::from(address) << 32, rest: [0; 3] }
    }

    /// The endpoint inside that sends it: of IPv6 with the protocol that it has outside.
    pub(crate) fn endpoint(&self) -> Self {
        let (port, zone) = (self.source_port(), self.zone());
        if !self.is_long() {
            return Self::endpoint4((self.source4(), port), self.protocol(), zone);
        }
        let protocol = match self.protocol() {
            protocol::ICMP6 => protocol::ICMP4,
            other => other,
        };
        let key = key(port, 0, protocol, zone, Family::Endpoint6);
        Self { key, first: self.first, rest: [0, self.rest[1], 0] }
    }

    /// Thirty-two bits of who sends it.
    pub(crate) fn source_bits(&self) -> u32 {
        let (high, low) = self.host(End::Source);
        let both = high ^ low;
        (both ^ both >> 32) as u32
    }

    /// The pieces of one packet of IPv4 (RFC 791 section 2.3).
    #[inline]
    pub(crate) fn pieces4(source: u32, destination: u32, id: u16, protocol: u8, zone: u16) -> Self {
        let first = u64::from(source) << 32 | u64::from(destination);
        Self { key: key(id, 0, protocol, zone, Family::Pieces4), first, rest: [0; 3] }
    }

    /// The pieces of one packet of IPv6 (RFC 8200 section 4.5).
    pub(crate) fn pieces6(
        source: u128,
        destination: u128,
        id: u32,
        protocol: u8,
        zone: u16,
    ) -> Self {
        let key = key((id >> 16) as u16, id as u16, protocol, zone, Family::Pieces6);
        Self { key, ..Self::ip6((source, 0), (destination, 0), 0, 0) }
    }

    /// Of which addresses it is.
    #[inline]
    pub fn family(&self) -> Family {
        match self.key as u8 {
            2 => Family::Ip6,
            3 => Family::Endpoint4,
            4 => Family::Pieces4,
            5 => Family::Expected4,
            6 => Family::Expected6,
            7 => Family::Expecting4,
            8 => Family::Expecting6,
            9 => Family::Endpoint6,
            10 => Family::Pieces6,
            _ => Family::Ip4,
        }
    }

    /// Its protocol.
    #[inline]
    pub fn protocol(&self) -> u8 {
        (self.key >> 8) as u8
    }

    /// Its zone.
    #[inline]
    pub fn zone(&self) -> u16 {
        (self.key >> 16) as u16
    }

    /// The same in another zone.
    #[inline]
    #[must_use]
    pub fn in_zone(self, zone: u16) -> Self {
        Self { key: self.key & !0xffff_0000 | u64::from(zone) << 16, ..self }
    }

    /// The port that it comes from; of an echo its identifier.
    #[inline]
    pub fn source_port(&self) -> u16 {
        (self.key >> 48) as u16
    }

    /// The port that it goes to; of an echo its type and code.
    #[inline]
    pub fn destination_port(&self) -> u16 {
        (self.key >> 32) as u16
    }

    /// Who sends it, of IPv4.
    #[inline]
    pub fn source4(&self) -> u32 {
        (self.first >> 32) as u32
    }

    /// Whom it goes to, of IPv4.
    #[inline]
    pub fn destination4(&self) -> u32 {
        self.first as u32
    }

    /// Who sends it, of IPv6.
    #[inline]
    pub fn source6(&self) -> u128 {
        u128::from(self.first) << 64 | u128::from(self.rest[1])
    }

    /// Whom it goes to, of IPv6.
    #[inline]
    pub fn destination6(&self) -> u128 {
        u128::from(self.rest[0]) << 64 | u128::from(self.rest[2])
    }

    /// Whether its addresses fill the second cache line of an entry.
    #[inline]
    pub(crate) fn is_long(&self) -> bool {
        const LONG: u64 = 1 << Family::Ip6 as u8
            | 1 << Family::Expected6 as u8
            | 1 << Family::Expecting6 as u8
            | 1 << Family::Endpoint6 as u8
            | 1 << Family::Pieces6 as u8;
        LONG >> (self.key & 0x3f) & 1 != 0
    }

    /// Who is expected at a port of its destination: from any port of its source.
    pub(crate) fn expected(&self, port: u16) -> Self {
        let family = if self.is_long() { Family::Expected6 } else { Family::Expected4 };
        let key = key(0, port, self.protocol(), self.zone(), family);
        Self { key, ..*self }
    }

    /// It, as one that expects somebody.
    pub(crate) fn expecting(&self) -> Self {
        let family = if self.is_long() { Family::Expecting6 } else { Family::Expecting4 };
        Self { key: self.key & !0xff | family as u64, ..*self }
    }

    /// The address of an end, both halves.
    fn host(&self, end: End) -> (u64, u64) {
        match (self.is_long(), end) {
            (false, End::Source) => (self.first >> 32, 0),
            (false, End::Destination) => (self.first & 0xffff_ffff, 0),
            (true, End::Source) => (self.first, self.rest[1]),
            (true, End::Destination) => (self.rest[0], self.rest[2]),
        }
    }

    /// The same from the host at an end of another.
    pub(crate) fn with_host_of(mut self, other: &Self, end: End) -> Self {
        let (high, low) = other.host(end);
        match self.is_long() {
            false => self.first = high << 32 | self.first & 0xffff_ffff,
            true => (self.first, self.rest[1]) = (high, low),
        }
        self
    }

    /// The same to it.
    pub(crate) fn to_host_of(mut self, other: &Self, end: End) -> Self {
        let (high, low) = other.host(end);
        match self.is_long() {
            false => self.first = self.first & !0xffff_ffff | high,
            true => (self.rest[0], self.rest[2]) = (high, low),
        }
        self
    }

    /// The same to another port.
    pub(crate) fn to_port(self, port: u16) -> Self {
        Self { key: u64::from(port) << 32 | self.key & !0xffff_0000_0000, ..self }
    }

    /// What answers it.
    #[inline]
    pub fn inverse(&self) -> Self {
        let (protocol, first) = (self.protocol(), self.first);
        let (from, to) = (self.source_port(), self.destination_port());
        let (from, to) = match protocol {
            protocol::ICMP4 | protocol::ICMP6 => (from, answering(protocol, to)),
            _ => (to, from),
        };
        let key = u64::from(from) << 48 | u64::from(to) << 32 | (self.key & 0xffff_ffff);
        match self.is_long() {
            false => Self { key, first: first.rotate_left(32), rest: self.rest },
            true => {
                let [high, low_source, low_destination] = self.rest;
                Self { key, first: high, rest: [first, low_destination, low_source] }
            }
        }
    }

    /// The same from another source.
    #[inline]
    #[must_use]
    pub fn from4(mut self, address: u32, port: u16) -> Self {
        self.first = u64::from(address) << 32 | (self.first & 0xffff_ffff);
        self.key = u64::from(port) << 48 | (self.key & 0xffff_ffff_ffff);
        self
    }

    /// The same to another destination; of an echo, with another identifier.
    #[inline]
    #[must_use]
    pub fn to4(mut self, address: u32, port: u16) -> Self {
        self.first = self.first & !0xffff_ffff | u64::from(address);
        self.key = match self.is_echo() {
            true => u64::from(port) << 48 | (self.key & 0xffff_ffff_ffff),
            false => u64::from(port) << 32 | (self.key & !0xffff_0000_0000),
        };
        self
    }

    /// Whether its source port is an identifier, the same in both directions.
    #[inline]
    pub(crate) fn is_echo(&self) -> bool {
        matches!(self.protocol(), protocol::ICMP4 | protocol::ICMP6)
    }

    /// Whether it has ports, or an identifier that is as good as one.
    #[inline]
    pub(crate) fn has_ports(&self) -> bool {
        matches!(self.protocol(), protocol::TCP | protocol::UDP) || self.is_echo()
    }
}

fn key(source_port: u16, destination_port: u16, protocol: u8, zone: u16, family: Family) -> u64 {
    u64::from(source_port) << 48
        | u64::from(destination_port) << 32
        | u64::from(zone) << 16
        | u64::from(protocol) << 8
        | family as u64
}

/// The type and code of what answers a message of this type and code; itself where nothing does.
fn answering(protocol: u8, type_and_code: u16) -> u16 {
    let kind = (type_and_code >> 8) as u8;
    let other = match (protocol, kind) {
        (protocol::ICMP4, icmp4::message::ECHO_REQUEST) => icmp4::message::ECHO_REPLY,
        (protocol::ICMP4, icmp4::message::ECHO_REPLY) => icmp4::message::ECHO_REQUEST,
        (protocol::ICMP4, icmp4::message::TIMESTAMP_REQUEST) => icmp4::message::TIMESTAMP_REPLY,
        (protocol::ICMP4, icmp4::message::TIMESTAMP_REPLY) => icmp4::message::TIMESTAMP_REQUEST,
        (protocol::ICMP6, icmp6::message::ECHO_REQUEST) => icmp6::message::ECHO_REPLY,
        (protocol::ICMP6, icmp6::message::ECHO_REPLY) => icmp6::message::ECHO_REQUEST,
        _ => kind,
    };
    u16::from(other) << 8 | (type_and_code & 0xff)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_echo_is_answered_by_a_reply_with_the_same_identifier() {
        let request = Tuple::ip4((1, 77), (2, 8 << 8), protocol::ICMP4, 5);
        let reply = Tuple::ip4((2, 77), (1, 0), protocol::ICMP4, 5);
        assert_eq!((request.inverse(), reply.inverse()), (reply, request));
        assert_eq!(request.inverse().to4(9, 70), Tuple::ip4((2, 70), (9, 0), protocol::ICMP4, 5));
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out_and_two_inverses_are_none(
            from in any::<(u128, u16)>(), to in any::<(u128, u16)>(), zone: u16,
        ) {
            let long = Tuple::ip6(from, to, protocol::UDP, zone);
            prop_assert_eq!((long.source6(), long.source_port()), from);
            prop_assert_eq!((long.destination6(), long.destination_port()), to);
            prop_assert_eq!(long.inverse(), Tuple::ip6(to, from, protocol::UDP, zone));
            let (from, to) = ((from.0 as u32, from.1), (to.0 as u32, to.1));
            let short = Tuple::ip4(from, to, protocol::TCP, zone);
            prop_assert_eq!((short.source4(), short.source_port()), from);
            prop_assert_eq!((short.destination4(), short.destination_port()), to);
            prop_assert_eq!((short.zone(), short.protocol()), (zone, protocol::TCP));
            prop_assert_eq!(short.inverse(), Tuple::ip4(to, from, protocol::TCP, zone));
            prop_assert_eq!(short.inverse().inverse(), short);
            let there = Tuple::ip4(from, to, protocol::TCP, zone ^ 0xa55a);
            prop_assert_eq!(there.in_zone(zone), short);
            prop_assert_eq!(Tuple::ip4((0, 0), to, 6, zone).from4(from.0, from.1), short);
            prop_assert_eq!(Tuple::ip4(from, (0, 0), 6, zone).to4(to.0, to.1), short);
        }
    }
}
