//! Sends bridged frames to the port behind which their destination is (IEEE 802.1Q section 8.6).
//!
//! ```text
//!  l2_learn, port_rx ─▶ l2_forward ┬▶ interface_output   the station is known
//!                                  ├▶ l2_flood           it is not, or it is a group
//!                                  ├▶ l2_arp, l2_nd      ARP and ND, where the bridge answers them
//!                                  ├▶ l2_multicast       to groups, where it knows who listens
//!                                  ├▶ ethernet_input     it is the router's own
//!                                  └▶ drop
//! ```

use crate::l2::keys::{Whose, read_keys};
use crate::l2::{
    l2_arp::{ASKING, PASSING},
    l2_nd::is_nd,
};
use crate::tables::{
    Heeds, Interfaces, Link, MOST_INTERFACES, Setup, Stations, WorkerCounters, bridge_port,
};
use fib::mac::{MacKey, MacTable, Sought};
use graph::{Context, Exits, Node, Published};
use packet::{Frame, Groups, PacketView, VECTOR};
use std::sync::Arc;
use wire::ethernet::{self, ethertype};

/// See the module.
pub struct L2Forward {
    interfaces: Published<Interfaces>,
    stations: Stations,
    counters: Arc<WorkerCounters>,
    sought: Box<Sought>,
    found: [u32; VECTOR],
}

graph::exits! {
    /// What becomes of a bridged frame.
    pub enum Exit {
        /// To the port that the station is behind.
        Output => node "interface-output",
        /// To the router, whose station it is.
        Own => node "ethernet-input",
        /// To the router, whose station there has features: these first.
        OwnFeatures => node "interface-input",
        /// To all that may want it.
        Flood => node "l2-flood",
        /// ARP to a station that is known, in a bridge that learns addresses from it.
        ArpPassing => node "l2-arp" cause PASSING,
        /// ARP to all, in a bridge that answers it.
        ArpAsking => node "l2-arp" cause ASKING,
        /// Neighbour discovery to a station that is known, in a bridge that learns addresses from
        /// it.
        NdPassing => node "l2-nd" cause PASSING,
        /// Neighbour discovery to a group, in a bridge that answers it.
        NdAsking => node "l2-nd" cause ASKING,
        /// To a group of IP, in a bridge that knows who listens.
        Multicast => node "l2-multicast",
        /// Shorter than an Ethernet header.
        Runt => drop "A link or a device on the way damages packets: look at the error counters \
            along it.",
        /// The interface left its bridge while the frame was under way, or forwards nothing.
        NotForwarding => drop "Look at `forward` of the bridge and its port: `volley show \
            bridge`.",
        /// IEEE 802.1Q section 8.6.3: to an address that bridges keep to themselves.
        ReservedAddress => drop "Nothing: pause frames, spanning tree, LLDP end at the next \
            bridge. A cross-connect passes them.",
        /// The station is behind the port that the frame came in by: it has it already.
        SamePort => drop "Nothing, if few: a switch behind the port floods. Much of it means that \
            the switch forgets stations too soon.",
        /// The two ports do not reach each other: split horizon, or one forwards nothing.
        Isolated => drop "Look at `group` and `isolated` of both ports: `volley config show`.",
    }
}

