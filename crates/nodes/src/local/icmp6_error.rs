//! Tells a packet's sender what is wrong with it (RFC 4443): the packet itself becomes the
//! message's quotation, in its own buffer.
//!
//! ```text
//!  │ ... │        the packet, cut to 1232 bytes       │
//!  │ IPv6 40 │ ICMPv6 8 │ the packet, as much as makes 1280 in all │
//! ```
//! The edge here says which message (`icmp_cause`); the packet's adjacency is what more there is
//! to tell: where a parameter problem is, the adjacency that a packet is too long for.

use crate::ip::{OwnIp6, PacketRoutes, ip6_link};
use crate::local::{
    EchoEar, Heard, ICMP_BYTES, Refusals, icmp_cause, unsent_echo6, was_group_frame,
    write_icmp_error,
};
use crate::tables::{IcmpLimits, Interface, Interfaces, Kind, RateLimit, Setup, Vrfs, link_key};
use fib::adjacency::{AdjacencyId, AdjacencyTable};
use fib::ip6::Ip6Table;
use graph::{Context, Exits, Node, Published};
use packet::{Frame, PacketView};
use std::net::Ipv6Addr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wire::icmp6::{self, message, parameter_problem};
use wire::ip::protocol;
use wire::ipv6::{self, extension};
use wire::{checksum, ipv6::MIN_MTU};

/// See the module.
pub struct Icmp6Error {
    interfaces: Published<Interfaces>,
    vrfs: Published<Vrfs>,
    links: Arc<Ip6Table>,
    adjacencies: Arc<AdjacencyTable>,
    allowed: Arc<IcmpLimits>,
    limit: RateLimit,
    ear: EchoEar,
    refusals: Refusals,
}

const HEADERS_BYTES: usize = ipv6::Header::LEN + ICMP_BYTES;

/// A packet is too long for the next link.
pub const TOO_BIG: u16 = icmp_cause(message::PACKET_TOO_BIG, 0);
const UNKNOWN_OPTION: u16 = icmp_cause(message::PARAMETER_PROBLEM, parameter_problem::OPTION);

graph::exits! {
    /// What becomes of a packet that something is wrong with.
    pub enum Exit {
        /// The message, to the packet's sender.
        Send => node "ip6-lookup",
        /// The message, to a link-local address.
        SendOnLink => node "ip6-link" cause ip6_link::OURS,
        /// RFC 4443 section 2.4 (e): no errors about errors, redirects, groups, nor to who is no
        /// single node.
        NotAllowed => drop "Nothing: this is as it should be.",
        /// An echo request of our own, which goes nowhere: who sent it is told.
        OwnEcho => drop "Nothing: who asked, by ping or traceroute, is told why.",
        /// The router has no address that the sender could know it by.
        NoAddress => drop "Give the port an IPv6 address of more than the link, if path MTU \
            discovery is to work by it.",
        /// RFC 4443 section 2.4 (f): enough errors for this second.
        RateLimited => drop "See why there are so many errors, in the other rows; raise \
            `errors_pps` in [icmp] if they are wanted.",
        /// A tunnel's packet is longer than the way to the other end carries: who sent what is
        /// inside is told.
        TunnelTooBig => node "tunnel-too-big",
        /// There is no way to a tunnel's other end.
        TunnelUnreachable => drop "Give the underlay a route to the tunnel's other end: `volley \
            lookup ADDRESS --vrf NAME`.",
        /// Of a packet that was translated into this family: its sender is told in his own.
        Across => node "nat64-error",
        /// No room for the message's headers in front of the packet.
        NoHeadroom => drop "Fewer tunnels and tags inside each other.",
    }
}

impl Node for Icmp6Error {
    const NAME: &'static str = "icmp6-error";
    const ABOUT: &'static str = "tells senders what is wrong with their IPv6 packets";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        let shared = &setup.shared;
        Self {
            interfaces: shared.interfaces.clone(),
            vrfs: shared.vrfs.clone(),
            links: Arc::clone(&shared.ip6_links),
            adjacencies: Arc::clone(&shared.adjacencies),
            allowed: Arc::clone(&shared.icmp),
            limit: RateLimit::new(0),
            ear: EchoEar::new(setup),
            refusals: Refusals::new(setup),
        }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        self.limit.follow(self.allowed.errors_per_second.load(Ordering::Relaxed));
        let (interfaces, vrfs) = (self.interfaces.get(context), self.vrfs.get(context));
        exits.each(frame, |packet| {
            let routes = PacketRoutes::new(vrfs, interfaces, packet.rx());
            let cause = self.refusals.told(packet, context.now_tsc);
            self.answer(packet, cause, interfaces, routes, context.now_tsc)
        });
    }
}

