//! A frame divided by its packets' exits: mark the slots of one exit, compress them into a frame.
//!
//! ```text
//!  exits    2 0 2 2 1 2 …     selection of 2:  1 0 1 1 0 1 …  (a bit a slot)
//!  header   a b c d e f …     compressed:      a c d f …
//! ```
//! AVX-512 takes 8 pointers, 16 words or 32 half words a step; the scalar kernel walks the bits.
//! Both are tested against each other; `make bench` shows what they cost.

use crate::Frame;
use crate::frame::{SLOTS, VECTOR};
use core::fmt;

/// Exit of each slot of a frame, as bytes.
#[repr(align(64))]
pub struct ExitBytes(pub [u8; SLOTS]);

impl Default for ExitBytes {
    fn default() -> Self {
        Self([0; SLOTS])
    }
}

/// The slots that one exit takes: a bit a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection([u64; VECTOR / 64]);

impl Selection {
    /// The first `count` slots.
    #[inline]
    pub fn first(count: usize) -> Self {
        Self(core::array::from_fn(|word| match count.saturating_sub(word * 64) {
            0 => 0,
            bits if bits >= 64 => u64::MAX,
            bits => (1 << bits) - 1,
        }))
    }

    /// Adds a slot, which a frame has.
    #[inline]
    pub fn insert(&mut self, slot: usize) {
        self.0[slot / 64] |= 1 << (slot % 64);
    }

    /// How many slots.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// True if there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; VECTOR / 64]
    }

    /// The lowest slot.
    #[inline]
    pub fn lowest(&self) -> Option<usize> {
        let word = self.0.iter().position(|&word| word != 0)?;
        Some(word * 64 + self.0[word].trailing_zeros() as usize)
    }

    /// Takes `other`'s slots away.
    #[inline]
    pub fn remove(&mut self, other: &Self) {
        for (word, gone) in self.0.iter_mut().zip(other.0) {
            *word &= !gone;
        }
    }

    /// Of these slots, those whose exit is `exit`.
    #[inline]
    pub fn with_exit(&self, exits: &ExitBytes, exit: u8) -> Self {
        let mut words = self.0;
        for (word, bytes) in words.iter_mut().zip(exits.0.chunks_exact(64)) {
            if *word != 0 {
                *word &= equal_bytes(bytes, exit);
            }
        }
        Self(words)
    }

    /// The slots in order.
    pub fn slots(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(index, &word)| {
            let mut rest = word;
            core::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(index * 64 + bit)
            })
        })
    }
}

/// A bit for each of 64 bytes: is it `value`?
#[cfg(target_arch = "x86_64")]
#[inline]
fn equal_bytes(bytes: &[u8], value: u8) -> u64 {
    use core::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};
    let mut bits = 0;
    for (group, sixteen) in bytes.chunks_exact(16).enumerate() {
        // SAFETY: SSE2 is part of x86-64; the chunk has the 16 bytes.
        let mask = unsafe {
            let loaded = _mm_loadu_si128(sixteen.as_ptr().cast());
            _mm_movemask_epi8(_mm_cmpeq_epi8(loaded, _mm_set1_epi8(value as i8)))
        };
        bits |= u64::from(mask as u16) << (group * 16);
    }
    bits
}

/// A bit for each of 64 bytes: is it `value`?
#[cfg(not(target_arch = "x86_64"))]
fn equal_bytes(bytes: &[u8], value: u8) -> u64 {
    bytes.iter().enumerate().fold(0, |bits, (bit, &byte)| bits | (u64::from(byte == value) << bit))
}

/// The packets of a frame on their way to their exits: each is in one part, and a part is used
/// once.
///
/// ```compile_fail,E0382
/// use packet::{ExitBytes, Frame, Splitter};
/// let (mut from, exits) = (Frame::new(), ExitBytes::default());
/// let (mut one, mut other) = (Frame::new(), Frame::new());
/// for part in from.parts(&exits) {
///     one.gather(part, Splitter::SCALAR);
///     other.gather(part, Splitter::SCALAR); // the same packets twice
/// }
/// ```
pub struct Parts<'f> {
    frame: &'f Frame,
    exits: &'f ExitBytes,
    rest: Selection,
}

