//! Connections as words: two cache lines each, of which IPv4 reads one.
//!
//! ```text
//!  0 status │ 1 skews, mark │ 2 key, 3 first (original) │ 4 key, 5 first (reply) │ 6 parent │ 7 next free
//!  8–10 rest of the original's addresses │ 11–13 of the reply's │ 14, 15 label
//! ```
//! Whoever reads looks at the status before and behind: the generation tells whether the entry was
//! another's meanwhile. An entry is written while its status says that it is nobody's.

use crate::status::{Direction, Kind, Status};
use crate::tuple::Tuple;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Two cache lines.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Entry([AtomicU64; 16]);

const MARK: usize = 1;
const KEYS: [usize; 2] = [2, 4];
const PARENT: usize = 6;
const NEXT: usize = 7;
const RESTS: [usize; 2] = [8, 11];
const LABEL: usize = 14;

impl Entry {
    fn new() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }

    #[inline]
    pub(crate) fn status(&self) -> Status {
        Status(self.0[0].load(Ordering::Acquire))
    }

    /// Changes the status, if it still is `old`.
    #[inline]
    pub(crate) fn change(&self, old: Status, new: Status) -> Result<(), Status> {
        let (old, new) = (old.0, new.0);
        let done = self.0[0].compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire);
        done.map(drop).map_err(Status)
    }

    #[inline]
    fn word(&self, at: usize) -> u64 {
        self.0[at].load(Ordering::Relaxed)
    }

    fn put(&self, at: usize, word: u64) {
        self.0[at].store(word, Ordering::Relaxed);
    }

    /// Whether words are of the connection whose status was read before them.
    #[inline]
    fn is_still(&self, before: Status) -> bool {
        fence(Ordering::Acquire);
        let now = Status(self.0[0].load(Ordering::Relaxed));
        now.generation() == before.generation() && now.kind() == before.kind()
    }

    /// Its status, if it is the one of this tuple in this direction.
    #[inline]
    pub(crate) fn is(&self, tuple: &Tuple, direction: Direction) -> Option<Status> {
        let status = self.status();
        if status.is_free() {
            return None;
        }
        let at = KEYS[direction as usize];
        let same = self.word(at) == tuple.key && self.word(at + 1) == tuple.first;
        let rest = RESTS[direction as usize];
        let same =
            same && (!tuple.is_long() || (0..3).all(|n| self.word(rest + n) == tuple.rest[n]));
        (same && self.is_still(status)).then_some(status)
    }

    /// Its tuple in a direction, if it still is the one that had this status.
    #[inline]
    pub(crate) fn tuple(&self, status: Status, direction: Direction) -> Option<Tuple> {
        let (at, rest) = (KEYS[direction as usize], RESTS[direction as usize]);
        let mut tuple = Tuple { key: self.word(at), first: self.word(at + 1), rest: [0; 3] };
        if tuple.is_long() {
            tuple.rest = std::array::from_fn(|n| self.word(rest + n));
        }
        self.is_still(status).then_some(tuple)
    }

    /// The entry that it hangs on: a connection's endpoint, a packet's connection.
    #[inline]
    pub(crate) fn parent(&self, status: Status) -> Option<(u32, u16, Direction)> {
        let word = self.word(PARENT);
        let direction = if word >> 48 & 1 == 0 { Direction::Original } else { Direction::Reply };
        let parent = (word as u32).checked_sub(1)?;
        self.is_still(status).then_some((parent, (word >> 32) as u16, direction))
    }

    pub(crate) fn mark(&self, status: Status) -> Option<u32> {
        let mark = self.word(MARK) as u32;
        self.is_still(status).then_some(mark)
    }

    pub(crate) fn set_mark(&self, mark: u32) {
        self.change_mark(|word| Some(word & !0xffff_ffff | u64::from(mark)));
    }

    /// By how many octets each end says more than it sent.
    pub(crate) fn skews(&self) -> [i16; 2] {
        let word = self.word(MARK);
        [(word >> 32) as i16, (word >> 48) as i16]
    }

    /// Adds to that of an end; false where it is too much.
    pub(crate) fn add_skew(&self, direction: Direction, more: i16) -> bool {
        let shift = 32 + 16 * direction as u32;
        self.change_mark(|word| {
            let skew = ((word >> shift) as i16).checked_add(more)?;
            Some(word & !(0xffff << shift) | u64::from(skew as u16) << shift)
        })
    }

    /// Of which sequence number the segment was that was changed last: of one that hangs on no
    /// other, whose generation would stand there.
    pub(crate) fn edited(&self) -> u32 {
        let word = self.word(PARENT);
        if word as u32 == 0 { (word >> 32) as u32 } else { 0 }
    }

    /// It is this one now; false where another's generation stands there.
    pub(crate) fn set_edited(&self, sequence: u32) -> bool {
        let change = |word: u64| (word as u32 == 0).then_some(u64::from(sequence) << 32);
        self.0[PARENT].fetch_update(Ordering::Relaxed, Ordering::Relaxed, change).is_ok()
    }

    fn change_mark(&self, change: impl Fn(u64) -> Option<u64>) -> bool {
        self.0[MARK].fetch_update(Ordering::Relaxed, Ordering::Relaxed, change).is_ok()
    }

    pub(crate) fn label(&self, status: Status) -> Option<u128> {
        // Most have none: their second line is not read.
        let label = match self.status().is_labelled() {
            true => u128::from(self.word(LABEL)) << 64 | u128::from(self.word(LABEL + 1)),
            false => 0,
        };
        self.is_still(status).then_some(label)
    }

    /// Its mark, its label and who began it, all at once.
    #[inline(always)]
    pub(crate) fn told(&self, status: Status) -> Option<(u32, u128, Tuple)> {
        let (mark, label) = (self.word(MARK) as u32, self.label(status)?);
        Some((mark, label, self.tuple(status, Direction::Original)?))
    }

    pub(crate) fn set_label(&self, status: Status, label: u128) {
        self.put(LABEL, (label >> 64) as u64);
        self.put(LABEL + 1, label as u64);
        let (mut old, generation) = (self.status(), status.generation());
        while old.generation() == generation && !old.is_free() && !old.is_labelled() {
            match self.change(old, old.labelled()) {
                Ok(()) => return,
                Err(now) => old = now,
            }
        }
    }

    /// Writes an entry that is nobody's, whom its status gives it to then.
    pub(crate) fn write(
        &self,
        status: Status,
        tuples: [&Tuple; 2],
        parent: Option<(u32, u16, Direction)>,
    ) {
        // Pairs with the fence of `is_still`: who read a word of these sees the entry free, or
        // another's.
        fence(Ordering::Release);
        for (tuple, (at, rest)) in tuples.into_iter().zip(KEYS.into_iter().zip(RESTS)) {
            self.put(at, tuple.key);
            self.put(at + 1, tuple.first);
            if tuple.is_long() {
                tuple.rest.into_iter().enumerate().for_each(|(n, word)| self.put(rest + n, word));
            }
        }
        let parent = parent.map_or(0, |(slot, generation, direction)| {
            (u64::from(slot) + 1) | u64::from(generation) << 32 | (direction as u64) << 48
        });
        self.put(PARENT, parent);
        self.put(MARK, 0);
        self.0[0].store(status.0, Ordering::Release);
    }
}

