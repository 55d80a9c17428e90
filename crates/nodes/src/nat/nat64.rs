//! What becomes of packets between hosts of IPv6 inside and hosts of IPv4 outside (RFC 6146), whose
//! addresses begin with a prefix (RFC 6052).
//!
//! ```text
//!  IPv6 to the prefix, from inside ─┬─ known ──▶ IPv4 from its outer endpoint
//!                                   └─ new ────▶ an endpoint of the pool
//!  IPv4 to an outer address ────────┬─ known ──▶ IPv6 from the prefix
//!                                   ├─ to an endpoint that is known, and that is open ─▶ likewise
//!                                   └─ other ──▶ as it is: NAT44's, or nobody's
//! ```
//! What somebody inside sends to an outer address goes both ways at once: to IPv4, and back to IPv6
//! for whoever inside has that endpoint (RFC 6146 section 3.8). Both see outer addresses.
//!
//! Connections, endpoints and pieces are those of the translation of IPv4: no two share a port.

use super::nat44::Now;
use super::{Nat44, Nat64Input, Translated};
use crate::local::icmp_cause;
use crate::tables::Interfaces;
use conntrack::cross::{self, Front, Prefix64, Uncrossable};
use conntrack::{
    Begun, Family, Found, Inner, Read, Refused, Seen, Tuple, Verdict, read4, read6_in_pieces,
};
use packet::PacketView;
use wire::ethernet::{self, ethertype};
use wire::vlan::Tag;
use wire::{icmp4, icmp6, ip, ipv4, ipv6};

graph::exits! {
    /// Why a packet does not go on as one of the other family.
    pub enum Uncrossed {
        /// RFC 4443 section 3.3: its hop limit is used up.
        HopLimitExceeded => answer "icmp6-error"
            "Nothing, if somebody traces the way; else two routers may send it to each other: \
            `volley lookup ADDRESS`."
            cause icmp_cause(icmp6::message::TIME_EXCEEDED, icmp6::time_exceeded::HOP_LIMIT),
        /// RFC 1812 section 5.3.1: its TTL is used up.
        TtlExpired => answer "icmp4-error"
            "Nothing, if somebody traces the way; else two routers may send it to each other: \
            `volley lookup ADDRESS`."
            cause icmp_cause(icmp4::message::TIME_EXCEEDED, icmp4::time_exceeded::TTL),
        /// It may be cut, and is longer than every link of IPv6 takes.
        Cut => node "nat64-cut",
        /// It tells of an error of a packet that is of no known connection.
        NoConnection => drop "Nothing: it came too late, or is forged.",
        /// It cannot be of the connection that it names, or begins none: a late one, or a forged
        /// one.
        Invalid => drop "Nothing, unless they are many: then look who sends them.",
        /// There is room for no more connections, and none that could make room.
        Full => drop "Raise `max` of `[connections]`, or look with `volley show connections` who \
            has so many.",
        /// No port of the pool is free for another endpoint inside.
        NoPort => drop "Give the translation more addresses (`pool`) or more `ports`.",
        /// Another worker was making a connection at that moment.
        Busy => drop "Nothing: whoever sent it will send it again.",
        /// A piece of a packet whose first piece was not seen before it.
        PieceUnknown => drop "Have the sender's packets fit the links between (path MTU discovery).",
        /// A piece whose checksum only the whole packet has: of ICMP, or of UDP that has none.
        PieceUnsummed => drop "Have the sender's packets fit the links between (path MTU \
            discovery).",
        /// Its headers end too early, or say what cannot be.
        Unreadable => drop "Look at whoever sends such packets: `volley why-dropped` has one.",
        /// The other family has no such thing: another protocol than TCP, UDP and ICMP, a message
        /// of ICMP that says nothing there, a way that is not gone yet.
        Unsupported => drop "Nothing: hosts that need it have to speak the same family.",
        /// No host has such an address: its source is of the prefix or of one link, or its
        /// destination stands for a group or for one's own.
        NotAHost => drop "Look who sends it: `volley why-dropped` has one.",
        /// It is from inside to an outer address, and nobody inside has that port of it.
        Hairpin => drop "Reach hosts inside by their own addresses, unless they have spoken with \
            somebody outside by that port.",
        /// No room for the longer headers in front of the packet.
        NoHeadroom => drop "Fewer tunnels and tags inside each other.",
    }
}

impl From<Uncrossable> for Uncrossed {
    fn from(why: Uncrossable) -> Self {
        match why {
            Uncrossable::Broken => Self::Unreadable,
            Uncrossable::Unsupported => Self::Unsupported,
            Uncrossable::Unsummed => Self::PieceUnsummed,
        }
    }
}

impl From<Refused> for Uncrossed {
    fn from(why: Refused) -> Self {
        match why {
            Refused::Invalid => Self::Invalid,
            Refused::Full => Self::Full,
            Refused::NoPort | Refused::Taken => Self::NoPort,
            Refused::Busy => Self::Busy,
        }
    }
}

