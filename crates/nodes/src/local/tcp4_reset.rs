//! Refuses TCP connections to ourselves at once (RFC 9293 section 3.10.7.1): every segment but a
//! reset is answered by one, in its own buffer.
//!
//! ```text
//!  ip4_local ─▶ tcp4_reset ┬▶ ip4_lookup   the reset, to whoever sent the segment
//!                          └▶ drop
//! ```

use crate::ip::OwnIp4;
use crate::local::{TcpFault, TcpReset};
use crate::tables::Setup;
use graph::{Attach, Context, Exits, Node};
use packet::{Frame, PacketView};
use wire::ip::protocol;
use wire::{checksum, ipv4, tcp};

/// See the module.
pub struct Tcp4Reset;

/// Octets of a reset: two headers without options.
const RESET_BYTES: usize = ipv4::Header::LEN + tcp::Header::LEN;

graph::exits! {
    /// What becomes of a segment.
    pub enum Exit {
        /// The answer to it.
        Reset => node "ip4-lookup",
        /// Fewer bytes than its header.
        Truncated => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// The checksum is wrong.
        BadChecksum => drop "A link or a device on the way damages packets: look at the error \
            counters along it.",
        /// A reset is never answered.
        WasReset => drop "Nothing: this is as it should be.",
    }
}

impl Node for Tcp4Reset {
    const NAME: &'static str = "tcp4-reset";
    const ABOUT: &'static str = "refuses TCP connections to ourselves";
    const ATTACH: &'static [Attach] = &[Attach { of: "ip4-local", key: protocol::TCP as u32 }];
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
    let header = ipv4::Header::new(packet.header())?;
    let bytes = packet.header().get(header.header_len()..)?;
    let (tos, source, destination) = (header.tos(), header.source(), header.destination());
    let pseudo =
        |length: usize| checksum::pseudo4(source, destination, protocol::TCP, length as u16);
    let reset = match TcpReset::to(bytes, pseudo(bytes.len())) {
        Ok(reset) => reset,
        Err(TcpFault::Truncated) => return None,
        Err(TcpFault::BadChecksum) => return Some(Exit::BadChecksum),
        Err(TcpFault::WasReset) => return Some(Exit::WasReset),
    };
    packet.truncate(RESET_BYTES);
    let own = OwnIp4 {
        tos,
        // Never fragmented, so it needs no identification (RFC 6864 section 4.1).
        identification: 0,
        flags: ipv4::DONT_FRAGMENT,
        protocol: protocol::TCP,
        source: destination,
        destination: source,
    };
    own.write(packet.header_mut());
    // Addresses that changed places sum to the same.
    let pseudo = pseudo(tcp::Header::LEN);
    reset.write(&mut packet.header_mut()[ipv4::Header::LEN..], pseudo);
    Some(Exit::Reset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ip::OWN_TTL;
    use crate::testing::{HOST, US, World};
    use graph::harness::NodeHarness;
    use wire::craft::{self, Craft, Tcp};
    use wire::tcp::flag;

    fn segment(flags: u8) -> Craft<Tcp> {
        let segment = craft::ipv4(HOST, US).tcp(1000, 22).flags(flags);
        segment.sequence(0xffff_fffe).acknowledgement(77)
    }

    fn run(packet: Vec<u8>) -> (String, Vec<u8>) {
        let mut node = NodeHarness::<Tcp4Reset>::new(&World::new().setup).unwrap();
        let out = node.run(&[packet], 0, 0).remove(0);
        (out.exit, out.header)
    }

    #[test]
    fn a_syn_is_answered_by_a_reset_that_acknowledges_it() {
        let (exit, reset) = run(segment(flag::SYN).option(2, &[5, 180]).payload(b"abc").build());
        let expected = craft::ipv4(US, HOST).ttl(OWN_TTL).dont_fragment().tcp(22, 1000);
        // SYN and three octets behind 2^32 - 2.
        let expected = expected.flags(flag::RST | flag::ACK).window(0).acknowledgement(2);
        assert_eq!((exit.as_str(), reset), ("reset", expected.build()));
    }

    #[test]
    fn an_acknowledgement_is_answered_by_a_reset_at_its_number() {
        let (_, reset) = run(segment(flag::ACK).build());
        let expected = craft::ipv4(US, HOST).ttl(OWN_TTL).dont_fragment().tcp(22, 1000);
        assert_eq!(reset, expected.flags(flag::RST).window(0).sequence(77).build());
    }

    #[test]
    fn resets_and_damaged_segments_are_not_answered() {
        assert_eq!(run(segment(flag::RST | flag::ACK).build()).0, "was-reset");
        assert_eq!(run(segment(flag::SYN).checksum(1).build()).0, "bad-checksum");
        assert_eq!(run(segment(flag::SYN).data_offset(15).build()).0, "truncated");
    }
}
