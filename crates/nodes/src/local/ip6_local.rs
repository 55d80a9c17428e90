//! Packets to our own addresses and groups: walks their extension headers, then: to whom inside?
//!
//! ```text
//!  ip6_lookup, ip6_link ─▶ ip6_local ┬▶ whoever attached itself to the protocol (key: its number)
//!                                    ├▶ twin_output  the kernel's: TCP, fragments, protocols that nobody here speaks
//!                                    ├▶ ip_reassemble  pieces, where there is no twin
//!                                    └▶ icmp6_error  a header that we do not know
//! ```
//! RFC 8200 section 4. Upper layers find their header by the packet's adjacency ([`upper_layer`]).

use crate::ip::{OptionFault, check_options};
use crate::local::{Protocols, icmp_cause, twin_output};
use crate::tables::{Interfaces, Setup};
use graph::{Context, ExitIndex, Exits, Node, Published};
use packet::{Frame, PacketView};
use wire::icmp6::{message, parameter_problem};
use wire::ip::protocol;
use wire::ipv6::{self, extension};

/// See the module.
pub struct Ip6Local {
    interfaces: Published<Interfaces>,
    protocols: Protocols,
}

graph::exits! {
    /// What becomes of a packet for us that nobody takes.
    pub enum Exit {
        /// The interface has a twin, and the packet is the kernel's to answer.
        Twin => node "twin-output" cause twin_output::PACKET,
        /// RFC 8200 section 4: a next header that nobody here knows.
        UnknownNextHeader => answer "icmp6-error"
            "Nothing, where somebody tries what is there; else see who is to have it: a twin is \
            for what Linux answers."
            cause icmp_cause(message::PARAMETER_PROBLEM, parameter_problem::NEXT_HEADER),
        /// RFC 8200 section 4.2: an unknown option that asks for it.
        UnknownOption => answer "icmp6-error"
            "Nothing for the router: the sender asks for what few know."
            cause icmp_cause(message::PARAMETER_PROBLEM, parameter_problem::OPTION),
        /// RFC 8200 section 4.4: a routing header that wants to be followed (RFC 5095: it is not).
        RoutingHeader => answer "icmp6-error"
            "Nothing: routing headers are not followed (RFC 5095)."
            cause icmp_cause(message::PARAMETER_PROBLEM, parameter_problem::FIELD),
        /// RFC 8200 section 4.7: nothing follows.
        NoNextHeader => drop "Nothing: the sender says that there is nothing in it.",
        /// A piece of a packet.
        Fragment => node "ip-reassemble",
        /// The packet ends within an extension header, or an option does.
        Malformed => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// RFC 8200 section 4.2: an unknown option says to drop the packet.
        Discarded => drop "Nothing: the sender asked for that, where its option is not known.",
        /// RFC 8504 section 5.3: more extension headers than are walked.
        TooManyHeaders => drop "Nothing: no honest sender stacks so many. Capture some to see who \
            does.",
    }
}

impl Node for Ip6Local {
    const NAME: &'static str = "ip6-local";
    const ABOUT: &'static str = "takes packets to our own IPv6 addresses";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        let interfaces = setup.shared.interfaces.clone();
        Self { interfaces, protocols: Protocols::new(Exit::UnknownNextHeader) }
    }

    fn attach(&mut self, key: u32, exit: ExitIndex) {
        self.protocols.attach(key, exit);
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        let has_ip_tunnels = interfaces.has_ip_tunnels();
        exits.each(frame, |packet| {
            let walked = self.walk(packet.header(), has_ip_tunnels);
            let (exit, told) = walked.unwrap_or_else(|exit| (exit.into(), 0));
            packet.set_adjacency(told as u32);
            // Asked last: that is a look into a row.
            match self.protocols.is_kernels(exit, Exit::Fragment)
                && interfaces.has_twin(packet.rx())
            {
                true => Exit::Twin.into(),
                false => exit,
            }
        });
    }
}

