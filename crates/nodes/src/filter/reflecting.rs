//! Connections of an interface's access lists: what a rule with `reflect` lets begin, and what of
//! it may come back.
//!
//! ```text
//!  packet ─┬─ answers one, tells of an error of one, is a piece of one's ─▶ passes, no rule is asked
//!          └─ a rule with `reflect` ─┬─ of one, or begins one ─▶ passes
//!                                    ├─ can begin none ───────▶ passes, and nothing may come back
//!                                    └─ there is no room ─────▶ dropped
//! ```
//! An interface has a zone of the table: what answers came in, or leaves, where the question left,
//! or came in. Where a translation has its outside, the lists see what leaves as it is inside, and
//! what comes in as it is outside: either is looked up as the translation would make it, too.

use crate::filter::Refusal;
use crate::nat::{Nat44, Nat44Output, Translated};
use crate::tables::Interface;
use conntrack::{
    Direction, Family, Found, Inner, Read, Refused, Seen, Table, Timeouts, Tuple, Verdict, read4,
    read6,
};
use graph::{Context, tsc_hz};
use std::sync::Arc;
use wire::ethernet::ethertype;
use wire::{ip, ipv4, ipv6, vlan};

/// The connections that lists of an interface keep.
#[derive(Debug)]
pub struct Reflecting {
    /// Where they are; others share it.
    pub table: Arc<Table>,
    /// For how long they are kept.
    pub timeouts: Timeouts,
    /// Tells them from those of others.
    pub zone: u16,
}

/// Why a packet passes that no rule is asked about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Belongs {
    /// It answers a packet that a rule with `reflect` let pass.
    Answer,
    /// It tells of an error of such a packet, or of an answer.
    Error,
    /// It is a piece of a packet whose first one passed so.
    Piece,
}

/// When packets are looked at, and whether they are only asked about: the same for all of a run.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The second, by the time-stamp counter.
    pub second: u32,
    /// Nothing is to begin or to change.
    pub only_looks: bool,
}

impl Moment {
    /// By this count of the time-stamp counter.
    pub fn at(tsc: u64) -> Self {
        Self { second: (tsc / tsc_hz()) as u32, only_looks: fib::only_looks() }
    }

    pub(super) fn of(context: &Context<'_>) -> Self {
        Self::at(context.now_tsc)
    }
}

/// What of a frame connections are told by.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// From the IP header on; empty where it has none.
    packet: &'a [u8],
    /// It is in a VLAN, of which the interface tells nothing: connections are not told apart by it.
    pub is_tagged: bool,
}

impl<'a> Sight<'a> {
    /// Of a frame, or of a packet where interfaces carry such.
    pub fn of(bytes: &'a [u8], has_packets: bool) -> Self {
        if has_packets {
            return Self { packet: bytes, is_tagged: false };
        }
        let Some(walk) = vlan::walk(bytes) else { return Self { packet: &[], is_tagged: false } };
        // IEEE 802.1Q section 9.6: VLAN 0 is none.
        let is_tagged = walk.tags().iter().any(|tag| tag.vid() != 0);
        let packet = match walk.ethertype {
            ethertype::IPV4 | ethertype::IPV6 => &bytes[walk.offset..],
            _ => &[],
        };
        Self { packet, is_tagged }
    }

    fn read(&self, zone: u16) -> Read {
        match ip::version(self.packet) {
            4 => read4(self.packet, zone),
            6 => read6(self.packet, zone),
            _ => Read::Broken,
        }
    }

    /// Whether it goes to who sent a packet, as an error of that does.
    fn goes_to_sender_of(&self, tuple: &Tuple) -> bool {
        match tuple.family() {
            Family::Ip6 => ipv6::Header::new(self.packet)
                .is_some_and(|header| header.destination() == tuple.source6()),
            _ => ipv4::Header::new(self.packet)
                .is_some_and(|header| header.destination() == tuple.source4()),
        }
    }
}

/// The translation whose outside an interface is.
pub(super) fn outside_of(row: &Interface) -> Option<&Nat44> {
    row.setting::<Nat44Output>().map(|Translated(nat)| &**nat)
}

impl Reflecting {
    /// Whether a frame of an interface passes without a rule; and its connection is heard of.
    pub fn lets_pass(&self, row: &Interface, sight: Sight<'_>, now: Moment) -> Option<Belongs> {
        self.belongs(outside_of(row), sight, now)
    }

