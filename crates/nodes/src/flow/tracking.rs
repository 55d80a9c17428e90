//! What connection tracking says of a packet, and does to it, where flows ask for it.
//!
//! ```text
//!  frame, Track ─▶ Read ─┬─ known ─────────▶ est, rpl, or new while nobody has answered
//!                        ├─ begins one ────▶ new; remembered where the flow says `commit`
//!                        ├─ tells of one ──▶ rel                          (an error of ICMP)
//!                        └─ neither ───────▶ inv
//! ```
//! Bits of the state, and when they are set, are those of Open vSwitch's userspace datapath
//! (ovs-fields(7)), but for `est`: a connection that nobody has answered is `new`, as in its
//! kernel datapath.

mod speech;
mod translation;

use crate::tables::Tracking;
use conntrack::{
    Asked, Begins, Direction, End, Expected, Family, Found, Helper, Inner, Read, Refused, Seen,
    Status, Table, Tuple, Verdict,
};
use flow::{Origin, Track, Tracked, ct_state, helper, network_of};
use speech::Heard;
use translation::Attempts;
pub use translation::Change;
use wire::ethernet::ethertype;
use wire::ip::protocol;

/// Why a packet goes no further.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Untracked {
    /// No room for its connection.
    Full,
    /// No address and port is free to stand for its own.
    NoPort,
    /// Another worker was making a connection at that moment.
    Busy,
}

/// When a packet is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// The second.
    pub second: u32,
    /// Nothing is to begin or to change.
    pub only_looks: bool,
}

/// What is said of a frame, and what it has to become.
pub type Said = Result<(Tracked, Option<Change>), Untracked>;

/// Looks at a frame. `was`: how it was translated in this zone since the flow was asked for, bits
/// of [`ct_state`].
pub fn track(frame: &[u8], step: &Track, was: u8, tracking: &Tracking, now: Now) -> Said {
    let (kind, at) = network_of(frame).unwrap_or_default();
    let packet = frame.get(at..).unwrap_or_default();
    let read = match kind {
        ethertype::IPV4 => conntrack::read4(packet, step.zone),
        ethertype::IPV6 => conntrack::read6(packet, step.zone),
        _ => Read::Broken,
    };
    let mut it = Tracker { step, was: step.was | was, tracking, now, at, packet };
    match read {
        Read::Flow { tuple, seen, pieces } => it.flow(&tuple, seen, pieces),
        Read::Piece(whose) => Ok(it.piece(&whose)),
        Read::Error(inner) => Ok(it.error(inner)),
        Read::Broken => Ok((it.said_invalid(), None)),
    }
}

/// What is said of a packet whose connection was asked for and is known, and what it is to look
/// like: where nothing begins, ends or is written by it. Of others [`track`] says it.
#[inline(always)]
pub(super) fn track_known(
    asked: &Asked,
    step: &Track,
    tracking: &Tracking,
    now: Now,
) -> Option<(Tracked, Option<Tuple>)> {
    let writes = step.mark.1 != 0 || step.label.1 != 0;
    if step.was != 0 || step.forces || writes || now.only_looks {
        return None;
    }
    let table = &tracking.table;
    let found = table.find_asked(asked, now.second)?;
    if found.status.helper().is_some() || found.status.is_related() {
        return None;
    }
    let (mark, label, begun) = table.told(&found)?;
    let is_translated = step.nat.is_some() && found.status.is_translated();
    let (to, was) = match (is_translated, found.status.translated_end(found.direction)) {
        (false, _) => (None, 0),
        (true, End::Source) => (Some(table.translation(&found)?), ct_state::SNAT),
        (true, End::Destination) => (Some(table.translation(&found)?), ct_state::DNAT),
    };
    let (protocol, timeouts) = (asked.tuple.protocol(), &tracking.timeouts);
    // What is no packet of it has changed nothing.
    let advanced = table.advance(&found, protocol, asked.seen, timeouts, now.second);
    let Verdict::Passes(status) = advanced else { return None };
    let state = ct_state::TRK | was | state_of(found.direction, status);
    Some((Tracked { state, zone: step.zone, mark, label, origin: origin(&begun) }, to))
}

/// Of a packet of a connection that stands so.
#[inline(always)]
fn state_of(direction: Direction, status: Status) -> u8 {
    match direction {
        Direction::Reply => ct_state::EST | ct_state::RPL,
        Direction::Original if status.is_answered() => ct_state::EST,
        Direction::Original => ct_state::NEW,
    }
}

struct Tracker<'a> {
    step: &'a Track,
    /// How it was translated in this zone already.
    was: u8,
    tracking: &'a Tracking,
    now: Now,
    /// Where the packet begins.
    at: usize,
    packet: &'a [u8],
}

