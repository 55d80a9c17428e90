//! The table of connections.
//!
//! ```text
//!  find ─ index ─▶ entry, in one of two directions           no lock, no write
//!  advance ─▶ its status, by one compare-and-swap            where something changed
//!  create ─ two stripes ─▶ entry ─▶ index, for each direction
//!  sweep, now and then ─▶ what is over goes
//! ```
//! A connection takes 128 octets, and from 32 to 64 of the index. When all are taken a new one
//! takes the place of one nearby that is not assured, an unanswered one first, and of those the one
//! that would end first; where there is none it is refused. Nothing is looked for longer than
//! through four cache lines of the index.

use crate::entry::Entries;
use crate::hash::Secret;
use crate::index::{Index, Place};
use crate::nat::Refused;
use crate::packet::Seen;
use crate::status::{Direction, End, Kind, Status};
use crate::stripes::Stripes;
use crate::tcp::{self, Step, TcpState};
use crate::timeouts::Timeouts;
use crate::tuple::Tuple;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use wire::ip::protocol;

/// Buckets behind each of a tuple's two in which a connection is looked for that makes room.
const NEAR: usize = 1;
/// How long the pieces of a packet are known by its first one (RFC 8200 section 4.5 has a minute;
/// Linux has half of it).
const PIECES_S: u32 = 30;

/// See the module.
#[derive(Debug)]
pub struct Table {
    secret: Secret,
    index: Index,
    entries: Entries,
    stripes: Stripes,
    counts: Counts,
    /// Whether somebody was expected ever.
    expects: AtomicBool,
}

/// What was counted, alone on its cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Counts {
    begun: AtomicU64,
    ended: AtomicU64,
    evicted: AtomicU64,
    refused: AtomicU64,
}

/// What a table counted since it was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Entries that were made: connections, endpoints, packets in pieces.
    pub begun: u64,
    /// Of them, those that are there no more.
    pub ended: u64,
    /// Of those, the ones that made room for others.
    pub evicted: u64,
    /// Those that there was no room for.
    pub refused: u64,
}

/// A connection, or what else an entry is, found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Found {
    pub(crate) slot: u32,
    /// Which side the packet comes from.
    pub direction: Direction,
    /// How it stood.
    pub status: Status,
}

impl Found {
    /// The same, of a packet that goes the other way.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { direction: self.direction.other(), ..self }
    }
}

/// What a connection hangs on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parent {
    pub(crate) slot: u32,
    pub(crate) generation: u16,
    pub(crate) direction: Direction,
}

/// What becomes of a packet of a known connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It belongs to it, which stands so now.
    Passes(Status),
    /// It cannot be of it.
    Invalid,
    /// It begins another in its place.
    Anew,
}

/// A connection as it is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shown {
    /// What who began it sends.
    pub original: Tuple,
    /// What is sent back.
    pub reply: Tuple,
    /// How it stands.
    pub status: Status,
    /// What it was marked with.
    pub mark: u32,
}

impl Table {
    /// Room for so many connections. `seed`: nobody outside is to know it.
    pub fn new(connections: usize, seed: u64) -> Self {
        Self {
            secret: Secret::new(seed),
            index: Index::new(connections),
            entries: Entries::new(connections),
            stripes: Stripes::new(),
            counts: Counts::default(),
            expects: AtomicBool::new(false),
        }
    }

    #[inline(always)]
    pub(crate) fn hash(&self, tuple: &Tuple) -> u64 {
        self.secret.hash(tuple)
    }

    #[inline(always)]
    pub(crate) fn index(&self) -> &Index {
        &self.index
    }

    #[inline(always)]
    pub(crate) fn entries(&self) -> &Entries {
        &self.entries
    }

    pub(crate) fn expects(&self) -> &AtomicBool {
        &self.expects
    }

    /// Octets that it takes.
    pub fn bytes(&self) -> usize {
        self.index.bytes() + self.entries.bytes()
    }

    /// How many connections there is room for.
    pub fn room(&self) -> usize {
        self.entries.len()
    }

