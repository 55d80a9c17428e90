//! Lookups of a whole vector of addresses, one step of all of them at a time.
//!
//! ```text
//!   all at the root ─▶ nodes: read each slot ─┬─▶ leaf: done
//!                        ▲   ▲── still a node ──┤
//!                        └── a link ── buckets: match each ◀── a bucket
//!   whatever is read next is prefetched when its link is found
//! ```
//!
//! The addresses of a vector that are at a node, and those at a bucket, stand in two lists, made
//! without branches: which kind an address meets next cannot be predicted.

#![allow(unsafe_code)] // Vector instructions and pointers into the arrays; bench-fib: 2-4 times one by one.

use std::arch::x86_64::{
    __m256i, _mm_cvtsi32_si128, _mm256_castsi256_pd, _mm256_cmpeq_epi64, _mm256_cvtepu8_epi64,
    _mm256_load_si256, _mm256_movemask_pd, _mm256_set1_epi64x, _mm256_setzero_si256,
    _mm256_srlv_epi64, _mm256_xor_si256,
};
use std::sync::atomic::{AtomicU32, Ordering};

use super::bucket::{Bucket, WAYS};
use super::store::Memory;
use super::word::{CLASSES, Link, Word, half_of};
use crate::prefetch::prefetch;

/// Addresses looked up together: their lists stay in the first-level cache.
const VECTOR: usize = 256;

/// How a machine finds the match in a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ip6Kernel {
    /// One entry after the other; runs everywhere.
    Scalar,
    /// All four at once; a processor without AVX2 and BMI2 runs the scalar one instead.
    Avx2,
}

impl Ip6Kernel {
    /// The fastest that this machine has.
    pub(super) fn best() -> Ip6Kernel {
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
            Ip6Kernel::Avx2
        } else {
            Ip6Kernel::Scalar
        }
    }

    /// This one, or that which runs everywhere where the machine has not what it takes.
    pub(super) fn or_scalar(self) -> Ip6Kernel {
        if Self::best() == self { self } else { Ip6Kernel::Scalar }
    }
}

/// Asks for the root's words while the caller still gathers its addresses: see
/// [`Ip6Table::ahead`](super::Ip6Table::ahead).
#[derive(Clone, Copy)]
pub struct Ip6Ahead {
    /// The root and where its class's words begin, if it is a node.
    root: Option<(Word, *const AtomicU32)>,
}

impl Ip6Ahead {
    pub(super) fn new(memory: &Memory, root: Word) -> Ip6Ahead {
        let is_node = !root.is_leaf() && !root.is_bucket();
        Ip6Ahead { root: is_node.then(|| (root, memory.nodes[root.class() as usize].base())) }
    }

    /// Asks for what the lookup of `address` reads first.
    #[inline(always)]
    pub fn ask(self, address: u128) {
        if let Some((word, words)) = self.root {
            prefetch(words, word.slot_in_class(address));
        }
    }
}

/// Looks one address up from `root`.
pub(super) fn lookup(memory: &Memory, root: Word, address: u128) -> u32 {
    let mut word = root;
    loop {
        word = match word.link() {
            Link::Leaf(forward) => return forward,
            Link::Bucket(index) => memory.bucket(index).find(half_of(address, word.is_low())),
            Link::Node(node) => {
                let slot = node.slot_of(address) as usize;
                Word(memory.slots(node)[slot].load(Ordering::Acquire))
            }
        }
    }
}

/// Looks `addresses` up from `root`, writing one word each to `out`.
pub(super) fn lookup_bulk(
    kernel: Ip6Kernel,
    memory: &Memory,
    root: Word,
    addresses: &[u128],
    out: &mut [u32],
) {
    let count = addresses.len().min(out.len());
    let (vectors, rest) = addresses[..count].as_chunks::<VECTOR>();
    let (outs, out_rest) = out[..count].as_chunks_mut::<VECTOR>();
    for (addresses, out) in vectors.iter().zip(outs) {
        walk_with(kernel, memory, root, addresses, out, VECTOR);
    }
    if !rest.is_empty() {
        let (mut addresses, mut words) = ([0; VECTOR], [0; VECTOR]);
        addresses[..rest.len()].copy_from_slice(rest);
        walk_with(kernel, memory, root, &addresses, &mut words, rest.len());
        out_rest.copy_from_slice(&words[..rest.len()]);
    }
}

