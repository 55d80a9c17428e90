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

mod translation;

use crate::tables::Tracking;
use conntrack::{Direction, Found, Inner, Read, Refused, Seen, Table, Tuple, Verdict};
use flow::{Track, Tracked, ct_state, network_of};
use translation::Attempts;
pub use translation::Change;
use wire::ethernet::ethertype;

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
    let mut it = Tracker { step, was: step.was | was, tracking, now, at };
    match read {
        Read::Flow { tuple, seen, pieces } => it.flow(&tuple, seen, pieces),
        Read::Piece(whose) => Ok(it.piece(&whose)),
        Read::Error(inner) => Ok(it.error(packet, inner)),
        Read::Broken => Ok((it.said(ct_state::INV, None), None)),
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
                    let answered = status.is_answered();
                    let state = match known.direction {
                        Direction::Reply => ct_state::EST | ct_state::RPL,
                        Direction::Original if answered => ct_state::EST,
                        Direction::Original => ct_state::NEW,
                    };
                    return Ok(self.known(tuple, state, &known, pieces));
                }
                Verdict::Invalid => return Ok((self.said(ct_state::INV, None), None)),
                Verdict::Anew if self.now.only_looks => {}
                Verdict::Anew => _ = self.table().end_found(&known),
            }
        }
        if !self.tracking.timeouts.begins(tuple.protocol(), seen) {
            return Ok((self.said(ct_state::INV, None), None));
        }
        if !self.step.commits || self.now.only_looks {
            return Ok((self.said(ct_state::NEW, None), None));
        }
        let begun = self.begin(tuple, seen)?;
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
    fn begin(&self, tuple: &Tuple, seen: Seen) -> Result<Found, Untracked> {
        let (table, timeouts) = (self.table(), &self.tracking.timeouts);
        let Some(nat) = self.step.nat.filter(|_| self.was == 0) else {
            let reply = tuple.inverse();
            let begun = table.create(tuple, &reply, seen, timeouts, None, self.now.second);
            return begun.map_err(why);
        };
        for to in Attempts::new(tuple, &nat) {
            match table.create(tuple, &to.inverse(), seen, timeouts, None, self.now.second) {
                Err(Refused::Taken) => {}
                begun => return begun.map_err(why),
            }
        }
        Err(Untracked::NoPort)
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
        if let Some(whose) = pieces.filter(|_| !self.now.only_looks) {
            self.table().remember_pieces(&whose, found, self.now.second);
        }
        let change = self.translation(found).and_then(|to| Change::of(self.at, tuple, &to));
        let change = self.changed(change);
        (self.said(state, Some(found)), change)
    }

    /// What it is on the other side, where that is asked for and was not done.
    #[inline]
    fn translation(&self, found: &Found) -> Option<Tuple> {
        let is_asked = self.step.nat.is_some() && self.was == 0 && found.status.is_translated();
        // Nothing is read of the connection for packets that stay as they are.
        is_asked.then(|| self.table().translation(found)).flatten()
    }

    fn changed(&mut self, change: Option<Change>) -> Option<Change> {
        self.was |= change.as_ref().map_or(0, Change::state);
        change
    }

    /// A piece that is not the first: of the connection of the first one.
    fn piece(&mut self, whose: &Tuple) -> (Tracked, Option<Change>) {
        let Some(found) = self.table().find_pieces(whose, self.now.second) else {
            return (self.said(ct_state::INV, None), None);
        };
        let state = match found.direction {
            Direction::Reply => ct_state::EST | ct_state::RPL,
            Direction::Original if found.status.is_answered() => ct_state::EST,
            Direction::Original => ct_state::NEW,
        };
        self.write(&found);
        // Its addresses: what the first one had, and has on the other side.
        let to = self.translation(&found);
        let from = to.and_then(|_| self.table().translation(&found.reversed()));
        let change = from.zip(to).and_then(|(from, to)| Change::of(self.at, &from.inverse(), &to));
        let change = self.changed(change);
        (self.said(state, Some(&found)), change)
    }

    /// An error that tells of a packet of a connection.
    fn error(&mut self, packet: &[u8], inner: Inner) -> (Tracked, Option<Change>) {
        let as_if = inner.tuple.inverse();
        let Some(found) = self.find(&as_if) else {
            return (self.said(ct_state::INV, None), None);
        };
        let state = match found.direction {
            Direction::Reply => ct_state::REL | ct_state::RPL,
            Direction::Original => ct_state::REL,
        };
        let change = match self.translation(&found) {
            None => None,
            Some(to) => match Change::of_error(self.at, packet, &inner, &to) {
                Some(change) => Some(change),
                // Addresses within that nobody translates are not to be seen.
                None => return (self.said(ct_state::INV, None), None),
            },
        };
        let change = self.changed(change);
        (self.said(state, Some(&found)), change)
    }

    /// Marks and labels a connection as the flow says.
    #[inline]
    fn write(&self, found: &Found) {
        let Track { mark: (mark, mark_bits), label: (label, label_bits), .. } = *self.step;
        if mark_bits == 0 && label_bits == 0 || self.now.only_looks {
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
    fn said(&self, state: u8, found: Option<&Found>) -> Tracked {
        let table = self.table();
        Tracked {
            state: state | ct_state::TRK | self.was,
            zone: self.step.zone,
            mark: found.and_then(|found| table.mark(found)).unwrap_or(0),
            label: found.and_then(|found| table.label(found)).unwrap_or(0),
        }
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
