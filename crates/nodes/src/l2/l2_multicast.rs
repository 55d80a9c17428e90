//! Sends frames to groups of IP to those that listen, in bridges that know who does: by what hosts
//! say by IGMP and MLD (RFC 4541).
//!
//! ```text
//!  l2_forward ─▶ l2_multicast ┬▶ interface_output, ethernet_input   listeners, and routers that forward groups
//!                   ▲         ├▶ l2_flood          questions, groups of one link, groups that nobody told of
//!                   │         ├▶ (taken)           what a host says, where no router hears it
//!                   └─────────┘ again: more copies than a call may make
//! ```
//! Who listens is written by the control thread, which gets a copy of each message; a message that
//! is wrong goes nowhere. Where nobody asks for listeners all get everything: those who keep silent
//! are not forgotten.

use crate::l2::copies::{self, Target};
use crate::tables::{
    BridgeId, BridgePort, GroupsSaid, Interfaces, Listeners, MOST_INTERFACES, Punt, RateLimits,
    Setup, SlowPath, Way, WorkerCounters, bridge_port,
};
use graph::{Context, Exits, Node, Published};
use packet::{Frame, PacketView};
use std::sync::Arc;
use wire::listeners::{Message, Seen, look};

/// Messages told a second, worker and interface. A thousand hosts that answer at once are told in
/// some of their ten seconds.
const PUNTS_PER_SECOND: u32 = 1000;

/// See the module.
pub struct L2Multicast {
    interfaces: Published<Interfaces>,
    listeners: Published<Listeners>,
    counters: Arc<WorkerCounters>,
    slow_path: SlowPath,
    limits: RateLimits,
    /// Where the frame at hand goes, those that need a copy first.
    targets: Vec<Target<Exit>>,
}

graph::exits! {
    /// What becomes of a frame to a group.
    pub enum Exit {
        /// To the last of its ports.
        Output => node "interface-output",
        /// To the router's own station.
        Own => node "ethernet-input",
        /// To the router's own station, which has features: these first.
        OwnFeatures => node "interface-input",
        /// To all that may want it.
        Flood => node "l2-flood",
        /// There are ports left, and no room for their copies in this call.
        Again => node "l2-multicast",
        /// Nobody but who sent it listens to the group, or none that it may reach.
        Nowhere => drop "Nothing, if nobody listens: `volley show groups` tells who does. Hosts \
            that do and are not there keep silent: look at `snooping` of the bridge.",
        /// A host said what it listens to: the bridge has heard it, and there is no router to hear
        /// it, too.
        Heard => drop "Nothing: it ends here. A router that should hear it and is not learned: \
            `multicast_router` of its port.",
        /// A message of IGMP or MLD that is not as its protocol has it (RFC 3376, RFC 3810).
        Malformed => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// More messages of IGMP and MLD than the control thread takes.
        SlowPathFull => drop "Somebody floods reports of groups: `volley why-dropped` has the last \
            of them.",
        /// No buffer for a copy: the ports behind that one do not get it.
        NoBuffer => drop "Raise `buffers` in [memory]: `volley show memory` tells how many are in \
            use.",
        /// The interface left its bridge while the frame was under way.
        NotBridged => drop "Nothing, if it ends: the configuration changed just then.",
    }
}

copies::usual_ways!(Exit);

