//! Places of the table and turns at asking, by interface and family: a scan of one link takes those
//! of its own share, and nobody else's.
//!
//! ```text
//!  share of p1, IPv6   neighbours ▒▒▒▒▒▒▒▒▒▒▒▒░░░░░░ most_each
//!                      of these, without an answer ▒▒▒▒░░ most_unresolved
//!  gives way first     failed ◀ not asked yet ◀ asked ◀ heard, and nobody sent to it    (oldest first)
//!  is asked first      known, or a route's ◀ new (newest first) ◀ asked before      shares take turns
//! ```
//! What is known and in use, what routes lead over and what the operator set never gives way. Each
//! share has `least_each` places that no other can take; beyond those, all together have
//! `capacity`, and if that is used up, whoever has the most that can go makes room.
//!
//! Cost: some steps in ordered trees an event.

use super::{NeighborConfig, NeighborKey, ShareKey, ShareView};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;

/// What gives way first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Spare {
    /// It did not answer.
    Failed,
    /// Nobody asked for it yet.
    Unasked,
    /// It may still answer.
    Asked,
    /// It was heard; nobody sent to it.
    Unused,
}

/// What is asked first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Turn {
    /// Packets leave for it, or routes lead over it.
    Known,
    /// It was never asked.
    New,
    /// It did not answer yet.
    Again,
}

/// Who wants a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Newcomer {
    /// A packet waits for it.
    Unresolved,
    /// It was heard.
    Heard,
    /// A route leads over it, or the operator set it.
    Fixed,
}

/// What the books have of a neighbour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// How easily it gives way, and since when it is so.
    pub(super) spare: Option<(Spare, u64)>,
    /// Its place among those that wait to be asked for.
    pub(super) waits: Option<(Turn, u64)>,
}

/// Whether there is a place.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Room {
    There,
    /// If this one goes.
    Of(NeighborKey),
    Nowhere,
}

#[derive(Debug, Default)]
struct Share {
    neighbors: usize,
    unresolved: usize,
    spare: BTreeSet<(Spare, u64, IpAddr)>,
    waiting: BTreeSet<(Turn, u64, IpAddr)>,
    /// It is among those that take turns.
    takes_turns: bool,
    evicted: u64,
    refused: u64,
    no_buffer: u64,
}

/// All shares.
#[derive(Debug)]
pub(super) struct Shares {
    least_each: usize,
    shares: BTreeMap<ShareKey, Share>,
    /// Neighbours beyond what each share has for itself.
    above: usize,
    /// How many of each can give way.
    spares: BTreeSet<(usize, ShareKey)>,
    turns: VecDeque<ShareKey>,
    waited: u64,
    crowded: BTreeSet<ShareKey>,
}

impl Shares {
    pub(super) fn new(least_each: usize) -> Shares {
        Shares {
            least_each,
            shares: BTreeMap::new(),
            above: 0,
            spares: BTreeSet::new(),
            turns: VecDeque::new(),
            waited: 0,
            crowded: BTreeSet::new(),
        }
    }

    /// Whether there is room for one more of `of`.
    pub(super) fn room(&self, of: ShareKey, who: Newcomer, config: &NeighborConfig) -> Room {
        let (neighbors, unresolved) =
            self.shares.get(&of).map_or((0, 0), |share| (share.neighbors, share.unresolved));
        let is_full = match who {
            Newcomer::Unresolved => {
                unresolved >= config.most_unresolved || neighbors >= config.most_each
            }
            Newcomer::Heard => neighbors >= config.most_each,
            Newcomer::Fixed => false,
        };
        if is_full {
            return self.first_spare(of);
        }
        if neighbors < self.least_each || self.above < config.capacity {
            return Room::There;
        }
        self.spares.last().map_or(Room::Nowhere, |(_, fattest)| self.first_spare(*fattest))
    }

    fn first_spare(&self, of: ShareKey) -> Room {
        let spare = self.shares.get(&of).and_then(|share| share.spare.first());
        spare.map_or(Room::Nowhere, |(_, _, address)| Room::Of(of.key(*address)))
    }

