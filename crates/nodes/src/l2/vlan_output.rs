//! Puts the tags of a sub-interface on what leaves by it (IEEE 802.1Q section 6.9).
//!
//! ```text
//!  interface_output ─▶ vlan_output ┬▶ port_tx
//!                                  ├▶ shape        the port below is shaped
//!                                  └▶ bond_output  it is a bond
//!
//!  │ room │ addresses │ type …      becomes      │ addresses │ tags │ type …
//! ```
//! What leaves by a sub-interface leaves by its port as well, and is counted there with its tags,
//! as what comes in is; what waits at a shaped port is counted when it leaves.
//!
//! One that leaves all tags sends those alone that it would take in. A service's tag has the
//! priority of the customer's behind it, where the frame came with no other in front (IEEE 802.1Q
//! section 6.9.2).

use crate::l2::vlan_input::{FirstTag, first_tag};
use crate::port::Shaped;
use crate::tables::{
    CustomerVlans, Interfaces, Link, Setup, TAG_BYTES, Vlan, VlanTags, WorkerCounters,
};
use graph::{Context, Exits, Node, Published};
use packet::{Frame, Group, Groups, PacketView};
use std::sync::Arc;
use wire::vlan::is_tag;

/// Octets of the two addresses that stand before the tags.
const ADDRESSES: usize = 12;

/// See the module.
pub struct VlanOutput {
    interfaces: Published<Interfaces>,
    counters: Arc<WorkerCounters>,
}

graph::exits! {
    /// What becomes of a frame that is to have tags.
    pub enum Exit {
        /// It has them.
        Transmit => node "port-tx",
        /// It has them, and waits for its turn among all that leaves by the port.
        Shape => node "shape",
        /// It has them, and leaves by a member of the bond.
        Bond => node "bond-output",
        /// Its own tag is of a VLAN that the sub-interface has not, which leaves all tags.
        NotInVlan => drop "Add the VLAN to `customers` of the sub-interface, or have `native` said \
            of it, if the frame has no tag.",
        /// No room for the tags in front of the frame.
        NoHeadroom => drop "Fewer tunnels and tags inside each other.",
    }
}

impl Node for VlanOutput {
    const NAME: &'static str = "vlan-output";
    const ABOUT: &'static str = "tags what leaves by sub-interfaces";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        let interfaces = setup.shared.interfaces.clone();
        Self { interfaces, counters: Arc::clone(&setup.counters) }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        // Where all came with a tag it is theirs again: most get another in its place.
        let have_old = frame.shortest() >= ADDRESSES as u32 && frame.give_back(TAG_BYTES as u16);
        let mut groups = Groups::all();
        while let Some((tx, group)) = groups.next(frame.tx()) {
            let (vlan, exit) = way_of(interfaces, tx);
            let is_done = have_old && vlan.is_some_and(|vlan| replace_old(frame, &group, &vlan));
            if have_old && !is_done {
                frame.each_in(&group, |mut packet| _ = packet.advance(TAG_BYTES));
            }
            let Some(vlan) = vlan else {
                exits.group(&group, exit);
                continue;
            };
            let mut tagged = group;
            if !is_done {
                let all = group.slots(frame.len());
                let mut done = all;
                frame.each_in(&group, |mut packet| {
                    if let Err(refused) = put_tags_on(interfaces, tx, &vlan, &mut packet) {
                        exits.set(packet.index(), refused);
                        done.take(packet.index());
                    }
                });
                if done != all {
                    tagged = Group::Some(done);
                }
            }
            exits.group(&tagged, exit);
            if exit != Exit::Shape {
                let packets = frame.count_of(&tagged) as u64;
                self.counters.count_sent(vlan.parent, packets, frame.bytes_of(&tagged));
            }
            if exit == Exit::Bond {
                frame.each_in(&tagged, |mut packet| packet.set_tx(vlan.parent));
            }
        }
    }
}

/// The VLAN that an interface is, if it is one still, and where its frames go with their tags.
fn way_of(interfaces: &Interfaces, tx: u16) -> (Option<Vlan>, Exit) {
    let Some(row) = interfaces.get(tx) else { return (None, Exit::Transmit) };
    let vlan = match row.link {
        Link::Vlan(vlan) => Some(vlan),
        Link::Port | Link::Bond | Link::Bridge | Link::Tunnel(_) | Link::Lisp(_) => None,
    };
    let parent = vlan.and_then(|vlan| interfaces.get(vlan.parent));
    let exit = match parent {
        _ if row.has::<Shaped>() => Exit::Shape,
        Some(parent) if parent.link == Link::Bond => Exit::Bond,
        _ => Exit::Transmit,
    };
    (vlan, exit)
}

