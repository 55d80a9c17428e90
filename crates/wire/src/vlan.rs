//! VLAN tags (IEEE 802.1Q, 9.6; stacked: 802.1ad, QinQ).
//!
//! ```text
//! Ethernet source ┐                     ┌ what follows the tag
//!   ──────────────┴───────┬─────────────┴──┬──────────
//!     type 0x8100/0x88a8  │ PCP D   VID    │  type …
//!   ──────────────────────┴────────────────┴──────────
//!     in the header before  3  1   12 bits    16 bits    a Tag is these last four octets
//! ```

use crate::ethernet::{self, ethertype};

view! {
    /// The four octets after the tag's own EtherType: tag control information, then the next
    /// EtherType.
    Tag, TagMut: 4 octets {
        /// Priority, drop eligibility and VLAN in one; see [`Tci`].
        tci_bits, set_tci_bits: u16 = 0;
        /// What follows, one of [`ethertype`].
        ethertype, set_ethertype: u16 = 2;
    }
}

impl Tag<'_> {
    /// The tag control information.
    #[inline]
    pub fn tci(self) -> Tci {
        Tci(self.tci_bits())
    }
}

/// Tag control information: priority code point, drop eligible indicator, VLAN identifier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tci(pub u16);

impl Tci {
    /// From priority (3 bits) and VLAN (12 bits), not drop eligible; higher bits are cut off.
    #[inline]
    pub const fn new(pcp: u8, vid: u16) -> Self {
        Self((pcp as u16 & 7) << 13 | vid & 0x0fff)
    }

    /// Priority code point, 0 to 7.
    #[inline]
    pub const fn pcp(self) -> u8 {
        (self.0 >> 13) as u8
    }

    /// Whether the frame may be dropped first.
    #[inline]
    pub const fn is_drop_eligible(self) -> bool {
        self.0 & 0x1000 != 0
    }

    /// VLAN identifier; 0 says "priority only", 4095 is reserved.
    #[inline]
    pub const fn vid(self) -> u16 {
        self.0 & 0x0fff
    }

    /// The same priority bits in another VLAN.
    #[inline]
    pub const fn with_vid(self, vid: u16) -> Self {
        Self(self.0 & 0xf000 | vid & 0x0fff)
    }
}

/// Smallest VLAN identifier that names a VLAN.
pub const MIN_VID: u16 = 1;
/// Greatest VLAN identifier that names a VLAN.
pub const MAX_VID: u16 = 4094;
/// More tags than this are not walked.
pub const MAX_TAGS: usize = 2;

/// Whether the EtherType announces a tag.
#[inline]
pub const fn is_tag(ethertype: u16) -> bool {
    matches!(ethertype, ethertype::VLAN | ethertype::QINQ | ethertype::QINQ_OLD)
}

/// An Ethernet header and its tags, walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    /// The tags, outermost first.
    pub tags: [Tci; MAX_TAGS],
    /// How many tags there are.
    pub count: usize,
    /// What follows the last tag; itself a tag type if there are more than [`MAX_TAGS`].
    pub ethertype: u16,
    /// Octets from the start of the frame to what follows.
    pub offset: usize,
}

impl Walk {
    /// The tags found, outermost first.
    pub fn tags(&self) -> &[Tci] {
        &self.tags[..self.count]
    }
}

/// Walks a frame's Ethernet header and at most [`MAX_TAGS`] tags; none if the frame ends within
/// them.
#[inline]
pub fn walk(frame: &[u8]) -> Option<Walk> {
    let ethernet = ethernet::Header::new(frame)?;
    let mut walk = Walk {
        tags: [Tci::default(); MAX_TAGS],
        count: 0,
        ethertype: ethernet.ethertype(),
        offset: ethernet::Header::LEN,
    };
    while walk.count < MAX_TAGS && is_tag(walk.ethertype) {
        let tag = Tag::new(&frame[walk.offset..])?;
        walk.tags[walk.count] = tag.tci();
        walk.count += 1;
        walk.ethertype = tag.ethertype();
        walk.offset += Tag::LEN;
    }
    Some(walk)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::craft;

    #[test]
    fn control_information_splits_into_its_fields() {
        let tci = Tci(0xb064);
        assert_eq!((tci.pcp(), tci.is_drop_eligible(), tci.vid()), (5, true, 100));
        assert_eq!(tci.with_vid(0xffff), Tci(0xbfff));
        assert_eq!(Tci::new(5, 100), Tci(0xa064));
    }

    #[test]
    fn two_tags_are_walked_and_a_third_is_left() {
        let frame = craft::ethernet([2; 6], [4; 6]).service_vlan(7).vlan(8).vlan(9).build();
        let walk = walk(&frame).unwrap();
        assert_eq!(walk.tags(), [Tci(7), Tci(8)]);
        assert_eq!((walk.ethertype, walk.offset), (ethertype::VLAN, 22));
    }

    #[test]
    fn a_tag_cut_short_is_no_walk() {
        let frame = craft::ethernet([2; 6], [4; 6]).vlan(7).build();
        assert!(walk(&frame[..17]).is_none());
        assert!(walk(&frame[..18]).is_some());
    }

    proptest! {
        #[test]
        fn a_walk_never_leaves_the_frame(mut frame in prop::collection::vec(any::<u8>(), 0..40), tagged: bool) {
            if tagged && frame.len() >= 14 {
                frame[12..14].copy_from_slice(&ethertype::VLAN.to_be_bytes());
            }
            if let Some(walk) = walk(&frame) {
                prop_assert!(walk.offset <= frame.len());
            }
        }
    }
}
