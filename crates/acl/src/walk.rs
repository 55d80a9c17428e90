//! Packets on their way down the trees of a list, all one step at a time, so that the lines they
//! touch come from memory together.
//!
//! ```text
//!  at the root     all that may meet an earlier rule there       ▶ next, whose line is asked for
//!  at cuts         0 3 4 9 …   each reads its entry,             ▶ next, or its first record
//!  at leaves       1 2 5 …     each compares one record, and is done or stays for the next one
//! ```
//! The lists of who is where are made without branches: what a packet meets next cannot be
//! predicted.

#![allow(unsafe_code)] // Reads blocks of a version, with instructions that the machine has.

use crate::ground::Ground;
use crate::list::Tree;
use crate::record::Stored;
use crate::tree::Entry;
use crate::{Key, Verdict};
use fib::prefetch;
use std::hint::select_unpredictable as select;

/// Packets that go down a tree together.
pub(crate) const VECTOR: usize = 256;

/// Bytes of a cache line.
const LINE: usize = 64;

/// See the module.
pub(crate) struct Walk<'a, S: Stored<N>, const N: usize> {
    ground: &'a Ground<S>,
    keys: &'a [Key<N>],
    verdicts: &'a mut [Verdict],
    /// Those that may still meet an earlier rule.
    left: [u8; VECTOR],
    count: usize,
    /// The leaf of a packet that is at one; of one at a cut where it goes on.
    at: [Entry; VECTOR],
    at_cuts: [u8; VECTOR],
    at_leaves: [u8; VECTOR],
}

impl<'a, S: Stored<N>, const N: usize> Walk<'a, S, N> {
    /// Of at most [`VECTOR`] packets, none of which has met a rule yet.
    pub(crate) fn new(
        ground: &'a Ground<S>,
        keys: &'a [Key<N>],
        verdicts: &'a mut [Verdict],
    ) -> Self {
        assert!(keys.len() <= VECTOR && keys.len() == verdicts.len());
        let at = [Entry::default(); VECTOR];
        let (left, count) = (ALL, keys.len());
        Self { ground, keys, verdicts, left, count, at, at_cuts: ALL, at_leaves: ALL }
    }

    /// Leaves those behind that have met a rule in front of all that are still to be asked. Says
    /// whether any is left.
    pub(crate) fn go_on(&mut self, first: Verdict) -> bool {
        let mut count = 0;
        for index in 0..std::mem::take(&mut self.count) {
            let place = self.left[index % VECTOR];
            self.left[count % VECTOR] = place;
            count += usize::from(*self.verdict(place.into()) > first);
        }
        self.count = count;
        count > 0
    }

    /// Goes down one tree with those that are left.
    ///
    /// # Safety
    /// The tree is of a version that stands on the ground, and is there; the processor has AVX2,
    /// BMI and BMI2 if `has_avx2`.
    pub(crate) unsafe fn down(&mut self, tree: &Tree, has_avx2: bool) {
        // SAFETY: the caller's.
        unsafe {
            match has_avx2 {
                true => self.down_avx2(tree),
                false => self.down_by::<false>(tree),
            }
        }
    }

