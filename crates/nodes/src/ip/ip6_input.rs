//! Checks the IPv6 header (RFC 8200 section 3) and the source address (RFC 4291 section 2).
//!
//! ```text
//!   0       4               12                                    31
//!  +-------+---------------+----------------------------------------+
//!  |version| traffic class |              flow label                |
//!  +-------+---------------+-----+----------------+-----------------+
//!  |       payload length        |  next header   |    hop limit    |
//!  +-----------------------------+----------------+-----------------+
//!  |                     source, 16 octets                          |
//!  |                   destination, 16 octets                       |
//!  +----------------------------------------------------------------+
//! ```
//! Destinations are judged by their route, the hop limit where the packet is forwarded. Extension
//! headers are for the destination (RFC 7045 section 2.1), but for hop-by-hop options.

use crate::ip::ip6_headers::is_plain_source;
use crate::ip::{ByPolicy, ip6_link};
use crate::tables::Setup;
use graph::{Attach, Context, Exits, Node};
use packet::{Frame, PacketView};
use wire::ethernet::ethertype;
use wire::ip::protocol;
use wire::ipv6;

/// See the module.
pub struct Ip6Input {
    policy: ByPolicy,
}

graph::exits! {
    /// The checks in order.
    pub enum Exit {
        /// A good header.
        Lookup => node "ip6-lookup",
        /// A good header, and a source that is known on this link alone, or none.
        LinkSource => node "ip6-link" cause ip6_link::RECEIVED,
        /// A good header, and hop-by-hop options.
        HopByHop => node "ip6-hop-by-hop",
        /// A good header, where some port's packets are routed by a policy.
        Policy => node "ip6-policy",
        /// Fewer bytes than an IPv6 header.
        Truncated => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// Not version 6.
        BadVersion => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// The payload length is above the packet's.
        BadPayloadLength => drop "The sender, or a device on the way, makes wrong packets: capture \
            some and look who it is.",
        /// RFC 4291 sections 2.5.3, 2.5.5 and 2.7: no node on a wire has this source address.
        MartianSource => drop "The sender has no proper address, or forges one: capture some, and \
            look at the MAC address.",
    }
}

impl Node for Ip6Input {
    const NAME: &'static str = "ip6-input";
    const ABOUT: &'static str = "checks IPv6 headers";
    const ATTACH: &'static [Attach] =
        &[Attach { of: "ethernet-input", key: ethertype::IPV6 as u32 }];
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self { policy: ByPolicy::new(setup) }
    }

    fn process(&mut self, frame: &mut Frame, exits: &mut Exits<'_, Exit>, _: &mut Context<'_>) {
        exits.each(frame, check);
        self.policy.lead(frame.len(), exits, [Exit::Lookup, Exit::Policy]);
    }
}

#[inline(always)]
fn check(packet: &mut PacketView<'_>) -> Exit {
    let length = packet.length();
    let Some(bytes) = packet.header().first_chunk::<{ ipv6::Header::LEN }>() else {
        return Exit::Truncated;
    };
    let header = ipv6::Header::of(bytes);
    let total = ipv6::Header::LEN + usize::from(header.payload_len());
    let is_plain = bytes[0] >> 4 == 6
        && total <= length
        && header.next_header() != protocol::HOP_BY_HOP
        && is_plain_source(bytes[8]);
    if !is_plain {
        return check_unusual(packet);
    }
    // Ethernet pads short packets: what is behind the payload is not the packet's.
    packet.truncate(total);
    Exit::Lookup
}

/// Everything that is not a plain good header, told apart.
#[cold]
fn check_unusual(packet: &mut PacketView<'_>) -> Exit {
    let length = packet.length();
    let Some(header) = ipv6::Header::new(packet.header()) else { return Exit::Truncated };
    if header.version() != 6 {
        return Exit::BadVersion;
    }
    let total = ipv6::Header::LEN + usize::from(header.payload_len());
    if total > length {
        return Exit::BadPayloadLength;
    }
    let source = header.source();
    if ipv6::is_martian_source(source) {
        return Exit::MartianSource;
    }
    let has_options = header.next_header() == protocol::HOP_BY_HOP;
    packet.truncate(total);
    match has_options {
        true => Exit::HopByHop,
        false if is_of_link(source) => Exit::LinkSource,
        false => Exit::Lookup,
    }
}

