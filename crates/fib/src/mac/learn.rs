//! Learning from several workers at once, without locks.
//!
//! ```text
//!   key found   same port, same tick ─▶ nothing stored
//!               same port, later     ─▶ new stamp         (compare and swap of the data)
//!               other port           ─▶ new port: Moved   (likewise)
//!   not found   claim a free slot by compare and swap of its key, then write its data
//! ```
//!
//! Two workers may claim two slots for one key, when a slot came free between their scans. Each
//! looks for the other after its claim, with a fence between, so that at least one sees both; who
//! does gives up the later. `tests/mac_claims.rs` tries every interleaving.

use super::MacTable;
use super::entry::{Data, MAX_PORT, MacEntry, MacKey};
use super::line::{Line, SLOTS};
use crate::FibError;
use crate::onlooker::only_looks;
use crate::sync::{Ordering, fence};

/// Marks a slot that a worker gave up; the next sweep takes it.
pub(super) const GIVEN_UP: u32 = 1;

/// What learning an address came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learned {
    /// It was known to be there.
    Known,
    /// It was not known.
    New,
    /// It was known to be elsewhere.
    Moved {
        /// The port it was on.
        from: u32,
    },
    /// It is configured to be elsewhere, and stays there.
    Fixed {
        /// The port it is configured on.
        on: u32,
    },
    /// The bridge domain has as many entries as it may.
    DomainFull,
    /// The table has no room.
    TableFull,
    /// No station has this address.
    NoStation,
}

impl MacTable {
    /// Notes that `key` was seen on `port` at tick `now`.
    pub fn learn(&self, key: MacKey, port: u32, now: u32) -> Learned {
        let line = self.line(self.hash.first(key));
        match is_as_seen(line, key, port, now) {
            true => Learned::Known,
            false => self.learn_slowly(key, port, now),
        }
    }

    /// As [`MacTable::learn`] where `key` is not known, or is known to be on `port`; else nothing
    /// is noted, and what is known comes back.
    pub fn keep(&self, key: MacKey, port: u32, now: u32) -> Result<Learned, MacEntry> {
        let known = {
            let _control = self.control();
            self.place_of(key).map(|(line, slot)| self.line(line).data_of(slot))
        };
        let max_age = self.max_age_ticks.load(Ordering::Relaxed);
        match known.filter(|data| data.is_live(now, max_age)).map(Data::entry) {
            Some(entry) if entry.port != port => Err(entry),
            // A worker that hears it elsewhere just now is overruled until it hears it again.
            _ => Ok(self.learn(key, port, now)),
        }
    }

    #[inline(never)]
    pub(super) fn learn_slowly(&self, key: MacKey, port: u32, now: u32) -> Learned {
        if !key.is_station() {
            return Learned::NoStation;
        }
        if only_looks() {
            return self.would_learn(key, port, now);
        }
        if let Some((line, slot)) = self.place_of(key) {
            return self.refresh(self.line(line), slot, port, now);
        }
        if let Err(refused) = self.count_in(key.domain(), true) {
            return refused;
        }
        self.claim(key, Data::new(port, false, now)).unwrap_or_else(|learned| {
            self.count_out(key.domain());
            learned
        })
    }

    /// What learning would come to, for who only looks. That the table has no room is not seen.
    fn would_learn(&self, key: MacKey, port: u32, now: u32) -> Learned {
        match self.lookup(key, now) {
            Some(entry) if entry.port == port & MAX_PORT => Learned::Known,
            Some(entry) if entry.is_static => Learned::Fixed { on: entry.port },
            Some(entry) => Learned::Moved { from: entry.port },
            None if self.is_full(key.domain()) => Learned::DomainFull,
            None => Learned::New,
        }
    }

    /// The line and slot that hold `key`.
    pub(super) fn place_of(&self, key: MacKey) -> Option<(usize, usize)> {
        for index in self.hash.lines(key) {
            let line = self.line(index);
            for slot in 0..SLOTS {
                if line.keys[slot].load(Ordering::Relaxed) == key.bits() {
                    return Some((index, slot));
                }
            }
            if !line.has_spilled() {
                return None;
            }
        }
        None
    }

