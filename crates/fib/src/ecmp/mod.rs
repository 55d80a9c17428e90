//! Groups of next hops that share flows by weight, and keep them where they are.
//!
//! ```text
//!   group word    | size, as a power of two 8 | 0 24 | first bucket 32 |
//!                                                         |
//!   buckets       [ A | A | B | A | B | C | A | C ]  <----+    a flow's place: the top bits of its hash
//!
//!   B leaves      [ A | A | * | A | * | C | A | C ]  only the flows of B move
//!   more members  [ A A | A A | B B | ... ]          twice the buckets: no flow moves for that
//! ```
//!
//! Threads: one writer at a time, readers without locks: a bucket changes by one atomic store, a
//! new block of buckets is filled before the group's word leads to it, and the old one is used
//! again when every reader has passed. Cost of a pick: 2 cache lines. Bytes: 8 for each group, 4
//! for each bucket; 16 buckets for each member, rounded up to a power of two.

mod blocks;
mod hash;
mod share;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::PoisonError;

use crate::pages::{PageSize, PagedArray};
use crate::quiesce::{Quiescence, Retired};
use crate::sync::{Arc, AtomicU32, AtomicU64, Mutex, MutexGuard, Ordering};
use crate::{FibError, Forward};

use blocks::{Block, Blocks};

pub use hash::flow_hash;
pub use share::{MAX_BUCKETS, Member};

/// Which group: the id of a [`Forward`] that leads to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupId(pub u32);

/// What the groups hold and take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EcmpMemory {
    /// Groups in use, or that were and may still be read.
    pub groups: usize,
    /// The most there may be.
    pub max_groups: usize,
    /// Bytes that have memory.
    pub bytes: usize,
}

/// All groups of all VRFs; see the module's drawing.
#[derive(Debug)]
pub struct EcmpTable {
    groups: PagedArray<AtomicU64>,
    buckets: PagedArray<AtomicU32>,
    writer: Mutex<Writer>,
}

#[derive(Debug)]
struct Writer {
    /// By group: where its buckets are; none if it is not in use.
    used: Vec<Option<Block>>,
    free: Vec<u32>,
    blocks: Blocks,
    retired: Retired<Gone>,
}

#[derive(Debug)]
enum Gone {
    Group(u32),
    Block(Block),
}

impl EcmpTable {
    /// A table of at most `groups` groups and `buckets` buckets, read by `readers`.
    pub fn new(
        groups: usize,
        buckets: usize,
        readers: &Arc<Quiescence>,
    ) -> Result<EcmpTable, FibError> {
        let groups = groups.min(Forward::MAX_ID as usize + 1);
        let buckets = buckets.min(u32::MAX as usize);
        let writer = Writer {
            used: Vec::new(),
            free: Vec::new(),
            blocks: Blocks::new(buckets),
            retired: Retired::new(Arc::clone(readers)),
        };
        Ok(EcmpTable {
            groups: PagedArray::filled("the ECMP groups", groups, PageSize::Small)?,
            buckets: PagedArray::filled("the ECMP buckets", buckets, PageSize::Small)?,
            writer: Mutex::new(writer),
        })
    }

    /// Where a flow of this hash goes; nowhere if the group is gone or has no members.
    #[inline]
    pub fn pick(&self, group: GroupId, hash: u32) -> Forward {
        let Some(word) = self.groups.get(group.0 as usize) else { return Forward::NONE };
        let Some(block) = Block::from_word(word.load(Ordering::Acquire)) else {
            return Forward::NONE;
        };
        let bucket = self.buckets.get(block.bucket_of(hash));
        bucket.map_or(Forward::NONE, |bucket| Forward::from_bits(bucket.load(Ordering::Acquire)))
    }

