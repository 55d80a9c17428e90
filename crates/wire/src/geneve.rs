//! Geneve: an Ethernet frame, or another packet, inside UDP port 6081 (RFC 8926, 3.4).
//!
//! ```text
//! ┌───┬───────────┬─┬─┬───────────┬───────────────────────────────┐
//! │ver│  opt len  │O│C│ reserved  │   EtherType of the payload    │  0   opt len: options, in words of 4 octets
//! ├───┴───────────┴─┴─┴───────────┴───────────────┬───────────────┤      O: for the tunnel's ends alone
//! │        virtual network identifier (VNI)       │   reserved    │  4   C: options that must be understood
//! ├───────────────────────────────────────────────┴───────────────┤
//! │                        options …                              │  8   then what is inside
//! └───────────────────────────────────────────────────────────────┘
//! ```

view! {
    /// A Geneve header without its options.
    Header, HeaderMut: 8 octets {
        /// Version and length of the options.
        first, set_first: u8 = 0;
        /// Flags; of [`CONTROL`] and [`CRITICAL`] the others are ignored.
        flags, set_flags: u8 = 1;
        /// What is inside, one of [`crate::ethernet::ethertype`].
        ethertype, set_ethertype: u16 = 2;
        /// The VNI in its upper 24 bits.
        vni_bits, set_vni_bits: u32 = 4;
    }
}

/// Flag: it is for the ends of the tunnel, and nothing in it is passed on.
pub const CONTROL: u8 = 0x80;
/// Flag: some of its options must be understood.
pub const CRITICAL: u8 = 0x40;

impl Header<'_> {
    /// The version; there is 0 alone.
    #[inline]
    pub fn version(self) -> u8 {
        self.first() >> 6
    }

    /// Octets of the whole header by what it says: 8 to 260.
    #[inline]
    pub fn header_len(self) -> usize {
        Self::LEN + 4 * usize::from(self.first() & 0x3f)
    }

    /// Virtual network identifier.
    #[inline]
    pub fn vni(self) -> u32 {
        self.vni_bits() >> 8
    }
}

/// The whole header of a frame, without options; bits of the VNI above the 24th are cut off.
#[inline]
pub const fn header(vni: u32) -> [u8; 8] {
    let [_, a, b, c] = vni.to_be_bytes();
    [0, 0, 0x65, 0x58, a, b, c, 0]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_header_has_the_octets_of_the_rfc() {
        assert_eq!(header(0x0012_3456), [0, 0, 0x65, 0x58, 0x12, 0x34, 0x56, 0]);
        let read = Header::of(&[0x43, 0xc0, 8, 0, 0, 1, 2, 9]);
        assert_eq!((read.version(), read.header_len(), read.ethertype()), (1, 20, 0x0800));
        assert_eq!((read.flags(), read.vni()), (CONTROL | CRITICAL, 0x0102));
    }

    proptest! {
        #[test]
        fn a_vni_is_read_back(vni in 0..=crate::vxlan::MAX_VNI) {
            let header = header(vni);
            let read = Header::of(&header);
            prop_assert_eq!((read.vni(), read.version(), read.header_len()), (vni, 0, 8));
        }
    }
}
