//! The MAC table: where each station of each bridge domain was last seen.
//!
//! ```text
//!   (domain, MAC) ─ hash ─▶ line a ─(spilled)─▶ a^1 ─(spilled)─▶ line b ─▶ …
//!                           5 slots, 64 B
//! ```
//!
//! Threads: any number of workers look up and learn at once, and one control thread at a time (a
//! lock that workers never take) configures, sweeps and flushes. Nobody waits for anybody.
//!
//! ```text
//!  slot   free ─(worker claims the key)─▶ claimed ─(writes data)─▶ live ─(refresh, move)─▶ live
//!           ▲                                                        │ (control: data, then key)
//!           └──(control, when every reader has passed)── emptied ◀───┘
//! ```
//!
//! A slot is used for another key only after every reader has passed ([`crate::quiesce`]), so a
//! reader that matched a key never reads another's data: workers hold a
//! [`Reader`](crate::quiesce::Reader) and pass between vectors. A worker that meets its own
//! station again stores nothing, unless the stamp's tick has moved.
//!
//! Cost of a lookup: 1 cache line, 2 for one entry in fifteen. Bytes: 23.3 for each entry of
//! capacity.

mod entry;
mod kernel;
mod learn;
mod line;
mod naive;
mod sweep;
mod vector;

use std::hash::{BuildHasher, RandomState};
use std::sync::PoisonError;

pub use entry::{MAX_PORT, MacEntry, MacKey};
pub use learn::Learned;
pub use naive::NaiveMac;
pub use sweep::{MacFlush, MacSweep};
pub use vector::{MOST_SOUGHT, Sought};

use self::entry::{Data, STAMPS};
use self::line::{Hash, LINES_FOR, Line, SLOTS};
use crate::FibError;
use crate::pages::{PageSize, PagedArray};
use crate::quiesce::{Quiescence, Retired};
use crate::sync::{Arc, AtomicU32, AtomicU64, Mutex, MutexGuard, Ordering};

/// See the module's drawing. Shared by `Arc`: all its calls take `&self`.
#[derive(Debug)]
pub struct MacTable {
    lines: PagedArray<Line>,
    line_count: usize,
    hash: Hash,
    capacity: usize,
    max_age_ticks: AtomicU32,
    entries: AtomicU64,
    /// For each bridge domain its entries; one more than it may have, or 0 for any number; its
    /// entries' greatest age, or 0 for the table's.
    domains: PagedArray<[AtomicU32; 3]>,
    control: Mutex<Retired<Vec<u32>>>,
}

/// How many bridge domains there are.
const DOMAINS: usize = 1 << 16;

/// What a table holds and takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacMemory {
    /// Entries in it, expired ones that were not swept yet among them.
    pub entries: usize,
    /// The most it may hold.
    pub capacity: usize,
    /// Bytes of its lines and its domains' counters.
    pub bytes: usize,
}

impl MacTable {
    /// What [`MacTable::lookup_sought`] yields for a station that is not known.
    pub const UNKNOWN: u32 = u32::MAX;

    /// An empty table for `capacity` entries, whose workers are `readers`.
    pub fn new(
        capacity: usize,
        page_size: PageSize,
        readers: &Arc<Quiescence>,
    ) -> Result<MacTable, FibError> {
        // Stations choose their addresses: they must not know where those fall.
        MacTable::with_seed(capacity, page_size, readers, RandomState::new().hash_one(capacity))
    }

    /// As [`MacTable::new`], with entries where `seed` puts them: the same in every run.
    pub fn with_seed(
        capacity: usize,
        page_size: PageSize,
        readers: &Arc<Quiescence>,
        seed: u64,
    ) -> Result<MacTable, FibError> {
        if capacity > u32::MAX as usize / SLOTS {
            return Err(FibError::Full { table: "a MAC table", unit: "entries", capacity });
        }
        let line_count = (capacity.max(1) * LINES_FOR.0).div_ceil(LINES_FOR.1).next_multiple_of(2);
        Ok(MacTable {
            lines: PagedArray::filled("a MAC table", line_count, page_size)?,
            line_count,
            hash: Hash::new(seed, line_count),
            capacity,
            max_age_ticks: AtomicU32::new(u32::MAX),
            entries: AtomicU64::new(0),
            domains: PagedArray::filled("a MAC table's domains", DOMAINS, PageSize::Small)?,
            control: Mutex::new(Retired::new(Arc::clone(readers))),
        })
    }

    /// Where `key` is, at tick `now`.
    pub fn lookup(&self, key: MacKey, now: u32) -> Option<MacEntry> {
        let max_age = self.max_age_ticks.load(Ordering::Relaxed);
        Some(self.find(key, now, max_age)).filter(|data| !data.is_none()).map(Data::entry)
    }

