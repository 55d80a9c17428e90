//! Adding and removing routes: the record first, then the words that readers see.
//!
//! ```text
//!   insert P:  take the nodes P needs   -> record P -> paint the gaps of P with its value
//!   remove P:  strike P from the record -> paint the gaps of P with what covers it
//!              -> unlink the nodes on the way to P that hold no longer route any more
//! ```
//!
//! The *gaps* of P are P less the longer routes inside it. Short routes, up to /4, have words of
//! their own instead, and what they cover is not painted. Everything that can fail comes before the
//! first change.

use super::Ip4Table;
use super::nodes::{EXTENDED, NODE_BITS, NODE_ENTRIES};
use super::pass::{SHORT_BITS, network_of};
use super::routes::Routes;
use crate::prefetch::prefetch;
use crate::sync::{AtomicU32, Ordering};
use crate::{FibError, Forward, Ip4Prefix, Prefix};

/// Routes that a bulk change makes before it lets another writer in.
const ROUND: usize = 256;
/// How far ahead a bulk change asks for shelves and root words ...
const FAR: usize = 16;
/// ... and for values, whose place is in the shelf.
const NEAR: usize = 8;

impl Ip4Table {
    /// Adds or replaces a route, and returns what it forwarded to before. On an error the table is
    /// as it was.
    pub fn insert(&self, prefix: Ip4Prefix, to: Forward) -> Result<Option<Forward>, FibError> {
        self.insert_into(&mut self.record(), prefix, to)
    }

    /// Adds or replaces many routes, quicker than one by one: the memory of the next ones is asked
    /// for meanwhile. On an error says how many were added, which are those at the head.
    pub fn insert_bulk(&self, routes: &[(Ip4Prefix, Forward)]) -> Result<(), (usize, FibError)> {
        for (round, routes) in routes.chunks(ROUND).enumerate() {
            let record = &mut *self.record();
            for (index, (prefix, to)) in routes.iter().enumerate() {
                self.prefetch(record, routes.iter().map(|(prefix, _)| *prefix).skip(index));
                self.insert_into(record, *prefix, *to)
                    .map_err(|error| (round * ROUND + index, error))?;
            }
        }
        Ok(())
    }

    /// Removes many routes, likewise, and says how many of them there were.
    pub fn remove_bulk(&self, prefixes: &[Ip4Prefix]) -> usize {
        let mut removed = 0;
        for prefixes in prefixes.chunks(ROUND) {
            let record = &mut *self.record();
            for (index, prefix) in prefixes.iter().enumerate() {
                self.prefetch(record, prefixes.iter().copied().skip(index));
                removed += usize::from(self.remove_from(record, *prefix).is_some());
            }
        }
        removed
    }

    /// Asks for what the changes of the `next` prefixes will touch, in the order of need.
    #[inline]
    fn prefetch(&self, record: &Routes, mut next: impl Iterator<Item = Ip4Prefix>) {
        if let Some(prefix) = next.nth(NEAR) {
            record.prefetch_value(prefix);
        }
        if let Some(prefix) = next.nth(FAR - NEAR - 1) {
            let root_bits = self.options.layout.root_bits();
            prefetch(self.root.base(), (prefix.address() >> (32 - root_bits)) as usize);
            record.prefetch_shelf(prefix);
        }
    }

    fn insert_into(
        &self,
        record: &mut Routes,
        prefix: Ip4Prefix,
        to: Forward,
    ) -> Result<Option<Forward>, FibError> {
        if to.is_none() {
            return Err(FibError::NothingToForwardTo { prefix: prefix.to_string() });
        }
        if record.len() >= self.options.max_routes && record.get(prefix).is_none() {
            let capacity = self.options.max_routes;
            return Err(FibError::Full { table: "an IPv4 table", unit: "routes", capacity });
        }
        let spare = self.nodes.take(self.missing_nodes(prefix))?;
        let before = match record.insert(prefix, to.bits()) {
            Ok(before) => before,
            Err(source) => {
                self.nodes.put_back(spare);
                return Err(FibError::NoMemory {
                    table: "an IPv4 table's record",
                    bytes: 0,
                    source: std::io::Error::new(std::io::ErrorKind::OutOfMemory, source),
                });
            }
        };
        self.extend(prefix, spare);
        self.paint(record, prefix, to.bits());
        Ok(before.map(Forward::from_bits))
    }

    /// Removes a route, so that what covers it holds again, and returns what it forwarded to.
    pub fn remove(&self, prefix: Ip4Prefix) -> Option<Forward> {
        self.remove_from(&mut self.record(), prefix)
    }

    fn remove_from(&self, record: &mut Routes, prefix: Ip4Prefix) -> Option<Forward> {
        let before = record.remove(prefix)?;
        let covering = match record.cover(prefix, false) {
            Some((cover, value)) if cover.length() > SHORT_BITS => value,
            _ => 0,
        };
        self.paint(record, prefix, covering);
        self.collapse(record, prefix);
        Some(Forward::from_bits(before))
    }

