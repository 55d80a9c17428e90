//! Finds the sub-interface that a frame belongs to, and takes its tags off (IEEE 802.1Q section
//! 6.9).
//!
//! ```text
//!  port_rx ─▶ vlan_input ┬▶ (an entrance)    by the sub-interface's mode
//!                        ├▶ interface_input  that has features
//!                        └▶ drop
//! ```
//! Frames without a tag stay the port's, unless a sub-interface wants them; so do those that no
//! sub-interface wants, where the port is in a bridge of flows.

use crate::interface::{Entrance, ReceivedRun, entrances};
use crate::tables::{Interface, Interfaces, Link, Setup, TAG_BYTES, VlanMap, WorkerCounters};
use graph::{Context, Exits, Node, Published};
use packet::{Frame, Groups, PacketView, alike};
use std::sync::Arc;
use wire::vlan::{Tag, Tci, is_tag};

/// Octets of the two addresses that stand before the tags.
const ADDRESSES: usize = 12;
/// Octets up to the end of the first tag.
const TAGGED: usize = ADDRESSES + TAG_BYTES;
/// Octets up to the end of the ethertype behind it.
const TYPED: usize = TAGGED + 2;

/// See the module.
pub struct VlanInput {
    interfaces: Published<Interfaces>,
    counters: Arc<WorkerCounters>,
}

entrances! {
    /// By the mode of the frame's interface.
    pub enum Exit {
        /// The sub-interface has features for what it receives: these first.
        Features => node "interface-input",
        /// Shorter than an Ethernet header, or than its tags.
        Runt => drop "A link or a device on the way damages packets: look at the error counters \
            along it.",
        /// No sub-interface has this VLAN with a tag of this type.
        UnknownVlan => drop "Add a port of kind `vlan` with this `vlan` and `protocol`, or take \
            the VLAN off the switch's trunk.",
    }
}

impl Node for VlanInput {
    const NAME: &'static str = "vlan-input";
    const ABOUT: &'static str = "finds the sub-interfaces of tagged frames";
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
        if let Some(port) = alike(frame.rx())
            && let Some(map) = interfaces.vlans(port)
            && take_one_off_each(frame, port, map)
        {
            let mut groups = Groups::all();
            while let Some((id, group)) = groups.next(frame.rx()) {
                let (packets, bytes) = (frame.count_of(&group), frame.bytes_of(&group));
                self.counters.count_received(id, packets as u64, bytes);
                exits.group(&group, of(interfaces, id, port).1);
            }
            return;
        }
        let mut port = frame.rx()[0];
        let mut map = interfaces.vlans(port);
        let mut own = (port, Exit::UnknownVlan, 0);
        let mut received = ReceivedRun::new(&self.counters);
        exits.each(frame, |packet| {
            if packet.rx() != port {
                port = packet.rx();
                map = interfaces.vlans(port);
            }
            let (found, untagged_bytes) = match owner(packet.header(), port, map) {
                Ok(found) => found,
                // Its flows have all that no sub-interface takes.
                Err(Exit::UnknownVlan) if is_in_flows(interfaces, port) => (port, Some(0)),
                Err(exit) => return exit,
            };
            if found != own.0 || own.1 == Exit::UnknownVlan {
                own = of(interfaces, found, port);
            }
            take_off(packet, untagged_bytes.unwrap_or(own.2));
            if found != port {
                packet.set_rx(found);
                received.add(found, packet.length());
            }
            own.1
        });
    }
}

/// Takes the one tag off each frame, and makes the sub-interface that has its VLAN the one that
/// received it, where vectors are as they often are: each of a port's frames has one tag, all of
/// one type, which some sub-interface takes off. Else says no, and nothing changed.
fn take_one_off_each(frame: &mut Frame, port: u16, map: &VlanMap) -> bool {
    let first = frame.view(0).header().first_chunk().map(first_of);
    let Some((protocol, _, plain)) = first.filter(|&(_, _, plain)| !is_tag(plain)) else {
        return false;
    };
    let Some(owners) = map.of_one_tag(protocol) else { return false };
    let mut taken = 0;
    let alike = frame.all(|mut packet| {
        let Some(head) = packet.header_mut().first_chunk_mut() else { return false };
        let (its, tci, behind) = first_of(head);
        let has_one = its == protocol && (behind == plain || !is_tag(behind));
        let Some(owner) = owners.of(tci.vid()).filter(|_| has_one) else { return false };
        turn(head, u128::rotate_left);
        packet.set_rx(owner);
        taken += 1;
        true
    });
    if alike && frame.advance(TAG_BYTES as u16) {
        return true;
    }
    for slot in 0..taken {
        let mut packet = frame.view(slot);
        if let Some(head) = packet.header_mut().first_chunk_mut() {
            turn(head, u128::rotate_right);
        }
        packet.set_rx(port);
    }
    false
}

