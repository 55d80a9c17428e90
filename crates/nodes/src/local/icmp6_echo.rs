//! Answers an echo request in its own buffer (RFC 4443 section 4.2): addresses swapped, type
//! changed, data as it came, extension headers left out.
//!
//! ```text
//!  icmp6_input ─▶ icmp6_echo ─▶ ip6_lookup, or ip6_link towards a link-local address
//! ```
//! One who asks a group is answered from an address of the interface that heard it.

use crate::ip::{OwnIp6, ip6_link};
use crate::local::{ip6_local::strip_extensions, sum_icmp};
use crate::tables::{IcmpLimits, Interfaces, RateLimit, Setup};
use graph::{Context, Exits, Node, Published};
use packet::{Frame, PacketView};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wire::icmp6::{self, message};
use wire::ip::protocol;
use wire::{checksum, ipv6};

/// See the module.
pub struct Icmp6Echo {
    interfaces: Published<Interfaces>,
    allowed: Arc<IcmpLimits>,
    limit: RateLimit,
}

graph::exits! {
    /// Whether there is an answer.
    pub enum Exit {
        /// To whoever asked.
        Reply => node "ip6-lookup",
        /// To whoever asked, by a link-local address.
        ReplyOnLink => node "ip6-link" cause ip6_link::OURS,
        /// Asked from nobody, or of a group where the interface has no address to answer from.
        NoAddress => drop "Give the port an IPv6 address, if it is to answer.",
        /// Enough answers for this second, or none are wanted.
        RateLimited => drop "Nothing, or raise `echo_pps` in [icmp] if you measure by it; `echo = \
            false` there means no answers at all.",
    }
}

impl Node for Icmp6Echo {
    const NAME: &'static str = "icmp6-echo";
    const ABOUT: &'static str = "answers ICMPv6 echo requests";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        let (interfaces, allowed) =
            (setup.shared.interfaces.clone(), Arc::clone(&setup.shared.icmp));
        Self { interfaces, allowed, limit: RateLimit::new(0) }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        self.limit.follow(self.allowed.echoes_per_second.load(Ordering::Relaxed));
        let interfaces = self.interfaces.get(context);
        exits.each(frame, |packet| {
            if !self.limit.take(context.now_tsc) {
                return Exit::RateLimited;
            }
            answer(packet, interfaces).unwrap_or(Exit::NoAddress)
        });
    }
}

fn answer(packet: &mut PacketView<'_>, interfaces: &Interfaces) -> Option<Exit> {
    let header = ipv6::Header::new(packet.header())?;
    let (asker, asked) = (header.source(), header.destination());
    let traffic_class = header.traffic_class();
    let source = match ipv6::is_multicast(asked) {
        _ if asker == 0 => return None,
        true => interfaces.get(packet.rx())?.ip6_towards(asker)?,
        false => asked,
    };
    strip_extensions(packet);
    let (next_header, destination) = (protocol::ICMP6, asker);
    let own = OwnIp6 { traffic_class, next_header, source, destination };
    own.write(packet.header_mut());
    let message = packet.header_mut().get_mut(ipv6::Header::LEN..)?;
    icmp6::HeaderMut::new(message)?.set_message_type(message::ECHO_REPLY);
    let length = message.len() as u32;
    sum_icmp(message, checksum::pseudo6(source, destination, protocol::ICMP6, length));
    Some(if ipv6::is_link_local(asker) { Exit::ReplyOnLink } else { Exit::Reply })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ip::OWN_TTL;
    use crate::testing::{HOST6, LINK_HOST, US6, World, link_local};
    use graph::harness::{NodeHarness, Outcome};
    use std::net::Ipv6Addr;
    use wire::craft::{self, Craft, Ipv6};

    fn run(packet: Vec<u8>, upper: u32, rx: u16) -> Outcome {
        let mut node = NodeHarness::<Icmp6Echo>::new(&World::new().setup).unwrap();
        let by = |frame: &mut Frame| frame.adjacencies_mut().fill(upper);
        node.run_prepared(&[packet], rx, 0, by).remove(0)
    }

    fn reply(source: Ipv6Addr, target: Ipv6Addr) -> Craft<Ipv6> {
        craft::ipv6(source, target).hop_limit(OWN_TTL)
    }

    #[test]
    fn the_reply_is_the_request_turned_round() {
        let request = craft::ipv6(HOST6, US6).hop_limit(9).traffic_class(0x28).flow_label(77);
        let request = request.icmp_echo(7, 3).payload(b"as it came").build();
        let out = run(request, 40, 0);
        let expected = reply(US6, HOST6).traffic_class(0x28).icmp_echo_reply(7, 3);
        assert_eq!(
            (out.exit.as_str(), out.header),
            ("reply", expected.payload(b"as it came").build())
        );
    }

    #[test]
    fn extension_headers_are_not_given_back() {
        let request = craft::ipv6(HOST6, US6).destination_options(&[]).icmp6(128, 0, [0, 7, 0, 3]);
        let out = run(request.payload(b"abc").build(), 48, 0);
        assert_eq!(out.header, reply(US6, HOST6).icmp_echo_reply(7, 3).payload(b"abc").build());
    }

    #[test]
    fn a_neighbour_is_answered_on_the_link() {
        let out = run(craft::ipv6(LINK_HOST, link_local(0)).icmp_echo(7, 3).build(), 40, 0);
        let expected = reply(link_local(0), LINK_HOST).icmp_echo_reply(7, 3).build();
        assert_eq!((out.exit.as_str(), out.header), ("reply-on-link", expected));
    }

    #[test]
    fn who_asks_a_group_is_answered_from_an_address_of_ours() {
        let all: Ipv6Addr = ipv6::ALL_NODES.into();
        let of = |source| craft::ipv6(source, all).icmp_echo(7, 3).payload(b"abc").build();
        let expected = reply(US6, HOST6).icmp_echo_reply(7, 3).payload(b"abc").build();
        assert_eq!(run(of(HOST6), 40, 0).header, expected);
        let expected = reply(link_local(0), LINK_HOST).icmp_echo_reply(7, 3).payload(b"abc");
        assert_eq!(run(of(LINK_HOST), 40, 0).header, expected.build());
        assert_eq!(run(of(HOST6), 40, 5).exit, "no-address");
        assert_eq!(run(of(Ipv6Addr::UNSPECIFIED), 40, 0).exit, "no-address");
    }

    #[test]
    fn no_more_answers_than_are_allowed_are_given() {
        let world = World::new();
        world.setup.shared.icmp.echoes_per_second.store(2, Ordering::Relaxed);
        let mut node = NodeHarness::<Icmp6Echo>::new(&world.setup).unwrap();
        let requests = vec![craft::ipv6(HOST6, US6).icmp_echo(1, 1).build(); 3];
        let out = node.run_prepared(&requests, 0, 0, |frame| frame.adjacencies_mut().fill(40));
        let exits: Vec<_> = out.iter().map(|out| out.exit.as_str()).collect();
        assert_eq!(exits, ["reply", "reply", "rate-limited"]);
    }
}