impl Nat44 {
    /// A packet, from its IPv6 header on, that is to an address of the prefix. `id` tells packets
    /// apart that may be cut on their way.
    pub(super) fn crosses_out(
        &self,
        prefix: Prefix64,
        packet: &mut [u8],
        id: &mut u16,
        now: Now,
    ) -> Result<Front, Uncrossed> {
        let header = ipv6::Header::new(packet).ok_or(Uncrossed::Unreadable)?;
        let (source, destination) = (header.source(), header.destination());
        let server = prefix.ip4_of(destination).ok_or(Uncrossed::NotAHost)?;
        let is_no_source = source == 0 || ipv6::is_martian_source(source);
        if is_no_source || ipv6::is_link_local(source) || prefix.has(source) {
            return Err(Uncrossed::NotAHost);
        }
        if ipv4::is_martian_destination(server) || ipv4::is_multicast(server) {
            return Err(Uncrossed::NotAHost);
        }
        if header.hop_limit() <= 1 {
            return Err(Uncrossed::HopLimitExceeded);
        }
        let next_id = || {
            *id = id.wrapping_add(1);
            *id
        };
        match read6_in_pieces(packet, self.zone) {
            Read::Flow { tuple, seen, pieces } => {
                let known = self.across(self.table.find(&tuple, now.second), Family::Ip6);
                let to = match self.passes(known, &tuple, seen, pieces, now)? {
                    Some(to) => to,
                    None => self.begin_out(&tuple, server, seen, pieces, now)?,
                };
                Ok(cross::to4(packet, &to, next_id)?)
            }
            Read::Error(Inner { tuple, at }) => {
                let to = self.told_of(&tuple, now).ok_or(Uncrossed::NoConnection)?;
                // Who is between inside and us is nobody's business outside (RFC 5508 section 4.2).
                let ends = (to.source4(), to.destination4());
                Ok(cross::error_to4(packet, at, ends, &to.inverse(), next_id)?)
            }
            Read::Piece(whose) => {
                let found = self.table.find_pieces(&whose, now.second);
                let (_, to) = self.across(found, Family::Ip6).ok_or(Uncrossed::PieceUnknown)?;
                Ok(cross::to4(packet, &to, next_id)?)
            }
            Read::Broken => Err(Uncrossed::Unreadable),
        }
    }

    /// A packet, from its IPv4 header on, that is to an outer address; none if it is not of IPv6.
    pub(super) fn crosses_back(
        &self,
        prefix: Prefix64,
        packet: &mut [u8],
        now: Now,
    ) -> Result<Option<Front>, Uncrossed> {
        self.crosses_in(prefix, packet, self.open, now)
    }

    /// A packet that has just crossed out, from its IPv4 header on: for whom inside, if it is to an
    /// outer address.
    pub(super) fn turns_back(
        &self,
        prefix: Prefix64,
        packet: &mut [u8],
        now: Now,
    ) -> Result<Option<Front>, Uncrossed> {
        let header = ipv4::Header::new(packet).ok_or(Uncrossed::Unreadable)?;
        if !self.is_outer(header.destination()) {
            return Ok(None);
        }
        // Who is inside may speak with whoever else is there.
        self.crosses_in(prefix, packet, true, now)?.ok_or(Uncrossed::Hairpin).map(Some)
    }

    /// A packet to an outer address, where anybody may begin a connection or nobody.
    fn crosses_in(
        &self,
        prefix: Prefix64,
        packet: &mut [u8],
        open: bool,
        now: Now,
    ) -> Result<Option<Front>, Uncrossed> {
        let ttl = ipv4::Header::new(packet).map_or(0, |header| header.ttl());
        let has_hops = if ttl <= 1 { Err(Uncrossed::TtlExpired) } else { Ok(()) };
        match read4(packet, self.zone) {
            Read::Flow { tuple, seen, pieces } => {
                let known = self.across(self.table.find(&tuple, now.second), Family::Ip4);
                let endpoint = || self.inside6_of(prefix, &tuple, now).filter(|_| open);
                if known.is_none() && endpoint().is_none() {
                    return Ok(None);
                }
                has_hops?;
                let to = match self.passes(known, &tuple, seen, pieces, now)? {
                    Some(to) => to,
                    None => {
                        let Some(to) = endpoint() else { return Ok(None) };
                        self.begin_back(&tuple, to, seen, pieces, now)?
                    }
                };
                Ok(Some(cross::to6(packet, &to)?))
            }
            Read::Error(Inner { tuple, at }) => {
                let Some(to) = self.told_of(&tuple, now) else { return Ok(None) };
                has_hops?;
                let header = ipv4::Header::new(packet).ok_or(Uncrossed::Unreadable)?;
                let ends = (prefix.ip6_of(header.source()), to.destination6());
                Ok(Some(cross::error_to6(packet, at, ends, &to.inverse())?))
            }
            Read::Piece(whose) => {
                let found = self.table.find_pieces(&whose, now.second);
                let Some((_, to)) = self.across(found, Family::Ip4) else { return Ok(None) };
                has_hops?;
                Ok(Some(cross::to6(packet, &to)?))
            }
            Read::Broken => Ok(None),
        }
    }

