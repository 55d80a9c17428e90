//! The `view!` macro: a pair of borrowed views, reading and writing, over a header of fixed size.
//!
//! ```text
//! bytes: &[u8] ──first_chunk──▶ &[u8; N] ──▶ Header(&[u8; N]) ── field() ──▶ one load, one byte swap
//! ```
//! The offsets are constants inside the array, so the compiler drops the bounds checks.

use crate::MacAddr;

/// A field of whole octets, big-endian on the wire.
pub(crate) trait Octets: Sized {
    /// Reads the field that begins at `at`.
    fn read(bytes: &[u8], at: usize) -> Self;
    /// Writes the field that begins at `at`.
    fn write(self, bytes: &mut [u8], at: usize);
}

macro_rules! octets_of_integer {
    ($($integer:ty),*) => {$(
        impl Octets for $integer {
            #[inline(always)]
            fn read(bytes: &[u8], at: usize) -> Self {
                let mut raw = [0; size_of::<$integer>()];
                raw.copy_from_slice(&bytes[at..at + size_of::<$integer>()]);
                Self::from_be_bytes(raw)
            }

            #[inline(always)]
            fn write(self, bytes: &mut [u8], at: usize) {
                bytes[at..at + size_of::<$integer>()].copy_from_slice(&self.to_be_bytes());
            }
        }
    )*};
}
octets_of_integer!(u8, u16, u32, u64, u128);

impl Octets for MacAddr {
    #[inline(always)]
    fn read(bytes: &[u8], at: usize) -> Self {
        let mut raw = [0; 6];
        raw.copy_from_slice(&bytes[at..at + 6]);
        Self(raw)
    }

    #[inline(always)]
    fn write(self, bytes: &mut [u8], at: usize) {
        bytes[at..at + 6].copy_from_slice(&self.0);
    }
}

/// Whether a field that begins at `at` ends within a header of `len` octets; asked at compile time.
pub(crate) const fn is_inside<T>(at: usize, len: usize) -> bool {
    at + size_of::<T>() <= len
}

/// Defines `Header<'a>` and `HeaderMut<'a>` over `N` octets, with a getter and a setter for each
/// field.
macro_rules! view {
    (
        $(#[$about:meta])*
        $Header:ident, $HeaderMut:ident: $len:literal octets {
            $($(#[$field:meta])* $get:ident, $set:ident: $type:ty = $at:literal;)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $Header<'a>(&'a [u8; $len]);

        impl<'a> $Header<'a> {
            /// Octets the view covers.
            pub const LEN: usize = $len;

            /// Over the first octets of `bytes`; none if there are too few.
            #[inline]
            pub fn new(bytes: &'a [u8]) -> Option<Self> {
                bytes.first_chunk().map(Self)
            }

            /// Over octets whose number is already known.
            #[inline]
            pub const fn of(bytes: &'a [u8; $len]) -> Self {
                Self(bytes)
            }

            /// The octets under the view.
            #[inline]
            pub const fn bytes(self) -> &'a [u8; $len] {
                self.0
            }

            $(
                $(#[$field])*
                #[inline]
                pub fn $get(self) -> $type {
                    const { assert!($crate::view::is_inside::<$type>($at, $len)) };
                    <$type as $crate::view::Octets>::read(self.0, $at)
                }
            )*
        }

        #[doc = concat!("Writes what [`", stringify!($Header), "`] reads.")]
        #[derive(Debug)]
        pub struct $HeaderMut<'a>(&'a mut [u8; $len]);

        impl<'a> $HeaderMut<'a> {
            /// Over the first octets of `bytes`; none if there are too few.
            #[inline]
            pub fn new(bytes: &'a mut [u8]) -> Option<Self> {
                bytes.first_chunk_mut().map(Self)
            }

            /// Over octets whose number is already known.
            #[inline]
            pub fn of(bytes: &'a mut [u8; $len]) -> Self {
                Self(bytes)
            }

            /// The same octets, to read.
            #[inline]
            pub fn view(&self) -> $Header<'_> {
                $Header(self.0)
            }

            $(
                #[doc = concat!("Writes what [`", stringify!($Header), "::", stringify!($get), "`] reads.")]
                #[inline]
                pub fn $set(&mut self, value: $type) {
                    <$type as $crate::view::Octets>::write(value, self.0, $at);
                }
            )*
        }
    };
}