    /// A neighbour comes, changes or goes.
    pub(super) fn change(&mut self, key: NeighborKey, old: Option<Place>, new: Option<Place>) {
        if old == new {
            return;
        }
        let (of, address) = (key.share(), key.address);
        let share = self.shares.entry(of).or_default();
        let (before, spares_before) = (share.neighbors, share.spare.len());
        if let Some(old) = old {
            share.neighbors -= 1;
            if let Some((rank, since_ns)) = old.spare {
                share.spare.remove(&(rank, since_ns, address));
                share.unresolved -= usize::from(rank != Spare::Unused);
            }
            if let Some((turn, number)) = old.waits {
                share.waiting.remove(&(turn, number, address));
            }
        }
        if let Some(new) = new {
            share.neighbors += 1;
            if let Some((rank, since_ns)) = new.spare {
                share.spare.insert((rank, since_ns, address));
                share.unresolved += usize::from(rank != Spare::Unused);
            }
            if let Some((turn, number)) = new.waits {
                share.waiting.insert((turn, number, address));
                if !std::mem::replace(&mut share.takes_turns, true) {
                    self.turns.push_back(of);
                }
            }
        }
        let beyond = |neighbors: usize| neighbors.saturating_sub(self.least_each);
        self.above = self.above + beyond(share.neighbors) - beyond(before);
        if share.spare.len() != spares_before {
            self.spares.remove(&(spares_before, of));
            if !share.spare.is_empty() {
                self.spares.insert((share.spare.len(), of));
            }
        }
    }

    /// A place among those that wait to be asked for. Of the new ones the newest is next: its
    /// packet is still there, and the oldest gave up.
    pub(super) fn wait(&mut self, turn: Turn) -> (Turn, u64) {
        self.waited += 1;
        match turn {
            Turn::New => (turn, u64::MAX - self.waited),
            Turn::Known | Turn::Again => (turn, self.waited),
        }
    }

    /// Who is to be asked for next. It stays so until it waits no more.
    pub(super) fn next_turn(&mut self) -> Option<NeighborKey> {
        loop {
            let of = *self.turns.front()?;
            let share = self.shares.entry(of).or_default();
            if let Some((_, _, address)) = share.waiting.first() {
                return Some(of.key(*address));
            }
            share.takes_turns = false;
            self.turns.pop_front();
        }
    }

    /// The share whose turn it was goes behind the others.
    pub(super) fn end_turn(&mut self) {
        if !self.turns.is_empty() {
            self.turns.rotate_left(1);
        }
    }

    /// Whether anybody may wait.
    pub(super) fn is_waiting(&self) -> bool {
        self.turns.iter().any(|of| self.shares.get(of).is_some_and(|it| !it.waiting.is_empty()))
    }

    /// One gave way to another.
    pub(super) fn evicted(&mut self, of: ShareKey) {
        self.shares.entry(of).or_default().evicted += 1;
        self.crowded.insert(of);
    }

    /// There was no place.
    pub(super) fn refused(&mut self, of: ShareKey) {
        self.shares.entry(of).or_default().refused += 1;
        self.crowded.insert(of);
    }

    /// A request found no buffer.
    pub(super) fn no_buffer(&mut self, of: ShareKey) {
        self.shares.entry(of).or_default().no_buffer += 1;
    }

    /// Those in which somebody gave way or was refused since the last call.
    pub(super) fn take_crowded(&mut self) -> BTreeSet<ShareKey> {
        std::mem::take(&mut self.crowded)
    }

    /// Counts anew of an interface, which is another one now.
    pub(super) fn clear_counts(&mut self, interface: u16) {
        for (of, share) in &mut self.shares {
            if of.interface == interface {
                (share.evicted, share.refused, share.no_buffer) = (0, 0, 0);
            }
        }
    }

    pub(super) fn view(&self, of: ShareKey, config: &NeighborConfig) -> ShareView {
        let share = self.shares.get(&of);
        let count = |of: fn(&Share) -> u64| share.map_or(0, of);
        ShareView {
            share: of,
            neighbors: share.map_or(0, |share| share.neighbors),
            most: config.most_each,
            unresolved: share.map_or(0, |share| share.unresolved),
            most_unresolved: config.most_unresolved,
            evicted: count(|share| share.evicted),
            refused: count(|share| share.refused),
            no_buffer: count(|share| share.no_buffer),
        }
    }

    /// All that have or had neighbours.
    pub(super) fn all(&self) -> impl Iterator<Item = ShareKey> + '_ {
        self.shares.keys().copied()
    }
}
