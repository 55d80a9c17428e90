//! A rule of IPv4 in half a cache line: what nearly all ask for, and neither VLAN nor station.
//!
//! ```text
//!  ┌─────────────────┬─────────┬───────┬────────────────┬────────┬─────────────┬─────────────┐
//!  │ kind mask, host │ verdict │ spans │ kind, host bits│ source │ destination │ first ports │
//!  │ bits of dest. 4 │    8    │   4   │ of source    4 │   4    │      4      │      4      │
//!  └─────────────────┴─────────┴───────┴────────────────┴────────┴─────────────┴─────────────┘
//!                                        as in the first cells of a key
//! ```
//! Lists of fifty thousand rules lie in no cache that is near: half the bytes are half the lines.

#![allow(unsafe_code)] // Compares four cells of a key at once where the processor can.

use crate::cell::are_within;
use crate::key::CELLS4;
use crate::record::{Record, Stored, common_of};
use crate::{Key, Verdict};

#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Lean {
    /// The lowest byte, which no packet has, is the number of bits behind the destination's prefix.
    kind_mask: u32,
    verdict: Within,
    spans: u32,
    /// Likewise of the source's.
    kind: u32,
    source: u32,
    destination: u32,
    first: u32,
}

/// A verdict between words of four bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
struct Within(Verdict);

/// Cells of the kind, the two addresses and the ports.
const ASKED: usize = 4;
/// Bits of a kind that packets have.
const KIND: u32 = !0xff;

impl<const N: usize> Stored<N> for Lean {
    fn of(record: &Record<N>) -> Option<Self> {
        let (value, mask) = (record.value(), record.mask());
        let others = mask.get(ASKED..)?;
        if N != CELLS4 || others.iter().any(|mask| *mask != 0) {
            return None;
        }
        let (first, spans) = record.ports();
        Some(Self {
            verdict: Within(record.verdict()),
            kind_mask: mask[0] & KIND | mask[2].count_zeros(),
            spans,
            kind: value[0] & KIND | mask[1].count_zeros(),
            source: value[1],
            destination: value[2],
            first,
        })
    }

    fn record(&self) -> Record<N> {
        let host = |bits: u32| (u64::MAX << (bits & 0xff)) as u32;
        let same = common_of(self.first, self.spans);
        let (mut value, mut mask) = ([0; N], [0; N]);
        for (cells, some) in [
            (&mut value, [self.kind & KIND, self.source, self.destination, self.first & same]),
            (&mut mask, [self.kind_mask & KIND, host(self.kind), host(self.kind_mask), same]),
        ] {
            cells.iter_mut().zip(some).for_each(|(cell, word)| *cell = word);
        }
        Record::with_cells((value, mask), (self.first, self.spans), self.verdict.0)
    }

    #[inline(always)]
    fn matches(&self, key: &Key<N>) -> bool {
        let behind = |own: u32, key: u32, bits: u32| u64::from(own ^ key) >> (bits & 0x3f);
        let differ = behind(self.source, key.0[1], self.kind)
            | behind(self.destination, key.0[2], self.kind_mask)
            | u64::from((self.kind ^ key.0[0]) & self.kind_mask & KIND);
        (differ == 0) & are_within(key.0[3], self.first, self.spans)
    }

    #[cfg(target_arch = "x86_64")]
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn matches_avx2(&self, key: &Key<N>) -> bool {
        // SAFETY: the caller's.
        unsafe { x86::fits(self, key) }
    }

    #[inline(always)]
    fn verdict(&self) -> Verdict {
        self.verdict.0
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{ASKED, Lean};
    use crate::Key;
    use std::arch::x86_64::*;

    /// Puts the lowest byte alone into the lane of the source.
    const TO_SOURCE: [i8; 16] = [-1, -1, -1, -1, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1];
    /// The same of the destination.
    const TO_DESTINATION: [i8; 16] =
        [-1, -1, -1, -1, -1, -1, -1, -1, 0, -1, -1, -1, -1, -1, -1, -1];

    #[inline]
    /// ```text
    ///  lane            0                      1              2                   3
    ///   key ^ record & mask >> 8 │ key ^ record >> host │ likewise │ key - first, less the span │ = 0
    /// ```
    /// # Safety
    /// The processor has AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn fits<const N: usize>(record: &Lean, key: &Key<N>) -> bool {
        const { assert!(N >= ASKED && size_of::<Lean>() == 32) };
        // SAFETY: a record is 32 bytes, and a key at least 16.
        let (masks, values, key, to_source, to_destination) = unsafe {
            let record: *const __m128i = (&raw const *record).cast();
            (
                _mm_load_si128(record),
                _mm_load_si128(record.add(1)),
                _mm_loadu_si128(key.0.as_ptr().cast()),
                _mm_loadu_si128(TO_SOURCE.as_ptr().cast()),
                _mm_loadu_si128(TO_DESTINATION.as_ptr().cast()),
            )
        };
        let differ = _mm_xor_si128(values, key);
        let asked = _mm_and_si128(differ, _mm_blend_epi32::<0b0001>(_mm_set1_epi32(-1), masks));
        let source = _mm_or_si128(_mm_shuffle_epi8(values, to_source), _mm_set_epi32(0, 0, 0, 8));
        let host = _mm_or_si128(source, _mm_shuffle_epi8(masks, to_destination));
        let ports = _mm_subs_epu16(_mm_sub_epi16(key, values), masks);
        let wrong = _mm_blend_epi32::<0b1000>(_mm_srlv_epi32(asked, host), ports);
        _mm_testz_si128(wrong, wrong) != 0
    }
}
