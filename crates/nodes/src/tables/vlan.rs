//! VLANs of a port: which sub-interface a tagged frame belongs to, and the tags it leaves with.
//!
//! ```text
//!  tags of a frame     looked for, the first that is there decides
//!  outer, inner        outer + inner │ outer + any inner │ outer │ any
//!  outer                                                   outer │ any
//!  none, or VLAN 0     untagged
//! ```
//! A sub-interface takes off the tags that it names, and puts them on again; others it leaves
//! alone. The outer tag taken off stays right in front of the frame, so that its priority can be
//! put on again.
//!
//! Bytes: 16 KiB for a port with sub-interfaces, 8 KiB for each VLAN with exact inner ones.

use crate::tables::{Interface, Interfaces, Link};
use std::collections::HashMap;
use std::sync::Arc;
use wire::vlan::{Tag, Tci, is_tag};

/// VLAN identifiers there are.
const VIDS: usize = 4096;
/// No interface.
const NONE: u16 = u16::MAX;

/// The tags that a sub-interface wants in front of its frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VlanTags {
    /// None, or one that only tells a priority.
    Untagged,
    /// Any that no other sub-interface wants.
    Any,
    /// This one, and behind it whatever no other sub-interface wants.
    One(u16),
    /// This one and a second.
    AnyInner(u16),
    /// These two.
    Two(u16, u16),
}

/// A sub-interface's part of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vlan {
    /// Interface of the port.
    pub parent: u16,
    /// Which frames are its own.
    pub tags: VlanTags,
    /// Ethertype of the outer tag it puts on.
    pub protocol: u16,
    /// Priority of the tags it puts on; none keeps what the frame came with.
    pub priority: Option<u8>,
}

/// Octets of a whole tag, its ethertype in front.
pub const TAG_BYTES: usize = 4;

impl Vlan {
    /// Octets of the tags it takes off and puts on.
    #[inline]
    pub fn tag_bytes(&self) -> usize {
        match self.tags {
            VlanTags::Untagged | VlanTags::Any => 0,
            VlanTags::One(_) | VlanTags::AnyInner(_) => TAG_BYTES,
            VlanTags::Two(..) => 2 * TAG_BYTES,
        }
    }

    /// The VLAN of the outer tag that it takes off and puts on; none if it leaves frames as they
    /// are.
    #[inline]
    pub fn outer(&self) -> Option<u16> {
        match self.tags {
            VlanTags::Untagged | VlanTags::Any => None,
            VlanTags::One(vid) | VlanTags::AnyInner(vid) | VlanTags::Two(vid, _) => Some(vid),
        }
    }

    /// The tags it puts on a frame that came with `old` as its outer tag; how many octets count
    /// says [`Vlan::tag_bytes`].
    #[inline]
    pub fn written(&self, old: Option<[u8; TAG_BYTES]>) -> [u8; 2 * TAG_BYTES] {
        let kept = || match old {
            Some([a, b, c, d]) if is_tag(u16::from_be_bytes([a, b])) => u16::from_be_bytes([c, d]),
            _ => 0,
        };
        let bits = self.priority.map_or_else(kept, |priority| Tci::new(priority, 0).0);
        let tag = |vid| Tci(bits).with_vid(vid).0.to_be_bytes();
        let [a, b] = self.protocol.to_be_bytes();
        match self.tags {
            VlanTags::Untagged | VlanTags::Any => [0; 2 * TAG_BYTES],
            VlanTags::One(vid) | VlanTags::AnyInner(vid) => {
                let [c, d] = tag(vid);
                [a, b, c, d, 0, 0, 0, 0]
            }
            VlanTags::Two(outer, inner) => {
                let ([c, d], [e, f]) = (tag(outer), tag(inner));
                [a, b, c, d, 0x81, 0, e, f]
            }
        }
    }
}

/// The sub-interfaces of one port, to be found by tags.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VlanMap {
    one: Vec<u16>,
    any_inner: Vec<u16>,
    two: HashMap<u16, Vec<u16>>,
    any: u16,
    untagged: u16,
}

impl Default for VlanMap {
    fn default() -> Self {
        let (one, any_inner) = (vec![NONE; VIDS], vec![NONE; VIDS]);
        Self { one, any_inner, two: HashMap::new(), any: NONE, untagged: NONE }
    }
}

impl VlanMap {
    /// Gives the frames with these tags to an interface.
    pub fn insert(&mut self, tags: VlanTags, interface: u16) {
        let place = |vid: u16| usize::from(vid) % VIDS;
        match tags {
            VlanTags::Untagged => self.untagged = interface,
            VlanTags::Any => self.any = interface,
            VlanTags::One(vid) => self.one[place(vid)] = interface,
            VlanTags::AnyInner(vid) => self.any_inner[place(vid)] = interface,
            VlanTags::Two(outer, inner) => {
                let row = self.two.entry(outer).or_insert_with(|| vec![NONE; VIDS]);
                row[place(inner)] = interface;
            }
        }
    }