impl Node for L2Forward {
    const NAME: &'static str = "l2-forward";
    const ABOUT: &'static str = "sends bridged frames to their station's port";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            stations: setup.shared.stations.clone(),
            counters: Arc::clone(&setup.counters),
            sought: Box::default(),
            found: [0; VECTOR],
        }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        let Self { stations, sought, found, .. } = self;
        read_keys(frame, interfaces, Whose::Destination, sought.keys_mut());
        let count = frame.len();
        stations.table.seek(sought, count);
        find_ports(frame, stations, sought, found);
        let mut by_port = Groups::all();
        while let Some((rx, group)) = by_port.next(frame.rx()) {
            let heeds = heeds_of(interfaces, rx);
            let mut by_station = Groups::within(group, count);
            while let Some((tx, group)) = by_station.next(frame.tx()) {
                let exit = decide(interfaces, rx, tx);
                if matches!(exit, Exit::Own | Exit::OwnFeatures) {
                    frame.each_in(&group, |packet| hand_in(&self.counters, packet, tx));
                }
                if exit == Exit::Flood {
                    frame.each_in(&group, |mut packet| {
                        // None has a copy yet.
                        packet.set_tx(0);
                        let exit = unknown(self.sought.keys()[packet.index()], packet.length());
                        exits.set(packet.index(), heard(heeds, packet.header(), exit));
                    });
                } else if heeds.any() && exit == Exit::Output {
                    frame.each_in(&group, |packet| {
                        exits.set(packet.index(), heard(heeds, packet.header(), exit));
                    });
                } else {
                    exits.group(&group, exit);
                }
            }
        }
    }
}

// A station that is not known is behind a port that there is not.
const _: () = assert!(MOST_INTERFACES <= MacTable::UNKNOWN as u16 as usize);

/// Finds the ports that frames are to leave by: those that the stations are behind that are sought.
#[inline(always)]
pub(super) fn find_ports(
    frame: &mut Frame,
    stations: &Stations,
    sought: &mut Sought,
    found: &mut [u32; VECTOR],
) {
    let count = frame.len();
    stations.table.lookup_sought(sought, stations.now(), &mut found[..count]);
    let found = found[..count].iter().map(|found| *found as u16);
    frame.tx_mut().iter_mut().zip(found).for_each(|(tx, found)| *tx = found);
}

/// Whether all frames, whose ports were found, are only to be sent there.
#[inline(always)]
pub(super) fn are_all_to_be_sent(frame: &Frame, interfaces: &Interfaces) -> bool {
    let mut by_port = Groups::all();
    while let Some((rx, group)) = by_port.next(frame.rx()) {
        let mut by_station = Groups::within(group, frame.len());
        while let Some((tx, _)) = by_station.next(frame.tx()) {
            if decide(interfaces, rx, tx) != Exit::Output {
                return false;
            }
        }
        if heeds_of(interfaces, rx).any() {
            return false;
        }
    }
    true
}

/// What becomes of frames from `rx` to a station that was `found` behind a port.
fn decide(interfaces: &Interfaces, rx: u16, found: u16) -> Exit {
    let Some(from) = bridge_port(interfaces, rx).filter(|port| port.forward) else {
        return Exit::NotForwarding;
    };
    // A station behind a port that left is looked for everywhere.
    let to = bridge_port(interfaces, found).filter(|to| to.bridge == from.bridge);
    match to {
        None => Exit::Flood,
        Some(_) if found == rx => Exit::SamePort,
        Some(to) if from.reaches(&to) => {
            match interfaces.get(found).filter(|row| row.link == Link::Bridge) {
                Some(own) if own.input.is_empty() => Exit::Own,
                Some(_) => Exit::OwnFeatures,
                None => Exit::Output,
            }
        }
        Some(_) => Exit::Isolated,
    }
}

/// What the bridge of a port looks at.
fn heeds_of(interfaces: &Interfaces, rx: u16) -> Heeds {
    bridge_port(interfaces, rx).map_or(Heeds::NOTHING, |port| port.heeds)
}

/// Where a frame goes that would take `exit`: there, if it is nothing to be answered or learned
/// from.
fn heard(heeds: Heeds, frame: &[u8], exit: Exit) -> Exit {
    if !heeds.any() {
        return exit;
    }
    let arp = || heeds.has(Heeds::ARP) && is_arp(frame);
    let nd = || heeds.has(Heeds::ND) && is_nd(frame);
    match exit {
        Exit::Flood if arp() => Exit::ArpAsking,
        Exit::Flood if nd() => Exit::NdAsking,
        Exit::Flood if heeds.has(Heeds::GROUPS) && is_to_ip_group(frame) => Exit::Multicast,
        Exit::Output if arp() => Exit::ArpPassing,
        Exit::Output if nd() => Exit::NdPassing,
        exit => exit,
    }
}

