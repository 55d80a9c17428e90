//! Packets whose source or destination one link alone knows: link-local addresses and groups
//! (RFC 4007 section 9). They never leave the link on which they were received.
//!
//! ```text
//!  ip6_input, ip6_lookup ─▶ ip6_link ┬▶ ip6_local     to one of our addresses or groups
//!    (received)             ▲        ├▶ icmp6_error   to elsewhere, from a link-local address
//!                           │        ├▶ twin_output   to a group of the link's that is not ours
//!  icmp6_echo, ... ─────────┘        ├▶ ip6_rewrite   our own, to a neighbour that is known
//!    (ours)                          └▶ ip_resolve    our own, to another neighbour
//! ```
//! Routes do not tell one link from another, so link-local addresses stand in a table of their own,
//! with their interface ([`link_key`]).

use crate::ip::{PacketRoutes, ip_resolve};
use crate::local::{hears_for_others, icmp_cause, twin_output};
use crate::tables::{Interface, Interfaces, Kind, Setup, Vrfs, link_key};
use fib::Forward;
use fib::ip6::Ip6Table;
use graph::{Context, Exits, Node, Published};
use packet::{Frame, PacketView};
use std::sync::Arc;
use wire::icmp6::{message, unreachable};
use wire::ipv6;

/// Cause: the packet came in by its interface.
pub const RECEIVED: u16 = 1;
/// Cause: the packet is ours, and goes out by the interface on which its reason came in.
pub const OURS: u16 = 2;

/// See the module.
pub struct Ip6Link {
    interfaces: Published<Interfaces>,
    vrfs: Published<Vrfs>,
    links: Arc<Ip6Table>,
}

graph::exits! {
    /// What becomes of such a packet.
    pub enum Exit {
        /// To one of our addresses, or to a group that we belong to.
        Local => node "ip6-local",
        /// Ours, to a neighbour whose MAC is known.
        Rewrite => node "ip6-rewrite",
        /// Ours, to a neighbour whose MAC is not known.
        Resolve => node "ip-resolve" cause ip_resolve::INTERFACE,
        /// To a group of the link's that we do not belong to, and the interface has a twin: the
        /// kernel may.
        Twin => node "twin-output" cause twin_output::PACKET,
        /// RFC 4291 section 2.5.6: a link-local source, and a destination behind another link.
        BeyondScope => answer "icmp6-error"
            "Nothing for the router: the sender is to use another address than that of its link."
            cause icmp_cause(message::UNREACHABLE, unreachable::BEYOND_SCOPE),
        /// RFC 4291 sections 2.5.2 and 2.5.6: from nobody, and not to a group; or from a link-local
        /// address that no node has.
        NoSource => drop "Nothing, if it is a host that just starts; else the sender is broken: \
            capture some.",
        /// RFC 4291 section 2.7: a group of no scope, or of one node.
        MartianGroup => drop "The sender, or a device on the way, makes wrong packets: capture \
            some and look who it is.",
        /// A group that we do not belong to: groups are not routed.
        OtherGroup => drop "Nothing: hosts on the link speak to each other, mDNS for one.",
        /// A link-local address that is not ours.
        NotOurAddress => drop "Nothing, if few; else a host has an old neighbour entry for the \
            router: look at who sends it.",
    }
}

impl Node for Ip6Link {
    const NAME: &'static str = "ip6-link";
    const ABOUT: &'static str = "keeps link-local packets and groups on their link";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        let interfaces = setup.shared.interfaces.clone();
        let (vrfs, links) = (setup.shared.vrfs.clone(), Arc::clone(&setup.shared.ip6_links));
        Self { interfaces, vrfs, links }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let (interfaces, vrfs) = (self.interfaces.get(context), self.vrfs.get(context));
        exits.each(frame, |packet| match packet.cause() {
            OURS => self.send(packet),
            _ => self.receive(packet, interfaces, vrfs),
        });
    }
}

/// RFC 4291 section 2.7: a group of link-local scope.
fn is_of_link(group: u128) -> bool {
    group >> 112 & 0xff0f == 0xff02
}

impl Ip6Link {
    fn receive(&self, packet: &PacketView<'_>, interfaces: &Interfaces, vrfs: &Vrfs) -> Exit {
        let Some(header) = ipv6::Header::new(packet.header()) else { return Exit::NoSource };
        let (source, destination) = (header.source(), header.destination());
        if ipv6::is_multicast(destination) {
            let hears =
                |row: &Interface| row.hears_ip6(destination) || hears_for_others(row, destination);
            let heard = interfaces.get(packet.rx()).is_some_and(hears);
            return match ipv6::is_martian_destination(destination) {
                true => Exit::MartianGroup,
                false if heard => Exit::Local,
                false if is_of_link(destination) && interfaces.has_twin(packet.rx()) => Exit::Twin,
                false => Exit::OtherGroup,
            };
        }
        let is_strange = ipv6::is_link_local(source) && link_key(packet.rx(), source).is_none();
        if source == 0 || is_strange {
            return Exit::NoSource;
        }
        if ipv6::is_link_local(destination) {
            let ours = self.on_link(packet.rx(), destination).kind() == Kind::Local as u8;
            return if ours { Exit::Local } else { Exit::NotOurAddress };
        }
        let routes = PacketRoutes::new(vrfs, interfaces, packet.rx());
        if routes.are_ours(destination) { Exit::Local } else { Exit::BeyondScope }
    }

