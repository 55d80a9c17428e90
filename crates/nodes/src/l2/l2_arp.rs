//! Answers ARP requests in a bridge for stations whose addresses are known, so that they are not
//! flooded; and learns addresses from the ARP that passes.
//!
//! ```text
//!  l2_forward ─▶ l2_arp ┬▶ interface_output   the answer; or ARP between stations that are known
//!                       └▶ l2_flood           nobody knows
//! ```
//! Only where the bridge says so. A binding that is configured counts at once; one that was heard,
//! while its station is known to the bridge: it ages with it. Who asks is not answered by
//! itself, nor by a station behind the same port.

use crate::l2::Suppression;
use crate::local::answer_arp;
use crate::tables::{BindingHeard, Bound, BridgeId, Interfaces, Setup, bridge_port};
use graph::{Context, Exits, Node, Published};
use packet::{Frame, PacketView};
use std::net::{IpAddr, Ipv4Addr};
use wire::arp::{self, REPLY, REQUEST};
use wire::{MacAddr, ethernet, ipv4};

/// The cause of frames whose destination is known: they are only listened to.
pub(crate) const PASSING: u16 = 1;
/// The cause of frames that are to be flooded.
pub(crate) const ASKING: u16 = 2;

/// See the module.
pub struct L2Arp {
    interfaces: Published<Interfaces>,
    suppression: Suppression,
}

graph::exits! {
    /// What becomes of ARP in a bridge.
    pub enum Exit {
        /// To the port of its destination, or back to who asked.
        Output => node "interface-output",
        /// To all that may want it.
        Flood => node "l2-flood",
    }
}

impl Node for L2Arp {
    const NAME: &'static str = "l2-arp";
    const ABOUT: &'static str = "answers ARP for the stations of bridges";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        let interfaces = setup.shared.interfaces.clone();
        Self { interfaces, suppression: Suppression::new(setup) }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        let mut heeded = self.suppression.heed(context);
        exits.each(frame, |packet| {
            let asking = packet.cause() == ASKING;
            let onward = if asking { Exit::Flood } else { Exit::Output };
            let Some(heard) = hear(packet, interfaces) else { return onward };
            if let Some(punt) = heard.binding() {
                heeded.tell(punt);
            }
            let is_question = asking && heard.operation == REQUEST && heard.sender != heard.target;
            if !is_question {
                return onward;
            }
            match heeded.elsewhere(heard.bridge, ip(heard.target), packet.rx()) {
                Some(Bound { mac, .. }) => {
                    packet.advance(ethernet::Header::LEN);
                    answer_arp(packet, heard.target, MacAddr(mac));
                    Exit::Output
                }
                None => onward,
            }
        });
    }
}

/// An ARP packet in a bridge.
struct Heard {
    bridge: BridgeId,
    operation: u16,
    sender: u32,
    sender_mac: MacAddr,
    target: u32,
}

impl Heard {
    /// What it teaches: a probe teaches nothing, nor an address that no host has.
    fn binding(&self) -> Option<BindingHeard> {
        let (bridge, address) = (self.bridge, self.sender);
        let is_host = address != 0 && !ipv4::is_martian_source(address);
        let bound = Bound { mac: self.sender_mac.octets(), flags: 0, is_fixed: false };
        let punt = BindingHeard { bridge, address: ip(address), bound };
        (is_host && self.sender_mac.is_unicast()).then_some(punt)
    }
}

fn ip(address: u32) -> IpAddr {
    Ipv4Addr::from(address).into()
}