/// True of frames to the addresses of groups of IP (RFC 1112 section 6.4, RFC 2464 section 7).
fn is_to_ip_group(frame: &[u8]) -> bool {
    matches!(frame, [0x01, 0x00, 0x5e, ..] | [0x33, 0x33, ..])
}

/// True of whole ARP frames, without tags.
fn is_arp(frame: &[u8]) -> bool {
    ethernet::Header::new(frame).is_some_and(|header| header.ethertype() == ethertype::ARP)
}

/// Makes the router's own interface in the bridge the one that received the frame.
pub(crate) fn hand_in(counters: &WorkerCounters, mut packet: PacketView<'_>, own: u16) {
    packet.set_rx(own);
    counters.count_received(own, 1, packet.length() as u64);
}

/// What becomes of a frame whose destination nobody has.
fn unknown(destination: MacKey, length: usize) -> Exit {
    if length < ethernet::Header::LEN {
        return Exit::Runt;
    }
    match destination.address() {
        [0x01, 0x80, 0xc2, 0, 0, last] if last < 0x10 => Exit::ReservedAddress,
        _ => Exit::Flood,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{BridgeId, BridgePort, Mode};
    use crate::testing::{BRIDGE, HOST_MAC, World};
    use graph::harness::{NodeHarness, Outcome};
    use wire::craft;

    const KNOWN: [u8; 6] = [2, 0, 0, 0, 0, 0x77];

    fn frame_to(destination: [u8; 6]) -> Vec<u8> {
        craft::ethernet(HOST_MAC, destination).ethertype(0x88b5).pad_to(60).build()
    }

    /// Frames from port 6 of the bridge; `KNOWN` is behind `behind`.
    fn run(frames: &[Vec<u8>], behind: u32) -> Vec<Outcome> {
        let world = World::new();
        let table = &world.setup.shared.stations.table;
        table.insert_static(MacKey::new(BRIDGE, KNOWN), behind).unwrap();
        let mut node = NodeHarness::<L2Forward>::new(&world.setup).unwrap();
        node.run(frames, 6, 0)
    }

    #[test]
    fn a_known_station_gets_its_frame_as_it_is() {
        let out = run(&[frame_to(KNOWN)], 7).remove(0);
        assert_eq!((out.exit.as_str(), out.tx, out.header), ("output", 7, frame_to(KNOWN)));
    }

    #[test]
    fn the_destination_decides_frame_by_frame() {
        let frames = [
            frame_to([0xff; 6]),
            frame_to(KNOWN),
            frame_to([0x01, 0x80, 0xc2, 0, 0, 0x0e]),
            frame_to([0x01, 0x80, 0xc2, 0, 0, 0x10]),
            vec![0; 13],
            frame_to([2, 9, 9, 9, 9, 9]),
        ];
        let exits: Vec<_> = run(&frames, 7).into_iter().map(|out| out.exit).collect();
        assert_eq!(exits, ["flood", "output", "reserved-address", "flood", "runt", "flood"]);
    }

    #[test]
    fn a_frame_does_not_go_back_nor_to_a_port_of_its_group() {
        for (behind, exit) in [(6, "same-port"), (8, "output"), (9, "isolated"), (0, "flood")] {
            assert_eq!(run(&[frame_to(KNOWN)], behind)[0].exit, exit, "behind {behind}");
        }
    }

    #[test]
    fn a_bridge_that_answers_arp_looks_at_it_first() {
        let mut world = World::new();
        let answers = BridgePort { heeds: Heeds::ARP, ..BridgePort::new(BridgeId(BRIDGE)) };
        world.change_interface(6, |row| row.mode = Mode::Bridged(answers));
        let table = &world.setup.shared.stations.table;
        table.insert_static(MacKey::new(BRIDGE, KNOWN), 7).unwrap();
        let mut node = NodeHarness::<L2Forward>::new(&world.setup).unwrap();
        let arp = |to: [u8; 6]| craft::ethernet(HOST_MAC, to).arp_request(HOST_MAC, 1, 2).build();
        let kept = [0x01, 0x80, 0xc2, 0, 0, 0];
        let frames = [arp([0xff; 6]), arp(KNOWN), arp(kept), frame_to(KNOWN), frame_to([0xff; 6])];
        let exits = |node: &mut NodeHarness<L2Forward>, rx| {
            let out = node.run(&frames, rx, 0);
            out.into_iter().map(|out| out.exit).collect::<Vec<_>>()
        };
        assert_eq!(
            exits(&mut node, 6),
            ["arp-asking", "arp-passing", "reserved-address", "output", "flood"]
        );
        assert_eq!(exits(&mut node, 8), ["flood", "output", "reserved-address", "output", "flood"]);
    }

    #[test]
    fn a_bridge_that_answers_neighbor_solicitations_looks_at_them_first() {
        let mut world = World::new();
        let answers = BridgePort { heeds: Heeds::ND, ..BridgePort::new(BridgeId(BRIDGE)) };
        world.change_interface(6, |row| row.mode = Mode::Bridged(answers));
        let table = &world.setup.shared.stations.table;
        table.insert_static(MacKey::new(BRIDGE, KNOWN), 7).unwrap();
        let group = [0x33, 0x33, 0xff, 0, 0, 2];
        let nd = |to| craft::ethernet(HOST_MAC, to).ipv6(1, 2).neighbor_solicitation(2, HOST_MAC);
        let echo = craft::ethernet(HOST_MAC, group).ipv6(1, 2).icmp6(128, 0, [0; 4]).build();
        let arp = craft::ethernet(HOST_MAC, [0xff; 6]).arp_request(HOST_MAC, 1, 2).build();
        let frames = [nd(group).build(), nd(KNOWN).build(), echo, arp];
        let mut node = NodeHarness::<L2Forward>::new(&world.setup).unwrap();
        let out = node.run(&frames, 6, 0);
        let exits: Vec<_> = out.into_iter().map(|out| out.exit).collect();
        assert_eq!(exits, ["nd-asking", "nd-passing", "flood", "flood"]);
        // The same where all of a vector goes one way.
        let out = node.run(&vec![nd(KNOWN).build(); 2], 6, 0);
        assert!(out.iter().all(|out| out.exit == "nd-passing"));
    }

    #[test]
    fn a_bridge_that_knows_listeners_has_frames_to_groups_looked_at() {
        let mut world = World::new();
        let heeds = BridgePort { heeds: Heeds::GROUPS, ..BridgePort::new(BridgeId(BRIDGE)) };
        world.change_interface(6, |row| row.mode = Mode::Bridged(heeds));
        let mut node = NodeHarness::<L2Forward>::new(&world.setup).unwrap();
        let kept = [0x01, 0x80, 0xc2, 0, 0, 0];
        let frames = [[1, 0, 0x5e, 1, 2, 3], [0x33, 0x33, 0, 0, 0, 9], [0xff; 6], kept, [2; 6]];
        let frames = frames.map(frame_to);
        let exits = |node: &mut NodeHarness<L2Forward>, rx| {
            let out = node.run(&frames, rx, 0);
            out.into_iter().map(|out| out.exit).collect::<Vec<_>>()
        };
        let looked = ["multicast", "multicast", "flood", "reserved-address", "flood"];
        assert_eq!(exits(&mut node, 6), looked);
        let flooded = ["flood", "flood", "flood", "reserved-address", "flood"];
        assert_eq!(exits(&mut node, 8), flooded);
    }

    #[test]
    fn an_interface_outside_bridges_forwards_nothing() {
        let mut node = NodeHarness::<L2Forward>::new(&World::new().setup).unwrap();
        assert_eq!(node.run(&[frame_to(KNOWN)], 0, 0)[0].exit, "not-forwarding");
    }
}
