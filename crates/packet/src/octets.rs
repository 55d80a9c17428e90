//! Copying few octets: as the ends of what is to be copied, which may lie over each other.
//!
//! ```text
//!  60 octets   ├── the first 32 ──┤
//!                          ├── the last 32 ──┤
//! ```
//! A function that copies any number has to be called, and finds out how many; packets are short,
//! and mostly as long as the one before.

/// Copies so many octets from one place to another.
///
/// # Safety
/// So many may be read here and written there, and the places have nothing in common. What is read
/// may change meanwhile, as memory that others have does: octets of the copy are then from before
/// or after that.
#[inline(always)]
pub unsafe fn copy_octets(from: *const u8, to: *mut u8, length: usize) {
    // SAFETY: the caller's word; ends are no longer than the whole.
    unsafe {
        match length {
            16..=32 => ends::<16>(from, to, length),
            33..=64 => ends::<32>(from, to, length),
            65..=128 => ends::<64>(from, to, length),
            _ => core::ptr::copy_nonoverlapping(from, to, length),
        }
    }
}

/// Copies the first and the last `N` octets.
///
/// # Safety
/// As of [`copy_octets`]; there are `N` at least.
#[inline(always)]
unsafe fn ends<const N: usize>(from: *const u8, to: *mut u8, length: usize) {
    // SAFETY: the caller's word.
    unsafe {
        core::ptr::copy_nonoverlapping(from, to, N);
        core::ptr::copy_nonoverlapping(from.add(length - N), to.add(length - N), N);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_copied_and_nothing_around_it() {
        let from: Vec<u8> = (0..400u16).map(|n| n as u8 | 1).collect();
        for length in 0..300 {
            let mut to = vec![0; 320];
            // SAFETY: both are longer.
            unsafe { copy_octets(from[7..].as_ptr(), to[9..].as_mut_ptr(), length) };
            assert_eq!(to[9..9 + length], from[7..7 + length]);
            assert!(to[..9].iter().chain(&to[9 + length..]).all(|octet| *octet == 0), "{length}");
        }
    }
}
