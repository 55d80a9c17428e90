//! What a packet is, as far as flows can tell: words of fields, in the order in which they are
//! looked at.
//!
//! ```text
//!  0..22 beside the packet │ 22..25 Ethernet │ 25..35 network │ 35 transport │ 36..42 who began its
//!  connection
//! ```
//! A mask has the same form: the bits that matter.

use crate::plain::fold;

/// Words of a key.
pub const WORDS: usize = 42;
/// Where the packet's own words end, and those of its connection begin.
pub(crate) const END_OF_PACKET: usize = 36;
/// Where each stage of a lookup ends.
pub(crate) const STAGES: [usize; 4] = [22, 25, 35, WORDS];
/// The first word that depends on the packet, not on what tables told each other.
pub(crate) const FIRST_OF_PACKET: usize = 21;

/// Word and lowest bit of the first tag's kind: no field, but what is put back after a copy was
/// made without it.
pub(crate) const TPID: (usize, u32) = (24, 32);

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Key {
    /// The words.
    pub words: [u64; WORDS],
}

impl Default for Key {
    fn default() -> Self {
        Self { words: [0; WORDS] }
    }
}

impl Key {
    /// Marks bits that matter.
    pub(crate) fn mark(&mut self, sparse: &[(u8, u64)]) {
        for &(word, bits) in sparse {
            self.words[usize::from(word)] |= bits;
        }
    }

    /// Whether who began a connection matters.
    pub fn has_origin(&self) -> bool {
        self.words[END_OF_PACKET..].iter().any(|word| *word != 0)
    }

    /// The words that are not zero.
    pub(crate) fn sparse(&self) -> Box<[(u8, u64)]> {
        let words = self.words.iter().enumerate().filter(|(_, bits)| **bits != 0);
        words.map(|(word, bits)| (word as u8, *bits)).collect()
    }

    /// Whether the words that are not zero are these.
    pub(crate) fn is_sparsely(&self, sparse: &[(u8, u64)]) -> bool {
        let same = |(word, bits): &(u8, u64)| self.words[usize::from(*word)] == *bits;
        sparse.iter().all(same)
            && self.words.iter().filter(|bits| **bits != 0).count() == sparse.len()
    }

    /// A number of what the packet itself is, and where it begins again: equal for equal packets.
    #[inline]
    pub fn hash_of_packet(&self) -> u64 {
        // The number of its way, and what tracking said of it; who began its connection, nearly
        // always the packet itself tells.
        let beside = [16, 17, 18, 20].into_iter();
        beside
            .chain(FIRST_OF_PACKET..END_OF_PACKET)
            .fold(0, |sum, word| add(sum, word, self.words[word]))
    }
}

/// One word more of a hash.
#[inline]
pub(crate) fn mix(hash: u64, word: u64) -> u64 {
    fold(hash ^ word ^ 0x2545_f491_4f6c_dd1d, 0x9e37_79b9_7f4a_7c15)
}

/// A number of its own for each word, so that words cannot stand for each other in a hash.
const SALTS: [u64; WORDS] = {
    let (mut salts, mut at) = ([0; WORDS], 0);
    while at < WORDS {
        // SplitMix64, whose constants these are.
        let mut it = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        it = (it ^ it >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ it >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (salts[at], at) = (it ^ it >> 31, at + 1);
    }
    salts
};

/// A word more of a hash: a sum, so that a processor need not wait for one to begin the next.
#[inline(always)]
fn add(sum: u64, word: usize, value: u64) -> u64 {
    sum.wrapping_add(fold(value ^ SALTS[word], 0xa076_1d64_78bd_642f))
}

/// Some words of a key: those that a mask has, each with the mask and the value under it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sparse {
    /// Word and mask.
    pub mask: std::sync::Arc<[(u8, u64)]>,
    /// The values, in the same order.
    pub values: Box<[u64]>,
}

impl Sparse {
    /// What a key has under a mask.
    pub(crate) fn of(key: &Key, mask: std::sync::Arc<[(u8, u64)]>) -> Self {
        let values = mask.iter().map(|(word, bits)| key.words[usize::from(*word)] & bits).collect();
        Self { mask, values }
    }

    /// Whether a key has the same under the mask.
    #[inline]
    pub fn matches(&self, key: &Key) -> bool {
        let same = |(&(word, bits), value): (&(u8, u64), &u64)| {
            key.words[usize::from(word)] & bits == *value
        };
        self.mask.iter().zip(&self.values).all(same)
    }
}

/// The hash of what a key has under a mask: a sum, so that it may be made of parts in any order.
#[inline(always)]
pub(crate) fn hash_under(key: &Key, mask: &[(u8, u64)], start: u64) -> u64 {
    mask.iter().fold(start, |sum, &(word, bits)| {
        add(sum, usize::from(word), key.words[usize::from(word)] & bits)
    })
}