    fn send(&self, packet: &mut PacketView<'_>) -> Exit {
        let Some(header) = ipv6::Header::new(packet.header()) else { return Exit::NotOurAddress };
        let interface = packet.rx();
        let found = self.on_link(interface, header.destination());
        if found.kind() == Kind::Rewrite as u8 {
            packet.set_adjacency(found.id());
            return Exit::Rewrite;
        }
        if found.kind() == Kind::Local as u8 {
            return Exit::Local;
        }
        packet.set_adjacency(u32::from(interface));
        Exit::Resolve
    }

    /// What is known of a link-local address on an interface.
    fn on_link(&self, interface: u16, address: u128) -> Forward {
        link_key(interface, address).map_or(Forward::NONE, |key| self.links.lookup(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{
        FAR6, HOST6, LINK_HOST, TO_LINK_HOST, US6, US6_OUTSIDE, World, link_local,
    };
    use graph::harness::{NodeHarness, Outcome};
    use std::net::Ipv6Addr;
    use wire::craft;

    fn run(source: Ipv6Addr, target: Ipv6Addr, cause: u16) -> Outcome {
        let mut node = NodeHarness::<Ip6Link>::new(&World::new().setup).unwrap();
        let packet = craft::ipv6(source, target).udp(1, 2).build();
        node.run_prepared(&[packet], 0, 0, |frame| frame.fill_cause(0, cause)).remove(0)
    }

    fn received(source: Ipv6Addr, target: &str) -> String {
        run(source, target.parse().unwrap(), RECEIVED).exit
    }

    #[test]
    fn our_addresses_are_reached_from_the_link() {
        let reached = |source, target| run(source, target, RECEIVED).exit;
        assert_eq!(reached(LINK_HOST, link_local(0)), "local");
        assert_eq!(reached(HOST6, link_local(0)), "local");
        assert_eq!(reached(LINK_HOST, US6), "local");
        assert_eq!(reached(LINK_HOST, US6_OUTSIDE), "local");
        assert_eq!(reached(LINK_HOST, link_local(1)), "not-our-address");
        assert_eq!(reached(HOST6, LINK_HOST), "not-our-address");
    }

    #[test]
    fn what_is_link_local_is_not_forwarded() {
        assert_eq!(run(LINK_HOST, FAR6, RECEIVED).exit, "beyond-scope");
        assert_eq!(run(LINK_HOST, HOST6, RECEIVED).exit, "beyond-scope");
        assert_eq!(received(HOST6, "fe80:1::2"), "not-our-address");
    }

    #[test]
    fn our_groups_are_heard_and_no_others() {
        for (group, exit) in [
            ("ff02::1", "local"),
            ("ff02::2", "local"),
            ("ff02::1:ff00:1", "local"),
            ("ff02::1:ff00:99", "other-group"),
            ("ff02::5", "other-group"),
            ("ff0e::1", "other-group"),
            ("ff01::1", "martian-group"),
            ("ff00::1", "martian-group"),
        ] {
            assert_eq!(received(HOST6, group), exit, "{group}");
            assert_eq!(received(Ipv6Addr::UNSPECIFIED, group), exit, "{group}");
        }
    }

    #[test]
    fn nobody_speaks_to_groups_alone() {
        assert_eq!(run(Ipv6Addr::UNSPECIFIED, US6, RECEIVED).exit, "no-source");
        assert_eq!(run(Ipv6Addr::UNSPECIFIED, link_local(0), RECEIVED).exit, "no-source");
        let strange = "fe80:1::1".parse().unwrap();
        assert_eq!(run(strange, US6, RECEIVED).exit, "no-source");
    }

    #[test]
    fn our_own_go_to_the_neighbour_or_wait_for_it() {
        let out = run(link_local(0), LINK_HOST, OURS);
        assert_eq!((out.exit.as_str(), out.adjacency), ("rewrite", TO_LINK_HOST));
        assert_eq!(run(link_local(0), link_local(0), OURS).exit, "local", "to ourselves");
        let out = run(link_local(0), "fe80::99".parse().unwrap(), OURS);
        assert_eq!((out.exit.as_str(), out.adjacency), ("resolve", 0));
    }
}
