//! Refuses TCP connections to ourselves over IPv6 at once: every segment but a reset is answered
//! by one, in its own buffer.
//!
//! ```text
//!  ip6_local ─▶ tcp6_reset ┬▶ ip6_lookup, ip6_link   the reset, to whoever sent the segment
//!                          └▶ drop
//! ```

use crate::ip::{OwnIp6, ip6_link};
use crate::local::{
    TcpFault, TcpReset,
    ip6_local::{strip_extensions, upper_layer},
};
use crate::tables::Setup;
use graph::{Attach, Context, Exits, Node};
use packet::{Frame, PacketView};
use wire::ip::protocol;
use wire::{checksum, ipv6, tcp};

/// See the module.
pub struct Tcp6Reset;

/// Octets of a reset: two headers without options.
const RESET_BYTES: usize = ipv6::Header::LEN + tcp::Header::LEN;

graph::exits! {
    /// What becomes of a segment.
    pub enum Exit {
        /// The answer to it.
        Reset => node "ip6-lookup",
        /// The answer, to a link-local address.
        ResetOnLink => node "ip6-link" cause ip6_link::OURS,
        /// Fewer bytes than its header.
        Truncated => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// The checksum is wrong.
        BadChecksum => drop "A link or a device on the way damages packets: look at the error \
            counters along it.",
        /// A reset is never answered.
        WasReset => drop "Nothing: this is as it should be.",
        /// RFC 9293 section 3.9.2: connections are made with one node, not with a group.
        ToGroup => drop "The sender, or a device on the way, makes wrong packets: capture some and \
            look who it is.",
    }
}

impl Node for Tcp6Reset {
    const NAME: &'static str = "tcp6-reset";
    const ABOUT: &'static str = "refuses TCP connections to ourselves over IPv6";
    const ATTACH: &'static [Attach] = &[Attach { of: "ip6-local", key: protocol::TCP as u32 }];
    type Exit = Exit;
    type Setup = Setup;

    fn new(_: &Setup) -> Self {
        Self
    }

    fn process(&mut self, frame: &mut Frame, exits: &mut Exits<'_, Exit>, _: &mut Context<'_>) {
        exits.each(frame, |packet| refuse(packet).unwrap_or(Exit::Truncated));
    }
}

fn refuse(packet: &mut PacketView<'_>) -> Option<Exit> {
    let (header, bytes) = upper_layer(packet)?;
    let (source, destination) = (header.source(), header.destination());
    let traffic_class = header.traffic_class();
    if ipv6::is_multicast(destination) {
        return Some(Exit::ToGroup);
    }
    let pseudo =
        |length: usize| checksum::pseudo6(source, destination, protocol::TCP, length as u32);
    let reset = match TcpReset::to(bytes, pseudo(bytes.len())) {
        Ok(reset) => reset,
        Err(TcpFault::Truncated) => return None,
        Err(TcpFault::BadChecksum) => return Some(Exit::BadChecksum),
        Err(TcpFault::WasReset) => return Some(Exit::WasReset),
    };
    strip_extensions(packet);
    packet.truncate(RESET_BYTES);
    let (source, destination) = (destination, source);
    let own = OwnIp6 { traffic_class, next_header: protocol::TCP, source, destination };
    own.write(packet.header_mut());
    // Addresses that changed places sum to the same.
    let pseudo = pseudo(tcp::Header::LEN);
    reset.write(&mut packet.header_mut()[ipv6::Header::LEN..], pseudo);
    Some(if ipv6::is_link_local(destination) { Exit::ResetOnLink } else { Exit::Reset })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ip::OWN_TTL;
    use crate::testing::{HOST6, LINK_HOST, US6, World, link_local};
    use graph::harness::NodeHarness;
    use std::net::Ipv6Addr;
    use wire::craft::{self, Craft, Tcp};
    use wire::tcp::flag;

    fn segment(source: Ipv6Addr, target: Ipv6Addr, flags: u8) -> Craft<Tcp> {
        let segment = craft::ipv6(source, target).traffic_class(0x28).tcp(1000, 22).flags(flags);
        segment.sequence(0xffff_fffe).acknowledgement(77)
    }

    fn run_at(packet: Vec<u8>, upper: u32) -> (String, Vec<u8>) {
        let mut node = NodeHarness::<Tcp6Reset>::new(&World::new().setup).unwrap();
        let by = |frame: &mut Frame| frame.adjacencies_mut().fill(upper);
        let out = node.run_prepared(&[packet], 0, 0, by).remove(0);
        (out.exit, out.header)
    }

    fn run(packet: Vec<u8>) -> (String, Vec<u8>) {
        run_at(packet, 40)
    }

    fn reset(source: Ipv6Addr, target: Ipv6Addr) -> Craft<Tcp> {
        let reset = craft::ipv6(source, target).hop_limit(OWN_TTL).traffic_class(0x28);
        reset.tcp(22, 1000).window(0)
    }

    #[test]
    fn a_syn_is_answered_by_a_reset_that_acknowledges_it() {
        let syn = segment(HOST6, US6, flag::SYN).option(2, &[5, 180]).payload(b"abc");
        // SYN and three octets behind 2^32 - 2.
        let expected = reset(US6, HOST6).flags(flag::RST | flag::ACK).acknowledgement(2).build();
        assert_eq!(run(syn.build()), ("reset".to_owned(), expected));
    }

    #[test]
    fn extension_headers_are_not_given_back() {
        let packet = craft::ipv6(HOST6, US6).traffic_class(0x28).destination_options(&[]);
        let packet = packet.tcp(1000, 22).flags(flag::ACK).acknowledgement(77).build();
        assert_eq!(run_at(packet, 48).1, reset(US6, HOST6).flags(flag::RST).sequence(77).build());
    }

    #[test]
    fn a_neighbour_on_the_link_is_answered_there() {
        let (exit, answer) = run(segment(LINK_HOST, link_local(0), flag::ACK).build());
        let expected = reset(link_local(0), LINK_HOST).flags(flag::RST).sequence(77).build();
        assert_eq!((exit.as_str(), answer), ("reset-on-link", expected));
    }

    #[test]
    fn resets_damaged_segments_and_groups_are_not_answered() {
        assert_eq!(run(segment(HOST6, US6, flag::RST | flag::ACK).build()).0, "was-reset");
        assert_eq!(run(segment(HOST6, US6, flag::SYN).checksum(1).build()).0, "bad-checksum");
        assert_eq!(run(segment(HOST6, US6, flag::SYN).data_offset(15).build()).0, "truncated");
        let group = ipv6::ALL_NODES.into();
        assert_eq!(run(segment(HOST6, group, flag::SYN).build()).0, "to-group");
    }
}