    /// A connection, and what a packet of it is on its other side, if that is of the other family.
    fn across(&self, found: Option<Found>, family: Family) -> Option<(Found, Tuple)> {
        let found = found?;
        let to = self.table.translation(&found)?;
        (to.family() != family).then_some((found, to))
    }

    /// What on the other side goes to whom a packet was from that an error tells of.
    fn told_of(&self, inner: &Tuple, now: Now) -> Option<Tuple> {
        let as_if = inner.inverse();
        let (_, to) = self.across(self.table.find(&as_if, now.second), inner.family())?;
        Some(to)
    }

    /// What a packet of a known connection is on its other side; none of an unknown one.
    fn passes(
        &self,
        known: Option<(Found, Tuple)>,
        tuple: &Tuple,
        seen: Seen,
        pieces: Option<Tuple>,
        now: Now,
    ) -> Result<Option<Tuple>, Uncrossed> {
        let Some((found, to)) = known else { return Ok(None) };
        match self.take_in(&found, tuple, seen, pieces, now) {
            Verdict::Passes(_) => Ok(Some(to)),
            Verdict::Invalid => Err(Uncrossed::Invalid),
            Verdict::Anew => Ok(None),
        }
    }

    /// A connection that somebody inside begins.
    fn begin_out(
        &self,
        tuple: &Tuple,
        server: u32,
        seen: Seen,
        pieces: Option<Tuple>,
        now: Now,
    ) -> Result<Tuple, Uncrossed> {
        let plain = tuple.across4(0, server).ok_or(Uncrossed::Unsupported)?;
        let nat = self.nat(now);
        let begun = match now.only_looks {
            true => nat.would_be_as(tuple, &plain, seen, &self.pool),
            false => nat.from_inside_as(tuple, &plain, seen, &self.pool),
        };
        Ok(self.remember(begun?, pieces, now))
    }

    /// One that somebody outside begins, where anybody may.
    fn begin_back(
        &self,
        tuple: &Tuple,
        to: Tuple,
        seen: Seen,
        pieces: Option<Tuple>,
        now: Now,
    ) -> Result<Tuple, Uncrossed> {
        match now.only_looks {
            true => Ok(to),
            false => Ok(self.remember(self.nat(now).to_inside_as(tuple, to, seen)?, pieces, now)),
        }
    }

    /// Who inside has spoken with somebody by the endpoint that a packet is to.
    fn inside6_of(&self, prefix: Prefix64, tuple: &Tuple, now: Now) -> Option<Tuple> {
        let (host, port) = self.nat(now).inside6_of(tuple)?;
        Some(tuple.across6(prefix.ip6_of(tuple.source4()), host)?.to_inner_port(port))
    }

    fn remember(&self, Begun { found, to }: Begun, pieces: Option<Tuple>, now: Now) -> Tuple {
        if let Some(whose) = pieces
            && !now.only_looks
        {
            self.table.remember_pieces(&whose, &found, now.second);
        }
        to
    }
}

impl Interfaces {
    /// Whether a packet that came in by an interface was of IPv6 there, by who it says sent it.
    pub(crate) fn has_crossed_out(&self, rx: u16, sender: u32) -> bool {
        self.crossing(rx).is_some_and(|nat| nat.is_inside(rx) && nat.is_outer(sender))
    }

    /// Whether it was of IPv4, or of IPv6 from inside to an outer address.
    pub(crate) fn has_crossed_back(&self, rx: u16, sender: u128) -> bool {
        let is_of = |nat: &Nat44| nat.nat64.is_some_and(|prefix| prefix.has(sender));
        self.crossing(rx).is_some_and(is_of)
    }

    fn crossing(&self, rx: u16) -> Option<&Nat44> {
        let Translated(nat) = self.get(rx)?.setting::<Nat64Input>()?;
        nat.nat64.is_some().then_some(nat)
    }
}

/// Octets of a link header, with a tag.
const MOST_LINK: usize = ethernet::Header::LEN + Tag::LEN;

/// Puts other headers in front of a packet, whose link header has `at` octets; false where there
/// is no room for them.
pub(super) fn put(packet: &mut PacketView<'_>, at: usize, front: &Front) -> bool {
    let mut link = [0; MOST_LINK];
    let Some(link) = link.get_mut(..at) else { return false };
    link.copy_from_slice(&packet.header()[..at]);
    packet.truncate(at + front.end);
    let (old, new) = (front.replaces, front.bytes().len());
    let has_room = match old >= new {
        true => packet.advance(old - new),
        false => packet.prepend(new - old),
    };
    if !has_room {
        return false;
    }
    packet.start_here();
    let kind = match ip::version(front.bytes()) {
        4 => ethertype::IPV4,
        _ => ethertype::IPV6,
    };
    if let Some(place) = link.last_chunk_mut() {
        *place = kind.to_be_bytes();
    }
    let (in_link, behind) = packet.header_mut().split_at_mut(at);
    in_link.copy_from_slice(link);
    behind[..new].copy_from_slice(front.bytes());
    true
}
