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

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::FibError;
use crate::pages::{PageSize, PagedArray};
use crate::quiesce::{Quiescence, Retired};

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

    /// All nodes there are, for a kernel to look into many times.
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

    /// Takes back a node that the writer has just unlinked.
    pub(super) fn retire(&self, entry: u32) {
        self.spare().retired.retire(entry & !EXTENDED);
    }

    fn spare(&self) -> MutexGuard<'_, Spare> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes `value` into every entry of `node`, which no reader can see yet.
pub(super) fn fill(node: &Node, value: u32) {
    for entry in node {
        entry.store(value, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_comes_back_when_the_readers_have_passed() {
        let readers = Quiescence::new();
        let reader = readers.reader();
        let pool = Ip4Nodes::new(1, PageSize::Small, &readers).unwrap();
        let node = pool.take(1).unwrap()[0];
        pool.retire(EXTENDED | node);
        assert!(matches!(pool.take(1), Err(FibError::Full { capacity: 1, .. })));
        reader.pass();
        assert_eq!(pool.take(1).unwrap(), [node]);
    }

    #[test]
    fn a_refused_request_takes_nothing() {
        let pool = Ip4Nodes::new(3, PageSize::Small, &Quiescence::new()).unwrap();
        let two = pool.take(2).unwrap();
        assert!(pool.take(2).is_err());
        assert_eq!(pool.used(), 2);
        pool.put_back(two);
        assert_eq!(pool.take(3).unwrap().len(), 3);
    }
}