impl Node for L2Multicast {
    const NAME: &'static str = "l2-multicast";
    const ABOUT: &'static str = "sends frames to groups to the ports that listen to them";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            listeners: setup.shared.listeners.clone(),
            counters: Arc::clone(&setup.counters),
            slow_path: setup.shared.slow_path.clone(),
            limits: RateLimits::new(MOST_INTERFACES, PUNTS_PER_SECOND),
            targets: Vec::with_capacity(MOST_INTERFACES),
        }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        let listeners = self.listeners.get(context);
        let mut chosen_for = None;
        for slot in 0..frame.len() {
            let packet = frame.view(slot);
            let rx = packet.rx();
            let Some(from) = bridge_port(interfaces, rx) else {
                exits.set(slot, Exit::NotBridged);
                continue;
            };
            let (way, is_said) = match look(packet.header()) {
                Seen::Data(group) => (listeners.way(from.bridge, group), false),
                Seen::Said { message: Message::Records(_), to, .. } => {
                    (listeners.routers(from.bridge, to), true)
                }
                Seen::Said { .. } => (Way::All, true),
                Seen::Malformed => {
                    exits.set(slot, Exit::Malformed);
                    continue;
                }
                Seen::Nothing => (Way::All, false),
            };
            // One that comes again, for copies that had no room, was told.
            let is_news = is_said && packet.tx() == 0;
            if is_news && !self.tell(&packet, from.bridge, context) {
                exits.set(slot, Exit::SlowPathFull);
                continue;
            }
            let Way::Only(ports) = way else {
                exits.set(slot, Exit::Flood);
                continue;
            };
            if chosen_for != Some((rx, ports.as_ptr(), ports.len())) {
                chosen_for = Some((rx, ports.as_ptr(), ports.len()));
                choose(&mut self.targets, interfaces, (rx, from), ports);
            }
            if is_said && self.targets.is_empty() {
                exits.set(slot, Exit::Heard);
                continue;
            }
            let exit = copies::send(packet, &self.targets, &self.counters, context);
            exits.set(slot, exit);
        }
    }
}

impl L2Multicast {
    /// Tells the control thread what is said; false if it has too much to do.
    fn tell(
        &mut self,
        packet: &PacketView<'_>,
        bridge: BridgeId,
        context: &mut Context<'_>,
    ) -> bool {
        if !self.limits.take(packet.rx().into(), context.now_tsc) {
            return false;
        }
        let Some(copy) = context.cache.copy_of(packet.header()) else { return false };
        let said = GroupsSaid { bridge, interface: packet.rx(), packet: copy };
        match self.slow_path.tell(Punt::GroupsSaid(said)) {
            Ok(()) => true,
            Err(refused) => {
                if let Some(copy) = refused.into_packet() {
                    context.cache.release_one(copy);
                }
                false
            }
        }
    }
}

