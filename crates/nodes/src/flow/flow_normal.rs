//! Finds the VLAN of frames that flows leave to `NORMAL`, where a bridge of flows has bridges of
//! VLANs behind it.
//!
//! ```text
//!  flow_act, inject ─▶ flow_normal ┬▶ l2_learn         in the bridge of its VLAN
//!                                  ├▶ l2_forward       the same, where nothing is to be learned
//!                                  ├▶ interface_input  the VLAN's part of the port has features
//!                                  └▶ drop             the port is not in that VLAN
//! ```
//! A frame without a tag goes on in the bridge that its port is in, one with a tag in that of the
//! sub-interface which has the tag. What no sub-interface has is bridged with its tag inside, where
//! the port is in no VLAN of its own.

use crate::interface::{Entrance, ReceivedRun};
use crate::l2::vlan_input::{FirstTag, first_tag, take_off};
use crate::tables::{
    BridgePort, Interfaces, Link, Setup, TAG_BYTES, VlanMap, WorkerCounters, bridge_port,
};
use graph::{Context, Exits, Node, Published};
use packet::Frame;
use std::sync::Arc;

/// See the module.
pub struct FlowNormal {
    interfaces: Published<Interfaces>,
    counters: Arc<WorkerCounters>,
}

graph::exits! {
    /// What becomes of a frame.
    pub enum Exit {
        /// To the stations of its VLAN.
        Learn => node "l2-learn",
        /// The same, where nothing is to be learned.
        Unlearned => node "l2-forward",
        /// The VLAN's part of the port has features for what it receives: these first.
        Features => node "interface-input",
        /// The VLAN's part of the port is administratively down.
        InterfaceDown => drop "`volley port set NAME up`, if the VLAN's part of the port is to \
            carry traffic.",
        /// Shorter than an Ethernet header, or than its tags.
        Runt => drop "A link or a device on the way damages packets: look at the error counters \
            along it.",
        /// The port is not in the VLAN that the frame has when flows say `NORMAL`.
        NotInVlan => drop "Add the VLAN to the port (`trunks`, or a port of kind `vlan` in the \
            VLAN's bridge), or have flows change the tag.",
        /// The port left its bridge while the frame was on its way.
        Outdated => drop "Nothing, if it ends: the configuration changed just then.",
    }
}

impl Node for FlowNormal {
    const NAME: &'static str = "flow-normal";
    const ABOUT: &'static str = "finds the VLAN of frames for NORMAL";
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
        let mut received = ReceivedRun::new(&self.counters);
        exits.each(frame, |packet| {
            let rx = packet.rx();
            let Some(port) = bridge_port(interfaces, rx) else { return Exit::Outdated };
            match part_for_normal(interfaces, rx, &port, packet.header()) {
                Err(Refused::Runt) => Exit::Runt,
                Err(Refused::NotInVlan) => Exit::NotInVlan,
                Ok(Part { interface, tag_bytes }) => {
                    take_off(packet, tag_bytes);
                    if interface == rx {
                        return if port.learn { Exit::Learn } else { Exit::Unlearned };
                    }
                    packet.set_rx(interface);
                    received.add(interface, packet.length());
                    exit_of(interfaces, interface)
                }
            }
        });
    }
}

/// Where frames of a VLAN's part of a port go.
fn exit_of(interfaces: &Interfaces, part: u16) -> Exit {
    match interfaces.entrance(part) {
        Entrance::InterfaceDown => Exit::InterfaceDown,
        _ if interfaces.has_input_features(part) => Exit::Features,
        Entrance::Bridge => Exit::Learn,
        Entrance::BridgeUnlearned => Exit::Unlearned,
        _ => Exit::Outdated,
    }
}

/// The part of a port that has a frame, and the octets of tags that it takes off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// The interface: the port itself, or one of its sub-interfaces.
    pub interface: u16,
    /// The octets.
    pub tag_bytes: usize,
}

/// Why no part of a port has a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// It ends within its header.
    Runt,
    /// The port is not in its VLAN.
    NotInVlan,
}

/// Whether what flows leave to `NORMAL` is told apart by VLANs, at a port.
#[inline]
pub fn has_vlans_for_normal(interfaces: &Interfaces, rx: u16, port: &BridgePort) -> bool {
    is_elsewhere(port) || interfaces.vlans_behind_flows(rx).is_some()
}

/// The port's frames without tags are those of a VLAN.
fn is_elsewhere(port: &BridgePort) -> bool {
    port.flow.is_some_and(|flow| flow.bridge != port.bridge)
}

/// The part of a port that a frame belongs to which flows leave to `NORMAL`.
pub fn part_for_normal(
    interfaces: &Interfaces,
    rx: u16,
    port: &BridgePort,
    frame: &[u8],
) -> Result<Part, Refused> {
    let map = interfaces.vlans_behind_flows(rx);
    let untagged = map.and_then(VlanMap::untagged).unwrap_or(rx);
    let (interface, tag_bytes) = match first_tag(frame).ok_or(Refused::Runt)? {
        FirstTag::None => (untagged, 0),
        FirstTag::Priority => (untagged, map.map_or(TAG_BYTES, VlanMap::priority_tag_bytes)),
        FirstTag::Vlan { protocol, tag, behind } => {
            match map.and_then(|map| map.tagged(protocol, tag, behind)) {
                Some(part) => (part, tag_bytes_of(interfaces, part)),
                None if is_elsewhere(port) => return Err(Refused::NotInVlan),
                None => (rx, 0),
            }
        }
    };
    Ok(Part { interface, tag_bytes })
}