impl Icmp6Error {
    fn answer(
        &mut self,
        packet: &mut PacketView<'_>,
        cause: u16,
        interfaces: &Interfaces,
        routes: PacketRoutes<'_>,
        now_tsc: u64,
    ) -> Exit {
        let rx = packet.rx();
        let Some(header) = ipv6::Header::new(packet.header()) else { return Exit::NotAllowed };
        let (sender, target) = (header.source(), header.destination());
        if interfaces.is_tunnels(rx, Ipv6Addr::from(sender), Ipv6Addr::from(target)) {
            return match cause == TOO_BIG {
                true => Exit::TunnelTooBig,
                false => Exit::TunnelUnreachable,
            };
        }
        let to_group = ipv6::is_multicast(target) || was_group_frame(packet);
        // RFC 4443 section 2.4 (e.3): two messages are wanted about groups, too.
        let bears_group = matches!(cause, TOO_BIG | UNKNOWN_OPTION);
        let is_ours = |address| self.is_ours(rx, address, routes);
        let is_node = sender != 0 && !ipv6::is_martian_source(sender) && !is_ours(sender);
        if !is_node || to_group && !bears_group || !is_answerable6(header, packet.header()) {
            let rest = self.rest(packet, cause);
            let unsent = || unsent_echo6(packet.header(), cause, rest);
            return match self.ear.hear(rx, now_tsc, unsent) {
                Heard::Other => Exit::NotAllowed,
                Heard::Told | Heard::Lost => Exit::OwnEcho,
            };
        }
        let is_across = interfaces.has_crossed_back(rx, sender);
        // What outer address it has then is the translation's to say.
        let source = match is_across || is_ours(target) {
            true => Some(target),
            false => source_address(sender, rx, interfaces),
        };
        let Some(source) = source else { return Exit::NoAddress };
        if !self.limit.take(now_tsc) {
            return Exit::RateLimited;
        }
        let rest = self.rest(packet, cause);
        packet.truncate(MIN_MTU - HEADERS_BYTES);
        if !packet.prepend(HEADERS_BYTES) {
            return Exit::NoHeadroom;
        }
        let (next_header, destination) = (protocol::ICMP6, sender);
        let own = OwnIp6 { traffic_class: 0, next_header, source, destination };
        own.write(packet.header_mut());
        let quoted = &mut packet.header_mut()[ipv6::Header::LEN..];
        let pseudo = checksum::pseudo6(source, destination, next_header, quoted.len() as u32);
        write_icmp_error(quoted, cause, rest, pseudo);
        if is_across {
            return Exit::Across;
        }
        if ipv6::is_link_local(sender) { Exit::SendOnLink } else { Exit::Send }
    }

    /// Octets 4 to 7 of the message.
    fn rest(&self, packet: &PacketView<'_>, cause: u16) -> u32 {
        let told = packet.adjacency();
        match cause {
            TOO_BIG => {
                let adjacency = self.adjacencies.entry(AdjacencyId(told));
                adjacency.map_or(0, |entry| u32::from(entry.fields().mtu()))
            }
            cause if cause >> 8 == u16::from(message::PARAMETER_PROBLEM) => told,
            _ => 0,
        }
    }

    fn is_ours(&self, rx: u16, address: u128, routes: PacketRoutes<'_>) -> bool {
        let on_link = || link_key(rx, address).map(|key| self.links.lookup(key).kind());
        match ipv6::is_link_local(address) {
            true => on_link() == Some(Kind::Local as u8),
            false => routes.are_ours(address),
        }
    }
}

/// RFC 4443 section 2.2: of a packet that was not for us, an address of the interface that it came
/// in by; else any that the sender can know.
fn source_address(sender: u128, rx: u16, interfaces: &Interfaces) -> Option<u128> {
    let heard = interfaces.get(rx)?;
    let is_near = |other: &&Interface| other.vrf == heard.vrf && !ipv6::is_link_local(sender);
    let mut others = interfaces.all().filter(is_near);
    heard.ip6_towards(sender).or_else(|| others.find_map(|other| other.ip6_towards(sender)))
}