/// The packets of a frame that take one exit. Lost if no frame gathers them.
pub struct Part<'f> {
    frame: &'f Frame,
    exit: u8,
    selected: Selection,
}

impl<'f> Parts<'f> {
    /// # Safety
    /// The packets in the slots of `rest` are given up to the parts: the frame counts them no more.
    #[inline]
    pub(crate) unsafe fn owning(frame: &'f Frame, exits: &'f ExitBytes, rest: Selection) -> Self {
        Self { frame, exits, rest }
    }
}

impl<'f> Iterator for Parts<'f> {
    type Item = Part<'f>;

    #[inline]
    fn next(&mut self) -> Option<Part<'f>> {
        let exit = self.exits.0[self.rest.lowest()?];
        let selected = self.rest.with_exit(self.exits, exit);
        self.rest.remove(&selected);
        Some(Part { frame: self.frame, exit, selected })
    }
}

impl<'f> Part<'f> {
    /// Number of the exit.
    #[inline]
    pub fn exit(&self) -> u8 {
        self.exit
    }

    /// How many packets, or slots whose packet was taken.
    #[inline]
    pub fn slots(&self) -> usize {
        self.selected.len()
    }

    #[inline]
    pub(crate) fn into_slots(self) -> (&'f Frame, Selection) {
        (self.frame, self.selected)
    }
}

/// Which compress kernel this processor runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Splitter(Compress);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compress {
    Scalar,
    /// Only where `detect` has seen that the processor has it.
    Avx512,
}

impl Splitter {
    /// Any processor's.
    pub const SCALAR: Self = Self(Compress::Scalar);

    /// The fastest that this processor has: AVX-512 F, BW, VL and VBMI2 (Ice Lake, Zen 4 and
    /// later), or plain code.
    pub fn detect() -> Self {
        if has_avx512() { Self(Compress::Avx512) } else { Self::SCALAR }
    }
}

/// Its name: `Scalar` or `Avx512`.
impl fmt::Debug for Splitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vbmi2")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx512() -> bool {
    false
}

/// Copies the selected slots of an array to the front of another, in order.
pub(crate) trait Kernel {
    /// # Safety
    /// The processor has the kernel's features; `T` is 2, 4 or 8 bytes; `into` has room for the
    /// selected slots and [`crate::SLACK`] more.
    unsafe fn compress<T: Copy>(from: &[T; SLOTS], selected: &Selection, into: &mut [T]);
}

/// Walks the bits.
pub(crate) struct Scalar;

impl Kernel for Scalar {
    #[inline(always)]
    unsafe fn compress<T: Copy>(from: &[T; SLOTS], selected: &Selection, into: &mut [T]) {
        for (target, slot) in into.iter_mut().zip(selected.slots()) {
            *target = from[slot];
        }
    }
}

/// Compresses in registers and stores whole registers; the slack takes what is too much.
pub(crate) struct Avx512;

#[cfg(not(target_arch = "x86_64"))]
impl Kernel for Avx512 {
    unsafe fn compress<T: Copy>(from: &[T; SLOTS], selected: &Selection, into: &mut [T]) {
        // SAFETY: the scalar kernel asks for less.
        unsafe { Scalar::compress(from, selected, into) }
    }
}