impl Ip6Local {
    /// Where a packet goes, and what the next node is told: the place of the upper-layer header,
    /// or of what is wrong.
    fn walk(&self, packet: &[u8], has_ip_tunnels: bool) -> Result<(ExitIndex, usize), Exit> {
        let fixed = ipv6::Header::new(packet).ok_or(Exit::Malformed)?;
        let to_group = ipv6::is_multicast(fixed.destination());
        let (mut next, mut named_at, mut at) =
            (fixed.next_header(), NEXT_HEADER_AT, fixed.bytes().len());
        for _ in 0..=extension::MAX_HEADERS {
            let is_first = at == ipv6::Header::LEN;
            match next {
                protocol::NO_NEXT => return Err(Exit::NoNextHeader),
                protocol::DESTINATION_OPTIONS | protocol::ROUTING | protocol::FRAGMENT => {}
                // Its options were looked at when the packet came in.
                protocol::HOP_BY_HOP if is_first => {}
                upper => {
                    let exit = self.protocols.taker(upper, has_ip_tunnels);
                    let is_known = exit != Exit::UnknownNextHeader.into();
                    return Ok((exit, if is_known { at } else { named_at }));
                }
            }
            let header = extension::header(next, packet.get(at..).unwrap_or_default());
            let header = header.ok_or(Exit::Malformed)?;
            if let Some(stop) = stops(next, header, at, to_group)? {
                return Ok(stop);
            }
            (next, named_at, at) = (header[0], at, at + header.len());
        }
        Err(Exit::TooManyHeaders)
    }
}

/// Octets from the start of the IPv6 header to its next-header field.
const NEXT_HEADER_AT: usize = 6;

/// Whether the extension header of this number, which stands at `at`, ends the walk: by whom the
/// sender is told, and where the fault is.
fn stops(
    number: u8,
    header: &[u8],
    at: usize,
    to_group: bool,
) -> Result<Option<(ExitIndex, usize)>, Exit> {
    /// Octets of a routing header before its type, and before its count of segments left.
    const ROUTING_TYPE_AT: usize = 2;
    const SEGMENTS_LEFT_AT: usize = 3;
    match number {
        protocol::DESTINATION_OPTIONS => match check_options(header, at, to_group) {
            Ok(()) => Ok(None),
            Err(OptionFault::Malformed) => Err(Exit::Malformed),
            Err(OptionFault::Discard) => Err(Exit::Discarded),
            Err(OptionFault::Tell(at)) => Ok(Some((Exit::UnknownOption.into(), at))),
        },
        protocol::ROUTING if header[SEGMENTS_LEFT_AT] != 0 => {
            Ok(Some((Exit::RoutingHeader.into(), at + ROUTING_TYPE_AT)))
        }
        protocol::FRAGMENT
            if !extension::Fragment::new(header).is_some_and(|it| it.is_atomic()) =>
        {
            Err(Exit::Fragment)
        }
        _ => Ok(None),
    }
}

/// The IPv6 header and the upper-layer message of a packet that comes from this node.
pub fn upper_layer<'a>(packet: &'a PacketView<'_>) -> Option<(ipv6::Header<'a>, &'a [u8])> {
    let bytes = packet.header();
    Some((ipv6::Header::new(bytes)?, bytes.get(packet.adjacency() as usize..)?))
}

/// The number of the upper-layer header that earlier nodes found, behind whatever extension
/// headers.
pub fn upper_protocol(packet: &PacketView<'_>) -> Option<u8> {
    let (bytes, end) = (packet.header(), packet.adjacency() as usize);
    let (mut next, mut at) = (ipv6::Header::new(bytes)?.next_header(), ipv6::Header::LEN);
    while at < end {
        let header = extension::header(next, bytes.get(at..)?)?;
        (next, at) = (header[0], at + header.len());
    }
    Some(next)
}