    fn refresh(&self, line: &Line, slot: usize, port: u32, now: u32) -> Learned {
        let max_age = self.max_age_ticks.load(Ordering::Relaxed);
        loop {
            let old = line.data_of(slot);
            if old.is_none() {
                // Another worker is about to write it, or the control thread takes it: either
                // way this packet need not.
                return Learned::Known;
            }
            if old.is_static() {
                let same = old.port() == port & MAX_PORT;
                return if same { Learned::Known } else { Learned::Fixed { on: old.port() } };
            }
            let new = Data::new(port, false, now);
            let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
            if line.data[slot].compare_exchange(old.0, new.0, success, failure).is_err() {
                continue;
            }
            return match old.is_live(now, max_age) {
                true if old.port() == new.port() => Learned::Known,
                true => Learned::Moved { from: old.port() },
                false => Learned::New,
            };
        }
    }

    /// Puts `key` into a free slot. An error means that nothing was added: another has it, or
    /// there is no slot.
    pub(super) fn claim(&self, key: MacKey, data: Data) -> Result<Learned, Learned> {
        for index in self.hash.lines(key) {
            let line = self.line(index);
            for slot in 0..SLOTS {
                let order = (Ordering::AcqRel, Ordering::Acquire);
                match line.keys[slot].compare_exchange(0, key.bits(), order.0, order.1) {
                    Ok(_) => {
                        let none = Data::NONE.0;
                        let (success, failure) = (Ordering::Release, Ordering::Relaxed);
                        // It fails only where another worker gave the slot up meanwhile.
                        line.data[slot].compare_exchange(none, data.0, success, failure).ok();
                        return self.settle(key, index, slot);
                    }
                    Err(other) if other == key.bits() => return Err(Learned::Known),
                    Err(_) => {}
                }
            }
            line.spill();
        }
        Err(Learned::TableFull)
    }

    /// Looks for another claim of `key` beside the one in `mine`, and gives the later one up.
    fn settle(&self, key: MacKey, my_line: usize, my_slot: usize) -> Result<Learned, Learned> {
        fence(Ordering::SeqCst);
        let mut seen_mine = false;
        for index in self.hash.lines(key) {
            let line = self.line(index);
            for slot in 0..SLOTS {
                if (index, slot) == (my_line, my_slot) {
                    seen_mine = true;
                } else if line.keys[slot].load(Ordering::Acquire) == key.bits() {
                    // A configured entry stays wherever it is.
                    if !seen_mine || line.data_of(slot).is_static() {
                        // Another may have given it up for me, and then it counted it out.
                        return match self.give_up(self.line(my_line), my_slot, key) {
                            true => Err(Learned::Known),
                            false => Ok(Learned::Known),
                        };
                    }
                    if self.give_up(line, slot, key) {
                        self.count_out(key.domain());
                    }
                }
            }
            if !line.has_spilled() {
                break;
            }
        }
        Ok(Learned::New)
    }

    /// Marks a slot for the next sweep; says whether it still was `key`'s.
    fn give_up(&self, line: &Line, slot: usize, key: MacKey) -> bool {
        let mark = super::entry::emptied(GIVEN_UP);
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        let was = line.keys[slot].compare_exchange(key.bits(), mark, success, failure);
        was.is_ok()
    }

    /// Adds or replaces a configured entry, and returns what was there. On an error the table is
    /// as it was.
    pub fn insert_static(&self, key: MacKey, port: u32) -> Result<Option<MacEntry>, FibError> {
        if !key.is_station() || port > MAX_PORT {
            return Err(FibError::MacEntry { key: key.to_string(), port });
        }
        let _control = self.control();
        let data = Data::new(port, true, 0);
        loop {
            if let Some((line, slot)) = self.place_of(key) {
                let old = Data(self.line(line).data[slot].swap(data.0, Ordering::AcqRel));
                return Ok(Some(old).filter(|old| !old.is_none()).map(Data::entry));
            }
            let full = || FibError::Full {
                table: "the MAC table",
                unit: "entries",
                capacity: self.capacity,
            };
            self.count_in(key.domain(), false).map_err(|_| full())?;
            match self.claim(key, data) {
                Ok(Learned::New) => return Ok(None),
                // A worker learned it meanwhile: replace that.
                Ok(_) => {}
                Err(refused) => {
                    self.count_out(key.domain());
                    if refused == Learned::TableFull {
                        return Err(full());
                    }
                }
            }
        }
    }
}

/// Whether `line` has `key` as it would be after it was learned again.
fn is_as_seen(line: &Line, key: MacKey, port: u32, now: u32) -> bool {
    line.word(key) == Data::new(port, false, now).0
}
