//! Where frames go on that all features of their interface have let pass.
//!
//! ```text
//!  (the last feature) ─▶ interface_enter ┬▶ vlan_input              one of its sub-interfaces may be meant
//!                                        ├▶ (an entrance)           by its mode
//!                                        ├▶ ip4_input, ip6_input    it is a tunnel of packets
//!                                        └▶ drop
//! ```

use crate::interface::{entrances, run_of};
use crate::tables::{Interfaces, Setup};
use graph::{Context, Exits, Node, Published};
use packet::Frame;
use wire::ip;

/// See the module.
pub struct InterfaceEnter {
    interfaces: Published<Interfaces>,
}

entrances! {
    /// By the mode of the interface that received the frame.
    pub enum Exit {
        /// The interface has sub-interfaces: one of them may be meant.
        Vlan => node "vlan-input",
        /// An IPv4 packet, out of a tunnel of packets.
        Ip4 => node "ip4-input",
        /// An IPv6 packet, out of a tunnel of packets.
        Ip6 => node "ip6-input",
        /// Out of a tunnel of packets that has no address, or is told not to route.
        NotRouted => drop "Give the tunnel an address, `unnumbered`, or `routing = true`.",
        /// Neither IPv4 nor IPv6, out of a tunnel of packets.
        UnknownVersion => drop "The tunnel's other end sends what is no IP: set `payload` alike at \
            both ends.",
    }
}

impl Node for InterfaceEnter {
    const NAME: &'static str = "interface-enter";
    const ABOUT: &'static str = "ends the features of what interfaces receive";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self { interfaces: setup.shared.interfaces.clone() }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        let mut from = 0;
        while from < frame.len() {
            let (rx, until) = run_of(frame.rx(), from);
            if let Some(row) = interfaces.get(rx).filter(|row| row.carries_packets()) {
                (from..until).for_each(|slot| {
                    let exit = match ip::version(frame.view(slot).header()) {
                        _ if !row.routes => Exit::NotRouted,
                        4 => Exit::Ip4,
                        6 => Exit::Ip6,
                        _ => Exit::UnknownVersion,
                    };
                    exits.set(slot, exit);
                });
            } else {
                let exit = match interfaces.has_sub_interfaces(rx) {
                    true => Exit::Vlan,
                    false => interfaces.entrance(rx).into(),
                };
                exits.run(from..until, exit);
            }
            from = until;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{GRE_LINK, OWN_STATION, ROUTED_VLAN, TRUNK, World};
    use graph::harness::NodeHarness;

    #[test]
    fn frames_go_the_way_of_their_interface() {
        let mut node = NodeHarness::<InterfaceEnter>::new(&World::new().setup).unwrap();
        for (id, exit) in [
            (0, "ethernet"),
            (2, "cross-connect"),
            (6, "bridge"),
            (9, "bridge-unlearned"),
            (TRUNK, "vlan"),
            (ROUTED_VLAN, "ethernet"),
            (OWN_STATION, "ethernet"),
            (4, "interface-down"),
            (99, "interface-down"),
        ] {
            assert_eq!(node.run(&[vec![0x45; 60]], id, 0)[0].exit, exit);
        }
    }

    #[test]
    fn packets_of_a_tunnel_are_told_apart_by_their_version() {
        let mut node = NodeHarness::<InterfaceEnter>::new(&World::new().setup).unwrap();
        let out = node.run(&[vec![0x45; 20], vec![0x60; 40], vec![0x50], vec![]], GRE_LINK, 0);
        let exits: Vec<_> = out.iter().map(|out| out.exit.as_str()).collect();
        assert_eq!(exits, ["ip4", "ip6", "unknown-version", "unknown-version"]);
    }

    #[test]
    fn packets_of_a_tunnel_that_does_not_route_go_nowhere() {
        let mut world = World::new();
        world.change_interface(GRE_LINK, |row| row.routes = false);
        let mut node = NodeHarness::<InterfaceEnter>::new(&world.setup).unwrap();
        let out = node.run(&[vec![0x45; 20], vec![0x60; 40]], GRE_LINK, 0);
        assert!(out.iter().all(|out| out.exit == "not-routed"));
    }
}
