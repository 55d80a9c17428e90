//! What the passes of a bulk lookup share, whichever kernel makes the first: what they read, and
//! where they are not at an end.

use super::nodes::{EXTENDED, Ip4Nodes};
use crate::prefetch::prefetch;
use crate::sync::{AtomicU32, Ordering};

/// How many root words are asked for ahead: enough to hide a memory access behind the others.
pub(super) const AHEAD: usize = 24;

/// The most addresses of one round of passes: a packet vector.
pub(super) const VECTOR: usize = 256;

/// The longest of the short routes, which are apart from the root's words.
pub(super) const SHORT_BITS: u8 = 4;

/// Networks of that length.
pub(super) const SHORT: usize = 1 << SHORT_BITS;

/// The one of an address.
#[inline(always)]
pub(super) fn network_of(address: u32) -> usize {
    (address >> (32 - SHORT_BITS)) as usize
}

/// What all passes of one call read.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) root: &'a [AtomicU32],
    pub(super) nodes: &'a Ip4Nodes,
    /// Where no longer route is, by the first bits of an address.
    pub(super) short: &'a [AtomicU32; SHORT],
}

impl View<'_> {
    /// A word that was read on the way of an address, or what stands for an empty one.
    #[inline(always)]
    pub(super) fn or_short(&self, value: u32, address: u32) -> u32 {
        if value == 0 { self.short[network_of(address)].load(Ordering::Acquire) } else { value }
    }
}

/// The places of a vector whose words are extended.
pub(super) struct Pending {
    pub(super) places: [u8; VECTOR],
    pub(super) count: usize,
}

impl Pending {
    /// Notes that the word of `place` is `value`, an extended one, and asks for its node.
    #[inline(always)]
    pub(super) fn push(&mut self, view: &View<'_>, place: usize, value: u32) {
        prefetch(view.nodes.base(), (value & !EXTENDED) as usize);
        self.places[self.count % VECTOR] = place as u8;
        self.count += 1;
    }
}