/// Moves the packet's start so that its upper-layer message is where it would be without extension
/// headers. What is in front of it then is no IPv6 header until the caller has written one.
pub fn strip_extensions(packet: &mut PacketView<'_>) {
    let extensions = (packet.adjacency() as usize).saturating_sub(ipv6::Header::LEN);
    packet.advance(extensions);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::Twin;
    use crate::testing::{HOST6, US6, World};
    use graph::harness::NodeHarness;
    use wire::craft::{self, Craft, Ipv6};

    fn run(packet: Vec<u8>) -> (String, u32) {
        let mut node = NodeHarness::<Ip6Local>::new(&World::new().setup).unwrap();
        node.attach(17, "udp");
        let out = node.run(&[packet], 0, 0).remove(0);
        (out.exit, out.adjacency)
    }

    fn to_us() -> Craft<Ipv6> {
        craft::ipv6(HOST6, US6)
    }

    fn found(exit: &str, told: u32) -> (String, u32) {
        (exit.to_owned(), told)
    }

    #[test]
    fn packets_go_to_who_attached_to_their_protocol() {
        assert_eq!(run(to_us().udp(1, 2).build()), found("udp", 40));
        assert_eq!(run(to_us().next_header(132).build()), found("unknown-next-header", 6));
    }

    #[test]
    fn a_twin_gets_what_nobody_here_answers() {
        let mut world = World::new();
        world.change_interface(0, |row| row.put(Some(Twin)));
        let mut node = NodeHarness::<Ip6Local>::new(&world.setup).unwrap();
        node.attach(6, "tcp");
        node.attach(17, "udp");
        let mut exit = |packet| node.run(&[packet], 0, 0).remove(0).exit;
        assert_eq!(exit(to_us().tcp(1, 22).build()), "twin");
        assert_eq!(exit(to_us().next_header(89).build()), "twin");
        assert_eq!(exit(to_us().fragment_header(0, true, 7).udp(1, 2).build()), "twin");
        assert_eq!(exit(to_us().udp(1, 2).build()), "udp");
        assert_eq!(exit(to_us().build()), "no-next-header");
    }

    #[test]
    fn extension_headers_are_walked_to_the_upper_layer() {
        let chain = to_us().hop_by_hop(&[]).routing(&[0; 6]).fragment_header(0, false, 7);
        let packet = chain.clone().destination_options(&[]).udp(1, 2).build();
        assert_eq!(run(packet), found("udp", 72));
        let unknown = chain.destination_options(&[]).next_header(200).build();
        assert_eq!(run(unknown), found("unknown-next-header", 64));
    }

    #[test]
    fn what_a_header_asks_for_is_told_by_its_place() {
        let option = to_us().destination_options(&[1, 0, 0x80, 0]).udp(1, 2).build();
        assert_eq!(run(option), found("unknown-option", 44));
        let source_route = to_us().destination_options(&[]).routing(&[0, 1, 0, 0, 0, 0]);
        assert_eq!(run(source_route.udp(1, 2).build()), found("routing-header", 50));
        let late = to_us().destination_options(&[]).hop_by_hop(&[]).udp(1, 2).build();
        assert_eq!(run(late), found("unknown-next-header", 40));
    }

    #[test]
    fn what_cannot_be_walked_is_dropped() {
        for (exit, packet) in [
            ("no-next-header", to_us().build()),
            ("fragment", to_us().fragment_header(0, true, 7).udp(1, 2).build()),
            ("fragment", to_us().fragment_header(8, false, 7).udp(1, 2).build()),
            ("malformed", to_us().destination_options(&[]).length(9).udp(1, 2).build()),
            ("malformed", to_us().destination_options(&[5, 9, 0, 0]).udp(1, 2).build()),
            ("malformed", to_us().next_header(60).build()),
            ("discarded", to_us().destination_options(&[0x40, 0]).udp(1, 2).build()),
        ] {
            assert_eq!(run(packet.clone()), found(exit, 0), "{packet:x?}");
        }
        let options = |count| {
            (0..count).fold(to_us().destination_options(&[]), |c, _| c.destination_options(&[]))
        };
        assert_eq!(run(options(7).udp(1, 2).build()), found("udp", 104));
        assert_eq!(run(options(8).udp(1, 2).build()), found("too-many-headers", 0));
    }
}