    /// What it counted.
    pub fn counters(&self) -> Counters {
        let Counts { begun, ended, evicted, refused } = &self.counts;
        // What has ended is read first: never more of them than have begun.
        let ended = ended.load(Ordering::Acquire);
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Counters { begun: of(begun), ended, evicted: of(evicted), refused: of(refused) }
    }

    /// The connection of a tuple.
    #[inline]
    pub fn find(&self, tuple: &Tuple, now_s: u32) -> Option<Found> {
        self.find_at(self.secret.hash(tuple), tuple, now_s)
    }

    #[inline]
    pub(crate) fn find_at(&self, hash: u64, tuple: &Tuple, now_s: u32) -> Option<Found> {
        self.index.find(hash, |place| self.is_at(place, tuple, now_s))
    }

    /// The connection in a place, if it is that of a tuple.
    #[inline(always)]
    pub(crate) fn is_at(&self, place: Place, tuple: &Tuple, now_s: u32) -> Option<Found> {
        let Place { slot, direction } = place;
        let status = self.entries.get(slot)?.is(tuple, direction)?;
        (!status.is_over(now_s)).then_some(Found { slot, direction, status })
    }

    /// The connection that a packet is a piece of.
    pub fn find_pieces(&self, pieces: &Tuple, now_s: u32) -> Option<Found> {
        let found = self.find(pieces, now_s)?;
        let (slot, generation, direction) = self.entries.get(found.slot)?.parent(found.status)?;
        let status = self.entries.get(slot)?.status();
        let is_there = status.generation() == generation && !status.is_free();
        is_there.then_some(Found { slot, direction, status })
    }

    /// Remembers of which connection the pieces of a packet are.
    pub fn remember_pieces(&self, pieces: &Tuple, of: &Found, now_s: u32) {
        let parent =
            Parent { slot: of.slot, generation: of.status.generation(), direction: of.direction };
        let status = Status::new(Kind::Pieces, TcpState::None, 0).until(now_s + PIECES_S);
        // Where there is no room the other pieces are refused: nothing else is lost.
        let _ = self.create_entry(pieces, pieces, status, Some(parent), now_s);
    }

    /// What a packet of a connection is on the other side; none if that has ended meanwhile.
    #[inline]
    pub fn translation(&self, found: &Found) -> Option<Tuple> {
        let entry = self.entries.get(found.slot)?;
        Some(entry.tuple(found.status, found.direction.other())?.inverse())
    }

    /// What a connection was marked with.
    pub fn mark(&self, found: &Found) -> Option<u32> {
        self.entries.get(found.slot)?.mark(found.status)
    }

    /// Marks a connection.
    pub fn set_mark(&self, found: &Found, mark: u32) {
        if let Some(entry) = self.entries.get(found.slot) {
            entry.set_mark(mark);
        }
    }

    /// What a connection was marked with, its label, and what who began it sends.
    #[inline(always)]
    pub fn told(&self, found: &Found) -> Option<(u32, u128, Tuple)> {
        self.entries.get(found.slot)?.told(found.status)
    }

    /// A connection's label: 128 bits more of whoever looks.
    pub fn label(&self, found: &Found) -> Option<u128> {
        self.entries.get(found.slot)?.label(found.status)
    }

    /// Gives a connection a label.
    pub fn set_label(&self, found: &Found, label: u128) {
        if let Some(entry) = self.entries.get(found.slot) {
            entry.set_label(found.status, label);
        }
    }

