//! Lookups: one address, or a vector of them with the memory asked for ahead of need.
//!
//! ```text
//!   out[i + AHEAD] <- prefetch root      out[i] <- root entry, then nodes while it is extended
//! ```

use std::sync::atomic::{AtomicU32, Ordering};

use super::nodes::{EXTENDED, NODE_BITS, NODE_ENTRIES, Node};
use super::{Ip4Layout, Ip4Table};
use crate::Forward;
use crate::prefetch::prefetch;

/// How many lookups are in flight: enough to hide a memory access behind the others.
const AHEAD: usize = 24;

impl Ip4Table {
    /// What `address` forwards to.
    #[inline]
    pub fn lookup(&self, address: u32) -> Forward {
        let mut out = [0];
        self.lookup_bulk(&[address], &mut out);
        Forward::from_bits(out[0])
    }

    /// What each of `addresses` forwards to, as [`Forward::bits`], into the same place of `out`;
    /// the shorter of the two decides how many.
    #[inline]
    pub fn lookup_bulk(&self, addresses: &[u32], out: &mut [u32]) {
        match self.options.layout {
            Ip4Layout::Wide => self.lookup_from::<24>(addresses, out),
            Ip4Layout::Compact => self.lookup_from::<20>(addresses, out),
        }
    }

    #[inline(always)]
    fn lookup_from<const ROOT_BITS: u8>(&self, addresses: &[u32], out: &mut [u32]) {
        let root = self.root.items();
        let nodes = self.nodes.all();
        let default = self.default.load(Ordering::Acquire);
        for ahead in addresses.iter().take(AHEAD) {
            prefetch(self.root.base(), (ahead >> (32 - ROOT_BITS)) as usize);
        }
        for (index, (address, out)) in addresses.iter().zip(out).enumerate() {
            if let Some(ahead) = addresses.get(index + AHEAD) {
                prefetch(self.root.base(), (ahead >> (32 - ROOT_BITS)) as usize);
            }
            let mut value = entry(root, (address >> (32 - ROOT_BITS)) as usize);
            if value & EXTENDED != 0 {
                value = descend(nodes, *address, ROOT_BITS, value);
            }
            *out = if value == 0 { default } else { value };
        }
    }
}

/// Follows an extended entry to the word it leads to.
#[inline(always)]
fn descend(nodes: &[Node], address: u32, mut bits: u8, mut value: u32) -> u32 {
    while value & EXTENDED != 0 {
        bits += NODE_BITS;
        // A node is complete before it is linked, so an index past the end is never met; the
        // check costs less than a proof would.
        let Some(node) = nodes.get((value & !EXTENDED) as usize) else { return 0 };
        value = node[(address >> (32 - bits)) as usize % NODE_ENTRIES].load(Ordering::Acquire);
    }
    value
}

#[inline(always)]
fn entry(root: &[AtomicU32], index: usize) -> u32 {
    match root.get(index) {
        Some(entry) => entry.load(Ordering::Acquire),
        None => 0,
    }
}
