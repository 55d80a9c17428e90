//! VXLAN: an Ethernet frame inside UDP port 4789 (RFC 7348, 5).
//!
//! ```text
//! ┌─┬─┬─┬─┬─┬─┬─┬─┬───────────────────────────────────────────────┐
//! │R│R│R│R│I│R│R│R│                   reserved                    │  0   I: the VNI counts, must be 1
//! ├─┴─┴─┴─┴─┴─┴─┴─┴───────────────────────────────┬───────────────┤
//! │        VXLAN network identifier (VNI)         │   reserved    │  4
//! └───────────────────────────────────────────────┴───────────────┘  8: the inner frame
//! ```

view! {
    /// A VXLAN header.
    Header, HeaderMut: 8 octets {
        /// Flags; [`VNI_VALID`] must be set, the others are ignored.
        flags, set_flags: u8 = 0;
        /// The VNI in its upper 24 bits.
        vni_bits, set_vni_bits: u32 = 4;
    }
}

/// Flag: the VNI counts.
pub const VNI_VALID: u8 = 0x08;
/// Greatest VNI.
pub const MAX_VNI: u32 = 0x00ff_ffff;

impl Header<'_> {
    /// Whether the I flag is set; a packet without it is not for anyone.
    #[inline]
    pub fn is_valid(self) -> bool {
        self.flags() & VNI_VALID != 0
    }

    /// VXLAN network identifier.
    #[inline]
    pub fn vni(self) -> u32 {
        self.vni_bits() >> 8
    }
}

/// The whole header for a VNI; bits above the 24th are cut off.
#[inline]
pub const fn header(vni: u32) -> [u8; 8] {
    let [_, a, b, c] = vni.to_be_bytes();
    [VNI_VALID, 0, 0, 0, a, b, c, 0]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{craft, udp};

    #[test]
    fn a_header_has_the_octets_of_the_rfc() {
        assert_eq!(header(0x0012_3456), [8, 0, 0, 0, 0x12, 0x34, 0x56, 0]);
    }

    #[test]
    fn a_crafted_tunnel_carries_the_inner_frame() {
        let inner = craft::ethernet([2; 6], [4; 6]).ipv4(1, 2).udp(5, 6).build();
        let packet = craft::ipv4(7, 8)
            .udp(50000, udp::port::VXLAN)
            .vxlan(42)
            .ethernet([2; 6], [4; 6])
            .ipv4(1, 2)
            .udp(5, 6)
            .build();
        assert_eq!(packet[36..], inner);
        let header = Header::new(&packet[28..]).unwrap();
        assert!(header.is_valid());
        assert_eq!(header.vni(), 42);
    }

    proptest! {
        #[test]
        fn a_vni_is_read_back(vni in 0..=MAX_VNI) {
            prop_assert_eq!(Header::of(&header(vni)).vni(), vni);
        }
    }
}
