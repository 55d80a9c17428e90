//! The 32-bit words that the IPv6 table is linked with.
//!
//! ```text
//!   31 30 29   27 26 25 22 21                                      0
//!  +--+--+-------+---------+----------------------------------------+
//!  | 0|          a Forward: the answer                              |  leaf
//!  +--+--+--+------------------------------------------------------+
//!  | 1| 1|lo|        index of the bucket                           |  bucket
//!  +--+--+--+----+--+-----+----------------------------------------+
//!  | 1| 0| class |lo|shift|        index within its class          |  node
//!  +--+--+-------+--+-----+----------------------------------------+
//! ```
//!
//! A reader learns all it needs to take the next step from the word itself: which half of the
//! address a bucket compares, and which bits of the address index a node. So each step costs one
//! cache line and no header.

/// One link of the table: an answer, a bucket or a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(pub(super) u32);

/// What a [`Word`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// The answer.
    Leaf(u32),
    /// Up to four routes on one cache line.
    Bucket(u32),
    /// An array indexed by the next bits of the address.
    Node(Node),
}

/// An array of `1 << stride` words, indexed by `stride` bits of the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    /// `stride / 4 - 1`.
    pub(super) class: u32,
    /// Bits of the address before those that index the node; a multiple of four.
    pub(super) depth: u32,
    /// Which of its class.
    pub(super) index: u32,
}

const EXTENDED: u32 = 1 << 31;
const BUCKET: u32 = 1 << 30;
const LOW: u32 = 1 << 29;
const NODE_INDEX_BITS: u32 = 22;

/// How many kinds of node there are: strides of 4, 8, 12, 16 and 20 bits.
pub(super) const CLASSES: usize = 5;
/// The most buckets that words can tell apart.
pub(super) const MAX_BUCKETS: usize = 1 << 29;
/// The most nodes of a class that words can tell apart.
pub(super) const MAX_NODES: usize = 1 << NODE_INDEX_BITS;

impl Node {
    pub(super) fn stride(self) -> u32 {
        stride(self.class as usize)
    }

    /// Bits of the address used up behind this node.
    pub(super) fn end(self) -> u32 {
        self.depth + self.stride()
    }

    /// Which of the node's words `address` leads to.
    pub(super) fn slot_of(self, address: u128) -> u32 {
        Word::node(self).slot_of(address)
    }
}

/// Bits that index a node of `class`.
pub(super) const fn stride(class: usize) -> u32 {
    4 * class as u32 + 4
}

/// The 64 bits of `address` that a bucket or node looks at.
#[inline(always)]
pub(super) fn half_of(address: u128, low: bool) -> u64 {
    if low { address as u64 } else { (address >> 64) as u64 }
}

impl Word {
    pub(super) fn leaf(forward: u32) -> Word {
        debug_assert_eq!(forward & EXTENDED, 0);
        Word(forward)
    }

    pub(super) fn bucket(index: u32, low: bool) -> Word {
        Word(EXTENDED | BUCKET | if low { LOW } else { 0 } | index)
    }

    pub(super) fn node(node: Node) -> Word {
        // A node never straddles the halves, so the shift is below 64, and a multiple of four.
        let shift = (60 - (node.depth & 63) - 4 * node.class) / 4;
        let low = (node.depth & 64) << 20;
        Word(EXTENDED | node.class << 27 | low | shift << NODE_INDEX_BITS | node.index)
    }

    #[inline(always)]
    pub(super) fn is_leaf(self) -> bool {
        self.0 & EXTENDED == 0
    }

    /// Whether a word that is no leaf is a bucket.
    #[inline(always)]
    pub(super) fn is_bucket(self) -> bool {
        self.0 & BUCKET != 0
    }

    /// Whether this bucket compares the low half of the address.
    #[inline(always)]
    pub(super) fn is_low(self) -> bool {
        self.0 & LOW != 0
    }

    /// The index of a word that is a bucket.
    #[inline(always)]
    pub(super) fn as_bucket(self) -> u32 {
        self.0 & (LOW - 1)
    }

    /// The class of a word that is a node.
    #[inline(always)]
    pub(super) fn class(self) -> u32 {
        self.0 >> 27 & 7
    }

    /// Which of the words of its class's array a word that is a node leads to.
    #[inline(always)]
    pub(super) fn slot_in_class(self, address: u128) -> usize {
        let index = self.0 & ((1 << NODE_INDEX_BITS) - 1);
        ((index as usize) << (4 * self.class() + 4)) + self.slot_of(address) as usize
    }

    #[inline(always)]
    fn slot_of(self, address: u128) -> u32 {
        let half = half_of(address, self.0 & 1 << 26 != 0);
        let shift = self.0 >> (NODE_INDEX_BITS - 2) & 60;
        // Lookups ask words that are no nodes, too, and drop the answer: their class may be any.
        (half >> shift) as u32 & (16u32 << (4 * self.class())).wrapping_sub(1)
    }

    /// The fields of a word that is a node.
    fn as_node(self) -> Node {
        let shift = self.0 >> (NODE_INDEX_BITS - 2) & 60;
        Node {
            class: self.class(),
            depth: (self.0 >> 20 & 64) + 60 - shift - 4 * self.class(),
            index: self.0 & ((1 << NODE_INDEX_BITS) - 1),
        }
    }

    pub(super) fn link(self) -> Link {
        if self.is_leaf() {
            Link::Leaf(self.0)
        } else if self.is_bucket() {
            Link::Bucket(self.as_bucket())
        } else {
            Link::Node(self.as_node())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_come_back_as_they_were_made() {
        for low in [false, true] {
            let word = Word::bucket(MAX_BUCKETS as u32 - 1, low);
            assert_eq!(word.link(), Link::Bucket(MAX_BUCKETS as u32 - 1));
            assert_eq!(word.is_low(), low);
        }
        for class in 0..CLASSES as u32 {
            for depth in [0, 36, 64, 128 - stride(class as usize)] {
                let node = Node { class, depth, index: MAX_NODES as u32 - 1 };
                assert_eq!(Word::node(node).link(), Link::Node(node));
            }
        }
        assert_eq!(Word::leaf(0x7fff_ffff).link(), Link::Leaf(0x7fff_ffff));
    }

    #[test]
    fn a_node_is_indexed_by_the_bits_behind_its_depth() {
        let address = 0x2001_0db8_1234_5678_9abc_def0_1122_3344;
        let slot = |class, depth| Node { class, depth, index: 0 }.slot_of(address);
        assert_eq!(slot(0, 0), 0x2);
        assert_eq!(slot(4, 0), 0x20010);
        assert_eq!(slot(1, 32), 0x12);
        assert_eq!(slot(3, 48), 0x5678);
        assert_eq!(slot(2, 64), 0x9ab);
        assert_eq!(slot(0, 124), 0x4);
    }
}
