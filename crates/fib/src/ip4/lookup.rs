//! Lookups: one address, or a vector of them, level by level, the memory asked for ahead of need.
//!
//! ```text
//!   first pass    root words of the whole vector; where one is extended: ask for its node,
//!                 and note the place in a list
//!   more passes   over the list alone: the node's word, until none is extended
//! ```
//!
//! The first pass has two kernels: plain Rust, and AVX2 (`gather.rs`), which takes 8 at a time.

use super::nodes::{EXTENDED, NODE_BITS, NODE_ENTRIES};
use super::pass::{AHEAD, Pending, VECTOR, View};
use super::{Ip4Layout, Ip4Table, gather};
use crate::Forward;
use crate::prefetch::prefetch;
use crate::sync::Ordering;

/// How the first pass is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ip4Kernel {
    /// One by one; runs everywhere.
    Scalar,
    /// Eight at a time; a processor without AVX2 runs the scalar one instead.
    Avx2,
}

impl Ip4Table {
    /// What `address` forwards to.
    #[inline]
    pub fn lookup(&self, address: u32) -> Forward {
        Forward::from_bits(match self.options.layout {
            Ip4Layout::Wide => self.lookup_one::<24>(address),
            Ip4Layout::Compact => self.lookup_one::<20>(address),
        })
    }

    /// One address, with nothing to ask for ahead.
    #[inline]
    fn lookup_one<const ROOT_BITS: u8>(&self, address: u32) -> u32 {
        let mut bits = ROOT_BITS;
        let entry = self.root.items().get((address >> (32 - bits)) as usize);
        let mut value = entry.map_or(0, |entry| entry.load(Ordering::Acquire));
        while value & EXTENDED != 0 && bits < 32 {
            bits += NODE_BITS;
            // A node is there before a word leads to it: the pool is looked at anew each time.
            let node = self.nodes.all().get((value & !EXTENDED) as usize);
            let entry = (address >> (32 - bits)) as usize % NODE_ENTRIES;
            value = node.map_or(0, |node| node[entry].load(Ordering::Acquire));
        }
        self.view().or_short(value, address)
    }

    /// What each of `addresses` forwards to, as [`Forward::bits`], into the same place of `out`;
    /// the shorter of the two decides how many.
    #[inline]
    pub fn lookup_bulk(&self, addresses: &[u32], out: &mut [u32]) {
        self.lookup_bulk_with(Ip4Kernel::Avx2, addresses, out);
    }

    /// The same by all routes but the default one.
    pub fn lookup_bulk_specific(&self, addresses: &[u32], out: &mut [u32]) {
        let view = View { short: &self.short_specific, ..self.view() };
        self.lookup_in(view, Ip4Kernel::Avx2, addresses, out);
    }

    /// The same by a kernel of the caller's choice, to test and to compare.
    #[inline]
    pub fn lookup_bulk_with(&self, kernel: Ip4Kernel, addresses: &[u32], out: &mut [u32]) {
        self.lookup_in(self.view(), kernel, addresses, out);
    }

    #[inline]
    fn lookup_in(&self, view: View<'_>, kernel: Ip4Kernel, addresses: &[u32], out: &mut [u32]) {
        match self.options.layout {
            Ip4Layout::Wide => view.lookup_from::<24>(kernel, addresses, out),
            Ip4Layout::Compact => view.lookup_from::<20>(kernel, addresses, out),
        }
    }

    #[inline]
    pub(super) fn view(&self) -> View<'_> {
        View { root: self.root.items(), nodes: &self.nodes, short: &self.short }
    }
}

impl View<'_> {
    #[inline]
    fn lookup_from<const ROOT_BITS: u8>(
        self,
        kernel: Ip4Kernel,
        addresses: &[u32],
        out: &mut [u32],
    ) {
        for (addresses, out) in addresses.chunks(VECTOR).zip(out.chunks_mut(VECTOR)) {
            let count = addresses.len().min(out.len());
            let (addresses, out) = (&addresses[..count], &mut out[..count]);
            let mut pending = Pending { places: [0; VECTOR], count: 0 };
            let begun = match kernel {
                Ip4Kernel::Scalar => 0,
                Ip4Kernel::Avx2 => {
                    gather::first_words::<ROOT_BITS>(&self, addresses, out, &mut pending)
                }
            };
            first_words::<ROOT_BITS>(&self, addresses, out, begun, &mut pending);
            descend::<ROOT_BITS>(&self, addresses, out, pending);
        }
    }
}

/// The first pass from place `begun` on.
#[inline]
fn first_words<const ROOT_BITS: u8>(
    view: &View<'_>,
    addresses: &[u32],
    out: &mut [u32],
    begun: usize,
    pending: &mut Pending,
) {
    for address in addresses.iter().skip(begun).take(AHEAD) {
        prefetch(view.root.as_ptr(), (address >> (32 - ROOT_BITS)) as usize);
    }
    for (place, address) in addresses.iter().enumerate().skip(begun) {
        if let Some(ahead) = addresses.get(place + AHEAD) {
            prefetch(view.root.as_ptr(), (ahead >> (32 - ROOT_BITS)) as usize);
        }
        let entry = view.root.get((address >> (32 - ROOT_BITS)) as usize);
        let value = entry.map_or(0, |entry| entry.load(Ordering::Acquire));
        out[place] = view.or_short(value, *address);
        if value & EXTENDED != 0 {
            pending.push(view, place, value);
        }
    }
}

/// Follows the pending words, one level of nodes a pass.
#[inline]
fn descend<const ROOT_BITS: u8>(
    view: &View<'_>,
    addresses: &[u32],
    out: &mut [u32],
    mut pending: Pending,
) {
    let mut bits = ROOT_BITS;
    while pending.count > 0 && bits < 32 {
        bits += NODE_BITS;
        let count = std::mem::take(&mut pending.count);
        // The pool may have grown since the last pass; a node is there before a word leads to it.
        let nodes = view.nodes.all();
        for index in 0..count {
            let place = usize::from(pending.places[index]);
            // The check costs less than a proof would.
            let node = nodes.get((out[place] & !EXTENDED) as usize);
            let entry = (addresses[place] >> (32 - bits)) as usize % NODE_ENTRIES;
            let value = node.map_or(0, |node| node[entry].load(Ordering::Acquire));
            out[place] = view.or_short(value, addresses[place]);
            if value & EXTENDED != 0 {
                pending.push(view, place, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ip4::{Ip4Nodes, Ip4Options};
    use crate::pages::PageSize;
    use crate::quiesce::Quiescence;

    #[test]
    fn a_lookup_finds_nodes_that_came_after_it_began() {
        let nodes = Ip4Nodes::new(64, PageSize::Small, &Quiescence::new()).unwrap();
        let table = Ip4Table::new(&nodes, Ip4Options::sparse(10)).unwrap();
        let (view, to) = (table.view(), Forward::new(1, 7));
        table.insert("10.1.2.3/32".parse().unwrap(), to).unwrap();
        let (addresses, mut out) = ([0x0a01_0203], [0]);
        let mut pending = Pending { places: [0; VECTOR], count: 0 };
        first_words::<20>(&view, &addresses, &mut out, 0, &mut pending);
        descend::<20>(&view, &addresses, &mut out, pending);
        assert_eq!(out, [to.bits()]);
    }
}