    /// Where flows of a group go: each member as often as it has buckets. For workers, too; without
    /// locks.
    pub fn each(&self, group: GroupId) -> impl Iterator<Item = Forward> + '_ {
        let word = self.groups.get(group.0 as usize).map_or(0, |word| word.load(Ordering::Acquire));
        let range = Block::from_word(word).map_or(0..0, Block::range);
        let buckets = self.buckets.items().get(range).unwrap_or_default();
        buckets.iter().map(|word| Forward::from_bits(word.load(Ordering::Acquire)))
    }

    /// Makes a group. Members that are the same count as one.
    pub fn create(&self, members: &[Member]) -> Result<GroupId, FibError> {
        self.create_from(None, members)
    }

    /// Makes a group whose flows go where those of `from` go, as far as its members allow.
    pub fn copy(&self, from: GroupId, members: &[Member]) -> Result<GroupId, FibError> {
        self.create_from(Some(from), members)
    }

    fn create_from(&self, from: Option<GroupId>, members: &[Member]) -> Result<GroupId, FibError> {
        let mut writer = self.writer();
        writer.reclaim();
        let members = share::merged(members);
        let next = writer.used.len();
        if writer.free.is_empty() && next == self.groups.capacity() {
            let (table, capacity) = ("the ECMP groups", self.groups.capacity());
            return Err(FibError::Full { table, unit: "groups", capacity });
        }
        let old = from.and_then(|group| writer.used.get(group.0 as usize).copied().flatten());
        let held = old.map_or_else(|| vec![Forward::NONE], |block| self.held(block));
        let block = writer.blocks.take(share::size_for(&members).max(held.len()))?;
        let id = writer.free.pop().unwrap_or(next as u32);
        if id as usize == next {
            writer.used.push(None);
        }
        writer.used[id as usize] = Some(block);
        self.spread(block, &held, &members);
        self.publish(id, block.word());
        Ok(GroupId(id))
    }

    /// Changes who shares, moving as few flows as the weights allow, and says how many buckets
    /// moved. Of a group that is not there, none.
    pub fn set_members(&self, group: GroupId, members: &[Member]) -> Result<usize, FibError> {
        let mut writer = self.writer();
        writer.reclaim();
        let Some(old) = writer.used.get(group.0 as usize).copied().flatten() else { return Ok(0) };
        let members = share::merged(members);
        let size = share::size_for(&members).max(old.len());
        let held = self.held(old);
        if size == old.len() {
            let moves = share::moves(&held, &members);
            self.fill(old, &moves);
            return Ok(moves.len());
        }
        let block = writer.blocks.take(size)?;
        let moved = self.spread(block, &held, &members);
        writer.used[group.0 as usize] = Some(block);
        self.publish(group.0, block.word());
        writer.retired.retire(Gone::Block(old));
        Ok(moved)
    }

    /// Fills a new block as `held` was, then moves buckets as `members` ask for: a flow's bucket of
    /// a larger block is one of those that its old bucket became.
    fn spread(&self, block: Block, held: &[Forward], members: &BTreeMap<Forward, u64>) -> usize {
        let factor = block.len() / held.len();
        let start: Vec<Forward> =
            held.iter().flat_map(|to| std::iter::repeat_n(*to, factor)).collect();
        let moves = share::moves(&start, members);
        self.fill(block, &start.into_iter().enumerate().collect::<Vec<_>>());
        self.fill(block, &moves);
        moves.len()
    }

    /// Takes a group away, to which no route leads any more. Workers that still hold its id find
    /// it empty; id and buckets are used again when all have passed.
    pub fn remove(&self, group: GroupId) {
        let mut writer = self.writer();
        let Some(block) = writer.used.get_mut(group.0 as usize).and_then(Option::take) else {
            return;
        };
        self.publish(group.0, 0);
        writer.retired.retire(Gone::Block(block));
        writer.retired.retire(Gone::Group(group.0));
    }

    /// Each member's buckets, for `show`.
    pub fn members(&self, group: GroupId) -> Vec<(Forward, usize)> {
        let block = self.writer().used.get(group.0 as usize).copied().flatten();
        block.map_or_else(Vec::new, |block| share::counts(&self.held(block)).into_iter().collect())
    }

    /// What it holds and takes.
    pub fn memory(&self) -> EcmpMemory {
        let writer = self.writer();
        EcmpMemory {
            groups: writer.used.len() - writer.free.len(),
            max_groups: self.groups.capacity(),
            bytes: self.groups.resident_bytes() + self.buckets.resident_bytes(),
        }
    }

    fn held(&self, block: Block) -> Vec<Forward> {
        let buckets = self.buckets.items().get(block.range()).unwrap_or_default();
        buckets.iter().map(|word| Forward::from_bits(word.load(Ordering::Relaxed))).collect()
    }

    fn fill(&self, block: Block, moves: &[(usize, Forward)]) {
        let buckets = self.buckets.items().get(block.range()).unwrap_or_default();
        for (place, to) in moves {
            buckets[*place].store(to.bits(), Ordering::Release);
        }
    }

    fn publish(&self, group: u32, word: u64) {
        if let Some(place) = self.groups.get(group as usize) {
            place.store(word, Ordering::Release);
        }
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Writer {
    fn reclaim(&mut self) {
        let Writer { free, blocks, retired, .. } = self;
        retired.reclaim(|gone| match gone {
            Gone::Group(id) => free.push(id),
            Gone::Block(block) => blocks.give_back(block),
        });
    }
}