fn tag_bytes_of(interfaces: &Interfaces, part: u16) -> usize {
    match interfaces.get(part).map(|row| row.link) {
        Some(Link::Vlan(vlan)) => vlan.tag_bytes(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{BridgeId, FlowPort, Mode};
    use crate::testing::{BRIDGED_VLAN, HOST_MAC, OWN_BRIDGE, TRUNK, World};
    use graph::harness::{NodeHarness, Outcome};
    use std::sync::atomic::Ordering;
    use wire::craft;

    const FLOWS: BridgeId = BridgeId(77);
    const ACCESS: u16 = 6;

    /// A trunk, its VLAN 400, and a port of that VLAN without tags.
    fn world(learn: bool) -> World {
        let mut world = World::new();
        let trunk = BridgePort::new(FLOWS).with_flows(1);
        let behind = BridgePort { learn, ..BridgePort::new(BridgeId(OWN_BRIDGE)) };
        let flow = Some(FlowPort { bridge: FLOWS, number: 2 });
        world.change_interface(TRUNK, |row| row.mode = Mode::Bridged(trunk));
        world.change_interface(BRIDGED_VLAN, |row| {
            row.mode = Mode::Bridged(BridgePort { is_behind: true, ..behind });
        });
        world.change_interface(ACCESS, |row| {
            row.mode = Mode::Bridged(BridgePort { flow, ..behind })
        });
        world
    }

    fn frame(tags: &[u16]) -> Vec<u8> {
        let plain = craft::ethernet(HOST_MAC, [4; 6]).ethertype(0x88b5).payload(&[7; 46]);
        let mut frame = plain.build();
        for tci in tags.iter().rev() {
            let [high, low] = tci.to_be_bytes();
            frame.splice(12..12, [0x81, 0, high, low]);
        }
        frame
    }

    fn run(world: &World, rx: u16, frame: Vec<u8>) -> Outcome {
        NodeHarness::<FlowNormal>::new(&world.setup).unwrap().run(&[frame], rx, 0).remove(0)
    }

    #[test]
    fn frames_go_on_in_the_bridge_of_their_vlan() {
        let world = world(true);
        for (rx, tags, to, left) in [
            (TRUNK, &[400][..], BRIDGED_VLAN, &[][..]),
            (TRUNK, &[400, 9], BRIDGED_VLAN, &[9]),
            (TRUNK, &[], TRUNK, &[]),
            (TRUNK, &[0xa000], TRUNK, &[]),
            // A VLAN of nobody's is bridged as it is.
            (TRUNK, &[401], TRUNK, &[401]),
            (ACCESS, &[], ACCESS, &[]),
            (ACCESS, &[0xa000], ACCESS, &[]),
        ] {
            let out = run(&world, rx, frame(tags));
            assert_eq!((out.exit.as_str(), out.rx), ("learn", to), "{rx} {tags:?}");
            assert_eq!(out.header, frame(left), "{rx} {tags:?}");
        }
        assert_eq!(run(&world, ACCESS, frame(&[400])).exit, "not-in-vlan");
        assert_eq!(run(&world, TRUNK, frame(&[400])[..17].to_vec()).exit, "runt");
        let counted = &world.setup.counters.interfaces[usize::from(BRIDGED_VLAN)];
        let counted = [&counted.rx_packets, &counted.rx_bytes].map(|it| it.load(Ordering::Relaxed));
        assert_eq!(counted, [2, 60 + 64]);
    }

    #[test]
    fn a_native_vlan_has_what_comes_without_a_tag() {
        let mut world = world(true);
        world.change_interface(BRIDGED_VLAN, |row| {
            if let Link::Vlan(vlan) = &mut row.link {
                vlan.is_native = true;
            }
        });
        for tags in [&[][..], &[0xa000], &[400]] {
            let out = run(&world, TRUNK, frame(tags));
            assert_eq!((out.exit.as_str(), out.rx), ("learn", BRIDGED_VLAN), "{tags:?}");
            assert_eq!(out.header, frame(&[]), "{tags:?}");
        }
    }

    #[test]
    fn what_is_not_learned_from_goes_straight_on_and_what_is_down_goes_nowhere() {
        let mut world = world(false);
        assert_eq!(run(&world, TRUNK, frame(&[400])).exit, "unlearned");
        assert_eq!(run(&world, ACCESS, frame(&[])).exit, "unlearned");
        world.change_interface(BRIDGED_VLAN, |row| row.up = false);
        assert_eq!(run(&world, TRUNK, frame(&[400])).exit, "interface-down");
        assert_eq!(run(&world, 0, frame(&[])).exit, "outdated");
    }

    #[test]
    fn a_vlan_behind_flows_has_no_frames_at_the_entrance() {
        let world = world(true);
        let rows = world.interfaces.clone();
        let is_there = |map: Option<&crate::tables::VlanMap>| {
            let tag = wire::vlan::Tag::of(&[1, 0x90, 8, 0]);
            map.is_some_and(|map| map.tagged(0x8100, tag, &[]).is_some())
        };
        assert!(!is_there(rows.vlans(TRUNK)) && is_there(rows.vlans_behind_flows(TRUNK)));
    }
}
