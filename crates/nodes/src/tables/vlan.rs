//! VLANs of a port: which sub-interface a tagged frame belongs to, and the tags it leaves with.
//!
//! ```text
//!  tags of a frame     looked for, the first that is there decides
//!  outer, inner        outer + inner │ outer + any inner │ outer │ any
//!  outer                                                   outer │ any
//!  none, or VLAN 0     untagged
//! ```
//! The outer tag's type counts, too: that of customers (0x8100) or that of services (0x88a8, and
//! 0x9100 of old); the inner tag's does not.
//!
//! A sub-interface takes off the tags that it names, and puts them on again; others it leaves
//! alone. The outer tag taken off stays right in front of the frame, so that its priority can be
//! put on again. One that wants any names none: of [`CustomerVlans`], where it has them.
//!
//! Bytes: 16 KiB for each type of outer tags of a port's sub-interfaces, 8 KiB for each VLAN with
//! exact inner ones.

use crate::tables::{Interface, Interfaces, Link, Mode};
use std::collections::HashMap;
use std::sync::Arc;
use wire::ethernet::ethertype;
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
    /// Frames without a tag are its own, too; what leaves has its tags.
    pub is_native: bool,
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

    /// The VLAN of the second tag that it takes off and puts on.
    pub fn inner(&self) -> Option<u16> {
        match self.tags {
            VlanTags::Two(_, inner) => Some(inner),
            VlanTags::Untagged | VlanTags::Any | VlanTags::One(_) | VlanTags::AnyInner(_) => None,
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

    /// Whether the tag that it puts on stands in front of a customer's: that of a service.
    #[inline]
    pub fn is_of_service(&self) -> bool {
        let one = matches!(self.tags, VlanTags::One(_) | VlanTags::AnyInner(_));
        one && self.protocol != ethertype::VLAN
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

/// The VLANs of the tags that frames of a sub-interface have which wants any, and leaves them: a
/// bit each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CustomerVlans(Box<[u64; VIDS / 64]>);

impl CustomerVlans {
    /// These.
    pub fn new(vlans: impl IntoIterator<Item = u16>) -> Self {
        let mut bits = Box::new([0; VIDS / 64]);
        for vid in vlans.into_iter().map(|vid| usize::from(vid) % VIDS) {
            bits[vid / 64] |= 1 << (vid % 64);
        }
        Self(bits)
    }

    /// Whether it is one of them.
    #[inline]
    pub fn has(&self, vid: u16) -> bool {
        let vid = usize::from(vid) % VIDS;
        self.0[vid / 64] >> (vid % 64) & 1 != 0
    }
}

/// The sub-interfaces of one port, to be found by tags.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VlanMap {
    customers: OuterTags,
    services: OuterTags,
    any: u16,
    /// What the outer tags of those are that any has; none: it has any.
    any_of: Option<CustomerVlans>,
    untagged: u16,
}

/// Those that outer tags of one type lead to. Without any it takes no memory.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
struct OuterTags {
    one: Vec<u16>,
    any_inner: Vec<u16>,
    two: HashMap<u16, Vec<u16>>,
}

impl Default for VlanMap {
    fn default() -> Self {
        let [customers, services] = [OuterTags::default(), OuterTags::default()];
        Self { customers, services, any: NONE, any_of: None, untagged: NONE }
    }
}

impl VlanMap {
    /// Gives the frames with these tags, the outer one of that type, to an interface.
    pub fn insert(&mut self, tags: VlanTags, protocol: u16, interface: u16) {
        let outer = match protocol {
            ethertype::VLAN => &mut self.customers,
            _ => &mut self.services,
        };
        let place = |vid: u16| usize::from(vid) % VIDS;
        let row = |row: &mut Vec<u16>, vid| {
            row.resize(VIDS, NONE);
            row[place(vid)] = interface;
        };
        match tags {
            VlanTags::Untagged => self.untagged = interface,
            VlanTags::Any => self.any = interface,
            VlanTags::One(vid) => row(&mut outer.one, vid),
            VlanTags::AnyInner(vid) => row(&mut outer.any_inner, vid),
            VlanTags::Two(vid, inner) => row(outer.two.entry(vid).or_default(), inner),
        }
    }

    /// Octets of a tag that tells a priority alone, which is taken off: none where who has the
    /// frame leaves all tags.
    #[inline]
    pub fn priority_tag_bytes(&self) -> usize {
        let leaves = self.untagged != NONE && self.untagged == self.any;
        if leaves { 0 } else { TAG_BYTES }
    }

    /// The interface that frames without a tag belong to.
    #[inline]
    pub fn untagged(&self) -> Option<u16> {
        Some(self.untagged).filter(|&id| id != NONE)
    }

    /// Those that frames belong to which have one tag alone, of this type; none where there are
    /// none, or it is not a tag's.
    #[inline]
    pub fn of_one_tag(&self, protocol: u16) -> Option<OneTag<'_>> {
        let tags = match protocol {
            ethertype::VLAN => &self.customers,
            _ if is_tag(protocol) => &self.services,
            _ => return None,
        };
        tags.one.first_chunk().map(OneTag)
    }

    /// The interface that a frame belongs to whose first tag is of that type, and whose bytes
    /// behind it are these; of a frame too short for its second tag, none.
    #[inline]
    pub fn tagged(&self, protocol: u16, tag: Tag<'_>, rest: &[u8]) -> Option<u16> {
        let tags = if protocol == ethertype::VLAN { &self.customers } else { &self.services };
        let in_row = |row: &[u16], vid: u16| row.get(usize::from(vid)).copied().unwrap_or(NONE);
        let outer = tag.tci().vid();
        if is_tag(tag.ethertype()) {
            let inner = Tag::new(rest)?.tci().vid();
            let exact = tags.two.get(&outer).map_or(NONE, |row| in_row(row, inner));
            let found = [exact, in_row(&tags.any_inner, outer)];
            if let Some(id) = found.into_iter().find(|&id| id != NONE) {
                return Some(id);
            }
        }
        match in_row(&tags.one, outer) {
            NONE if self.any != NONE => {
                let has = self.any_of.as_ref().is_none_or(|of| of.has(outer));
                has.then_some(self.any)
            }
            NONE => None,
            id => Some(id),
        }
    }
}

/// The sub-interfaces of one port that take off one tag, where it is the only one, by VLAN.
#[derive(Clone, Copy)]
pub struct OneTag<'a>(&'a [u16; VIDS]);