    /// # Safety
    /// As of `down`, and the processor has these instructions.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn down_avx2(&mut self, tree: &Tree) {
        // SAFETY: the caller's.
        unsafe { self.down_by::<true>(tree) }
    }

    /// # Safety
    /// As of `down`, with `AVX2` for `has_avx2`.
    #[inline(always)]
    unsafe fn down_by<const AVX2: bool>(&mut self, tree: &Tree) {
        // SAFETY: the caller's.
        unsafe {
            let leaves = match tree.root.is_cut() {
                true => self.down_cuts::<AVX2>(tree.root),
                false => self.at_root(tree.root),
            };
            self.at_leaves::<AVX2>(leaves);
        }
    }

    /// All are at this leaf.
    #[inline(always)]
    fn at_root(&mut self, root: Entry) -> usize {
        self.at_leaves = self.left;
        for &place in &self.left[..self.count] {
            self.at[usize::from(place)] = root;
        }
        self.count
    }

    /// Goes from this cut to leaves; says how many have rules there.
    ///
    /// # Safety
    /// As of `down_by`, and it is the tree's root.
    #[inline(always)]
    unsafe fn down_cuts<const AVX2: bool>(&mut self, root: Entry) -> usize {
        let (entries, records) = (self.ground.entries.as_ptr(), self.ground.records.as_ptr());
        let (mut cuts, mut leaves) = (self.count, 0);
        self.at_cuts = self.left;
        // Its cut is in registers.
        for index in 0..cuts {
            let place = usize::from(self.left[index % VECTOR]);
            // SAFETY: the caller's.
            let next = unsafe { next::<AVX2, N>(root, self.key(place)) };
            self.at[place] = Entry::on_to(next);
            prefetch(entries, next as usize);
        }
        while cuts > 0 {
            for index in 0..std::mem::take(&mut cuts) {
                let place = usize::from(self.at_cuts[index % VECTOR]);
                // SAFETY: the version has it: it is a child of one of its cuts.
                let entry = unsafe { *entries.add(self.at[place].first_child() as usize) };
                // SAFETY: the caller's. Of a leaf it is nothing, and nobody looks at it.
                let next = unsafe { next::<AVX2, N>(entry, self.key(place)) };
                self.at[place] = select(entry.is_cut(), Entry::on_to(next), entry);
                let child = entries.wrapping_add(next as usize).cast::<u8>();
                let record = records.wrapping_add(entry.first_record()).cast();
                let on = select(entry.is_cut(), child, record);
                for line in 0..size_of::<S>().div_ceil(LINE) {
                    prefetch(on, line * LINE);
                }
                self.at_cuts[cuts % VECTOR] = place as u8;
                self.at_leaves[leaves % VECTOR] = place as u8;
                cuts += usize::from(entry.is_cut());
                leaves += usize::from(entry.has_records());
            }
        }
        leaves
    }

    /// Compares the records of each leaf until one fits.
    ///
    /// # Safety
    /// As of `down_by`, and so many packets are at leaves of the tree.
    #[inline(always)]
    unsafe fn at_leaves<const AVX2: bool>(&mut self, mut leaves: usize) {
        let records = self.ground.records.as_ptr();
        while leaves > 0 {
            for index in 0..std::mem::take(&mut leaves) {
                let place = usize::from(self.at_leaves[index % VECTOR]);
                let entry = self.at[place];
                // SAFETY: the version has it: it is of one of its leaves.
                let record = unsafe { &*records.add(entry.first_record()) };
                let fits = match AVX2 {
                    // SAFETY: the caller's.
                    true => unsafe { record.matches_avx2(self.key(place)) },
                    false => record.matches(self.key(place)),
                };
                let verdict = self.verdict(place);
                // Those behind the first one that stands too late stand later still.
                let is_earlier = record.verdict() < *verdict;
                let hit = fits & is_earlier;
                *verdict = select(hit, record.verdict(), *verdict);
                let rest = entry.without_first();
                self.at[place] = rest;
                self.at_leaves[leaves % VECTOR] = place as u8;
                leaves += usize::from(!fits & is_earlier & rest.is_left());
            }
        }
    }

    #[inline(always)]
    fn key(&self, place: usize) -> &Key<N> {
        debug_assert!(place < self.keys.len());
        // SAFETY: places are of packets, and each has a key.
        unsafe { self.keys.get_unchecked(place) }
    }

    #[inline(always)]
    fn verdict(&mut self, place: usize) -> &mut Verdict {
        debug_assert!(place < self.verdicts.len());
        // SAFETY: places are of packets, and each has a verdict.
        unsafe { self.verdicts.get_unchecked_mut(place) }
    }
}

/// Where a packet goes on from a cut.
///
/// # Safety
/// The processor has BMI if `BMI`.
#[inline(always)]
unsafe fn next<const BMI: bool, const N: usize>(entry: Entry, key: &Key<N>) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if BMI {
        // SAFETY: the caller's.
        let child = unsafe { std::arch::x86_64::_bextr2_u32(entry.cell(key), entry.bits()) };
        return entry.first_child() + child;
    }
    entry.next(key)
}

/// The places of a vector.
const ALL: [u8; VECTOR] = {
    let mut all = [0; VECTOR];
    let mut place = 0;
    while place < VECTOR {
        all[place] = place as u8;
        place += 1;
    }
    all
};