impl Tracker<'_> {
    fn table(&self) -> &Table {
        &self.tracking.table
    }

    /// The connection of a packet; of one that was translated already, by what it was.
    #[inline]
    fn find(&self, tuple: &Tuple) -> Option<Found> {
        if self.was != 0
            && let Some(found) = self.table().find(&tuple.inverse(), self.now.second)
        {
            return Some(found.reversed());
        }
        self.table().find(tuple, self.now.second)
    }

    fn flow(&mut self, tuple: &Tuple, seen: Seen, pieces: Option<Tuple>) -> Said {
        let mut found = self.find(tuple);
        if self.step.forces
            && !self.now.only_looks
            && let Some(known) = found.filter(|it| it.direction == Direction::Reply)
        {
            self.table().end_found(&known);
            found = None;
        }
        if let Some(known) = found {
            match self.advance(&known, tuple.protocol(), seen) {
                Verdict::Passes(status) => {
                    let state = state_of(known.direction, status);
                    return Ok(self.known(tuple, state, &known, pieces));
                }
                Verdict::Invalid => return Ok((self.said_invalid(), None)),
                Verdict::Anew if self.now.only_looks => {}
                Verdict::Anew => _ = self.table().end_found(&known),
            }
        }
        if !self.tracking.timeouts.begins(tuple.protocol(), seen) {
            return Ok((self.said_invalid(), None));
        }
        let expected = self.table().expected(tuple, self.now.second);
        if !self.step.commits || self.now.only_looks {
            return Ok((self.said_new(tuple, expected), None));
        }
        let begun = self.begin(tuple, seen, expected)?;
        Ok(self.known(tuple, ct_state::NEW, &begun, pieces))
    }

    #[inline]
    fn advance(&self, found: &Found, protocol: u8, seen: Seen) -> Verdict {
        if self.now.only_looks {
            return Verdict::Passes(found.status);
        }
        let timeouts = &self.tracking.timeouts;
        self.table().advance(found, protocol, seen, timeouts, self.now.second)
    }

    /// Remembers a connection, as what it is to look like.
    fn begin(
        &self,
        tuple: &Tuple,
        seen: Seen,
        expected: Option<Expected>,
    ) -> Result<Found, Untracked> {
        let table = self.table();
        let helper = match (self.step.helper, tuple.protocol()) {
            (helper::FTP, protocol::TCP) => Some(Helper::Ftp),
            (helper::TFTP, protocol::UDP) => Some(Helper::Tftp),
            _ => None,
        };
        let begin = |to: &Tuple, translated: Option<End>| {
            let (reply, begins) = (to.inverse(), Begins { translated, helper, expected });
            let timeouts = &self.tracking.timeouts;
            table.begin((tuple, &reply), begins, seen, timeouts, self.now.second)
        };
        let Some(nat) = self.step.nat.filter(|_| self.was == 0) else {
            let begun = begin(tuple, None).map_err(why)?;
            self.inherit(&begun, expected);
            return Ok(begun);
        };
        // What another connection brings is translated as that is, whatever is asked for.
        if let Some(it) = expected {
            let (to, end) = table.expected_as(tuple, &it).ok_or(Untracked::Busy)?;
            let begun = begin(&to, Some(end)).map_err(why)?;
            self.inherit(&begun, expected);
            return Ok(begun);
        }
        for (to, end) in Attempts::new(tuple, &nat) {
            match begin(&to, end) {
                Err(Refused::Taken) => {}
                begun => return begun.map_err(why),
            }
        }
        Err(Untracked::NoPort)
    }

    /// A connection that another brought has its mark and label.
    fn inherit(&self, begun: &Found, expected: Option<Expected>) {
        let Some(Expected { of }) = expected else { return };
        if let (Some(mark), Some(label)) = (self.table().mark(&of), self.table().label(&of)) {
            self.table().set_mark(begun, mark);
            self.table().set_label(begun, label);
        }
    }

    /// Of a packet of a connection.
    #[inline]
    fn known(
        &mut self,
        tuple: &Tuple,
        state: u8,
        found: &Found,
        pieces: Option<Tuple>,
    ) -> (Tracked, Option<Change>) {
        self.write(found);
        let heard = match found.status.helper().filter(|_| !self.now.only_looks) {
            Some(helper) => self.hear(helper, found),
            None => Heard::Well(None),
        };
        if let Some(whose) = pieces.filter(|_| !self.now.only_looks) {
            self.table().remember_pieces(&whose, found, self.now.second);
        }
        let change = self.translation(found).and_then(|to| Change::of(self.at, tuple, &to));
        match heard {
            Heard::Well(None) => (self.said(state, found), change),
            Heard::Well(Some(speech)) => {
                let change = change.unwrap_or(Change::nothing(self.at));
                (self.said(state, found), Some(change.saying(speech)))
            }
            Heard::Badly => (self.said(state | ct_state::INV, found), change),
        }
    }

    /// What it is on the other side, where that is asked for and was not done. From now on it was,
    /// also where nothing changes by it.
    #[inline]
    fn translation(&mut self, found: &Found) -> Option<Tuple> {
        let is_asked = self.step.nat.is_some() && self.was == 0 && found.status.is_translated();
        // Nothing is read of the connection for packets that stay as they are.
        let to = is_asked.then(|| self.table().translation(found)).flatten()?;
        self.was = match found.status.translated_end(found.direction) {
            End::Source => ct_state::SNAT,
            End::Destination => ct_state::DNAT,
        };
        Some(to)
    }

    /// A piece that is not the first: of the connection of the first one.
    fn piece(&mut self, whose: &Tuple) -> (Tracked, Option<Change>) {
        let Some(found) = self.table().find_pieces(whose, self.now.second) else {
            return (self.said_invalid(), None);
        };
        let state = state_of(found.direction, found.status);
        self.write(&found);
        // Its addresses: what the first one had, and has on the other side.
        let to = self.translation(&found);
        let from = to.and_then(|_| self.table().translation(&found.reversed()));
        let change = from.zip(to).and_then(|(from, to)| Change::of(self.at, &from.inverse(), &to));
        (self.said(state, &found), change)
    }

    /// An error that tells of a packet of a connection.
    fn error(&mut self, inner: Inner) -> (Tracked, Option<Change>) {
        let as_if = inner.tuple.inverse();
        let Some(found) = self.find(&as_if) else {
            return (self.said_invalid(), None);
        };
        let state = match found.direction {
            Direction::Reply => ct_state::REL | ct_state::RPL,
            Direction::Original => ct_state::REL,
        };
        self.write(&found);
        let to = self.translation(&found);
        let change = to.and_then(|to| Change::of_error(self.at, self.packet, &inner, &to));
        (self.said(state, &found), change)
    }

    /// Marks and labels a connection as the flow says.
    #[inline]
    fn write(&self, found: &Found) {
        let Track { mark: (mark, mark_bits), label: (label, label_bits), .. } = *self.step;
        if mark_bits == 0 && label_bits == 0 || self.now.only_looks {
            return;
        }
        // What another connection brought is marked as that was.
        if found.status.is_related() {
            return;
        }
        let table = self.table();
        if let Some(had) = table.mark(found)
            && had & mark_bits != mark
        {
            table.set_mark(found, had & !mark_bits | mark);
        }
        if let Some(had) = table.label(found)
            && had & label_bits != label
        {
            table.set_label(found, had & !label_bits | label);
        }
    }

    /// What is known of it then.
    #[inline]
    fn said(&self, state: u8, found: &Found) -> Tracked {
        let table = self.table();
        let related = if found.status.is_related() { ct_state::REL } else { 0 };
        Tracked {
            state: state | related | ct_state::TRK | self.was,
            zone: self.step.zone,
            mark: table.mark(found).unwrap_or(0),
            label: table.label(found).unwrap_or(0),
            origin: table.origin(found).map(|tuple| origin(&tuple)).unwrap_or_default(),
        }
    }

    /// The same of one that begins a connection, which nobody remembers.
    fn said_new(&self, tuple: &Tuple, expected: Option<Expected>) -> Tracked {
        let (state, zone) = (ct_state::NEW | ct_state::TRK | self.was, self.step.zone);
        let Some(Expected { of }) = expected else {
            return Tracked { state, zone, origin: origin(tuple), ..Tracked::default() };
        };
        // Of one that another brings, all but this is that one's.
        Tracked { state: state | ct_state::REL, ..self.said(0, &of) }
    }

    /// The same of one that can be of none: how it was translated before is not asked any more.
    fn said_invalid(&self) -> Tracked {
        let (state, zone) = (ct_state::INV | ct_state::TRK, self.step.zone);
        Tracked { state, zone, ..Tracked::default() }
    }
}

/// A connection's tuple, as flows are told of it: type and code where ICMP has no ports.
#[inline]
fn origin(tuple: &Tuple) -> Origin {
    let (protocol, to) = (tuple.protocol(), tuple.destination_port());
    let ports = match protocol {
        protocol::ICMP4 | protocol::ICMP6 => (to >> 8, to & 0xff),
        _ => (tuple.source_port(), to),
    };
    match tuple.family() {
        Family::Ip6 => Origin::ip6(tuple.source6(), tuple.destination6(), protocol, ports),
        _ => Origin::ip4(tuple.source4(), tuple.destination4(), protocol, ports),
    }
}

fn why(refused: Refused) -> Untracked {
    match refused {
        Refused::Full => Untracked::Full,
        Refused::Busy => Untracked::Busy,
        // That it may begin one was looked at.
        Refused::Taken | Refused::NoPort | Refused::Invalid => Untracked::NoPort,
    }
}