impl OneTag<'_> {
    /// The one that has a VLAN.
    #[inline(always)]
    pub fn of(&self, vid: u16) -> Option<u16> {
        Some(self.0[usize::from(vid) % VIDS]).filter(|&id| id != NONE)
    }
}

/// The sub-interfaces of each interface, by its number.
#[derive(Clone, Debug, Default)]
pub(super) struct Vlans {
    /// Those that frames belong to when they come in.
    at_once: Maps,
    /// Those that they belong to when flows say `NORMAL`.
    behind_flows: Maps,
}

type Maps = Vec<Option<Arc<VlanMap>>>;

impl Vlans {
    pub(super) fn of(rows: &[Option<Interface>]) -> Self {
        Self { at_once: maps(rows, false), behind_flows: maps(rows, true) }
    }
}

fn maps(rows: &[Option<Interface>], behind_flows: bool) -> Maps {
    let mut vlans: Vec<Option<VlanMap>> = Vec::new();
    for (id, row) in (0..).zip(rows) {
        let Some(row @ Interface { link: Link::Vlan(vlan), mode, .. }) = row else { continue };
        let is_behind = matches!(mode, Mode::Bridged(port) if port.is_behind);
        if is_behind == behind_flows {
            let parent = usize::from(vlan.parent);
            if vlans.len() <= parent {
                vlans.resize_with(parent + 1, || None);
            }
            let map = vlans[parent].get_or_insert_default();
            map.insert(vlan.tags, vlan.protocol, id);
            if vlan.tags == VlanTags::Any {
                map.any_of = row.get::<CustomerVlans>().cloned();
            }
            if vlan.is_native {
                map.insert(VlanTags::Untagged, vlan.protocol, id);
            }
        }
    }
    vlans.into_iter().map(|map| map.map(Arc::new)).collect()
}

impl Interfaces {
    /// The sub-interfaces that frames of an interface belong to when they come in, if it has any.
    #[inline]
    pub fn vlans(&self, id: u16) -> Option<&VlanMap> {
        self.vlans.at_once.get(usize::from(id))?.as_deref()
    }