/// True if an error may be sent about a packet like this: not about errors, redirects, nor what
/// is ICMPv6 of a kind that the packet does not show.
pub fn is_answerable6(header: ipv6::Header<'_>, packet: &[u8]) -> bool {
    let payload = &packet[ipv6::Header::LEN..];
    // What cannot be walked has no ICMPv6 header that its sender could complain about.
    let Ok(upper) = extension::walk(header.next_header(), payload) else { return true };
    let is_later_piece = upper.fragment.is_some_and(|fragment| fragment.offset() != 0);
    if upper.protocol != protocol::ICMP6 || is_later_piece {
        return true;
    }
    let message_type = payload.get(upper.offset).copied();
    message_type.is_some_and(|known| !icmp6::is_error(known) && known != message::REDIRECT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ip::OWN_TTL;
    use crate::tables::{EchoSaid, Punt, VrfId};
    use crate::testing::{
        FAR6, HOST_MAC, HOST6, LINK_HOST, NARROW6, RED, US6, US6_OUTSIDE, World, link_local,
        our_mac,
    };
    use graph::harness::{NodeHarness, Outcome};
    use std::net::Ipv6Addr;
    use wire::craft::{self, Craft, Ethernet, Ipv6};

    const NO_ROUTE: u16 = icmp_cause(1, 0);

    fn frame() -> Craft<Ethernet> {
        craft::ethernet(HOST_MAC, our_mac(0))
    }

    /// An error from `US6`, as it enters the lookup.
    fn error_to_host() -> Craft<Ipv6> {
        craft::ipv6(US6, HOST6).hop_limit(OWN_TTL)
    }

    fn run_with(frame: Vec<u8>, rx: u16, cause: u16, told: u32) -> Outcome {
        run_in(&World::new(), frame, rx, cause, told)
    }

    fn run_in(world: &World, frame: Vec<u8>, rx: u16, cause: u16, told: u32) -> Outcome {
        let mut node = NodeHarness::<Icmp6Error>::new(&world.setup).unwrap();
        let mut out = node.run_prepared(&[frame], rx, 14, |frame| {
            frame.fill_cause(0, cause);
            frame.adjacencies_mut().fill(told);
        });
        out.remove(0)
    }

    fn exit_of(frame: Vec<u8>) -> String {
        run_with(frame, 0, NO_ROUTE, 0).exit
    }

    fn source_of(out: &Outcome) -> Ipv6Addr {
        ipv6::Header::new(&out.header).unwrap().source_addr()
    }

    #[test]
    fn the_packet_becomes_the_quotation_of_an_error_from_the_receiving_interface() {
        let packet = frame().ipv6(HOST6, FAR6).udp(1, 2).payload(b"abc").build();
        let out = run_with(packet.clone(), 0, NO_ROUTE, 99);
        let expected = error_to_host().icmp6(1, 0, [0; 4]).payload(&packet[14..]).build();
        assert_eq!((out.exit.as_str(), out.header), ("send", expected));
    }

    #[test]
    fn whoever_asks_for_echoes_is_told_that_his_request_goes_nowhere() {
        let world = World::new();
        assert!(world.setup.shared.echo_ids.take(7));
        let request = |id| frame().ipv6(US6, FAR6).icmp_echo(id, 3).build();
        assert_eq!(run_in(&world, request(7), 0, TOO_BIG, NARROW6).exit, "own-echo");
        assert_eq!(run_in(&world, request(8), 0, TOO_BIG, NARROW6).exit, "not-allowed");
        let punts = world.all_punts();
        let [Punt::Echo(heard)] = punts[..] else { panic!("{punts:?}") };
        let said = EchoSaid::Error { cause: TOO_BIG, rest: 1280 };
        assert_eq!((heard.from, heard.sequence, heard.said), (US6.into(), 3, said));
    }

    #[test]
    fn an_error_is_at_most_1280_bytes_long() {
        let packet = frame().ipv6(HOST6, FAR6).udp(1, 2).total_len(1514).build();
        let out = run_with(packet.clone(), 0, NO_ROUTE, 0);
        let expected = error_to_host().icmp6(1, 0, [0; 4]).payload(&packet[14..14 + 1232]);
        assert_eq!(out.header.len(), 1280);
        assert_eq!(out.header, expected.build());
    }

    #[test]
    fn a_packet_too_big_is_told_the_mtu_and_a_problem_its_place() {
        let packet = frame().ipv6(HOST6, FAR6).udp(1, 2).build();
        for (cause, told, rest) in [((2, 0), NARROW6, [0, 0, 5, 0]), ((4, 1), 54, [0, 0, 0, 54])] {
            let out = run_with(packet.clone(), 0, icmp_cause(cause.0, cause.1), told);
            let expected = error_to_host().icmp6(cause.0, cause.1, rest).payload(&packet[14..]);
            assert_eq!(out.header, expected.build());
        }
    }

    #[test]
    fn the_source_is_an_address_that_the_sender_can_know() {
        let port = icmp_cause(1, 4);
        let to = |source, target| frame().ipv6(source, target).udp(1, 33434).build();
        assert_eq!(source_of(&run_with(to(HOST6, US6_OUTSIDE), 0, port, 40)), US6_OUTSIDE);
        let out = run_with(to(LINK_HOST, link_local(0)), 0, port, 40);
        assert_eq!((out.exit.as_str(), source_of(&out)), ("send-on-link", link_local(0)));
        let out = run_with(to(LINK_HOST, FAR6), 0, icmp_cause(1, 2), 0);
        assert_eq!((out.exit.as_str(), source_of(&out)), ("send-on-link", link_local(0)));
        // Interface 5 has no address: another one's will do, unless the sender is on its link.
        assert_eq!(source_of(&run_with(to(HOST6, FAR6), 5, NO_ROUTE, 0)), US6);
        assert_eq!(run_with(to(LINK_HOST, FAR6), 5, NO_ROUTE, 0).exit, "no-address");
    }

    #[test]
    fn the_source_is_an_address_of_the_senders_vrf() {
        let mut world = World::new();
        world.add_red();
        // Interface 5 has no address, and of its VRF is interface 1 alone.
        world.change_interface(5, |row| row.vrf = RED);
        let packet = frame().ipv6(HOST6, FAR6).udp(1, 2).build();
        assert_eq!(source_of(&run_in(&world, packet.clone(), 5, NO_ROUTE, 0)), US6_OUTSIDE);
        world.change_interface(1, |row| row.vrf = VrfId::DEFAULT);
        assert_eq!(run_in(&world, packet.clone(), 5, NO_ROUTE, 0).exit, "no-address");
        // An address of ours in the default VRF is nobody's in red: not answered from.
        world.change_interface(1, |row| row.vrf = RED);
        let elsewhere = frame().ipv6(HOST6, US6).udp(1, 2).build();
        assert_eq!(source_of(&run_in(&world, elsewhere, 5, NO_ROUTE, 0)), US6_OUTSIDE);
    }

    #[test]
    fn no_error_is_sent_about_what_must_not_have_one() {
        let group: Ipv6Addr = ipv6::ALL_NODES.into();
        let group_frame = craft::ethernet(HOST_MAC, [0x33, 0x33, 0, 0, 0, 1]);
        let any = Ipv6Addr::UNSPECIFIED;
        let hidden = frame().ipv6(HOST6, FAR6).destination_options(&[]).icmp6(1, 0, [0; 4]);
        for (about, packet) in [
            ("an error", frame().ipv6(HOST6, FAR6).icmp6(1, 0, [0; 4]).build()),
            ("an unknown error", frame().ipv6(HOST6, FAR6).icmp6(127, 0, [0; 4]).build()),
            ("an error behind options", hidden.build()),
            ("a redirect", frame().ipv6(HOST6, FAR6).icmp6(137, 0, [0; 4]).build()),
            ("a message without type", frame().ipv6(HOST6, FAR6).next_header(58).build()),
            ("a group frame", group_frame.ipv6(HOST6, FAR6).udp(1, 2).build()),
            ("a group", frame().ipv6(HOST6, group).udp(1, 2).build()),
            ("a sender that is a group", frame().ipv6(group, FAR6).udp(1, 2).build()),
            ("a sender that is nobody", frame().ipv6(any, FAR6).udp(1, 2).build()),
            ("a sender that is this router", frame().ipv6(US6, FAR6).udp(1, 2).build()),
            ("this router on the link", frame().ipv6(link_local(0), FAR6).udp(1, 2).build()),
        ] {
            assert_eq!(exit_of(packet), "not-allowed", "{about}");
        }
        assert_eq!(exit_of(frame().ipv6(HOST6, FAR6).icmp_echo(1, 1).build()), "send");
        let later = frame().ipv6(HOST6, FAR6).fragment_header(8, false, 1).udp(1, 2).build();
        assert_eq!(exit_of(later), "send");
    }

    #[test]
    fn groups_are_told_of_what_would_not_arrive_and_of_unknown_options() {
        let group: Ipv6Addr = ipv6::ALL_NODES.into();
        let packet = frame().ipv6(HOST6, group).udp(1, 2).build();
        assert_eq!(run_with(packet.clone(), 0, icmp_cause(4, 2), 42).exit, "send");
        assert_eq!(run_with(packet.clone(), 0, icmp_cause(2, 0), NARROW6).exit, "send");
        assert_eq!(run_with(packet, 0, icmp_cause(4, 1), 6).exit, "not-allowed");
    }

    #[test]
    fn errors_are_limited_and_only_those_sent_count() {
        let world = World::with_errors_per_second(3);
        let mut node = NodeHarness::<Icmp6Error>::new(&world.setup).unwrap();
        let bad = frame().ipv6(HOST6, FAR6).icmp6(1, 1, [0; 4]).build();
        let good = frame().ipv6(HOST6, FAR6).udp(1, 2).build();
        let out = node.run(&[vec![bad; 9], vec![good; 5]].concat(), 0, 14);
        let exits: Vec<_> = out[9..].iter().map(|out| out.exit.as_str()).collect();
        assert_eq!(exits, ["send", "send", "send", "rate-limited", "rate-limited"]);
    }
}
