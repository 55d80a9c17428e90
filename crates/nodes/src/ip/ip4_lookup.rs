//! Finds the route of each packet's destination: longest prefix first (RFC 1812 section 5.2.4.3).
//!
//! The route's word says what to do (its kind, which is this node's exit) and with what (its id,
//! which goes into the frame), so no second table is touched here.

use crate::ip::route_lookup::numbered_as_kinds;
use crate::ip::{RouteLookup, ip_resolve};
use crate::local::icmp_cause;
use crate::tables::Setup;
use graph::{Context, Exits, Node};
use packet::Frame;
use wire::icmp4::{message, unreachable};

/// See the module.
pub struct Ip4Lookup(RouteLookup<u32>);

graph::exits! {
    /// In the order of [`Kind`](crate::tables::Kind).
    pub enum Exit {
        /// RFC 1812 section 5.2.7.1: no route leads to the destination.
        NoRoute => answer "icmp4-error"
            "If it is to be forwarded: `volley route add NETWORK via ADDRESS`; `volley lookup \
            ADDRESS` tells what there is."
            cause icmp_cause(message::UNREACHABLE, unreachable::NET),
        /// Out by an adjacency.
        Rewrite => node "ip4-rewrite",
        /// To one of our own addresses.
        Local => node "ip4-local",
        /// A neighbour on a connected subnet that is not known yet.
        Glean => node "ip-resolve" cause ip_resolve::INTERFACE,
        /// The route says to drop.
        Blackhole => drop "If it is to be forwarded: `volley lookup ADDRESS` names the route that \
            says so.",
        /// The route says that the host cannot be reached.
        Unreachable => answer "icmp4-error"
            "If it is to be forwarded: `volley lookup ADDRESS` names the route that says so."
            cause icmp_cause(message::UNREACHABLE, unreachable::HOST),
        /// The route says that this is forbidden.
        Prohibit => answer "icmp4-error"
            "If it is to be forwarded: `volley lookup ADDRESS` names the route that says so."
            cause icmp_cause(message::UNREACHABLE, unreachable::ADMIN_PROHIBITED),
        /// Loopback, multicast or reserved: no router forwards to it.
        MartianDestination => drop "Nothing for the router: the sender's application asks for an \
            address that is no host's; those of 240.0.0.0/4 are with `class_e = true` in [ip4].",
        /// To all hosts of a connected subnet.
        DirectedBroadcast => node "ip4-broadcast",
        /// Routes lead from one VRF to the next and on, in a ring perhaps.
        VrfRing => drop "Look at the routes with `via_vrf`: two VRFs lead this network to each \
            other.",
    }
}

const _: () = numbered_as_kinds([
    Exit::NoRoute as u8,
    Exit::Rewrite as u8,
    Exit::Local as u8,
    Exit::Glean as u8,
    Exit::Blackhole as u8,
    Exit::Unreachable as u8,
    Exit::Prohibit as u8,
    Exit::MartianDestination as u8,
    Exit::DirectedBroadcast as u8,
    Exit::VrfRing as u8,
]);

impl Node for Ip4Lookup {
    const NAME: &'static str = "ip4-lookup";
    const ABOUT: &'static str = "finds the longest matching IPv4 route";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self(RouteLookup::new(setup))
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        self.0.look_up(frame, &mut exits.bytes().0, context);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{FlowRule, Kind, VrfTables, flow_field};
    use crate::testing::{HOST, INCOMPLETE, NARROW, RED, TO_GATEWAY, TO_HOST, US, World, member};
    use fib::Forward;
    use fib::ecmp::GroupId;
    use graph::harness::NodeHarness;
    use packet::VECTOR;
    use wire::craft;