/// Those of a group's ports that a frame from `rx` may leave by.
fn choose(
    targets: &mut Vec<Target<Exit>>,
    interfaces: &Interfaces,
    (rx, from): (u16, BridgePort),
    ports: &[u16],
) {
    targets.clear();
    let target = |&id: &u16| {
        let to = bridge_port(interfaces, id)?;
        let row = interfaces.get(id)?;
        (id != rx && from.reaches(&to)).then(|| Target::new(id, row))
    };
    targets.extend(ports.iter().filter_map(target));
    copies::sort(targets);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{Heeding, Heeds, Mode};
    use crate::testing::{BRIDGE, HOST_MAC, World};
    use graph::harness::NodeHarness;
    use std::net::IpAddr;
    use wire::{craft, igmp, ip::protocol};

    const GROUP: [u8; 4] = [239, 1, 1, 1];
    const HOST: [u8; 4] = [10, 0, 9, 1];

    /// A bridge of ports 6 to 9, 6 and 9 of one group; `listens` do, and a router is behind 8.
    fn world(listens: &[u16], floods_unknown: bool) -> World {
        let mut world = World::new();
        for id in 6..10 {
            world.change_interface(id, |row| {
                if let Mode::Bridged(port) = &mut row.mode {
                    port.heeds = Heeds::GROUPS;
                }
            });
        }
        let heeding = Heeding { routers: [8].into(), is_asked: true, floods_unknown };
        world.listeners.set(Listeners {
            bridges: [(BridgeId(BRIDGE), [heeding.clone(), heeding])].into(),
            groups: [((BridgeId(BRIDGE), IpAddr::from(GROUP)), listens.into())].into(),
        });
        world
    }

    fn data(group: [u8; 4]) -> Vec<u8> {
        let link = craft::ethernet(HOST_MAC, [1, 0, 0x5e, group[1] & 0x7f, group[2], group[3]]);
        link.ipv4(HOST, group).udp(1000, 5000).payload(&[7; 20]).build()
    }

    fn said(message: &[u8], to: [u8; 4]) -> Vec<u8> {
        let link = craft::ethernet(HOST_MAC, [1, 0, 0x5e, to[1] & 0x7f, to[2], to[3]]);
        let packet = link.ipv4(HOST, to).ttl(1).protocol(protocol::IGMP);
        packet.payload(message).pad_to(60).build()
    }

    fn report() -> Vec<u8> {
        let mut bytes = [igmp::message::REPORT2, 0, 0, 0, 239, 1, 1, 1];
        let sum = wire::checksum::of(&bytes).to_be_bytes();
        bytes[2..4].copy_from_slice(&sum);
        said(&bytes, GROUP)
    }

    /// How a frame leaves, and by which interfaces; nothing of it is changed.
    fn run(world: &World, frame: &[u8], rx: u16) -> (String, Vec<u16>) {
        let mut node = NodeHarness::<L2Multicast>::new(&world.setup).unwrap();
        let out = node.run(&[frame.to_vec()], rx, 0).remove(0);
        let emitted = node.emitted();
        assert!(emitted.iter().all(|copy| copy.header == frame && copy.exit == "output"));
        let last = (out.exit == "output").then_some(out.tx);
        if last.is_some() {
            assert_eq!(out.header, frame);
        }
        (out.exit, emitted.iter().map(|copy| copy.tx).chain(last).collect())
    }

    fn is(exit: &str, ports: &[u16]) -> (String, Vec<u16>) {
        (exit.to_owned(), ports.to_vec())
    }

    #[test]
    fn a_groups_frame_leaves_by_its_ports_alone() {
        let world = world(&[6, 8], true);
        assert_eq!(run(&world, &data(GROUP), 7), is("output", &[6, 8]));
        // Not by the port that it came by, nor by one of its split-horizon group.
        assert_eq!(run(&world, &data(GROUP), 6), is("output", &[8]));
        assert_eq!(run(&world, &data(GROUP), 9), is("output", &[8]));
        assert!(world.all_punts().is_empty());
        let alone = self::world(&[6], true);
        assert_eq!(run(&alone, &data(GROUP), 6), is("nowhere", &[]));
        assert_eq!(run(&alone, &data(GROUP), 0).0, "not-bridged");
    }

    #[test]
    fn groups_that_nobody_told_of_go_to_all_or_to_routers() {
        let far = [239, 9, 9, 9];
        assert_eq!(run(&world(&[6], true), &data(far), 7).0, "flood");
        assert_eq!(run(&world(&[6], false), &data(far), 7), is("output", &[8]));
        assert_eq!(run(&world(&[6], false), &data([224, 0, 0, 251]), 7).0, "flood");
    }

    #[test]
    fn reports_are_told_and_go_to_routers_and_questions_to_all() {
        let world = world(&[6, 7], true);
        assert_eq!(run(&world, &report(), 7), is("output", &[8]));
        let question = said(&igmp::write_question(None, 100, 2, 125), [224, 0, 0, 1]);
        assert_eq!(run(&world, &question, 8).0, "flood");
        // The only router's own: nobody else is to hear it.
        assert_eq!(run(&world, &report(), 8).0, "heard");
        let told: Vec<_> = world.all_punts();
        let from: Vec<u16> = told
            .iter()
            .map(|punt| match punt {
                Punt::GroupsSaid(said) if said.bridge == BridgeId(BRIDGE) => said.interface,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(from, [7, 8, 8]);
    }

    #[test]
    fn a_message_that_is_wrong_is_dropped_and_told_to_nobody() {
        let world = world(&[6], true);
        let mut wrong = report();
        wrong[41] ^= 1;
        assert_eq!(run(&world, &wrong, 7).0, "malformed");
        let short = said(&[0x22, 0, 0, 0], [224, 0, 0, 22]);
        assert_eq!(run(&world, &short, 7).0, "malformed");
        assert!(world.all_punts().is_empty());
    }

    #[test]
    fn a_port_that_says_too_much_is_not_heard_and_others_are() {
        let world = world(&[6], true);
        let mut node = NodeHarness::<L2Multicast>::new(&world.setup).unwrap();
        let before = node.free_buffers();
        let out = node.run(&vec![report(); 10], 7, 0);
        assert!(out.iter().any(|out| out.exit == "slow-path-full"));
        let others = node.run(&[report()], 6, 0);
        assert_eq!(others[0].exit, "output");
        let told = world.all_punts();
        assert!(told.iter().any(|punt| matches!(punt, Punt::GroupsSaid(it) if it.interface == 6)));
        assert!(node.free_buffers() >= before - told.len() - 1, "copies are lost");
    }
}