/// All entries, and which of them are nobody's.
#[derive(Debug)]
pub(crate) struct Entries {
    all: Box<[Entry]>,
    /// The first that is free, plus one, and how often this changed: so that who takes it notices
    /// that it was taken and came back meanwhile.
    free: Free,
}

/// Alone on its cache lines: all who make and end connections write it.
#[derive(Debug)]
#[repr(align(128))]
struct Free(AtomicU64);

impl Entries {
    pub(crate) fn new(count: usize) -> Self {
        let all: Box<[Entry]> = (0..count).map(|_| Entry::new()).collect();
        for (slot, entry) in all.iter().enumerate() {
            entry.put(NEXT, if slot + 1 < count { slot as u64 + 2 } else { 0 });
        }
        Self { free: Free(AtomicU64::new(u64::from(count > 0))), all }
    }

    /// Where one is.
    #[inline(always)]
    pub(crate) fn address(&self, slot: u32) -> *const u8 {
        self.all.as_ptr().wrapping_add(slot as usize).cast()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.all.len() * size_of::<Entry>()
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    #[inline]
    pub(crate) fn get(&self, slot: u32) -> Option<&Entry> {
        self.all.get(slot as usize)
    }

    /// One that is nobody's.
    pub(crate) fn take(&self) -> Option<u32> {
        let mut head = self.free.0.load(Ordering::Acquire);
        loop {
            let slot = (head as u32).checked_sub(1)?;
            let next = self.get(slot)?.word(NEXT) & 0xffff_ffff;
            let new = (head >> 32).wrapping_add(1) << 32 | next;
            let done =
                self.free.0.compare_exchange_weak(head, new, Ordering::AcqRel, Ordering::Acquire);
            match done {
                Ok(_) => return Some(slot),
                Err(now) => head = now,
            }
        }
    }

    /// It is nobody's again.
    pub(crate) fn give(&self, slot: u32) {
        let Some(entry) = self.get(slot) else { return };
        let mut head = self.free.0.load(Ordering::Relaxed);
        loop {
            entry.put(NEXT, head & 0xffff_ffff);
            let new = (head >> 32).wrapping_add(1) << 32 | (u64::from(slot) + 1);
            let done =
                self.free.0.compare_exchange_weak(head, new, Ordering::AcqRel, Ordering::Relaxed);
            match done {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Who ends it, has it: false if another was faster, or it is another's by now.
    pub(crate) fn end(&self, slot: u32, mut status: Status) -> bool {
        let Some(entry) = self.get(slot) else { return false };
        let generation = status.generation();
        loop {
            match entry.change(status, Status::free(generation.wrapping_add(1))) {
                Ok(()) => return true,
                Err(now) if now.generation() != generation || now.kind() == Kind::Free => {
                    return false;
                }
                Err(now) => status = now,
            }
        }
    }
}