    fn find(&self, key: MacKey, now: u32, max_age: u32) -> Data {
        let line = self.line(self.hash.first(key));
        let data = live_in(line, key, now, max_age);
        if data.is_none() && line.has_spilled() {
            return self.find_further(key, now, max_age);
        }
        data
    }

    #[cold]
    fn find_further(&self, key: MacKey, now: u32, max_age: u32) -> Data {
        for line in self.hash.lines(key).skip(1) {
            let line = self.line(line);
            let data = live_in(line, key, now, max_age);
            if !data.is_none() || !line.has_spilled() {
                return data;
            }
        }
        Data::NONE
    }

    #[inline(always)]
    fn line(&self, index: usize) -> &Line {
        &self.lines.items()[index]
    }

    /// Sets for how many ticks an entry holds after it was seen; `None` for ever. Ticks are the
    /// caller's, of its clock of 32 bits. At most half of the 16,384 that a stamp tells apart are
    /// taken, so a sweep has to come round at least every 8192 ticks.
    pub fn set_max_age(&self, ticks: Option<u32>) {
        let ticks = ticks.map_or(u32::MAX, |ticks| ticks.min(STAMPS / 2));
        self.max_age_ticks.store(ticks, Ordering::Relaxed);
    }

    /// Sets how many entries `domain` may have; learning stops there.
    pub fn set_domain_limit(&self, domain: u16, limit: Option<u32>) {
        let limit = limit.map_or(0, |limit| limit.saturating_add(1));
        self.domains.items()[usize::from(domain)][1].store(limit, Ordering::Relaxed);
    }

    /// Sets another greatest age for `domain`, or the table's again. Only sweeps hold to it: a
    /// lookup would pay for reading it.
    pub fn set_domain_max_age(&self, domain: u16, ticks: Option<u32>) {
        let ticks = ticks.map_or(0, |ticks| ticks.clamp(1, STAMPS / 2));
        self.domains.items()[usize::from(domain)][2].store(ticks, Ordering::Relaxed);
    }

    /// The greatest age of `domain`'s entries.
    fn max_age_of(&self, domain: u16) -> u32 {
        match self.domains.items()[usize::from(domain)][2].load(Ordering::Relaxed) {
            0 => self.max_age_ticks.load(Ordering::Relaxed),
            ticks => ticks,
        }
    }

    /// How many cache lines a sweep has to pass.
    pub fn line_count(&self) -> usize {
        self.line_count
    }

    /// How many entries `domain` has, expired ones that were not swept yet among them.
    pub fn domain_len(&self, domain: u16) -> u32 {
        self.domains.items()[usize::from(domain)][0].load(Ordering::Relaxed)
    }

    /// How many entries it has, expired ones that were not swept yet among them.
    pub fn len(&self) -> usize {
        self.entries.load(Ordering::Relaxed) as usize
    }

    /// Whether it has no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What it holds and takes.
    pub fn memory(&self) -> MacMemory {
        let domains = DOMAINS * size_of::<[AtomicU32; 3]>();
        let bytes = self.line_count * size_of::<Line>() + domains;
        MacMemory { entries: self.len(), capacity: self.capacity, bytes }
    }

    /// Whether `domain` has as many entries as it may.
    fn is_full(&self, domain: u16) -> bool {
        let [entries, limit, _] = &self.domains.items()[usize::from(domain)];
        let limit = limit.load(Ordering::Relaxed);
        limit != 0 && entries.load(Ordering::Relaxed) >= limit - 1
    }

    /// Counts one entry more of `domain`, unless there are too many.
    fn count_in(&self, domain: u16, limited: bool) -> Result<(), Learned> {
        if limited && self.is_full(domain) {
            return Err(Learned::DomainFull);
        }
        let [entries, ..] = &self.domains.items()[usize::from(domain)];
        if self.entries.fetch_add(1, Ordering::Relaxed) >= self.capacity as u64 {
            self.entries.fetch_sub(1, Ordering::Relaxed);
            return Err(Learned::TableFull);
        }
        entries.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Counts one entry less of `domain`.
    fn count_out(&self, domain: u16) {
        self.domains.items()[usize::from(domain)][0].fetch_sub(1, Ordering::Relaxed);
        self.entries.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whoever holds it is the control thread.
    fn control(&self) -> MutexGuard<'_, Retired<Vec<u32>>> {
        // Each slot is sound at every step, whatever panicked.
        self.control.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The data of `key`, if `line` has it and it did not expire.
#[inline(always)]
fn live_in(line: &Line, key: MacKey, now: u32, max_age: u32) -> Data {
    let data = Data(line.word(key));
    if data.is_live(now, max_age) { data } else { Data::NONE }
}
