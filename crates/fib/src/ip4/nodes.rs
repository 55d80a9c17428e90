//! The pool of 64-byte nodes that IPv4 tables extend into; several tables (VRFs) share one.
//!
//! ```text
//!   a node: one cache line, the 16 next four-bit steps
//!   +----+----+----+----+- - - -+----+
//!   | e0 | e1 | e2 | e3 |       | e15|   e: a Forward, or EXTENDED | node index
//!   +----+----+----+----+- - - -+----+
//! ```
//!
//! A node that is unlinked goes back to the pool once every reader has passed.

use std::sync::PoisonError;

use crate::FibError;
use crate::pages::{PageSize, PagedArray};
use crate::quiesce::{Quiescence, Retired};
use crate::sync::{Arc, AtomicU32, Mutex, MutexGuard, Ordering};

/// Address bits that one node decides.
pub(super) const NODE_BITS: u8 = 4;
/// Entries of a node.
pub(super) const NODE_ENTRIES: usize = 1 << NODE_BITS;
/// Marks an entry whose other bits are a node's index.
pub(super) const EXTENDED: u32 = 1 << 31;

/// See the module's drawing.
pub(super) type Node = [AtomicU32; NODE_ENTRIES];

/// Nodes for the parts of IPv4 tables that have long prefixes.
#[derive(Debug)]
pub struct Ip4Nodes {
    nodes: PagedArray<Node>,
    spare: Mutex<Spare>,
}

#[derive(Debug)]
struct Spare {
    free: Vec<u32>,
    /// Nodes from here on were never used.
    fresh: u32,
    retired: Retired<u32>,
}

impl Ip4Nodes {
    /// A pool that grows to at most `capacity` nodes, for tables whose readers are `readers`.
    pub fn new(
        capacity: usize,
        page_size: PageSize,
        readers: &Arc<Quiescence>,
    ) -> Result<Arc<Ip4Nodes>, FibError> {
        let capacity = capacity.min(EXTENDED as usize);
        let nodes = PagedArray::reserve("the IPv4 node pool", capacity, page_size)?;
        let retired = Retired::new(Arc::clone(readers));
        let spare = Mutex::new(Spare { free: Vec::new(), fresh: 0, retired });
        Ok(Arc::new(Ip4Nodes { nodes, spare }))
    }

    /// How many nodes it may hold.
    pub fn capacity(&self) -> usize {
        self.nodes.capacity()
    }

    /// How many nodes are in tables, or were and may still be read.
    pub fn used(&self) -> usize {
        let spare = self.spare();
        spare.fresh as usize - spare.free.len()
    }

    /// Takes back what readers have passed since; tables that need room do so themselves.
    pub fn reclaim(&self) {
        let Spare { free, retired, .. } = &mut *self.spare();
        retired.reclaim(|node| free.push(node));
    }

    /// Bytes that have memory, of which `used` nodes fill a part.
    pub fn bytes(&self) -> usize {
        self.nodes.resident_bytes()
    }

    /// The node that `entry` leads to, if it is an extended one.
    #[inline(always)]
    pub(super) fn node(&self, entry: u32) -> Option<&Node> {
        if entry & EXTENDED == 0 {
            return None;
        }
        self.nodes.get((entry & !EXTENDED) as usize)
    }

    /// Where they begin: fixed for the life of the pool.
    #[inline(always)]
    pub(super) fn base(&self) -> *const Node {
        self.nodes.base()
    }

    /// All nodes there are by now, for a kernel to look into many times.
    #[inline(always)]
    pub(super) fn all(&self) -> &[Node] {
        self.nodes.items()
    }

    /// Takes `count` nodes or none.
    pub(super) fn take(&self, count: usize) -> Result<Vec<u32>, FibError> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let mut spare = self.spare();
        let Spare { free, fresh, retired } = &mut *spare;
        if free.len() < count {
            retired.reclaim(|node| free.push(node));
        }
        let missing = count.saturating_sub(free.len());
        if missing > 0 {
            let grown = *fresh as usize + missing;
            if grown > self.nodes.capacity() {
                let capacity = self.nodes.capacity();
                return Err(FibError::Full {
                    table: "the IPv4 node pool",
                    unit: "nodes",
                    capacity,
                });
            }
            self.nodes.grow(grown)?;
            free.extend(*fresh..grown as u32);
            *fresh = grown as u32;
        }
        let kept = free.len() - count;
        Ok(free.split_off(kept))
    }

    /// Gives nodes back that no reader has ever seen.
    pub(super) fn put_back(&self, nodes: Vec<u32>) {
        self.spare().free.extend(nodes);
    }

    /// Hangs the fresh node `index` below `entry`, which says the same as before until the node's
    /// own words change.
    pub(super) fn link(&self, entry: &AtomicU32, index: u32) {
        if let Some(node) = self.nodes.get(index as usize) {
            let value = entry.load(Ordering::Relaxed);
            for word in node {
                word.store(value, Ordering::Relaxed);
            }
            // Whoever finds the node finds its words.
            entry.store(EXTENDED | index, Ordering::Release);
        }
    }

    /// Gives `entry` the word `value` in place of the node below it, if there is one.
    pub(super) fn unlink(&self, entry: &AtomicU32, value: u32) {
        let extended = entry.load(Ordering::Relaxed);
        if extended & EXTENDED != 0 {
            entry.store(value, Ordering::Release);
            self.spare().retired.retire(extended & !EXTENDED);
        }
    }

    fn spare(&self) -> MutexGuard<'_, Spare> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