fn walk_with(
    kernel: Ip6Kernel,
    memory: &Memory,
    root: Word,
    addresses: &[u128; VECTOR],
    words: &mut [u32; VECTOR],
    count: usize,
) {
    match kernel {
        Ip6Kernel::Scalar => walk(memory, root, addresses, words, count, find_scalar),
        // SAFETY: this kernel is chosen only where the machine has the instructions.
        Ip6Kernel::Avx2 => unsafe { walk_avx2(memory, root, addresses, words, count) },
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn walk_avx2(
    memory: &Memory,
    root: Word,
    addresses: &[u128; VECTOR],
    words: &mut [u32; VECTOR],
    count: usize,
) {
    walk(memory, root, addresses, words, count, |bucket, half| find_avx2(bucket, half));
}

#[inline(always)]
fn find_scalar(bucket: &Bucket, half: u64) -> Word {
    bucket.find(half)
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn find_avx2(bucket: &Bucket, half: u64) -> Word {
    // SAFETY: keys are 32 bytes on a 64-byte boundary, and never change while a reader holds the
    // bucket, so that reading them all at once races with nothing.
    let keys = unsafe { _mm256_load_si256(bucket.keys.as_ptr().cast::<__m256i>()) };
    let shifts = _mm_cvtsi32_si128(bucket.shifts.load(Ordering::Relaxed) as i32);
    let differ = _mm256_xor_si256(keys, _mm256_set1_epi64x(half as i64));
    let differ = _mm256_srlv_epi64(differ, _mm256_cvtepu8_epi64(shifts));
    let same = _mm256_cmpeq_epi64(differ, _mm256_setzero_si256());
    let ways = _mm256_movemask_pd(_mm256_castsi256_pd(same)) as u32 | 1 << WAYS;
    Word(bucket.words[ways.trailing_zeros() as usize].load(Ordering::Acquire))
}

/// Addresses, by their place in the vector, that are at nodes or at buckets. The counts are apart
/// from the lists, so that they stay in registers.
type List = [u8; VECTOR];

/// Where each address of the list of nodes reads next.
type Slots = [*const AtomicU32; VECTOR];

/// Where the arrays begin.
struct Bases {
    /// By class; there are as many as a word's class has values.
    nodes: [*const AtomicU32; 8],
    buckets: *const Bucket,
}

impl Bases {
    #[inline(always)]
    fn slot(&self, word: Word, address: u128) -> *const AtomicU32 {
        self.nodes[word.class() as usize].wrapping_add(word.slot_in_class(address))
    }

    #[inline(always)]
    fn bucket(&self, word: Word) -> *const Bucket {
        self.buckets.wrapping_add(word.as_bucket() as usize)
    }
}

/// Files `place`, whose address has come to `word`, where it goes on, if it does, and asks for what
/// it reads there.
#[inline(always)]
fn file(
    bases: &Bases,
    word: Word,
    (place, address): (u8, u128),
    nodes: (&mut List, &mut Slots, &mut usize),
    buckets: (&mut List, &mut usize),
) {
    let to_bucket = !word.is_leaf() & word.is_bucket();
    let to_node = !word.is_leaf() & !word.is_bucket();
    let slot = bases.slot(word, address);
    // Where nothing follows, what is asked for is at hand, mostly.
    let next: *const Bucket = if to_bucket { bases.bucket(word) } else { bases.buckets };
    prefetch(if to_node { slot.cast() } else { next }, 0);
    // No more are filed than the vector has places; the mask says so to the compiler.
    nodes.0[*nodes.2 & (VECTOR - 1)] = place;
    nodes.1[*nodes.2 & (VECTOR - 1)] = slot;
    *nodes.2 += usize::from(to_node);
    buckets.0[*buckets.1 & (VECTOR - 1)] = place;
    *buckets.1 += usize::from(to_bucket);
}

#[inline(always)]
fn walk(
    memory: &Memory,
    root: Word,
    addresses: &[u128; VECTOR],
    words: &mut [u32; VECTOR],
    count: usize,
    find: impl Fn(&Bucket, u64) -> Word,
) {
    let count = count.min(VECTOR);
    words[..count].fill(root.0);
    if root.is_leaf() {
        return;
    }
    let bases = Bases {
        nodes: std::array::from_fn(|class| memory.nodes[class.min(CLASSES - 1)].base()),
        buckets: memory.buckets.base(),
    };
    let all: List = std::array::from_fn(|place| place as u8);
    let (mut at_nodes, mut at_buckets) = (all, all);
    let mut slots: Slots = [std::ptr::null(); VECTOR];
    let (mut node_count, mut bucket_count) = (0, 0);
    if root.is_bucket() {
        // All are at one bucket, and mostly it has the answers.
        let bucket = memory.bucket(root.as_bucket());
        let mut any = 0;
        for (word, &address) in words[..count].iter_mut().zip(addresses) {
            *word = find(bucket, half_of(address, false)).0;
            any |= *word;
        }
        if Word(any).is_leaf() {
            return;
        }
        for (place, (&word, &address)) in words[..count].iter().zip(addresses).enumerate() {
            let nodes = (&mut at_nodes, &mut slots, &mut node_count);
            let buckets = (&mut at_buckets, &mut bucket_count);
            file(&bases, Word(word), (place as u8, address), nodes, buckets);
        }
    } else {
        // All are at one node: no need to ask each word which.
        node_count = count;
        for (slot, &address) in slots.iter_mut().zip(addresses) {
            *slot = bases.slot(root, address);
            prefetch(*slot, 0);
        }
    }
    loop {
        while node_count > 0 {
            let here = node_count;
            node_count = 0;
            for position in 0..here {
                let place = at_nodes[position];
                // SAFETY: the word led to this node, so the slot lies in its array, and the
                // caller has not passed a quiescent point since it read the word.
                let word = Word(unsafe { &*slots[position] }.load(Ordering::Acquire));
                words[usize::from(place)] = word.0;
                let nodes = (&mut at_nodes, &mut slots, &mut node_count);
                let buckets = (&mut at_buckets, &mut bucket_count);
                file(&bases, word, (place, addresses[usize::from(place)]), nodes, buckets);
            }
        }
        if bucket_count == 0 {
            return;
        }
        let here = bucket_count;
        bucket_count = 0;
        for position in 0..here {
            let place = at_buckets[position];
            let address = addresses[usize::from(place)];
            let word = Word(words[usize::from(place)]);
            // SAFETY: as for slots.
            let bucket = unsafe { &*bases.bucket(word) };
            let word = find(bucket, half_of(address, word.is_low()));
            words[usize::from(place)] = word.0;
            let nodes = (&mut at_nodes, &mut slots, &mut node_count);
            file(&bases, word, (place, address), nodes, (&mut at_buckets, &mut bucket_count));
        }
    }
}
