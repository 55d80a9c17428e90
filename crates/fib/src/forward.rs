//! What a lookup yields: one word that says what to do with the packet, without a second table.
//!
//! ```text
//!   31  30        24 23                                            0
//!  +---+------------+----------------------------------------------+
//!  | X |    kind    |                      id                      |
//!  +---+------------+----------------------------------------------+
//!    |       |            an adjacency, a local address, a group ...
//!    |       what the caller does next: its exit of the lookup node
//!    the table's own mark for "look one level deeper"; never seen by callers
//! ```

use std::fmt;

/// A forwarding decision. The caller gives `kind` its meaning; all zeros is "no route".
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[repr(transparent)]
pub struct Forward(u32);

impl Forward {
    /// No route: what every address yields in an empty table.
    pub const NONE: Forward = Forward(0);
    /// Largest kind.
    pub const MAX_KIND: u8 = 0x7f;
    /// Largest id.
    pub const MAX_ID: u32 = 0x00ff_ffff;

    /// Packs `kind` and `id`, keeping the low 7 bits of the one and the low 24 of the other.
    #[inline]
    pub const fn new(kind: u8, id: u32) -> Forward {
        Forward(((kind & Self::MAX_KIND) as u32) << 24 | (id & Self::MAX_ID))
    }

    /// The decision that the raw word of a bulk lookup stands for.
    #[inline]
    pub const fn from_bits(bits: u32) -> Forward {
        Forward(bits & 0x7fff_ffff)
    }

    /// What to do with the packet, in the caller's own numbering.
    #[inline]
    pub const fn kind(self) -> u8 {
        (self.0 >> 24) as u8
    }

    /// What to do it with.
    #[inline]
    pub const fn id(self) -> u32 {
        self.0 & Self::MAX_ID
    }

    /// The raw word, as bulk lookups write it.
    #[inline]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Whether this is "no route".
    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Debug for Forward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Forward({}:{})", self.kind(), self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_and_id_come_back_as_given() {
        let forward = Forward::new(0x55, 0x00ab_cdef);
        assert_eq!((forward.kind(), forward.id()), (0x55, 0x00ab_cdef));
        assert_eq!(Forward::from_bits(forward.bits()), forward);
    }

    #[test]
    fn the_tables_own_bit_is_never_set() {
        let forward = Forward::new(0xff, u32::MAX);
        assert_eq!(forward.bits() >> 31, 0);
        assert_eq!((forward.kind(), forward.id()), (Forward::MAX_KIND, Forward::MAX_ID));
    }

    #[test]
    fn zero_is_no_route() {
        assert!(Forward::default().is_none());
        assert!(!Forward::new(0, 1).is_none() && !Forward::new(1, 0).is_none());
    }
}