/// What an ARP frame says, if it is one about IPv4 that its own sender sent.
fn hear(packet: &PacketView<'_>, interfaces: &Interfaces) -> Option<Heard> {
    let bridge = bridge_port(interfaces, packet.rx())?.bridge;
    let link = ethernet::Header::new(packet.header())?;
    let arp = arp::Packet::new(packet.header().get(ethernet::Header::LEN..)?)?;
    let (operation, sender_mac) = (arp.operation(), arp.sender_mac());
    let is_whole = arp.is_ip4_over_ethernet() && matches!(operation, REQUEST | REPLY);
    let (sender, target) = (arp.sender_ip(), arp.target_ip());
    let heard = Heard { bridge, operation, sender, sender_mac, target };
    (is_whole && link.source() == sender_mac).then_some(heard)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Punt;
    use crate::testing::{BRIDGE, HOST_MAC, World};
    use fib::mac::MacKey;
    use graph::harness::{NodeHarness, Outcome};
    use wire::craft;

    const OTHER_MAC: [u8; 6] = [0x0a, 0, 0, 0, 0, 9];
    const HOST: [u8; 4] = [10, 0, 9, 1];
    const OTHER: [u8; 4] = [10, 0, 9, 2];

    /// A world where OTHER is behind port 7, and known or not.
    fn world(known: bool) -> World {
        world_of(known, false)
    }

    fn bound(is_fixed: bool) -> Bound {
        Bound { mac: OTHER_MAC, flags: 0, is_fixed }
    }

    fn world_of(known: bool, is_fixed: bool) -> World {
        let mut world = World::new();
        let table = &world.setup.shared.stations.table;
        if known {
            table.insert_static(MacKey::new(BRIDGE, OTHER_MAC), 7).unwrap();
        }
        let binding = ((BridgeId(BRIDGE), OTHER.into()), bound(is_fixed));
        world.bindings.set([binding].into_iter().collect());
        world
    }

    fn run(world: &World, frame: &[u8], rx: u16, cause: u16) -> Outcome {
        let mut node = NodeHarness::<L2Arp>::new(&world.setup).unwrap();
        let by = |frame: &mut Frame| frame.fill_cause(0, cause);
        node.run_prepared(&[frame.to_vec()], rx, 0, by).remove(0)
    }

    fn question(target: [u8; 4]) -> Vec<u8> {
        craft::ethernet(HOST_MAC, [0xff; 6]).arp_request(HOST_MAC, HOST, target).build()
    }

    #[test]
    fn a_question_for_a_known_station_is_answered_where_it_came_in() {
        let out = run(&world(true), &question(OTHER), 6, ASKING);
        let answer = craft::ethernet(OTHER_MAC, HOST_MAC);
        let answer = answer.arp_reply(OTHER_MAC, OTHER, HOST_MAC, HOST).pad_to(60).build();
        assert_eq!((out.exit.as_str(), out.tx, out.header), ("output", 6, answer));
        let probe = craft::ethernet(HOST_MAC, [0xff; 6]).arp_request(HOST_MAC, [0; 4], OTHER);
        assert_eq!(run(&world(true), &probe.build(), 6, ASKING).exit, "output");
    }

    #[test]
    fn a_configured_binding_is_answered_before_its_station_is_heard() {
        let exit = |known, rx| run(&world_of(known, true), &question(OTHER), rx, ASKING).exit;
        assert_eq!((exit(false, 6).as_str(), exit(true, 6).as_str()), ("output", "output"));
        // Whoever is known to be behind the same port answers by itself.
        assert_eq!(exit(true, 7), "flood");
    }

    #[test]
    fn what_is_heard_of_a_configured_address_is_not_told() {
        let claim = craft::ethernet(HOST_MAC, [0xff; 6]).arp_request(HOST_MAC, OTHER, HOST);
        for (is_fixed, told) in [(false, 1), (true, 0)] {
            let world = world_of(false, is_fixed);
            run(&world, &claim.build(), 6, ASKING);
            assert_eq!(world.all_punts().len(), told);
        }
    }

    #[test]
    fn others_are_flooded_or_pass() {
        let announcement =
            craft::ethernet(OTHER_MAC, [0xff; 6]).arp_request(OTHER_MAC, OTHER, OTHER);
        let answer =
            craft::ethernet(HOST_MAC, OTHER_MAC).arp_reply(HOST_MAC, HOST, OTHER_MAC, OTHER);
        let lie = craft::ethernet(HOST_MAC, [0xff; 6]).arp_request([6; 6], HOST, OTHER);
        for (known, frame, rx, cause, exit) in [
            (false, question(OTHER), 6, ASKING, "flood"),
            (true, question(HOST), 6, ASKING, "flood"),
            (true, question(OTHER), 7, ASKING, "flood"),
            (true, question(OTHER), 6, PASSING, "output"),
            (true, announcement.build(), 6, ASKING, "flood"),
            (true, answer.build(), 6, PASSING, "output"),
            (true, lie.build(), 6, ASKING, "flood"),
            (true, question(OTHER)[..41].to_vec(), 6, ASKING, "flood"),
            (true, question(OTHER), 0, ASKING, "flood"),
        ] {
            let out = run(&world(known), &frame, rx, cause);
            assert_eq!((out.exit.as_str(), &out.header), (exit, &frame));
        }
    }

    #[test]
    fn what_passes_is_learned_once_and_probes_teach_nothing() {
        let punt = |frame: &[u8], cause| {
            let world = world(true);
            run(&world, frame, 6, cause);
            let told = world.all_punts().into_iter().map(|punt| match punt {
                Punt::Binding(punt) => (punt.bridge, punt.address, punt.bound.mac),
                other => panic!("{other:?}"),
            });
            told.collect::<Vec<_>>()
        };
        let host = vec![(BridgeId(BRIDGE), HOST.into(), HOST_MAC)];
        assert_eq!(punt(&question(OTHER), ASKING), host);
        let answer =
            craft::ethernet(HOST_MAC, OTHER_MAC).arp_reply(HOST_MAC, HOST, OTHER_MAC, OTHER);
        assert_eq!(punt(&answer.build(), PASSING), host);
        let known = craft::ethernet(OTHER_MAC, [0xff; 6]).arp_request(OTHER_MAC, OTHER, HOST);
        assert_eq!(punt(&known.build(), ASKING), []);
        let probe = craft::ethernet(HOST_MAC, [0xff; 6]).arp_request(HOST_MAC, [0; 4], OTHER);
        assert_eq!(punt(&probe.build(), ASKING), []);
    }
}