    #[test]
    fn each_packet_gets_what_its_route_says() {
        let routes = [
            ([172, 16, 0, 1], "no-route", 0),
            (HOST, "rewrite", TO_HOST),
            ([10, 9, 9, 9], "rewrite", TO_GATEWAY),
            ([10, 4, 0, 1], "rewrite", INCOMPLETE),
            (US, "local", 0),
            ([198, 51, 100, 9], "glean", 1),
            ([10, 1, 0, 1], "blackhole", 0),
            ([10, 2, 0, 1], "unreachable", 0),
            ([10, 3, 0, 1], "prohibit", 0),
            ([224, 0, 0, 5], "martian-destination", 0),
            ([192, 0, 2, 255], "directed-broadcast", 0),
        ];
        let packets = routes.map(|(to, ..)| craft::ipv4([1, 2, 3, 4], to).build());
        let mut node = NodeHarness::<Ip4Lookup>::new(&World::new().setup).unwrap();
        for (out, (to, exit, id)) in node.run(&packets, 0, 0).into_iter().zip(routes) {
            assert_eq!((out.exit.as_str(), out.adjacency), (exit, id), "{to:?}");
        }
    }

    /// Where each of `count` flows goes.
    fn flows(node: &mut NodeHarness<Ip4Lookup>, count: u16) -> Vec<u32> {
        let flow = |port| craft::ipv4(HOST, [10, 6, 0, 1]).udp(port, 53).build();
        let packets: Vec<_> = (0..count).map(flow).collect();
        let vectors = packets.chunks(VECTOR).flat_map(|vector| node.run(vector, 0, 0));
        let took = |out: graph::harness::Outcome| {
            assert_eq!(out.exit, "rewrite");
            out.adjacency
        };
        vectors.map(took).collect()
    }

    #[test]
    fn flows_are_shared_by_weight_and_each_keeps_its_way() {
        let mut node = NodeHarness::<Ip4Lookup>::new(&World::new().setup).unwrap();
        let first = flows(&mut node, 4000);
        let to_host = first.iter().filter(|to| **to == TO_HOST).count();
        assert!((800..1200).contains(&to_host), "{to_host} of 4000, where a quarter was asked for");
        assert!(first.iter().all(|to| [TO_HOST, TO_GATEWAY].contains(to)));
        assert_eq!(flows(&mut node, 4000), first);
    }

    #[test]
    fn what_tells_flows_apart_changes_while_packets_flow() {
        let world = World::new();
        let mut node = NodeHarness::<Ip4Lookup>::new(&world.setup).unwrap();
        let before = flows(&mut node, 600);
        let bits = flow_field::SOURCE | flow_field::DESTINATION;
        world.setup.shared.flows.set(FlowRule { bits, ..FlowRule::USUAL });
        let alike = flows(&mut node, 600);
        assert!(alike.iter().all(|to| *to == alike[0]));
        world.setup.shared.flows.set(FlowRule::USUAL);
        assert_eq!(flows(&mut node, 600), before);
    }

    #[test]
    fn when_a_member_leaves_its_flows_alone_move() {
        let world = World::new();
        let mut node = NodeHarness::<Ip4Lookup>::new(&world.setup).unwrap();
        let groups = &world.setup.shared.groups;
        let three = [TO_HOST, TO_GATEWAY, NARROW].map(|id| member(id, 1));
        groups.set_members(GroupId(0), &three).unwrap();
        let before = flows(&mut node, 600);
        groups.set_members(GroupId(0), &three[..2]).unwrap();
        for (old, new) in before.into_iter().zip(flows(&mut node, 600)) {
            assert!(new == old || old == NARROW && new != NARROW);
        }
    }

    #[test]
    fn fragments_of_a_packet_go_one_way() {
        let mut node = NodeHarness::<Ip4Lookup>::new(&World::new().setup).unwrap();
        let packet = || craft::ipv4(HOST, [10, 6, 0, 1]);
        for port in 0..50 {
            let fragments = [
                packet().fragment(0, true).udp(port, 53).build(),
                packet().fragment(8, false).udp(0, 0).build(),
            ];
            let out = node.run(&fragments, 0, 0);
            assert_eq!(out[0].adjacency, out[1].adjacency);
        }
    }

