//! Tells a packet's sender what is wrong with it (RFC 792, RFC 1812 section 4.3): the packet itself
//! becomes the message's quotation, in its own buffer.
//!
//! ```text
//!  │ ... │       the packet, cut to 548 bytes       │
//!  │ IPv4 20 │ ICMP 8 │ the packet, as much as makes 576 in all │
//! ```
//! The edge here says which message (`icmp_cause`); the packet's adjacency is what more there is
//! to tell: the wrong octet of a parameter problem, the adjacency that a packet is too long for.

use crate::ip::{OwnIp4, PacketRoutes};
use crate::local::{
    EchoEar, Heard, ICMP_BYTES, Refusals, icmp_cause, unsent_echo4, was_group_frame,
    write_icmp_error,
};
use crate::tables::{IcmpLimits, Interface, Interfaces, Kind, Mode, RateLimit, Setup, Vrfs};
use fib::adjacency::{AdjacencyId, AdjacencyTable};
use graph::{Context, Exits, Node, Published};
use packet::{Frame, PacketView};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wire::checksum::Sum;
use wire::icmp4::{self, message, unreachable};
use wire::ip::protocol;
use wire::ipv4;

/// See the module.
pub struct Icmp4Error {
    interfaces: Published<Interfaces>,
    vrfs: Published<Vrfs>,
    adjacencies: Arc<AdjacencyTable>,
    allowed: Arc<IcmpLimits>,
    limit: RateLimit,
    identification: u16,
    ear: EchoEar,
    refusals: Refusals,
}

/// RFC 1812 section 4.3.2.3: as much of the packet as leaves the message no longer than this.
pub const LONGEST_BYTES: usize = 576;
const HEADERS_BYTES: usize = ipv4::Header::LEN + ICMP_BYTES;

/// RFC 1812 section 4.3.2.5: errors have the precedence of internetwork control, and the other
/// bits of the packet's type of service.
pub const PRECEDENCE: u8 = 0xc0;
const TYPE_OF_SERVICE: u8 = 0x1e;

/// A packet that may not be cut is too long for the next link.
pub const NEEDS_FRAGMENTS: u16 =
    icmp_cause(message::UNREACHABLE, unreachable::FRAGMENTATION_NEEDED);

/// Who has no address at all speaks with this one (RFC 7600): 192.0.0.8.
const DUMMY: u32 = 0xc000_0008;

/// The highest message type that has a meaning here; of higher ones nobody knows if they are
/// errors (RFC 1122 section 3.2.2).
const HIGHEST_KNOWN: u8 = 18;