/// Puts the tags of a sub-interface on a frame, or says what becomes of it.
fn put_tags_on(
    interfaces: &Interfaces,
    tx: u16,
    vlan: &Vlan,
    packet: &mut PacketView<'_>,
) -> Result<(), Exit> {
    if vlan.tags == VlanTags::Any && !is_of(interfaces, tx, vlan, packet.header()) {
        return Err(Exit::NotInVlan);
    }
    let mut old = packet.consumed_last().copied();
    if vlan.is_of_service() && old.is_none_or(|old| !begins_with_tag(&old)) {
        old = packet.header().get(ADDRESSES..).and_then(|it| it.first_chunk().copied());
    }
    let tags = vlan.written(old);
    match put_on(packet, &tags[..vlan.tag_bytes()]) {
        true => Ok(()),
        false => Err(Exit::NoHeadroom),
    }
}

/// Whether a frame is one of those that a sub-interface has which leaves all tags.
fn is_of(interfaces: &Interfaces, tx: u16, vlan: &Vlan, frame: &[u8]) -> bool {
    let Some(vlans) = interfaces.get(tx).and_then(|row| row.get::<CustomerVlans>()) else {
        return true;
    };
    match first_tag(frame) {
        Some(FirstTag::Vlan { tag, .. }) => vlans.has(tag.tci().vid()),
        Some(FirstTag::None | FirstTag::Priority) => vlan.is_native,
        None => true,
    }
}

fn begins_with_tag(bytes: &[u8; TAG_BYTES]) -> bool {
    is_tag(u16::from_be_bytes([bytes[0], bytes[1]]))
}

/// Puts the one tag of `vlan` on frames in the place of the one that they came with, which begins
/// their header; else says no, and nothing changed.
fn replace_old(frame: &mut Frame, group: &Group, vlan: &Vlan) -> bool {
    let mut fit = vlan.tag_bytes() == TAG_BYTES;
    if vlan.is_of_service() {
        frame.each_in(group, |packet| {
            fit &= packet.header().first_chunk().is_some_and(begins_with_tag);
        });
    }
    if !fit {
        return false;
    }
    // The last frame's priority is nearly always the next one's, too.
    let (mut old, mut tag) = (0, tag_word(vlan, 0));
    frame.each_in(group, |mut packet| {
        let Some(head) = packet.header_mut().first_chunk_mut() else { return };
        let word = u128::from_le_bytes(*head);
        if word as u32 != old {
            old = word as u32;
            tag = tag_word(vlan, old);
        }
        *head = (word >> (8 * TAG_BYTES) | tag).to_le_bytes();
    });
    true
}

/// The tag that `vlan` puts on in the place of `old`, behind twelve octets.
fn tag_word(vlan: &Vlan, old: u32) -> u128 {
    let [a, b, c, d, ..] = vlan.written(Some(old.to_le_bytes()));
    u128::from(u32::from_le_bytes([a, b, c, d])) << (8 * ADDRESSES)
}

