//! The first pass of a bulk lookup with AVX2: eight root words in one gather.
//!
//! Justified by `examples/ip4_probe.rs`: 1.4 cycles a lookup instead of 2.4 with one route, 11
//! instead of 13 with the real table (docs/adr/0003-ip4-table.md).

#![allow(unsafe_code)] // SIMD loads, gathers and stores take raw addresses.

use super::pass::{Pending, View};

/// Does as many leading addresses as fill whole registers, if the processor can, and says how many.
#[inline]
pub(super) fn first_words<const ROOT_BITS: u8>(
    view: &View<'_>,
    addresses: &[u32],
    out: &mut [u32],
    pending: &mut Pending,
) -> usize {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && view.root.len() >= 1 << ROOT_BITS {
        // SAFETY: the processor has AVX2, and the root has a word for every ROOT_BITS bits.
        return unsafe { x86::first_words::<ROOT_BITS>(view, addresses, out, pending) };
    }
    let _ = (view, addresses, out, pending);
    0
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Pending, View};
    use crate::ip4::pass::{AHEAD, SHORT_BITS};
    use crate::prefetch::prefetch;

    /// Addresses in a register.
    const LANES: usize = 8;

    /// # Safety
    /// The processor has AVX2, and the root has at least 2^ROOT_BITS words.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn first_words<const ROOT_BITS: u8>(
        view: &View<'_>,
        addresses: &[u32],
        out: &mut [u32],
        pending: &mut Pending,
    ) -> usize {
        let root_index = |address: &u32| (address >> (32 - ROOT_BITS)) as usize;
        let shift = _mm_cvtsi32_si128(32 - i32::from(ROOT_BITS));
        // SAFETY: there are sixteen, and each half is 32 bytes. Other threads store whole words, as
        // into the root.
        let (low, high) = unsafe {
            let short: *const __m256i = view.short.as_ptr().cast();
            (_mm256_loadu_si256(short), _mm256_loadu_si256(short.add(1)))
        };
        for address in addresses.iter().take(AHEAD) {
            prefetch(view.root.as_ptr(), root_index(address));
        }
        let mut ahead = addresses.as_chunks::<LANES>().0.iter().skip(AHEAD / LANES);
        let whole = addresses.as_chunks::<LANES>().0.iter().zip(out.as_chunks_mut::<LANES>().0);
        let mut begun = 0;
        for (lanes, out) in whole {
            if let Some(ahead) = ahead.next() {
                for address in ahead {
                    prefetch(view.root.as_ptr(), root_index(address));
                }
            }
            // SAFETY: both arrays have 32 bytes; every index is below 2^ROOT_BITS, and the root has
            // as many words. Other threads store whole words into the root meanwhile: each lane
            // is an aligned word, which the processor reads in one piece.
            let values = unsafe {
                let lanes = _mm256_loadu_si256(lanes.as_ptr().cast());
                let indexes = _mm256_srl_epi32(lanes, shift);
                let values = _mm256_i32gather_epi32::<4>(view.root.as_ptr().cast(), indexes);
                let empty = _mm256_cmpeq_epi32(values, _mm256_setzero_si256());
                let found = _mm256_blendv_epi8(values, shorts(low, high, lanes), empty);
                _mm256_storeu_si256(out.as_mut_ptr().cast(), found);
                values
            };
            let mut extended = _mm256_movemask_ps(_mm256_castsi256_ps(values));
            while extended != 0 {
                let lane = extended.trailing_zeros() as usize;
                pending.push(view, begun + lane, out[lane]);
                extended &= extended - 1;
            }
            begun += LANES;
        }
        begun
    }

    /// The word of each address's first four bits: three of them choose in both halves, and the
    /// fourth, which is the sign, between the two.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn shorts(low: __m256i, high: __m256i, addresses: __m256i) -> __m256i {
        const { assert!(SHORT_BITS == 4) };
        let network = _mm256_srli_epi32::<{ 32 - SHORT_BITS as i32 }>(addresses);
        let [low, high] =
            [low, high].map(|half| _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(half, network)));
        _mm256_castps_si256(_mm256_blendv_ps(low, high, _mm256_castsi256_ps(addresses)))
    }
}
