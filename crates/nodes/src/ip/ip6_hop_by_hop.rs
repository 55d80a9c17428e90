//! Looks at hop-by-hop options (RFC 8200 section 4.3), which are for every node on the way.
//!
//! ```text
//!  ip6_input ─▶ ip6_hop_by_hop ┬▶ ip6_lookup, ip6_link   none of them stops the packet
//!                              └▶ icmp6_error            an unknown one wants its sender told
//! ```

use crate::ip::{ByPolicy, OptionFault, check_options, ip6_input::is_of_link, ip6_link};
use crate::local::icmp_cause;
use crate::tables::Setup;
use graph::{Context, Exits, Node};
use packet::{Frame, PacketView};
use wire::icmp6::{message, parameter_problem};
use wire::ip::protocol;
use wire::ipv6::{self, extension};

/// See the module.
pub struct Ip6HopByHop {
    policy: ByPolicy,
}

graph::exits! {
    /// What becomes of a packet with hop-by-hop options.
    pub enum Exit {
        /// On its way.
        Lookup => node "ip6-lookup",
        /// On its way, where some port's packets are routed by a policy.
        Policy => node "ip6-policy",
        /// On its way, with a source that is known on this link alone.
        LinkSource => node "ip6-link" cause ip6_link::RECEIVED,
        /// RFC 8200 section 4.2: an unknown option that asks for it.
        UnknownOption => answer "icmp6-error"
            "Nothing for the router: the sender asks for what few know."
            cause icmp_cause(message::PARAMETER_PROBLEM, parameter_problem::OPTION),
        /// The packet ends within the options, or an option does.
        Malformed => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// RFC 8200 section 4.2: an unknown option says to drop the packet.
        Discarded => drop "Nothing: the sender asked for that, where routers do not know its \
            option.",
    }
}

impl Node for Ip6HopByHop {
    const NAME: &'static str = "ip6-hop-by-hop";
    const ABOUT: &'static str = "looks at IPv6 hop-by-hop options";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self { policy: ByPolicy::new(setup) }
    }

    fn process(&mut self, frame: &mut Frame, exits: &mut Exits<'_, Exit>, _: &mut Context<'_>) {
        exits.each(frame, |packet| look(packet).unwrap_or(Exit::Malformed));
        self.policy.lead(frame.len(), exits, [Exit::Lookup, Exit::Policy]);
    }
}

fn look(packet: &mut PacketView<'_>) -> Option<Exit> {
    let bytes = packet.header();
    let header = ipv6::Header::new(bytes)?;
    let options = extension::header(protocol::HOP_BY_HOP, &bytes[ipv6::Header::LEN..])?;
    let to_group = ipv6::is_multicast(header.destination());
    match check_options(options, ipv6::Header::LEN, to_group) {
        Ok(()) if is_of_link(header.source()) => Some(Exit::LinkSource),
        Ok(()) => Some(Exit::Lookup),
        Err(OptionFault::Malformed) => None,
        Err(OptionFault::Discard) => Some(Exit::Discarded),
        Err(OptionFault::Tell(at)) => {
            packet.set_adjacency(at as u32);
            Some(Exit::UnknownOption)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{FAR6, HOST6, LINK_HOST, World};
    use graph::harness::{NodeHarness, Outcome};
    use std::net::Ipv6Addr;
    use wire::craft;

    fn run(packet: Vec<u8>) -> Outcome {
        let mut node = NodeHarness::<Ip6HopByHop>::new(&World::new().setup).unwrap();
        node.run(&[packet], 0, 0).remove(0)
    }

    fn with(source: Ipv6Addr, options: &[u8]) -> Vec<u8> {
        craft::ipv6(source, FAR6).hop_by_hop(options).udp(1, 2).build()
    }

    #[test]
    fn a_packet_whose_options_do_not_stop_it_goes_on_as_it_is() {
        let packet = with(HOST6, &[5, 2, 0, 0]);
        let out = run(packet.clone());
        assert_eq!((out.exit.as_str(), out.header), ("lookup", packet));
        assert_eq!(run(with(LINK_HOST, &[])).exit, "link-source");
    }

    #[test]
    fn an_unknown_option_is_told_by_its_place() {
        let out = run(with(HOST6, &[5, 2, 0, 0, 0xc3, 0]));
        assert_eq!((out.exit.as_str(), out.adjacency), ("unknown-option", 46));
        assert_eq!(run(with(HOST6, &[0x43, 0])).exit, "discarded");
    }

    #[test]
    fn options_that_lie_about_their_length_are_dropped() {
        assert_eq!(run(with(HOST6, &[5, 9, 0, 0])).exit, "malformed");
        let longer = craft::ipv6(HOST6, FAR6).hop_by_hop(&[]).length(9).udp(1, 2).build();
        assert_eq!(run(longer).exit, "malformed");
        assert_eq!(run(craft::ipv6(HOST6, FAR6).next_header(0).build()).exit, "malformed");
    }
}
