//! The kernels that divide a frame: the chosen slots of an array, moved together.
//!
//! ```text
//!  header   a b c d e f …     chosen: 1 0 1 1 0 1 …     compressed: a c d f …
//! ```
//! AVX-512 takes 8 pointers, 16 words or 32 half words a step; the scalar kernel walks the bits.
//! Both are tested against each other (`split`); `make bench` shows what they cost.

use crate::slots::{SLOTS, Selection};
use core::fmt;

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