    /// Takes a packet of a connection in.
    #[inline]
    pub fn advance(
        &self,
        found: &Found,
        protocol: u8,
        seen: Seen,
        timeouts: &Timeouts,
        now_s: u32,
    ) -> Verdict {
        let Some(entry) = self.entries.get(found.slot) else { return Verdict::Invalid };
        let mut old = found.status;
        loop {
            let mut new = old;
            if let (protocol::TCP, Seen::Tcp(flags)) = (protocol, seen) {
                match tcp::step(old.tcp(), old.closed_by(), flags, found.direction) {
                    Step::To(state, by) => new = new.with_tcp(state, by),
                    Step::Ignored => return Verdict::Passes(old),
                    Step::Invalid => return Verdict::Invalid,
                    Step::Anew => return Verdict::Anew,
                }
            }
            if found.direction == Direction::Reply {
                new = new.answered();
            }
            if new.is_answered() && assures(protocol, new) {
                new = new.assured();
            }
            let timeout = timeouts.of(protocol, new);
            let until = now_s.saturating_add(timeout);
            // A second of two minutes more is not worth a cache line that others read.
            let is_old_enough = until > old.expires_s().saturating_add(timeout >> 5);
            if new == old && !is_old_enough {
                return Verdict::Passes(old);
            }
            new = new.until(until);
            match entry.change(old, new) {
                Ok(()) => {
                    if let Some((slot, generation, _)) = entry.parent(new) {
                        self.keep(slot, generation, until, new.is_assured());
                    }
                    return Verdict::Passes(new);
                }
                // It ended a moment ago; the packet was of it nevertheless.
                Err(now) if now.generation() != old.generation() || now.is_free() => {
                    return Verdict::Passes(old);
                }
                Err(now) => old = now,
            }
        }
    }

    /// Keeps what a connection hangs on for as long as that.
    pub(crate) fn keep(&self, slot: u32, generation: u16, until: u32, is_assured: bool) {
        let Some(entry) = self.entries.get(slot) else { return };
        let mut old = entry.status();
        loop {
            if old.generation() != generation || old.is_free() {
                return;
            }
            let mut new = old.until(old.expires_s().max(until));
            if is_assured {
                new = new.assured();
            }
            match entry.change(old, new) {
                Ok(()) => return,
                Err(now) => old = now,
            }
        }
    }

    /// Begins a connection by a packet. What there is of this tuple already, another worker has
    /// just made.
    pub fn create(
        &self,
        original: &Tuple,
        reply: &Tuple,
        seen: Seen,
        timeouts: &Timeouts,
        parent: Option<Parent>,
        now_s: u32,
    ) -> Result<Found, Refused> {
        let tcp = timeouts.begin(original.protocol(), seen).ok_or(Refused::Invalid)?;
        let mut status = Status::new(Kind::Connection, tcp, 0);
        if original.inverse() != *reply {
            status = status.translated(End::Source);
        }
        let until = now_s.saturating_add(timeouts.of(original.protocol(), status));
        let found = self.create_entry(original, reply, status.until(until), parent, now_s)?;
        if let Some(parent) = parent {
            self.keep(parent.slot, parent.generation, until, false);
        }
        Ok(found)
    }

    /// Makes an entry that neither of its tuples has yet. One tuple in both places: it is found in
    /// one direction.
    pub(crate) fn create_entry(
        &self,
        original: &Tuple,
        reply: &Tuple,
        status: Status,
        parent: Option<Parent>,
        now_s: u32,
    ) -> Result<Found, Refused> {
        let hashes = [original, reply].map(|tuple| self.secret.hash(tuple));
        let held = self.stripes.hold(hashes[0], None).ok_or(Refused::Busy)?;
        let _beside = self.stripes.hold(hashes[1], Some(&held)).ok_or(Refused::Busy)?;
        if let Some(found) = self.find_at(hashes[0], original, now_s) {
            return Ok(found);
        }
        if self.find_at(hashes[1], reply, now_s).is_some() {
            return Err(Refused::Taken);
        }
        for (hash, tuple) in hashes.into_iter().zip([original, reply]) {
            self.end_old(hash, tuple);
        }
        let found = self.fill(hashes, original, reply, status, parent);
        if found.is_err() {
            self.counts.refused.fetch_add(1, Ordering::Relaxed);
        }
        found
    }

    /// What is over of a tuple goes at once: nothing is found twice.
    fn end_old(&self, hash: u64, tuple: &Tuple) {
        while let Some((slot, status)) = self.index.find(hash, |Place { slot, direction }| {
            Some((slot, self.entries.get(slot)?.is(tuple, direction)?))
        }) {
            if !self.end(slot, status) {
                return;
            }
        }
    }