graph::exits! {
    /// What becomes of a packet that something is wrong with.
    pub enum Exit {
        /// The message, to the packet's sender.
        Send => node "ip4-lookup",
        /// RFC 1812 section 4.3.2.7: no errors about errors, later fragments, broadcasts, nor to
        /// senders that are no host.
        NotAllowed => drop "Nothing: this is as it should be.",
        /// An echo request of our own, which goes nowhere: who sent it is told.
        OwnEcho => drop "Nothing: who asked, by ping or traceroute, is told why.",
        /// The interface it came in by has no address to send from.
        NoAddress => drop "Give the port an address, or `unnumbered`, if traceroute and path MTU \
            discovery are to work by it.",
        /// RFC 1812 section 4.3.2.8: enough errors for this second.
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

impl Node for Icmp4Error {
    const NAME: &'static str = "icmp4-error";
    const ABOUT: &'static str = "tells senders what is wrong with their packets";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            vrfs: setup.shared.vrfs.clone(),
            adjacencies: Arc::clone(&setup.shared.adjacencies),
            allowed: Arc::clone(&setup.shared.icmp),
            limit: RateLimit::new(0),
            identification: 0,
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

impl Icmp4Error {
    fn answer(
        &mut self,
        packet: &mut PacketView<'_>,
        cause: u16,
        interfaces: &Interfaces,
        routes: PacketRoutes<'_>,
        now_tsc: u64,
    ) -> Exit {
        let Some(header) = ipv4::Header::new(packet.header()) else { return Exit::NotAllowed };
        let (sender, target) = (header.source(), header.destination());
        if interfaces.is_tunnels(packet.rx(), Ipv4Addr::from(sender), Ipv4Addr::from(target)) {
            return match cause == NEEDS_FRAGMENTS {
                true => Exit::TunnelTooBig,
                false => Exit::TunnelUnreachable,
            };
        }
        let tos = header.tos() & TYPE_OF_SERVICE | PRECEDENCE;
        if was_group_frame(packet) || !is_answerable4(packet.header(), header) {
            return Exit::NotAllowed;
        }
        let is_across = interfaces.has_crossed_out(packet.rx(), sender);
        if !is_across && (!is_host(sender, routes) || is_group(target, routes)) {
            let rest = self.rest(packet, cause);
            let unsent = || unsent_echo4(packet.header(), cause, rest);
            return match self.ear.hear(packet.rx(), now_tsc, unsent) {
                Heard::Other => Exit::NotAllowed,
                Heard::Told | Heard::Lost => Exit::OwnEcho,
            };
        }
        // A packet that was for us is answered from the address it was sent to; any other from the
        // interface it came in by.
        let heard = || interfaces.get(packet.rx())?.ip4_towards(sender);
        let source = if routes.are_ours(target) { Some(target) } else { heard() };
        let has_ip6 = || interfaces.get(packet.rx()).is_some_and(Interface::speaks_ip6_alone);
        if source.is_none() && !has_ip6() {
            return Exit::NoAddress;
        }
        if !self.limit.take(now_tsc) {
            return Exit::RateLimited;
        }
        let source = source.unwrap_or_else(|| anywhere(interfaces, packet.rx()));
        let rest = self.rest(packet, cause);
        packet.truncate(LONGEST_BYTES - HEADERS_BYTES);
        if !packet.prepend(HEADERS_BYTES) {
            return Exit::NoHeadroom;
        }
        self.identification = self.identification.wrapping_add(1);
        let own = OwnIp4 {
            tos,
            identification: self.identification,
            flags: 0,
            protocol: protocol::ICMP4,
            source,
            destination: sender,
        };
        own.write(packet.header_mut());
        write_icmp_error(&mut packet.header_mut()[ipv4::Header::LEN..], cause, rest, Sum::ZERO);
        if is_across { Exit::Across } else { Exit::Send }
    }

    /// Octets 4 to 7 of the message.
    fn rest(&self, packet: &PacketView<'_>, cause: u16) -> u32 {
        const TOO_LONG: u16 = icmp_cause(message::UNREACHABLE, unreachable::FRAGMENTATION_NEEDED);
        const BAD_OCTET: u16 = icmp_cause(message::PARAMETER_PROBLEM, 0);
        let told = packet.adjacency();
        match cause {
            // RFC 1191 section 4: the next hop's MTU in the low half.
            TOO_LONG => {
                let adjacency = self.adjacencies.entry(AdjacencyId(told));
                adjacency.map_or(0, |entry| u32::from(entry.fields().mtu()))
            }
            BAD_OCTET => told << 24,
            _ => 0,
        }
    }
}

/// The address of a router that has none on the link where a packet came in, for that link is
/// IPv6's (RFC 8950): one of another interface of the VRF.
#[cold]
fn anywhere(interfaces: &Interfaces, rx: u16) -> u32 {
    let vrf = interfaces.vrf(rx);
    let mut rows = interfaces.all().filter(|row| row.vrf == vrf && row.mode == Mode::Routed);
    rows.find_map(Interface::primary_ip4).unwrap_or(DUMMY)
}

/// True if `address` can be one host's, and is not ours: we know what we sent.
fn is_host(address: u32, routes: PacketRoutes<'_>) -> bool {
    let kind = routes.to(address).kind();
    // Whether class E is, the input has judged.
    let is_host = ipv4::is_class_e(address) || !ipv4::is_martian_source(address);
    is_host && kind != Kind::Link as u8 && kind != Kind::Local as u8
}

fn is_group(address: u32, routes: PacketRoutes<'_>) -> bool {
    ipv4::is_multicast(address)
        || address == u32::MAX
        || routes.to(address).kind() == Kind::Link as u8
}

/// True if an error may be sent about a packet like this.
pub fn is_answerable4(bytes: &[u8], header: ipv4::Header<'_>) -> bool {
    if header.fragment_offset() != 0 {
        return false;
    }
    if header.protocol() != protocol::ICMP4 {
        return true;
    }
    let message_type = bytes.get(header.header_len());
    message_type.is_some_and(|&known| known <= HIGHEST_KNOWN && !icmp4::is_error(known))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ip::OWN_TTL;
    use crate::tables::{EchoSaid, Punt};
    use crate::testing::{FAR, HOST, HOST_MAC, NARROW, US, US_OUTSIDE, World, our_mac};
    use graph::harness::{NodeHarness, Outcome};
    use std::net::IpAddr;
    use wire::craft::{self, Craft, Ethernet, Ipv4};

    const NO_ROUTE: u16 = icmp_cause(message::UNREACHABLE, unreachable::NET);

    fn frame() -> Craft<Ethernet> {
        craft::ethernet(HOST_MAC, our_mac(0))
    }

    /// An error from `US`, as it enters the lookup.
    fn error_to_host() -> Craft<Ipv4> {
        craft::ipv4(US, HOST).ttl(OWN_TTL).tos(PRECEDENCE).identification(1)
    }

    fn run_with(frame: Vec<u8>, rx: u16, cause: u16, told: u32) -> Outcome {
        run_in(&World::new(), frame, rx, cause, told)
    }

    fn run_in(world: &World, frame: Vec<u8>, rx: u16, cause: u16, told: u32) -> Outcome {
        let mut node = NodeHarness::<Icmp4Error>::new(&world.setup).unwrap();
        let mut out = node.run_prepared(&[frame], rx, 14, |frame| {
            frame.fill_cause(0, cause);
            frame.adjacencies_mut().fill(told);
        });
        out.remove(0)
    }

    fn exit_of(frame: Vec<u8>) -> String {
        run_with(frame, 0, NO_ROUTE, 0).exit
    }

    #[test]
    fn the_packet_becomes_the_quotation_of_an_error_from_the_receiving_interface() {
        let packet = frame().ipv4(HOST, FAR).udp(1, 2).payload(b"abc").build();
        let out = run_with(packet.clone(), 0, NO_ROUTE, 99);
        let expected = error_to_host().icmp4(3, 0, [0; 4]).payload(&packet[14..]).build();
        assert_eq!((out.exit.as_str(), out.header), ("send", expected));
    }

    #[test]
    fn an_error_is_at_most_576_bytes_long() {
        let packet = frame().ipv4(HOST, FAR).udp(1, 2).total_len(1514).build();
        let out = run_with(packet.clone(), 0, NO_ROUTE, 0);
        let expected = error_to_host().icmp4(3, 0, [0; 4]).payload(&packet[14..14 + 548]);
        assert_eq!(out.header.len(), 576);
        assert_eq!(out.header, expected.build());
    }

    #[test]
    fn a_packet_too_long_is_told_the_mtu_and_a_wrong_option_its_octet() {
        let packet = frame().ipv4(HOST, FAR).udp(1, 2).build();
        for (cause, told, rest) in [((3, 4), NARROW, [0, 0, 0, 100]), ((12, 0), 23, [23, 0, 0, 0])]
        {
            let out = run_with(packet.clone(), 0, icmp_cause(cause.0, cause.1), told);
            let expected = error_to_host().icmp4(cause.0, cause.1, rest).payload(&packet[14..]);
            assert_eq!(out.header, expected.build());
        }
    }

    #[test]
    fn a_packet_for_us_is_answered_from_the_address_it_was_sent_to() {
        let packet = frame().ipv4(HOST, US_OUTSIDE).udp(1, 33434).build();
        let out = run_with(packet, 0, icmp_cause(3, 3), 0);
        assert_eq!(ipv4::Header::new(&out.header).unwrap().source_addr().octets(), US_OUTSIDE);
    }

    #[test]
    fn no_error_is_sent_about_what_must_not_have_one() {
        let group_frame = craft::ethernet(HOST_MAC, [0xff; 6]);
        for (about, packet) in [
            ("an error", frame().ipv4(HOST, FAR).icmp4(3, 1, [0; 4]).build()),
            ("an unknown message", frame().ipv4(HOST, FAR).icmp4(19, 0, [0; 4]).build()),
            ("a message without type", frame().ipv4(HOST, FAR).protocol(1).build()),
            ("a later fragment", frame().ipv4(HOST, FAR).fragment(8, false).udp(1, 2).build()),
            ("a group frame", group_frame.ipv4(HOST, FAR).udp(1, 2).build()),
            ("a group", frame().ipv4(HOST, [224, 0, 0, 5]).udp(1, 2).build()),
            ("all", frame().ipv4(HOST, [255; 4]).udp(1, 2).build()),
            ("a subnet", frame().ipv4(HOST, [192, 0, 2, 255]).udp(1, 2).build()),
            ("a sender that is all", frame().ipv4([255; 4], FAR).udp(1, 2).build()),
            ("a sender that is a subnet", frame().ipv4([192, 0, 2, 255], FAR).udp(1, 2).build()),
            ("a sender that is nobody", frame().ipv4([0; 4], FAR).udp(1, 2).build()),
            ("a sender that is this router", frame().ipv4(US, FAR).udp(1, 2).build()),
        ] {
            assert_eq!(exit_of(packet), "not-allowed", "{about}");
        }
        assert_eq!(exit_of(frame().ipv4(HOST, FAR).icmp_echo(1, 1).build()), "send");
        assert_eq!(exit_of(frame().ipv4(HOST, FAR).fragment(0, true).udp(1, 2).build()), "send");
    }

    #[test]
    fn whoever_asks_for_echoes_is_told_that_his_request_goes_nowhere() {
        let world = World::new();
        assert!(world.setup.shared.echo_ids.take(7));
        let request = |id| frame().ipv4(US, FAR).icmp_echo(id, 3).build();
        let too_long = icmp_cause(3, 4);
        assert_eq!(run_in(&world, request(7), 0, too_long, NARROW).exit, "own-echo");
        assert_eq!(run_in(&world, request(8), 0, too_long, NARROW).exit, "not-allowed");
        let punts = world.all_punts();
        let [Punt::Echo(heard)] = punts[..] else { panic!("{punts:?}") };
        let said = EchoSaid::Error { cause: too_long, rest: 100 };
        assert_eq!((heard.from, heard.sequence, heard.said), (IpAddr::from(US), 3, said));
    }

    #[test]
    fn an_interface_without_address_sends_none() {
        let packet = frame().ipv4(HOST, FAR).udp(1, 2).build();
        assert_eq!(run_with(packet, 5, NO_ROUTE, 0).exit, "no-address");
    }

    #[test]
    fn a_link_of_ipv6_alone_has_the_address_of_another_one() {
        let packet = frame().ipv4(HOST, FAR).udp(1, 2).build();
        let from = |change: &dyn Fn(&mut Interface)| {
            let mut world = World::new();
            world.change_interfaces(change);
            let out = run_in(&world, packet.clone(), 5, NO_ROUTE, 0);
            (out.exit, ipv4::Header::new(&out.header).unwrap().source_addr())
        };
        let ip6 = |row: &mut Interface| row.ip6 = vec![(0xfe80_u128 << 112 | 1, 64)];
        let alone = |row: &mut Interface| {
            ip6(row);
            row.ip4.clear();
        };
        assert_eq!(from(&ip6), ("send".to_owned(), US.into()));
        assert_eq!(from(&alone), ("send".to_owned(), [192, 0, 0, 8].into()));
    }

    #[test]
    fn errors_are_limited_and_only_those_sent_count() {
        let world = World::with_errors_per_second(3);
        let mut node = NodeHarness::<Icmp4Error>::new(&world.setup).unwrap();
        let bad = frame().ipv4(HOST, FAR).icmp4(3, 1, [0; 4]).build();
        let good = frame().ipv4(HOST, FAR).udp(1, 2).build();
        let out = node.run(&[vec![bad; 9], vec![good; 5]].concat(), 0, 14);
        let exits: Vec<_> = out[9..].iter().map(|out| out.exit.as_str()).collect();
        assert_eq!(exits, ["send", "send", "send", "rate-limited", "rate-limited"]);
    }
}