/// True if the link where a packet was received is all that knows its source: a link-local
/// address, or none yet (RFC 4291 sections 2.5.2 and 2.5.6).
pub fn is_of_link(source: u128) -> bool {
    source == 0 || ipv6::is_link_local(source)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{FAR6, HOST6, World};
    use graph::harness::{NodeHarness, Outcome};
    use proptest::prelude::*;
    use std::net::Ipv6Addr;
    use wire::craft::{self, Craft, Ipv6};

    fn run(packet: &[u8]) -> Outcome {
        let mut node = NodeHarness::<Ip6Input>::new(&World::new().setup).unwrap();
        node.run(&[packet.to_vec()], 0, 0).remove(0)
    }

    fn good() -> Craft<Ipv6> {
        craft::ipv6(HOST6, FAR6)
    }

    fn from(source: &str) -> Vec<u8> {
        craft::ipv6(source.parse::<Ipv6Addr>().unwrap(), FAR6).udp(1, 2).build()
    }

    #[test]
    fn a_good_packet_goes_on_without_the_padding_of_its_link() {
        let packet = good().udp(1, 2).build();
        let out = run(&good().udp(1, 2).pad_to(60).build());
        assert_eq!((out.exit.as_str(), out.header), ("lookup", packet));
    }

    #[test]
    fn each_lie_of_the_header_is_told_apart() {
        for (exit, packet) in [
            ("bad-version", good().version(4).udp(1, 2).build()),
            ("bad-payload-length", good().length(9).udp(1, 2).build()),
            ("truncated", good().build()[..39].to_vec()),
            ("truncated", Vec::new()),
        ] {
            assert_eq!(run(&packet).exit, exit, "{packet:x?}");
        }
        assert_eq!(run(&good().length(0).udp(1, 2).build()).header.len(), 40);
    }

    #[test]
    fn nobody_has_a_martian_source() {
        for source in ["::1", "ff02::1", "ff0e::7", "::ffff:192.0.2.1"] {
            assert_eq!(run(&from(source)).exit, "martian-source", "{source}");
        }
        for source in ["64:ff9b::1", "fd00::1", "3fff::1", "::2", "4000::1"] {
            assert_eq!(run(&from(source)).exit, "lookup", "{source}");
        }
    }

    #[test]
    fn what_only_the_link_knows_is_looked_at_elsewhere() {
        for source in ["::", "fe80::1", "febf::1"] {
            assert_eq!(run(&from(source)).exit, "link-source", "{source}");
        }
    }

    #[test]
    fn hop_by_hop_options_are_looked_at_elsewhere() {
        assert_eq!(run(&good().hop_by_hop(&[]).udp(1, 2).build()).exit, "hop-by-hop");
        assert_eq!(run(&good().destination_options(&[]).udp(1, 2).build()).exit, "lookup");
    }

    #[test]
    fn any_hop_limit_may_arrive() {
        assert_eq!(run(&good().hop_limit(0).build()).exit, "lookup");
    }

    proptest! {
        #[test]
        fn what_goes_on_is_what_the_parser_takes(
            mut bytes in prop::collection::vec(any::<u8>(), 0..80),
            plain: bool,
            payload in 0u8..40,
        ) {
            if plain && bytes.len() >= 40 {
                bytes[0] = 0x60;
                bytes[4..6].copy_from_slice(&[0, payload]);
            }
            let exit = run(&bytes).exit;
            let parsed = ipv6::Packet::parse(&bytes);
            let good = parsed.is_ok_and(|p| !ipv6::is_martian_source(p.header.source()));
            let goes_on = ["lookup", "link-source", "hop-by-hop"].contains(&exit.as_str());
            prop_assert_eq!(goes_on, good, "{}", exit);
        }
    }
}