    fn fill(
        &self,
        hashes: [u64; 2],
        original: &Tuple,
        reply: &Tuple,
        status: Status,
        parent: Option<Parent>,
    ) -> Result<Found, Refused> {
        let slot = match self.entries.take() {
            Some(slot) => slot,
            None => {
                self.evict(hashes[0]);
                self.entries.take().ok_or(Refused::Full)?
            }
        };
        let entry = self.entries.get(slot).ok_or(Refused::Full)?;
        let generation = entry.status().generation();
        let status = Status(status.0 | u64::from(generation) << 48);
        let parent = parent.map(|it| (it.slot, it.generation, it.direction));
        entry.write(status, [original, reply], parent);
        self.counts.begun.fetch_add(1, Ordering::Relaxed);
        let places =
            [Direction::Original, Direction::Reply].map(|direction| Place { slot, direction });
        let many = if original == reply { 1 } else { 2 };
        for (hash, place) in hashes.into_iter().zip(places).take(many) {
            if self.index.insert(hash, place) {
                continue;
            }
            self.evict(hash);
            if !self.index.insert(hash, place) {
                self.end(slot, status);
                return Err(Refused::Full);
            }
        }
        Ok(Found { slot, direction: Direction::Original, status })
    }

    /// Makes room near a hash.
    fn evict(&self, hash: u64) {
        let near = self.index.around(hash, NEAR);
        let candidates = near.filter_map(|Place { slot, .. }| {
            let status = self.entries.get(slot)?.status();
            let may_go = !status.is_free() && !status.is_assured();
            may_go.then_some((status.is_answered(), status.expires_s(), slot, status))
        });
        let first =
            candidates.min_by_key(|(answered, expires, slot, _)| (*answered, *expires, *slot));
        if let Some((.., slot, status)) = first
            && self.end(slot, status)
        {
            self.counts.evicted.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Ends one; false if it has ended by another hand.
    fn end(&self, slot: u32, status: Status) -> bool {
        if !self.entries.end(slot, status) {
            return false;
        }
        if let Some(entry) = self.entries.get(slot) {
            // Nobody writes it before it is given back.
            let free = entry.status();
            for direction in [Direction::Original, Direction::Reply] {
                if let Some(tuple) = entry.tuple(free, direction) {
                    self.index.remove(self.secret.hash(&tuple), Place { slot, direction });
                }
            }
        }
        self.counts.ended.fetch_add(1, Ordering::Release);
        self.entries.give(slot);
        true
    }

    /// Ends a connection; false if it has ended already.
    pub fn end_found(&self, found: &Found) -> bool {
        self.end(found.slot, found.status)
    }

    /// Ends what is over among `count` entries from number `from` on, and says where to go on; 0
    /// behind the last.
    pub fn sweep(&self, from: usize, count: usize, now_s: u32) -> usize {
        let until = from.saturating_add(count).min(self.entries.len());
        for slot in from..until {
            let slot = slot as u32;
            let Some(status) = self.entries.get(slot).map(|entry| entry.status()) else { break };
            if !status.is_free() && status.is_over(now_s) {
                self.end(slot, status);
            }
        }
        if until >= self.entries.len() { 0 } else { until }
    }

    /// Shows connections among `count` entries from number `from` on, and says where to go on; 0
    /// behind the last. Those that `picks` says no to stay.
    pub fn each(
        &self,
        from: usize,
        count: usize,
        now_s: u32,
        mut show: impl FnMut(Shown) -> bool,
    ) -> usize {
        let until = from.saturating_add(count).min(self.entries.len());
        for slot in from..until {
            let slot = slot as u32;
            let Some(entry) = self.entries.get(slot) else { break };
            let status = entry.status();
            if status.is_free() || status.is_over(now_s) {
                continue;
            }
            let (Some(original), Some(reply), Some(mark)) = (
                entry.tuple(status, Direction::Original),
                entry.tuple(status, Direction::Reply),
                entry.mark(status),
            ) else {
                continue;
            };
            if show(Shown { original, reply, status, mark }) {
                self.end(slot, status);
            }
        }
        if until >= self.entries.len() { 0 } else { until }
    }
}

/// Whether an answered connection is one that both sides want.
#[inline]
fn assures(protocol: u8, status: Status) -> bool {
    match protocol {
        protocol::TCP => status.tcp() >= TcpState::Established,
        protocol::ICMP4 | protocol::ICMP6 => false,
        _ => true,
    }
}
