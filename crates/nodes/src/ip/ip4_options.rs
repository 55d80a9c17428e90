//! Looks at IPv4 options on their way through (RFC 1812 section 5.2.4): wrong ones are answered,
//! source routes refused, record route and timestamps filled in, all others left alone.
//!
//! ```text
//!  ip4_input ─▶ ip4_options ┬▶ ip4_lookup
//!                           └▶ icmp4_error  (its adjacency: the octet that is wrong)
//! ```

use crate::ip::{ByPolicy, OptionsFound, PacketRoutes, Stamp, stamp_options, sum_ip4_header};
use crate::local::icmp_cause;
use crate::tables::{Interfaces, Kind, Setup, Vrfs};
use fib::adjacency::{AdjacencyId, AdjacencyTable};
use graph::{Context, Exits, Node, Published};
use packet::{Frame, PacketView};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use wire::icmp4::message;
use wire::ipv4;

/// See the module.
pub struct Ip4Options {
    interfaces: Published<Interfaces>,
    vrfs: Published<Vrfs>,
    adjacencies: Arc<AdjacencyTable>,
    policy: ByPolicy,
}

graph::exits! {
    /// What becomes of a packet with options.
    pub enum Exit {
        /// Nothing that stops it.
        Lookup => node "ip4-lookup",
        /// Nothing that stops it, where some port's packets are routed by a policy.
        Policy => node "ip4-policy",
        /// RFC 1812 section 4.3.3.5: an option is wrong.
        ParameterProblem => answer "icmp4-error"
            "The sender, or a device on the way, makes wrong packets: capture some and look who \
            it is."
            cause icmp_cause(message::PARAMETER_PROBLEM, 0),
        /// RFC 6274 section 3.13.2.3: a source route, which the sender does not get to choose here.
        SourceRoute => drop "Nothing: no honest sender needs it. Capture some to see who asks.",
    }
}

impl Node for Ip4Options {
    const NAME: &'static str = "ip4-options";
    const ABOUT: &'static str = "checks and fills in IPv4 options";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            vrfs: setup.shared.vrfs.clone(),
            adjacencies: Arc::clone(&setup.shared.adjacencies),
            policy: ByPolicy::new(setup),
        }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let (interfaces, vrfs) = (self.interfaces.get(context), self.vrfs.get(context));
        let time_ms = since_midnight_ms();
        exits.each(frame, |packet| {
            let routes = PacketRoutes::new(vrfs, interfaces, packet.rx());
            self.look_at(packet, interfaces, routes, time_ms)
        });
        self.policy.lead(frame.len(), exits, [Exit::Lookup, Exit::Policy]);
    }
}

impl Ip4Options {
    fn look_at(
        &self,
        packet: &mut PacketView<'_>,
        interfaces: &Interfaces,
        routes: PacketRoutes<'_>,
        time_ms: u32,
    ) -> Exit {
        let Some(header) = ipv4::Header::new(packet.header()) else { return Exit::Lookup };
        let header_len = header.header_len().min(packet.length());
        let address = self.outgoing_address(header.destination(), interfaces, routes);
        let is_own = |address: u32| routes.are_ours(address);
        let header = &mut packet.header_mut()[..header_len];
        let found =
            stamp_options(header, &Stamp { address, time_ms, is_own, counts_overflow: true });
        sum_ip4_header(header);
        match found {
            OptionsFound::Good => Exit::Lookup,
            OptionsFound::SourceRoute => Exit::SourceRoute,
            OptionsFound::Bad(octet) => {
                packet.set_adjacency(octet as u32);
                Exit::ParameterProblem
            }
        }
    }

    /// What a router records is its address where the packet leaves (RFC 1812 section 4.2.2.2 (c));
    /// the last one records the address it was sent to.
    fn outgoing_address(
        &self,
        destination: u32,
        interfaces: &Interfaces,
        routes: PacketRoutes<'_>,
    ) -> Option<u32> {
        let route = routes.to(destination);
        let kind = route.kind();
        if kind == Kind::Local as u8 {
            return Some(destination);
        }
        if kind == Kind::Glean as u8 {
            return interfaces.get(route.id() as u16)?.ip4_towards(destination);
        }
        if kind != Kind::Rewrite as u8 {
            return None;
        }
        let adjacency = self.adjacencies.entry(AdjacencyId(route.id()))?;
        let interface = interfaces.get(adjacency.fields().interface())?;
        match adjacency.next_hop() {
            IpAddr::V4(next_hop) => interface.ip4_towards(next_hop.to_bits()),
            IpAddr::V6(_) => interface.primary_ip4(),
        }
    }
}

/// RFC 791: timestamps count milliseconds since midnight, universal time.
pub(crate) fn since_midnight_ms() -> u32 {
    const DAY_MS: u128 = 86_400_000;
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (since_1970.as_millis() % DAY_MS) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{FAR, HOST, US, US_OUTSIDE, World};
    use graph::harness::NodeHarness;
    use wire::craft;
    use wire::ipv4::option::{LOOSE_SOURCE_ROUTE, RECORD_ROUTE, ROUTER_ALERT, TIMESTAMP};

    /// Exit, adjacency and options of a packet with these options.
    fn run(destination: [u8; 4], options: &[u8]) -> (String, u32, Vec<u8>) {
        let packet = craft::ipv4(HOST, destination).raw_options(options).udp(1, 2).build();
        let mut node = NodeHarness::<Ip4Options>::new(&World::new().setup).unwrap();
        let out = node.run(&[packet], 0, 0).remove(0);
        let packet = ipv4::Packet::parse(&out.header).unwrap();
        (out.exit, out.adjacency, packet.options.to_vec())
    }

    #[test]
    fn record_route_gets_the_address_of_the_interface_that_the_packet_leaves_by() {
        let (exit, _, options) = run(FAR, &[RECORD_ROUTE, 7, 4, 0, 0, 0, 0, 0]);
        assert_eq!(exit, "lookup");
        assert_eq!(options, [&[RECORD_ROUTE, 7, 8][..], &US_OUTSIDE, &[0]].concat());
        let (_, _, options) = run([192, 0, 2, 77], &[RECORD_ROUTE, 7, 4, 0, 0, 0, 0]);
        assert_eq!(options[3..7], US);
    }

    #[test]
    fn a_packet_for_us_records_the_address_it_was_sent_to() {
        let (_, _, options) = run(US_OUTSIDE, &[RECORD_ROUTE, 7, 4, 0, 0, 0, 0]);
        assert_eq!(options[3..7], US_OUTSIDE);
    }

    #[test]
    fn a_timestamp_gets_a_time_of_day() {
        let (exit, _, options) = run(FAR, &[TIMESTAMP, 8, 5, 0, 255, 255, 255, 255]);
        let time_ms = u32::from_be_bytes([options[4], options[5], options[6], options[7]]);
        assert_eq!((exit.as_str(), options[2]), ("lookup", 9));
        assert!(time_ms < 86_400_000);
    }

    #[test]
    fn a_wrong_option_is_told_with_its_octet() {
        let (exit, octet, _) = run(FAR, &[1, RECORD_ROUTE, 7, 3, 0, 0, 0, 0]);
        assert_eq!((exit.as_str(), octet), ("parameter-problem", 20 + 3));
    }

    #[test]
    fn a_source_route_is_refused_and_a_router_alert_is_nothing_to_us() {
        assert_eq!(run(FAR, &[LOOSE_SOURCE_ROUTE, 7, 4, 10, 0, 0, 1, 0]).0, "source-route");
        assert_eq!(run(FAR, &[ROUTER_ALERT, 4, 0, 0]).0, "lookup");
    }
}
