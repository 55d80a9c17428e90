//! A flow, and what it counted.

use crate::classifier::Classifier;
use crate::key::{Key, Sparse};
use crate::place::has_field;
use openflow::action::Program;
use openflow::{Action, Match, Sub};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Packets and bytes, and when the last came. Workers add, anybody reads.
#[derive(Default, Debug)]
pub struct Counters {
    packets: AtomicU64,
    bytes: AtomicU64,
    used_ns: AtomicU64,
}

impl Counters {
    /// So many more, the last of them at this time.
    pub fn add(&self, packets: u64, bytes: u64, now_ns: u64) {
        self.packets.fetch_add(packets, Relaxed);
        self.bytes.fetch_add(bytes, Relaxed);
        self.used_ns.fetch_max(now_ns, Relaxed);
    }

    /// Packets and bytes.
    pub fn get(&self) -> (u64, u64) {
        (self.packets.load(Relaxed), self.bytes.load(Relaxed))
    }

    /// When the last packet came; 0: none did.
    pub fn used_ns(&self) -> u64 {
        self.used_ns.load(Relaxed)
    }
}

/// One row of a table. What changes is another flow in its place, with the same counters.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Its table.
    pub table: u8,
    /// Its priority.
    pub priority: u16,
    /// For which packets.
    pub matching: Match,
    /// What it does.
    pub program: Program,
    /// Its cookie.
    pub cookie: u64,
    /// Seconds without packets after which it goes; 0: it stays.
    pub idle: u16,
    /// Seconds after which it goes; 0: it stays.
    pub hard: u16,
    /// [`openflow::message::flag`].
    pub flags: u16,
    /// Which go first.
    pub importance: u16,
    /// When it came.
    pub created_ns: u64,
    /// When it was changed last.
    pub modified_ns: u64,
    /// What it counted.
    pub counters: Arc<Counters>,
    /// The match as words.
    pub(crate) key: Sparse,
}

impl Flow {
    /// A flow that nothing went through yet.
    pub fn new(table: u8, priority: u16, matching: Match, program: Program) -> Self {
        Self::beside(None, table, priority, matching, program)
    }

    /// The same, that has its mask of others which are there already.
    pub fn beside(
        others: Option<&Classifier>,
        table: u8,
        priority: u16,
        matching: Match,
        program: Program,
    ) -> Self {
        let (key, mask) = Key::of_match(&matching);
        let shared = others.and_then(|others| others.mask_of(&mask)).cloned();
        let key = Sparse::of(&key, shared.unwrap_or_else(|| mask.sparse().into()));
        Self {
            table,
            priority,
            matching,
            program,
            cookie: 0,
            idle: 0,
            hard: 0,
            flags: 0,
            importance: 0,
            created_ns: 0,
            modified_ns: 0,
            counters: Arc::default(),
            key,
        }
    }

    /// What its match says of some bits of fields; 0 of what it says nothing.
    pub fn values(&self, of: &[Sub]) -> Arc<[u128]> {
        if of.is_empty() {
            return Arc::default();
        }
        let (key, _) = Key::of_match(&self.matching);
        let value = |sub: &Sub| match has_field(&key, sub.field) {
            true => (key.get(sub.field) & sub.mask()) >> sub.offset.min(127),
            false => 0,
        };
        of.iter().map(value).collect()
    }

    /// Whether another has its match and priority.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        self.priority == other.priority && self.matching == other.matching
    }

    /// Whether it is a condition of conjunctions, and no flow of its own.
    pub(crate) fn is_soft(&self) -> bool {
        matches!(self.program.first(), Some(Action::Conjunction(_)))
    }
}