    /// Gives every address of `prefix` that no longer route holds the word `value`.
    fn paint(&self, record: &Routes, prefix: Ip4Prefix, value: u32) {
        if prefix.length() <= SHORT_BITS {
            return self.paint_short(record, prefix);
        }
        record.gaps(prefix, &mut |gap| {
            for entry in self.entries(gap) {
                entry.store(value, Ordering::Release);
            }
        });
    }

    /// Gives the networks that the short route `prefix` holds, or held, what they have now.
    fn paint_short(&self, record: &Routes, prefix: Ip4Prefix) {
        let first = network_of(prefix.address());
        let count = 1 << (SHORT_BITS - prefix.length());
        for network in first..first + count {
            let whole = Prefix::new((network as u32) << (32 - SHORT_BITS), SHORT_BITS);
            let cover = whole.ok().and_then(|whole| record.cover(whole, true));
            let specific = cover.filter(|(cover, _)| cover.length() > 0);
            for (words, cover) in [(&self.short, cover), (&self.short_specific, specific)] {
                words[network].store(cover.map_or(0, |(_, value)| value), Ordering::Release);
            }
        }
    }

    /// The entries that together are `prefix`, in whose way no node is missing.
    fn entries(&self, prefix: Ip4Prefix) -> &[AtomicU32] {
        let (address, length) = (prefix.address(), prefix.length());
        let mut bits = self.options.layout.root_bits();
        let mut level = self.root.items();
        let mut first = (address >> (32 - bits)) as usize;
        while length > bits {
            let Some(node) = self.nodes.node(level[first].load(Ordering::Relaxed)) else {
                return &[];
            };
            bits += NODE_BITS;
            level = node;
            first = (address >> (32 - bits)) as usize % NODE_ENTRIES;
        }
        &level[first..first + (1 << (bits - length))]
    }

    /// The lengths at which a route of `length` needs a node below its entry.
    fn steps(&self, length: u8) -> impl DoubleEndedIterator<Item = u8> + use<> {
        (self.options.layout.root_bits()..length).step_by(NODE_BITS as usize)
    }

    /// The entry of `length` on the way to `prefix`, while there are nodes.
    fn step_entry(&self, prefix: Ip4Prefix, length: u8) -> Option<&AtomicU32> {
        let step = Prefix::new(prefix.address(), length).ok()?;
        self.entries(step).first()
    }

    fn missing_nodes(&self, prefix: Ip4Prefix) -> usize {
        let steps = self.steps(prefix.length());
        let (mut missing, mut lost) = (0, false);
        for length in steps {
            lost = lost
                || self
                    .step_entry(prefix, length)
                    .is_none_or(|entry| entry.load(Ordering::Relaxed) & EXTENDED == 0);
            missing += usize::from(lost);
        }
        missing
    }

    /// Links `spare` nodes into the way to `prefix`, filled with the words they take the place of.
    fn extend(&self, prefix: Ip4Prefix, spare: Vec<u32>) {
        let mut spare = spare.into_iter();
        for length in self.steps(prefix.length()) {
            let Some(entry) = self.step_entry(prefix, length) else { return };
            if entry.load(Ordering::Relaxed) & EXTENDED != 0 {
                continue;
            }
            let Some(index) = spare.next() else { return };
            self.nodes.link(entry, index);
        }
    }

    /// Unlinks the nodes on the way to `prefix` that hold nothing but one covering route.
    fn collapse(&self, record: &Routes, prefix: Ip4Prefix) {
        for length in self.steps(prefix.length()).rev() {
            let step = Prefix::new(prefix.address(), length);
            if step.is_ok_and(|step| record.has_longer(step)) {
                return;
            }
            let Some(entry) = self.step_entry(prefix, length) else { return };
            if let Some(node) = self.nodes.node(entry.load(Ordering::Relaxed)) {
                self.nodes.unlink(entry, node[0].load(Ordering::Relaxed));
            }
        }
    }
}

impl Drop for Ip4Table {
    /// Gives the nodes back to the pool that other tables share.
    fn drop(&mut self) {
        let record = std::mem::replace(&mut *self.record(), Routes::new());
        let mut long = Vec::new();
        record.for_each(&mut |prefix, _| {
            if prefix.length() > self.options.layout.root_bits() {
                long.push(prefix);
            }
        });
        // Deepest first: a node is found through those above it.
        for length in self.steps(32).rev() {
            for prefix in long.iter().filter(|prefix| prefix.length() > length) {
                let Some(entry) = self.step_entry(*prefix, length) else { continue };
                self.nodes.unlink(entry, 0);
            }
        }
    }
}