/// The first tag, its type first, and the ethertype behind it.
#[inline(always)]
fn first_of(head: &[u8; TYPED]) -> (u16, Tci, u16) {
    let [.., a, b, c, d, e, f] = *head;
    let word = |bytes| u16::from_be_bytes(bytes);
    (word([a, b]), Tci(word([c, d])), word([e, f]))
}

/// Moves the first tag to the front of the addresses, or back.
#[inline(always)]
fn turn(head: &mut [u8; TYPED], rotate: fn(u128, u32) -> u128) {
    if let Some(turned) = head.first_chunk_mut::<TAGGED>() {
        *turned = rotate(u128::from_le_bytes(*turned), 8 * TAG_BYTES as u32).to_le_bytes();
    }
}

/// The interface that a frame of `port` belongs to, and, of one without a VLAN, the octets of its
/// tag to be taken off, which tells a priority at most: the interface may take off others by its
/// tags.
#[inline(always)]
fn owner(frame: &[u8], port: u16, map: Option<&VlanMap>) -> Result<(u16, Option<usize>), Exit> {
    let first = first_tag(frame).ok_or(Exit::Runt)?;
    let Some(map) = map else { return Ok((port, Some(0))) };
    match first {
        FirstTag::None => Ok((map.untagged().unwrap_or(port), Some(0))),
        FirstTag::Priority => Ok((map.untagged().unwrap_or(port), Some(map.priority_tag_bytes()))),
        FirstTag::Vlan { protocol, tag, behind } => {
            let found = map.tagged(protocol, tag, behind).ok_or(Exit::UnknownVlan);
            found.map(|id| (id, None))
        }
    }
}

fn is_in_flows(interfaces: &Interfaces, port: u16) -> bool {
    interfaces.get(port).is_some_and(Interface::is_in_flows)
}

/// What a frame's first tag says.
pub enum FirstTag<'a> {
    /// There is none.
    None,
    /// IEEE 802.1Q section 9.6: VLAN 0 tells a priority, and the frame is as one without a tag.
    Priority,
    /// A VLAN.
    Vlan {
        /// The tag's ethertype.
        protocol: u16,
        /// The tag.
        tag: Tag<'a>,
        /// What is behind the tag.
        behind: &'a [u8],
    },
}

/// The first tag of a frame; none of one that ends within its header.
#[inline(always)]
pub fn first_tag(frame: &[u8]) -> Option<FirstTag<'_>> {
    let head = frame.first_chunk::<14>()?;
    let protocol = u16::from_be_bytes([head[12], head[13]]);
    if !is_tag(protocol) {
        return Some(FirstTag::None);
    }
    let tag = Tag::new(&frame[14..])?;
    Some(match tag.tci().vid() {
        0 => FirstTag::Priority,
        _ => FirstTag::Vlan { protocol, tag, behind: &frame[14 + Tag::LEN..] },
    })
}

/// An interface with its exit and the octets of its tags. What stays the port's has had its turns
/// at the port's features.
fn of(interfaces: &Interfaces, id: u16, port: u16) -> (u16, Exit, usize) {
    let exit = match interfaces.entrance(id) {
        Entrance::InterfaceDown => Exit::InterfaceDown,
        _ if id != port && interfaces.has_input_features(id) => Exit::Features,
        entrance => entrance.into(),
    };
    match interfaces.get(id).map(|interface| interface.link) {
        Some(Link::Vlan(vlan)) => (id, exit, vlan.tag_bytes()),
        _ => (id, exit, 0),
    }
}