    /// Those that they belong to when the flows of its bridge say `NORMAL`.
    #[inline]
    pub fn vlans_behind_flows(&self, id: u16) -> Option<&VlanMap> {
        self.vlans.behind_flows.get(usize::from(id))?.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(map: &VlanMap, tags: &[u16]) -> Option<u16> {
        find_of(map, ethertype::VLAN, tags)
    }

    fn find_of(map: &VlanMap, protocol: u16, tags: &[u16]) -> Option<u16> {
        let mut bytes = Vec::new();
        for (index, vid) in tags.iter().enumerate() {
            bytes.extend(vid.to_be_bytes());
            bytes.extend(if index + 1 < tags.len() { [0x81, 0] } else { [8, 0] });
        }
        map.tagged(protocol, Tag::new(&bytes)?, &bytes[TAG_BYTES..])
    }

    #[test]
    fn tags_of_customers_and_of_services_are_two_things() {
        let [customers, services, old] = [ethertype::VLAN, ethertype::QINQ, ethertype::QINQ_OLD];
        let mut map = VlanMap::default();
        map.insert(VlanTags::One(100), customers, 1);
        map.insert(VlanTags::Two(200, 7), services, 2);
        map.insert(VlanTags::One(100), services, 3);
        map.insert(VlanTags::AnyInner(300), customers, 4);
        assert_eq!([100, 101].map(|vid| find_of(&map, customers, &[vid])), [Some(1), None]);
        assert_eq!([services, old].map(|it| find_of(&map, it, &[100])), [Some(3); 2]);
        assert_eq!([services, customers].map(|it| find_of(&map, it, &[200, 7])), [Some(2), None]);
        assert_eq!([services, customers].map(|it| find_of(&map, it, &[300, 7])), [None, Some(4)]);
        map.insert(VlanTags::Any, customers, 5);
        assert_eq!(find_of(&map, customers, &[200, 7]), Some(5), "any is any");
    }

    #[test]
    fn the_closest_match_has_the_frame() {
        let mut map = VlanMap::default();
        map.insert(VlanTags::Two(100, 7), ethertype::VLAN, 1);
        map.insert(VlanTags::AnyInner(100), ethertype::VLAN, 2);
        map.insert(VlanTags::One(100), ethertype::VLAN, 3);
        assert_eq!(find(&map, &[5]), None);
        map.insert(VlanTags::Any, ethertype::VLAN, 4);
        let found = [&[100, 7][..], &[100, 8], &[100], &[5], &[5, 7], &[0x6000 | 100]];
        let found = found.map(|tags| find(&map, tags));
        assert_eq!(found, [Some(1), Some(2), Some(3), Some(4), Some(4), Some(3)]);
        assert_eq!(map.untagged(), None);
        map.insert(VlanTags::Untagged, ethertype::VLAN, 5);
        assert_eq!(map.untagged(), Some(5));
    }

    #[test]
    fn of_any_those_alone_may_be_meant_that_customers_have() {
        let mut map = VlanMap::default();
        map.insert(VlanTags::Any, ethertype::VLAN, 4);
        map.insert(VlanTags::One(7), ethertype::VLAN, 5);
        assert_eq!(map.priority_tag_bytes(), TAG_BYTES);
        map.any_of = Some(CustomerVlans::new([5, 7, 64, 4095]));
        let found = [&[5][..], &[6], &[64], &[5, 6], &[7], &[4095]].map(|tags| find(&map, tags));
        assert_eq!(found, [Some(4), None, Some(4), Some(4), Some(5), Some(4)]);
        assert_eq!(find_of(&map, ethertype::QINQ, &[5]), Some(4));
        map.insert(VlanTags::Untagged, ethertype::VLAN, 4);
        assert_eq!((map.untagged(), map.priority_tag_bytes()), (Some(4), 0));
    }

    #[test]
    fn a_tag_announced_and_not_there_is_nobodys() {
        let mut map = VlanMap::default();
        map.insert(VlanTags::Any, ethertype::VLAN, 4);
        assert_eq!(map.tagged(ethertype::VLAN, Tag::of(&[0, 5, 0x81, 0]), &[0, 1, 2]), None);
    }

    #[test]
    fn tags_are_written_with_their_priority_kept_or_new() {
        let vlan =
            |tags, priority| Vlan { parent: 0, tags, protocol: 0x88a8, priority, is_native: false };
        let old = Some([0x81, 0, 0xb0, 5]);
        let keeps = vlan(VlanTags::One(100), None);
        assert_eq!(keeps.written(old)[..4], [0x88, 0xa8, 0xb0, 100]);
        assert_eq!(keeps.written(Some([8, 0, 0xb0, 5]))[..4], [0x88, 0xa8, 0, 100]);
        let sets = vlan(VlanTags::Two(1, 0x234), Some(3));
        assert_eq!(sets.written(old), [0x88, 0xa8, 0x60, 1, 0x81, 0, 0x62, 0x34]);
        assert_eq!((keeps.tag_bytes(), sets.tag_bytes()), (4, 8));
    }
}