    /// The interface that frames without a tag belong to.
    #[inline]
    pub fn untagged(&self) -> Option<u16> {
        Some(self.untagged).filter(|&id| id != NONE)
    }

    /// The interface that a frame belongs to whose bytes behind the first tag's ethertype are
    /// these; of a frame too short for its second tag, none.
    #[inline]
    pub fn tagged(&self, tag: Tag<'_>, rest: &[u8]) -> Option<u16> {
        let outer = tag.tci().vid();
        if is_tag(tag.ethertype()) {
            let inner = usize::from(Tag::new(rest)?.tci().vid());
            let exact = self.two.get(&outer).map_or(NONE, |row| row[inner]);
            let found = [exact, self.any_inner[usize::from(outer)]];
            if let Some(id) = found.into_iter().find(|&id| id != NONE) {
                return Some(id);
            }
        }
        let found = [self.one[usize::from(outer)], self.any];
        found.into_iter().find(|&id| id != NONE)
    }
}

/// The sub-interfaces of each interface, by its number.
#[derive(Clone, Debug, Default)]
pub(super) struct Vlans(Vec<Option<Arc<VlanMap>>>);

impl Vlans {
    pub(super) fn of(rows: &[Option<Interface>]) -> Self {
        let mut vlans: Vec<Option<VlanMap>> = Vec::new();
        for (id, row) in (0..).zip(rows) {
            if let Some(Interface { link: Link::Vlan(vlan), .. }) = row {
                let parent = usize::from(vlan.parent);
                if vlans.len() <= parent {
                    vlans.resize_with(parent + 1, || None);
                }
                vlans[parent].get_or_insert_default().insert(vlan.tags, id);
            }
        }
        Self(vlans.into_iter().map(|map| map.map(Arc::new)).collect())
    }
}

impl Interfaces {
    /// The sub-interfaces of an interface, if it has any.
    #[inline]
    pub fn vlans(&self, id: u16) -> Option<&VlanMap> {
        self.vlans.0.get(usize::from(id))?.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(map: &VlanMap, tags: &[u16]) -> Option<u16> {
        let mut bytes = Vec::new();
        for (index, vid) in tags.iter().enumerate() {
            bytes.extend(vid.to_be_bytes());
            bytes.extend(if index + 1 < tags.len() { [0x81, 0] } else { [8, 0] });
        }
        map.tagged(Tag::new(&bytes)?, &bytes[TAG_BYTES..])
    }

    #[test]
    fn the_closest_match_has_the_frame() {
        let mut map = VlanMap::default();
        map.insert(VlanTags::Two(100, 7), 1);
        map.insert(VlanTags::AnyInner(100), 2);
        map.insert(VlanTags::One(100), 3);
        assert_eq!(find(&map, &[5]), None);
        map.insert(VlanTags::Any, 4);
        let found = [&[100, 7][..], &[100, 8], &[100], &[5], &[5, 7], &[0x6000 | 100]];
        let found = found.map(|tags| find(&map, tags));
        assert_eq!(found, [Some(1), Some(2), Some(3), Some(4), Some(4), Some(3)]);
        assert_eq!(map.untagged(), None);
        map.insert(VlanTags::Untagged, 5);
        assert_eq!(map.untagged(), Some(5));
    }

    #[test]
    fn a_tag_announced_and_not_there_is_nobodys() {
        let mut map = VlanMap::default();
        map.insert(VlanTags::Any, 4);
        assert_eq!(map.tagged(Tag::of(&[0, 5, 0x81, 0]), &[0, 1, 2]), None);
    }

    #[test]
    fn tags_are_written_with_their_priority_kept_or_new() {
        let vlan = |tags, priority| Vlan { parent: 0, tags, protocol: 0x88a8, priority };
        let old = Some([0x81, 0, 0xb0, 5]);
        let keeps = vlan(VlanTags::One(100), None);
        assert_eq!(keeps.written(old)[..4], [0x88, 0xa8, 0xb0, 100]);
        assert_eq!(keeps.written(Some([8, 0, 0xb0, 5]))[..4], [0x88, 0xa8, 0, 100]);
        let sets = vlan(VlanTags::Two(1, 0x234), Some(3));
        assert_eq!(sets.written(old), [0x88, 0xa8, 0x60, 1, 0x81, 0, 0x62, 0x34]);
        assert_eq!((keeps.tag_bytes(), sets.tag_bytes()), (4, 8));
    }
}
