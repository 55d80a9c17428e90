//! Finds the route of each packet's destination: longest prefix first.
//!
//! As in `ip4-lookup` the route's word says what to do and with what, so no second table is
//! touched.

use crate::ip::route_lookup::numbered_as_kinds;
use crate::ip::{RouteLookup, ip_resolve, ip6_link};
use crate::local::icmp_cause;
use crate::tables::Setup;
use graph::{Context, Exits, Node};
use packet::Frame;
use wire::icmp6::{message, unreachable};

/// See the module.
pub struct Ip6Lookup(RouteLookup<u128>);

graph::exits! {
    /// In the order of [`Kind`](crate::tables::Kind).
    pub enum Exit {
        /// RFC 4443 section 3.1: no route leads to the destination.
        NoRoute => answer "icmp6-error"
            "If it is to be forwarded: `volley route add NETWORK via ADDRESS`; `volley lookup \
            ADDRESS` tells what there is."
            cause icmp_cause(message::UNREACHABLE, unreachable::NO_ROUTE),
        /// Out by an adjacency.
        Rewrite => node "ip6-rewrite",
        /// To one of our own addresses.
        Local => node "ip6-local",
        /// A neighbour on a connected subnet that is not known yet.
        Glean => node "ip-resolve" cause ip_resolve::INTERFACE,
        /// The route says to drop.
        Blackhole => drop "If it is to be forwarded: `volley lookup ADDRESS` names the route that \
            says so.",
        /// The route says that the destination cannot be reached.
        Unreachable => answer "icmp6-error"
            "If it is to be forwarded: `volley lookup ADDRESS` names the route that says so."
            cause icmp_cause(message::UNREACHABLE, unreachable::NO_ROUTE),
        /// The route says that this is forbidden.
        Prohibit => answer "icmp6-error"
            "If it is to be forwarded: `volley lookup ADDRESS` names the route that says so."
            cause icmp_cause(message::UNREACHABLE, unreachable::ADMIN_PROHIBITED),
        /// RFC 4291 sections 2.5.2 and 2.5.3: nothing on a wire goes to the unspecified address or
        /// to loopback.
        MartianDestination => drop "Nothing for the router: the sender's application asks for an \
            address that is no host's.",
        /// A group, or an address that one link alone knows.
        Link => node "ip6-link" cause ip6_link::RECEIVED,
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
    Exit::Link as u8,
    Exit::VrfRing as u8,
]);

impl Node for Ip6Lookup {
    const NAME: &'static str = "ip6-lookup";
    const ABOUT: &'static str = "finds the longest matching IPv6 route";
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
    use crate::testing::{HOST6, INCOMPLETE6, TO_GATEWAY6, TO_HOST6, World};
    use graph::harness::NodeHarness;
    use packet::VECTOR;
    use std::net::Ipv6Addr;
    use wire::craft;

    #[test]
    fn each_packet_gets_what_its_route_says() {
        let routes = [
            ("2001:db8:ffff::1", "no-route", 0),
            ("2001:db8::2", "rewrite", TO_HOST6),
            ("2001:db8:a::9", "rewrite", TO_GATEWAY6),
            ("2001:db8:a:4::1", "rewrite", INCOMPLETE6),
            ("2001:db8::1", "local", 0),
            ("2001:db8:1::77", "glean", 1),
            ("2001:db8:a:1::1", "blackhole", 0),
            ("2001:db8:a:2::1", "unreachable", 0),
            ("2001:db8:a:3::1", "prohibit", 0),
            ("::1", "martian-destination", 0),
            ("::", "martian-destination", 0),
            ("fe80::1", "link", 0),
            ("ff02::1", "link", 0),
        ];
        let to = |text: &str| text.parse::<Ipv6Addr>().unwrap();
        let packets = routes.map(|(target, ..)| craft::ipv6(HOST6, to(target)).build());
        let mut node = NodeHarness::<Ip6Lookup>::new(&World::new().setup).unwrap();
        for (out, (to, exit, id)) in node.run(&packets, 0, 0).into_iter().zip(routes) {
            assert_eq!((out.exit.as_str(), out.adjacency), (exit, id), "{to}");
        }
    }

    #[test]
    fn flows_are_shared_by_weight_and_each_keeps_its_way() {
        let mut node = NodeHarness::<Ip6Lookup>::new(&World::new().setup).unwrap();
        let far: Ipv6Addr = "2001:db8:a:6::1".parse().unwrap();
        // Told apart by ports here, by the label alone there.
        for port in [1, 0] {
            let packets: Vec<_> = (0..200)
                .map(|n| craft::ipv6(HOST6, far).flow_label(n).udp(n as u16 * port, 53).build())
                .collect();
            let took = |out: graph::harness::Outcome| {
                assert_eq!(out.exit, "rewrite");
                out.adjacency
            };
            let first: Vec<u32> = node.run(&packets, 0, 0).into_iter().map(took).collect();
            let to_host = first.iter().filter(|to| **to == TO_HOST6).count();
            assert!((25..80).contains(&to_host), "{to_host} of 200, where a quarter was asked for");
            assert!(node.run(&packets, 0, 0).into_iter().map(took).eq(first));
        }
    }

    #[test]
    fn a_full_vector_is_looked_up() {
        let world = World::new();
        let mut node = NodeHarness::<Ip6Lookup>::new(&world.setup).unwrap();
        let far = |n: usize| (0x2001_0db8_000a_u128 << 80 | n as u128).into();
        let to = |n: usize| if n.is_multiple_of(3) { HOST6 } else { far(n) };
        let packets: Vec<_> = (0..VECTOR).map(|n| craft::ipv6(HOST6, to(n)).build()).collect();
        let out = node.run(&packets, 0, 0);
        let expected = (0..VECTOR).map(|n| if n % 3 == 0 { TO_HOST6 } else { TO_GATEWAY6 });
        assert!(out.iter().map(|out| out.adjacency).eq(expected));
    }
}