    #[test]
    fn a_group_without_members_leads_nowhere() {
        let world = World::new();
        let mut node = NodeHarness::<Ip4Lookup>::new(&world.setup).unwrap();
        world.setup.shared.groups.set_members(GroupId(0), &[]).unwrap();
        let out = node.run(&[craft::ipv4(HOST, [10, 6, 0, 1]).udp(1, 2).build()], 0, 0);
        assert_eq!(out[0].exit, "no-route");
    }

    #[test]
    fn a_full_vector_is_looked_up() {
        let world = World::new();
        let mut node = NodeHarness::<Ip4Lookup>::new(&world.setup).unwrap();
        let to = |n: usize| if n.is_multiple_of(3) { HOST } else { [10, 9, 9, n as u8] };
        let packets: Vec<_> = (0..VECTOR).map(|n| craft::ipv4([1; 4], to(n)).build()).collect();
        let out = node.run(&packets, 0, 0);
        let expected = (0..VECTOR).map(|n| if n % 3 == 0 { TO_HOST } else { TO_GATEWAY });
        assert!(out.iter().map(|out| out.adjacency).eq(expected));
    }

    /// Adds a route to VRF red, where there is but one address of interface 1's network.
    fn add(red: &VrfTables, prefix: &str, kind: Kind, id: u32) {
        red.ip4.insert(prefix.parse().unwrap(), Forward::new(kind as u8, id)).unwrap();
    }

    #[test]
    fn each_vrf_looks_up_in_its_own_table_whatever_their_packets_are_mixed() {
        let mut world = World::new();
        let red = world.add_red();
        add(red, "10.0.0.0/8", Kind::Rewrite, NARROW);
        add(red, "192.0.2.1/32", Kind::Blackhole, 0);
        let mut node = NodeHarness::<Ip4Lookup>::new(&world.setup).unwrap();
        let to = |address| craft::ipv4([1, 2, 3, 4], address).build();
        let packets = [to([10, 9, 9, 9]), to(US), to(HOST)];
        // Interface 1 is in red, 0 is not.
        for rx in [[1, 1, 1], [0, 1, 0], [1, 0, 0], [0, 0, 1]] {
            let out = node.run_prepared(&packets, 0, 0, |frame| {
                (0..rx.len()).for_each(|slot| frame.view(slot).set_rx(rx[slot]));
            });
            let expected = [["rewrite", "local", "rewrite"], ["rewrite", "blackhole", "no-route"]];
            for (slot, (out, rx)) in out.iter().zip(rx).enumerate() {
                assert_eq!(out.exit, expected[usize::from(rx)][slot], "{rx:?}");
            }
            assert_eq!(out[0].adjacency, [TO_GATEWAY, NARROW][usize::from(rx[0])]);
        }
    }

    #[test]
    fn a_route_leads_on_to_another_vrf_and_a_ring_ends_somewhere() {
        let mut world = World::new();
        let red = world.add_red();
        add(red, "10.0.0.0/8", Kind::Vrf, 0);
        add(red, "11.0.0.0/8", Kind::Vrf, RED.0.into());
        add(red, "12.0.0.0/8", Kind::Vrf, 7);
        let mut node = NodeHarness::<Ip4Lookup>::new(&world.setup).unwrap();
        let to = |first| craft::ipv4([1, 2, 3, 4], [first, 9, 9, 9]).build();
        let out = node.run(&[to(10), to(11), to(12)], 1, 0);
        assert_eq!((out[0].exit.as_str(), out[0].adjacency), ("rewrite", TO_GATEWAY));
        assert_eq!((out[1].exit.as_str(), out[2].exit.as_str()), ("vrf-ring", "no-route"));
    }

    #[test]
    fn packets_of_a_vrf_that_is_gone_lead_nowhere() {
        let mut world = World::new();
        world.add_red();
        world.change_interface(1, |row| row.vrf = crate::tables::VrfId(9));
        let mut node = NodeHarness::<Ip4Lookup>::new(&world.setup).unwrap();
        let out = node.run(&[craft::ipv4([1, 2, 3, 4], HOST).build()], 1, 0);
        assert_eq!(out[0].exit, "no-route");
    }
}