    pub(super) fn belongs(
        &self,
        nat: Option<&Nat44>,
        sight: Sight<'_>,
        now: Moment,
    ) -> Option<Belongs> {
        if sight.is_tagged || sight.packet.is_empty() {
            return None;
        }
        match sight.read(self.zone) {
            Read::Flow { tuple, seen, pieces } => {
                let is_answer = |found: &Found| found.direction == Direction::Reply;
                let found = self.find(nat, &tuple, now.second).filter(is_answer)?;
                self.heard(&found, &tuple, seen, now).then(|| {
                    self.remember(pieces, &found, now);
                    Belongs::Answer
                })
            }
            Read::Error(Inner { tuple, .. }) => {
                let is_related =
                    sight.goes_to_sender_of(&tuple) && self.has(nat, &tuple, now.second);
                is_related.then_some(Belongs::Error)
            }
            Read::Piece(whose) => {
                self.table.find_pieces(&whose, now.second).map(|_| Belongs::Piece)
            }
            Read::Broken => None,
        }
    }

    /// The connection of a packet: as it is here, or as the translation would make it.
    #[inline]
    fn find(&self, nat: Option<&Nat44>, tuple: &Tuple, now_s: u32) -> Option<Found> {
        self.table.find(tuple, now_s).or_else(|| {
            let other_side = translated(nat?, tuple, now_s)?;
            self.table.find(&other_side.in_zone(self.zone), now_s)
        })
    }

    /// Whether a packet that an error tells of is of a connection. Who sent it was sent the error,
    /// which the translation makes of the other direction.
    fn has(&self, nat: Option<&Nat44>, tuple: &Tuple, now_s: u32) -> bool {
        self.find(nat, tuple, now_s).is_some() || self.find(nat, &tuple.inverse(), now_s).is_some()
    }

    /// Takes a packet of a known connection in; false if it cannot be of it, or begins another.
    fn heard(&self, found: &Found, tuple: &Tuple, seen: Seen, now: Moment) -> bool {
        now.only_looks
            || matches!(
                self.table.advance(found, tuple.protocol(), seen, &self.timeouts, now.second),
                Verdict::Passes(_)
            )
    }

    fn remember(&self, pieces: Option<Tuple>, found: &Found, now: Moment) {
        if let Some(whose) = pieces
            && !now.only_looks
        {
            self.table.remember_pieces(&whose, found, now.second);
        }
    }

    /// What a rule with `reflect` makes of a packet.
    pub(super) fn begin(&self, sight: Sight<'_>, now: Moment) -> Result<(), Refusal> {
        if sight.is_tagged {
            return Err(Refusal::Tagged);
        }
        let Read::Flow { tuple, seen, pieces } = sight.read(self.zone) else { return Ok(()) };
        if let Some(found) = self.table.find(&tuple, now.second) {
            let protocol = tuple.protocol();
            let verdict = match now.only_looks {
                true => Verdict::Passes(found.status),
                false => self.table.advance(&found, protocol, seen, &self.timeouts, now.second),
            };
            match verdict {
                Verdict::Passes(_) => {
                    self.remember(pieces, &found, now);
                    return Ok(());
                }
                // The rule lets it pass; it changes nothing of the connection.
                Verdict::Invalid => return Ok(()),
                Verdict::Anew => _ = self.table.end_found(&found),
            }
        }
        if now.only_looks {
            return Ok(());
        }
        let reply = tuple.inverse();
        match self.table.create(&tuple, &reply, seen, &self.timeouts, None, now.second) {
            Ok(found) => {
                self.remember(pieces, &found, now);
                Ok(())
            }
            // A reset, an answer to what a rule without `reflect` let in, a neighbour's question.
            Err(Refused::Invalid) => Ok(()),
            Err(Refused::Busy) => Err(Refusal::Busy),
            Err(Refused::Full | Refused::Taken | Refused::NoPort) => Err(Refusal::NoConnection),
        }
    }

    /// What a rule with `reflect` would make of a packet, in words: it is only asked.
    pub fn would_be(&self, row: &Interface, sight: Sight<'_>, now: Moment) -> &'static str {
        if sight.is_tagged {
            return "of no connection: it has a VLAN's tag";
        }
        match sight.read(self.zone) {
            Read::Flow { tuple, seen, .. } => {
                match self.find(outside_of(row), &tuple, now.second) {
                    Some(_) => "of a known one",
                    None if self.timeouts.begins(tuple.protocol(), seen) => "would begin one",
                    None => "begins none: nothing may come back for it",
                }
            }
            Read::Error(_) => "an error of a packet that is of none",
            Read::Piece(_) => "a piece: begins none",
            Read::Broken => "begins none",
        }
    }
}

/// What a translation makes of a packet whose connection it knows.
fn translated(nat: &Nat44, tuple: &Tuple, now_s: u32) -> Option<Tuple> {
    if tuple.family() != Family::Ip4 {
        return None;
    }
    let found = nat.table.find(&tuple.in_zone(nat.zone), now_s)?;
    nat.table.translation(&found)
}