/// Moves the addresses forward and writes the tags behind them; false where there is no room.
#[inline(always)]
fn put_on(packet: &mut PacketView<'_>, tags: &[u8]) -> bool {
    if packet.length() < ADDRESSES || !packet.prepend(tags.len()) {
        return false;
    }
    let header = packet.header_mut();
    header.copy_within(tags.len()..tags.len() + ADDRESSES, 0);
    header[ADDRESSES..ADDRESSES + tags.len()].copy_from_slice(tags);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::Shaped;
    use crate::tables::TAG_BYTES;
    use crate::testing::{BRIDGED_VLAN, HOST_MAC, PAIR_VLAN, ROUTED_VLAN, TRUNK, World};
    use graph::harness::NodeHarness;
    use std::slice::from_ref;
    use std::sync::atomic::Ordering;
    use wire::craft;

    fn plain() -> Vec<u8> {
        craft::ethernet(HOST_MAC, [4; 6]).ethertype(0x88b5).payload(&[7; 46]).build()
    }

    /// A frame that came with `old` as its tag, if with any, leaves by `tx`.
    fn run(old: Option<[u8; TAG_BYTES]>, tx: u16) -> Vec<u8> {
        let (exit, frame) = run_in(&World::new(), old, tx);
        assert_eq!(exit, "transmit");
        frame
    }

    fn run_in(world: &World, old: Option<[u8; TAG_BYTES]>, tx: u16) -> (String, Vec<u8>) {
        let bytes = [&old.unwrap_or_default()[..], &plain()].concat();
        let mut node = NodeHarness::<VlanOutput>::new(&world.setup).unwrap();
        let mut out = node.run_prepared(&[bytes], 9, TAG_BYTES, |frame| {
            if old.is_none() {
                frame.view(0).start_here();
            }
            frame.tx_mut()[0] = tx;
        });
        let out = out.remove(0);
        (out.exit, out.header)
    }

    #[test]
    fn a_frame_gets_the_tags_of_its_sub_interface() {
        let with = |tags: &[u8]| [&plain()[..12], tags, &plain()[12..]].concat();
        assert_eq!(run(None, ROUTED_VLAN), with(&[0x81, 0, 0, 100]));
        assert_eq!(run(None, PAIR_VLAN), with(&[0x88, 0xa8, 0, 200, 0x81, 0, 0, 7]));
        assert_eq!(run(None, 0), plain());
    }

    #[test]
    fn the_priority_it_came_with_is_kept() {
        let tagged = run(Some([0x81, 0, 0xa0, 5]), ROUTED_VLAN);
        assert_eq!(tagged[12..16], [0x81, 0, 0xa0, 100]);
    }

    #[test]
    fn a_services_tag_has_the_priority_of_the_customers_behind_it() {
        let mut world = World::new();
        world.change_interface(ROUTED_VLAN, |row| {
            if let Link::Vlan(vlan) = &mut row.link {
                vlan.protocol = 0x88a8;
            }
        });
        let customers = [&plain()[..12], &[0x81, 0, 0xa0, 5], &plain()[12..]].concat();
        let run_behind = |world: &World, frame: &Vec<u8>, consumed| {
            let mut node = NodeHarness::<VlanOutput>::new(&world.setup).unwrap();
            let by = |frame: &mut Frame| frame.tx_mut().fill(ROUTED_VLAN);
            node.run_prepared(from_ref(frame), 9, consumed, by).remove(0).header
        };
        let run = |world: &World, frame: &Vec<u8>| run_behind(world, frame, 0);
        let tagged = run(&world, &customers);
        // What was in front of it, and is no tag, tells nothing.
        let behind = [&[8, 0, 0x60, 9][..], &customers].concat();
        assert_eq!(run_behind(&world, &behind, TAG_BYTES), tagged);
        assert_eq!(tagged[12..20], [0x88, 0xa8, 0xa0, 100, 0x81, 0, 0xa0, 5]);
        assert_eq!(run(&world, &plain())[12..18], [0x88, 0xa8, 0, 100, 0x88, 0xb5]);
        // A customer's in front of another does not.
        assert_eq!(run(&World::new(), &customers)[12..16], [0x81, 0, 0, 100]);
        // Of one that came with a tag of its own in front it is that one's.
        let (exit, frame) = run_in(&world, Some([0x81, 0, 0x60, 9]), ROUTED_VLAN);
        assert_eq!((exit.as_str(), &frame[12..16]), ("transmit", &[0x88, 0xa8, 0x60, 100][..]));
    }

    #[test]
    fn who_leaves_all_tags_sends_those_that_it_would_take_in() {
        let mut world = World::new();
        let exit = |world: &World, vid: Option<u16>| {
            let plain = craft::ethernet(HOST_MAC, [4; 6]);
            let frame = match vid {
                Some(vid) => plain.vlan(vid).ethertype(0x88b5).payload(&[7; 46]).build(),
                None => plain.ethertype(0x88b5).payload(&[7; 46]).build(),
            };
            let mut node = NodeHarness::<VlanOutput>::new(&world.setup).unwrap();
            let by = |frame: &mut Frame| frame.tx_mut().fill(ROUTED_VLAN);
            let out = node.run_prepared(from_ref(&frame), 9, 0, by).remove(0);
            assert_eq!(out.header, frame);
            out.exit
        };
        let all = [Some(5), Some(6), Some(0), None];
        for (vlans, is_native, exits) in [
            (None, false, ["transmit"; 4]),
            (Some([5]), true, ["transmit", "not-in-vlan", "transmit", "transmit"]),
            (Some([6]), false, ["not-in-vlan", "transmit", "not-in-vlan", "not-in-vlan"]),
        ] {
            world.change_interface(ROUTED_VLAN, |row| {
                row.put(vlans.map(CustomerVlans::new));
                if let Link::Vlan(vlan) = &mut row.link {
                    (vlan.tags, vlan.is_native) = (VlanTags::Any, is_native);
                }
            });
            assert_eq!(all.map(|vid| exit(&world, vid)), exits, "{vlans:?}");
        }
    }

    #[test]
    fn each_frame_of_a_vector_keeps_its_own_priority() {
        let tags = [[0x81, 0, 0xa0, 5], [0x81, 0, 0xa0, 5], [0x88, 0xa8, 0x20, 6], [8, 0, 0xa0, 5]];
        let frames = tags.map(|tag| [&tag[..], &plain()].concat());
        let mut node = NodeHarness::<VlanOutput>::new(&World::new().setup).unwrap();
        let by = |frame: &mut Frame| frame.tx_mut().fill(ROUTED_VLAN);
        let out = node.run_prepared(&frames, 9, TAG_BYTES, by);
        let written: Vec<_> = out.iter().map(|out| out.header[12..16].to_vec()).collect();
        assert_eq!(written, [0xa0, 0xa0, 0x20, 0].map(|bits| vec![0x81, 0, bits, 100]));
        let rest = |frame: &[u8]| [&frame[..12], &frame[16..]].concat();
        assert!(out.iter().all(|out| rest(&out.header) == plain()));
    }

    /// All came with something in front, a tag or not; the last is too short for any.
    #[test]
    fn each_frame_of_a_mixed_vector_fares_as_it_does_alone() {
        let mut world = World::new();
        world.change_interface(BRIDGED_VLAN, |row| {
            if let Link::Vlan(vlan) = &mut row.link {
                vlan.protocol = 0x88a8;
            }
        });
        let customers = [&plain()[..12], &[0x81, 0, 0x60, 9], &plain()[12..]].concat();
        let frame = |old: [u8; 4], plain: &[u8]| [&old[..], plain].concat();
        let (tag, none) = ([0x81, 0, 0xa0, 5], [8, 0, 0xa0, 5]);
        let mut all = Vec::new();
        for tx in [ROUTED_VLAN, BRIDGED_VLAN, 0, PAIR_VLAN, ROUTED_VLAN, 99] {
            for old in [tag, none] {
                all.extend([(tx, frame(old, &plain())), (tx, frame(old, &customers))]);
            }
        }
        let short = [(ROUTED_VLAN, frame(tag, &[7; 11])), (BRIDGED_VLAN, frame(none, &[7; 11]))];
        for all in [all.clone(), [all, short.to_vec()].concat()] {
            let run = |all: &[(u16, Vec<u8>)]| {
                let mut node = NodeHarness::<VlanOutput>::new(&world.setup).unwrap();
                let frames: Vec<_> = all.iter().map(|(_, frame)| frame.clone()).collect();
                node.run_prepared(&frames, 9, TAG_BYTES, |frame| {
                    frame.tx_mut().iter_mut().zip(all).for_each(|(tx, its)| *tx = its.0);
                })
            };
            let sent = || {
                let counters = &world.setup.counters.interfaces[usize::from(TRUNK)];
                [&counters.tx_packets, &counters.tx_bytes].map(|it| it.load(Ordering::Relaxed))
            };
            let before = sent();
            let together = run(&all);
            let between = sent();
            for (frame, together) in all.iter().zip(together) {
                assert_eq!(run(from_ref(frame)), [together], "{frame:02x?}");
            }
            let counted = |from: [u64; 2], to: [u64; 2]| [to[0] - from[0], to[1] - from[1]];
            assert_eq!(counted(before, between), counted(between, sent()));
            assert!(between[0] - before[0] >= 16);
        }
    }

    #[test]
    fn a_frame_for_a_shaped_port_waits_with_its_tag() {
        let mut world = World::new();
        world.change_interface(ROUTED_VLAN, |row| row.put(Some(Shaped)));
        let (exit, frame) = run_in(&world, None, ROUTED_VLAN);
        assert_eq!((exit.as_str(), &frame[12..16]), ("shape", &[0x81, 0, 0, 100][..]));
    }

    #[test]
    fn a_frame_without_room_in_front_is_dropped() {
        let mut node = NodeHarness::<VlanOutput>::new(&World::new().setup).unwrap();
        let out = node.run_prepared(&[vec![0; 11]], 9, 0, |frame| frame.tx_mut()[0] = ROUTED_VLAN);
        assert_eq!(out[0].exit, "no-headroom");
    }
}
