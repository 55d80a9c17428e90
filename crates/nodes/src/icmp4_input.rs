//! ICMP messages to ourselves (RFC 1122 section 3.2.2).
//!
//! ```text
//!  ip4_local ─▶ icmp4_input ┬▶ icmp4_echo   somebody asks if we are there
//!                           └▶ drop
//! ```
//! Only echo requests are answered. Errors belong to connections, of which the router has none;
//! redirects are for hosts (RFC 1812 section 4.3.3.2 lets routers ignore them).

use crate::plumbing::Setup;
use graph::{Attach, Context, Exits, Node};
use packet::{Frame, PacketView};
use wire::icmp4::{self, message};
use wire::ip::protocol;
use wire::{checksum, ipv4};

/// See the module.
pub struct Icmp4Input;

graph::exits! {
    /// What becomes of an ICMP message.
    pub enum Exit {
        /// It asks for an echo.
        Echo => node "icmp4-echo",
        /// Fewer bytes than an ICMP header.
        Truncated => drop,
        /// RFC 792: the checksum over the message is wrong.
        BadChecksum => drop,
        /// It tells of an error in a packet that we sent.
        ErrorMessage => drop,
        /// An answer to a question that we did not ask.
        Unasked => drop,
        /// RFC 1122 section 3.2.2: a message of unknown type is silently discarded.
        UnknownType => drop,
    }
}

impl Node for Icmp4Input {
    const NAME: &'static str = "icmp4-input";
    const ABOUT: &'static str = "reads ICMP messages to ourselves";
    const ATTACH: &'static [Attach] =
        &[Attach { of: "ip4-local", key: protocol::ICMP4 as u32 }];
    type Exit = Exit;
    type Setup = Setup;

    fn new(_: &Setup) -> Self {
        Self
    }

    fn process(&mut self, frame: &mut Frame, exits: &mut Exits<'_, Exit>, _: &mut Context<'_>) {
        exits.each(frame, |packet| classify(packet).unwrap_or(Exit::Truncated));
    }
}

fn classify(packet: &PacketView<'_>) -> Option<Exit> {
    let header_len = ipv4::Header::new(packet.header())?.header_len();
    let bytes = packet.header().get(header_len..)?;
    let message = icmp4::Header::new(bytes)?;
    if !checksum::is_valid(bytes) {
        return Some(Exit::BadChecksum);
    }
    Some(match message.message_type() {
        message::ECHO_REQUEST => Exit::Echo,
        message::ECHO_REPLY | message::TIMESTAMP_REPLY => Exit::Unasked,
        error if icmp4::is_error(error) => Exit::ErrorMessage,
        _ => Exit::UnknownType,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plumbing::testing::{HOST, US, World};
    use graph::harness::NodeHarness;
    use wire::craft;

    fn exit_of(packet: Vec<u8>) -> String {
        let mut node = NodeHarness::<Icmp4Input>::new(&World::new().setup).unwrap();
        node.run(&[packet], 0, 0).remove(0).exit
    }

    #[test]
    fn messages_are_told_apart_by_type() {
        let types = [(0, "unasked"), (3, "error-message"), (5, "error-message"), (8, "echo")];
        let rare = [(13, "unknown-type"), (14, "unasked"), (77, "unknown-type")];
        for (message_type, exit) in types.into_iter().chain(rare) {
            let packet = craft::ipv4(HOST, US).icmp4(message_type, 0, [0; 4]).build();
            assert_eq!(exit_of(packet), exit, "{message_type}");
        }
    }

    #[test]
    fn the_checksum_covers_the_data_and_not_the_options_of_ip() {
        let echo = craft::ipv4(HOST, US).option(148, &[0, 0]).icmp_echo(1, 2).payload(b"abc");
        let mut packet = echo.build();
        assert_eq!(exit_of(packet.clone()), "echo");
        *packet.last_mut().unwrap() ^= 1;
        assert_eq!(exit_of(packet), "bad-checksum");
    }

    #[test]
    fn seven_octets_are_no_message() {
        let packet = craft::ipv4(HOST, US).protocol(1).payload(&[8, 0, 0xf7, 0xff, 0, 0, 0]);
        assert_eq!(exit_of(packet.build()), "truncated");
    }
}