#[cfg(target_arch = "x86_64")]
impl Kernel for Avx512 {
    #[inline(always)]
    unsafe fn compress<T: Copy>(from: &[T; SLOTS], selected: &Selection, into: &mut [T]) {
        use core::arch::x86_64::{
            _mm512_loadu_si512, _mm512_maskz_compress_epi16, _mm512_maskz_compress_epi32,
            _mm512_maskz_compress_epi64, _mm512_storeu_si512,
        };
        let lanes = 64 / size_of::<T>();
        debug_assert!(into.len() >= selected.len() + lanes);
        let mut to = into.as_mut_ptr();
        for (index, &word) in selected.0.iter().enumerate() {
            let mut rest = word;
            let mut slot = index * 64;
            while rest != 0 {
                // SAFETY: slot < VECTOR, so a register from it ends within the slack; the store
                // ends at most a register behind the room for the selected slots.
                unsafe {
                    let loaded = _mm512_loadu_si512(from.as_ptr().add(slot).cast());
                    let (packed, count) = match size_of::<T>() {
                        8 => (
                            _mm512_maskz_compress_epi64(rest as u8, loaded),
                            (rest as u8).count_ones(),
                        ),
                        4 => (
                            _mm512_maskz_compress_epi32(rest as u16, loaded),
                            (rest as u16).count_ones(),
                        ),
                        _ => (
                            _mm512_maskz_compress_epi16(rest as u32, loaded),
                            (rest as u32).count_ones(),
                        ),
                    };
                    _mm512_storeu_si512(to.cast(), packed);
                    to = to.add(count as usize);
                }
                rest = rest.checked_shr(lanes as u32).unwrap_or(0);
                slot += lanes;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A frame whose slot n has length n, so that each packet can be told.
    fn numbered(count: usize) -> Box<Frame> {
        let mut frame = Frame::new();
        frame.count = count;
        for slot in 0..count {
            frame.packet[slot] = core::ptr::without_provenance_mut(0x1000 + slot * 64);
            frame.header[slot] = core::ptr::without_provenance_mut(0x9000 + slot);
            frame.length[slot] = slot as u32;
            frame.adjacency[slot] = !(slot as u32);
            (frame.rx[slot], frame.tx[slot]) = (slot as u16, slot as u16 ^ 0x5555);
            frame.consumed[slot] = slot as u16 + 7;
        }
        frame
    }

    fn everything(frame: &Frame) -> impl PartialEq + std::fmt::Debug + use<> {
        let n = frame.count;
        let words = (frame.length[..n].to_vec(), frame.adjacency[..n].to_vec());
        let halves = (frame.rx[..n].to_vec(), frame.tx[..n].to_vec(), frame.consumed[..n].to_vec());
        (frame.packet[..n].to_vec(), frame.header[..n].to_vec(), words, halves)
    }

    proptest! {
        #![proptest_config(crate::testing::cases())]
        #[test]
        fn splitting_gives_every_packet_to_its_exit_in_order(
            chosen in proptest::collection::vec(0u8..5, 1..=VECTOR),
            before in 0usize..40,
        ) {
            let mut exits = ExitBytes::default();
            exits.0[..chosen.len()].copy_from_slice(&chosen);
            let mut results = Vec::new();
            for splitter in [Splitter::SCALAR, Splitter::detect()] {
                let mut from = numbered(chosen.len());
                let mut told = Vec::new();
                for part in from.parts(&exits) {
                    let (exit, slots) = (part.exit(), part.slots());
                    let expected: Vec<u32> =
                        (0..chosen.len() as u32).filter(|&n| chosen[n as usize] == exit).collect();
                    prop_assert_eq!(slots, expected.len());
                    let before = before.min(VECTOR - slots);
                    let mut into = numbered(before);
                    into.gather(part, splitter);
                    prop_assert_eq!(&into.length[before..into.count], &expected[..]);
                    told.push((exit, everything(&into)));
                }
                prop_assert!(from.is_empty());
                prop_assert_eq!(told.len(), (0..5).filter(|exit| chosen.contains(exit)).count());
                results.push(told);
            }
            prop_assert_eq!(&results[0], &results[1]);
        }

        #[test]
        fn a_selection_lists_its_slots(chosen in proptest::collection::vec(any::<bool>(), 1..=VECTOR)) {
            let mut exits = ExitBytes::default();
            for (byte, &yes) in exits.0.iter_mut().zip(&chosen) { *byte = u8::from(yes); }
            let mut rest = Selection::first(chosen.len());
            let yes = rest.with_exit(&exits, 1);
            let expected: Vec<usize> = (0..chosen.len()).filter(|&n| chosen[n]).collect();
            prop_assert_eq!(yes.slots().collect::<Vec<_>>(), expected.clone());
            prop_assert_eq!(yes.lowest(), expected.first().copied());
            rest.remove(&yes);
            prop_assert_eq!(rest, Selection::first(chosen.len()).with_exit(&exits, 0));
        }
    }
}