/// Moves the addresses over the tags; the outer tag is left right in front of the frame.
#[inline(always)]
pub(crate) fn take_off(packet: &mut PacketView<'_>, bytes: usize) {
    let header = packet.header_mut();
    let Some(&[.., a, b, c, d]) = header.first_chunk::<TAGGED>().filter(|_| bytes != 0) else {
        return;
    };
    header.copy_within(..ADDRESSES, bytes);
    header[bytes - TAG_BYTES..bytes].copy_from_slice(&[a, b, c, d]);
    packet.advance(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::VlanTags;
    use crate::testing::{BRIDGED_VLAN, HOST_MAC, ROUTED_VLAN, TRUNK, World};
    use graph::harness::{NodeHarness, Outcome};
    use std::sync::atomic::Ordering;
    use wire::craft;

    fn run(world: &World, frames: &[Vec<u8>]) -> Vec<Outcome> {
        NodeHarness::<VlanInput>::new(&world.setup).unwrap().run(frames, TRUNK, 0)
    }

    fn tagged(vids: &[u16]) -> Vec<u8> {
        let plain = craft::ethernet(HOST_MAC, [4; 6]).ethertype(0x88b5).payload(&[7; 46]);
        let mut frame = plain.build();
        for vid in vids.iter().rev() {
            let [high, low] = vid.to_be_bytes();
            frame.splice(12..12, [0x81, 0, high, low]);
        }
        // The outer one of two is a service's.
        if vids.first() == Some(&200) {
            frame[12..14].copy_from_slice(&[0x88, 0xa8]);
        }
        frame
    }

    #[test]
    fn a_tag_of_the_other_type_is_of_another_vlan() {
        let of_type = |vids: &[u16], protocol: [u8; 2]| {
            let mut frame = tagged(vids);
            frame[12..14].copy_from_slice(&protocol);
            frame
        };
        for (frame, exit) in [
            (of_type(&[100], [0x81, 0]), "ethernet"),
            (of_type(&[100], [0x88, 0xa8]), "unknown-vlan"),
            (of_type(&[200, 7], [0x88, 0xa8]), "cross-connect"),
            (of_type(&[200, 7], [0x91, 0]), "cross-connect"),
            (of_type(&[200, 7], [0x81, 0]), "unknown-vlan"),
        ] {
            let out = run(&World::new(), &[frame.clone(), frame]);
            let exits: Vec<_> = out.iter().map(|out| out.exit.as_str()).collect();
            assert_eq!(exits, [exit, exit]);
        }
    }

    #[test]
    fn a_frame_goes_to_its_sub_interface_without_its_tags() {
        let plain = tagged(&[]);
        for (vids, exit) in [
            (&[100][..], "ethernet"),
            (&[400], "bridge"),
            (&[200, 7], "cross-connect"),
            (&[], "ethernet"),
            (&[0], "ethernet"),
        ] {
            let out = run(&World::new(), &[tagged(vids)]).remove(0);
            assert_eq!((out.exit.as_str(), &out.header), (exit, &plain), "{vids:?}");
        }
    }

    #[test]
    fn frames_without_a_tag_are_the_native_vlans_as_those_with_its_tag_are() {
        let mut world = World::new();
        world.change_interface(ROUTED_VLAN, |it| {
            if let Link::Vlan(vlan) = &mut it.link {
                vlan.is_native = true;
            }
        });
        let vids = [&[][..], &[100], &[0], &[], &[100], &[400]];
        let frames: Vec<_> = vids.iter().map(|vids| tagged(vids)).collect();
        let together = run(&world, &frames);
        for (out, frame) in together.iter().zip(&frames) {
            assert_eq!(out.header, tagged(&[]));
            assert_eq!(*out, run(&world, std::slice::from_ref(frame)).remove(0));
        }
        assert_eq!([0, 5].map(|at| together[at].exit.as_str()), ["ethernet", "bridge"]);
        // A vector of one kind.
        for vids in [&[][..], &[0], &[100]] {
            let out = run(&world, &vec![tagged(vids); 5]);
            assert!(out.iter().all(|out| out.header == tagged(&[]) && out.exit == "ethernet"));
        }
        // Together, alone, and in vectors of one kind.
        let counters = &world.setup.counters.interfaces[usize::from(ROUTED_VLAN)];
        assert_eq!(counters.rx_packets.load(Ordering::Relaxed), 5 + 5 + 15);
    }

    #[test]
    fn tags_that_nobody_named_stay() {
        let out = run(&World::new(), &[tagged(&[100, 9])]).remove(0);
        assert_eq!((out.exit.as_str(), out.header), ("ethernet", tagged(&[9])));
    }

    #[test]
    fn each_frame_is_counted_where_it_belongs() {
        let world = World::new();
        let vids = [&[100][..], &[400], &[100], &[5], &[200, 8], &[100]];
        let mut frames: Vec<_> = vids.iter().map(|vids| tagged(vids)).collect();
        frames.push(tagged(&[100])[..15].to_vec());
        frames.push(tagged(&[200, 7])[..20].to_vec());
        frames.push(vec![0; 13]);
        let exits: Vec<_> = run(&world, &frames).into_iter().map(|out| out.exit).collect();
        let (unknown, routed) = ("unknown-vlan", "ethernet");
        assert_eq!(exits[..6], [routed, "bridge", routed, unknown, unknown, routed]);
        assert_eq!(exits[6..], ["runt", unknown, "runt"]);
        let counted = |id: u16| {
            let counters = &world.setup.counters.interfaces[usize::from(id)];
            let read = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
            (read(&counters.rx_packets), read(&counters.rx_bytes))
        };
        assert_eq!((counted(ROUTED_VLAN), counted(BRIDGED_VLAN)), ((3, 180), (1, 60)));
    }

    #[test]
    fn a_second_tag_is_looked_at_whatever_frames_it_comes_among() {
        let mut world = World::new();
        world.change_interface(BRIDGED_VLAN, |row| {
            if let Link::Vlan(vlan) = &mut row.link {
                vlan.tags = VlanTags::AnyInner(100);
            }
        });
        let of = |exits: &[&str], vids: &[&[u16]]| {
            let frames: Vec<_> = vids.iter().map(|vids| tagged(vids)).collect();
            let out = run(&world, &frames);
            assert_eq!(out.iter().map(|out| out.exit.as_str()).collect::<Vec<_>>(), exits);
            for (out, vids) in out.iter().zip(vids) {
                assert_eq!(out.header, tagged(&vids[1..]));
            }
        };
        let (one, two) = (&[100][..], &[100, 9][..]);
        of(&["ethernet"; 3], &[one, one, one]);
        of(&["bridge"; 3], &[two, two, two]);
        of(&["ethernet", "bridge", "ethernet"], &[one, two, one]);
        of(&["bridge", "ethernet", "bridge"], &[two, one, two]);
    }

    /// The third of five frames is the odd one; the others differ in what no VLAN is told by.
    #[test]
    fn a_vector_fares_as_its_frames_do_one_by_one() {
        let mut of_service = tagged(&[100]);
        of_service[12..14].copy_from_slice(&[0x88, 0xa8]);
        let short = vec![1; 15];
        for odd in [
            tagged(&[100]),
            tagged(&[400]),
            tagged(&[5]),
            tagged(&[100, 9]),
            tagged(&[]),
            of_service,
            short,
        ] {
            let mut frames = vec![tagged(&[100]); 5];
            frames[1][14] |= 0xe0;
            frames[3][20] = 1;
            frames[2] = odd;
            let (together, apart) = (World::new(), World::new());
            let alone = |frame: &Vec<u8>| run(&apart, std::slice::from_ref(frame)).remove(0);
            let wanted: Vec<_> = frames.iter().map(alone).collect();
            assert_eq!(run(&together, &frames), wanted);
            let counted = |world: &World| {
                [ROUTED_VLAN, BRIDGED_VLAN].map(|id| {
                    let row = &world.setup.counters.interfaces[usize::from(id)];
                    (row.rx_packets.load(Ordering::Relaxed), row.rx_bytes.load(Ordering::Relaxed))
                })
            };
            assert_eq!(counted(&together), counted(&apart));
        }
    }
}
