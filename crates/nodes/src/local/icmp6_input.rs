//! ICMPv6 messages to ourselves (RFC 4443).
//!
//! ```text
//!  ip6_local ─▶ icmp6_input ┬▶ icmp6_echo   somebody asks if we are there
//!                           ├▶ nd_input     neighbour discovery
//!                           ├▶ mld_input    a question for listeners
//!                           ├▶ (control thread)  answers and errors of our own echo requests
//!                           ├▶ twin_output  the kernel's: errors, answers, MLD
//!                           └▶ drop
//! ```
//! Errors belong to connections, of which the router has none, but the kernel may.

use crate::local::{EchoEar, Heard, ip6_local::upper_layer, read_echo6, twin_output};
use crate::tables::{Interfaces, Setup};
use graph::{Attach, Context, ExitIndex, Exits, Node, Published};
use packet::{Frame, PacketView};
use wire::icmp6::{self, message};
use wire::ip::protocol;

/// See the module.
pub struct Icmp6Input {
    interfaces: Published<Interfaces>,
    ear: EchoEar,
}

graph::exits! {
    /// What becomes of an ICMPv6 message.
    pub enum Exit {
        /// It asks for an echo.
        Echo => node "icmp6-echo",
        /// It is about who is where on the link.
        Neighbor => node "nd-input",
        /// RFC 3810: it asks which groups we listen to.
        Listeners => node "mld-input",
        /// The interface has a twin, and the message is the kernel's.
        Twin => node "twin-output" cause twin_output::PACKET,
        /// Fewer bytes than an ICMPv6 header.
        Truncated => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// RFC 4443 section 2.3: the checksum over pseudo header and message is wrong.
        BadChecksum => drop "A link or a device on the way damages packets: look at the error \
            counters along it.",
        /// It tells of an error in a packet that we sent.
        ErrorMessage => drop "Something that the router sends does not arrive, a tunnel's packets \
            perhaps: capture some, they name it.",
        /// An answer to a question that we did not ask.
        Unasked => drop "Nothing, if few; many are the echo of an attack with our address as its \
            source.",
        /// Others listen to groups (RFC 3810): groups are not routed.
        MulticastListener => drop "Nothing: hosts tell switches which groups they want.",
        /// RFC 4443 section 2.4 (b): a message of unknown type is silently discarded.
        UnknownType => drop "Nothing: nobody needs an answer to it.",
        /// About an echo request of ours, and more of those than the control thread takes.
        SlowPathFull => drop "Ask less often: ping and traceroute take an `--interval`.",
    }
}

impl Node for Icmp6Input {
    const NAME: &'static str = "icmp6-input";
    const ABOUT: &'static str = "reads ICMPv6 messages to ourselves";
    const ATTACH: &'static [Attach] = &[Attach { of: "ip6-local", key: protocol::ICMP6 as u32 }];
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self { interfaces: setup.shared.interfaces.clone(), ear: EchoEar::new(setup) }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        exits.each(frame, |packet| {
            let exit = classify(packet).unwrap_or(Exit::Truncated);
            match self.ask_ear(exit, packet, context.now_tsc) {
                Heard::Told => {
                    packet.release(context.cache);
                    return ExitIndex::TAKEN;
                }
                Heard::Lost => return Exit::SlowPathFull.into(),
                Heard::Other => {}
            }
            match exit {
                exit if is_kernels(exit) && interfaces.has_twin(packet.rx()) => Exit::Twin.into(),
                exit => exit.into(),
            }
        });
    }
}

impl Icmp6Input {
    /// Answers and errors that are about our own echo requests are the control thread's.
    fn ask_ear(&self, exit: Exit, packet: &PacketView<'_>, now_tsc: u64) -> Heard {
        match exit {
            Exit::ErrorMessage | Exit::Unasked => self.ear.hear(packet.rx(), now_tsc, || {
                read_echo6(packet.header(), packet.adjacency() as usize)
            }),
            _ => Heard::Other,
        }
    }
}

/// Whether the kernel's twin gets what would take this exit.
fn is_kernels(exit: Exit) -> bool {
    let answered = matches!(exit, Exit::ErrorMessage | Exit::Unasked | Exit::UnknownType);
    answered || matches!(exit, Exit::Listeners | Exit::MulticastListener)
}

fn classify(packet: &PacketView<'_>) -> Option<Exit> {
    let (header, bytes) = upper_layer(packet)?;
    let message = icmp6::Header::new(bytes)?;
    if icmp6::Header::parse(bytes, header.source(), header.destination()).is_err() {
        return Some(Exit::BadChecksum);
    }
    Some(match message.message_type() {
        message::ECHO_REQUEST => Exit::Echo,
        message::ROUTER_SOLICITATION..=message::REDIRECT => Exit::Neighbor,
        message::ECHO_REPLY => Exit::Unasked,
        message::MLD_QUERY => Exit::Listeners,
        message::MLD_REPORT | message::MLD_DONE | message::MLD2_REPORT => Exit::MulticastListener,
        error if icmp6::is_error(error) => Exit::ErrorMessage,
        _ => Exit::UnknownType,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::Twin;
    use crate::tables::{EchoSaid, Punt};
    use crate::testing::{HOST6, US6, World};
    use graph::harness::NodeHarness;
    use wire::craft;

    fn exit_at(packet: Vec<u8>, upper: u32) -> String {
        let mut node = NodeHarness::<Icmp6Input>::new(&World::new().setup).unwrap();
        let by = |frame: &mut Frame| frame.adjacencies_mut().fill(upper);
        node.run_prepared(&[packet], 0, 0, by).remove(0).exit
    }

    #[test]
    fn messages_are_told_apart_by_type() {
        for (message_type, exit) in [
            (1, "error-message"),
            (2, "error-message"),
            (127, "error-message"),
            (128, "echo"),
            (129, "unasked"),
            (130, "listeners"),
            (131, "multicast-listener"),
            (133, "neighbor"),
            (137, "neighbor"),
            (143, "multicast-listener"),
            (200, "unknown-type"),
        ] {
            let packet = craft::ipv6(HOST6, US6).icmp6(message_type, 0, [0; 4]).build();
            assert_eq!(exit_at(packet, 40), exit, "{message_type}");
        }
    }

    #[test]
    fn a_twin_gets_what_is_neither_echo_request_nor_neighbour_discovery() {
        let mut world = World::new();
        world.change_interface(0, |row| row.put(Some(Twin)));
        let mut node = NodeHarness::<Icmp6Input>::new(&world.setup).unwrap();
        for (message_type, exit) in
            [(2, "twin"), (128, "echo"), (129, "twin"), (130, "twin"), (135, "neighbor")]
        {
            let packet = craft::ipv6(HOST6, US6).icmp6(message_type, 0, [0; 4]).build();
            let by = |frame: &mut Frame| frame.adjacencies_mut().fill(40);
            assert_eq!(node.run_prepared(&[packet], 0, 0, by).remove(0).exit, exit);
        }
    }

    #[test]
    fn what_is_said_of_our_own_echo_requests_is_told_twin_or_not() {
        let mut world = World::new();
        world.change_interface(0, |row| row.put(Some(Twin)));
        assert!(world.setup.shared.echo_ids.take(7));
        let mut node = NodeHarness::<Icmp6Input>::new(&world.setup).unwrap();
        let request = craft::ipv6(US6, HOST6).icmp_echo(7, 1).build();
        let error = craft::ipv6(HOST6, US6).icmp6(3, 0, [0; 4]).payload(&request).build();
        let reply = |id| craft::ipv6(HOST6, US6).icmp_echo_reply(id, 1).build();
        let by = |frame: &mut Frame| frame.adjacencies_mut().fill(40);
        let out = node.run_prepared(&[error, reply(7), reply(8)], 0, 0, by);
        let exits: Vec<_> = out.iter().map(|out| out.exit.as_str()).collect();
        assert_eq!(exits, ["taken", "taken", "twin"]);
        let said = world.all_punts().into_iter().map(|punt| match punt {
            Punt::Echo(heard) => heard.said,
            other => panic!("{other:?}"),
        });
        let error = EchoSaid::Error { cause: 0x0300, rest: 0 };
        assert_eq!(said.collect::<Vec<_>>(), [error, EchoSaid::Reply { bytes: 8 }]);
    }

    #[test]
    fn the_checksum_covers_addresses_and_data_and_not_extension_headers() {
        let echo = craft::ipv6(HOST6, US6).destination_options(&[1, 2, 0, 0]);
        let mut packet = echo.icmp6(128, 0, [0; 4]).payload(b"abc").build();
        assert_eq!(exit_at(packet.clone(), 48), "echo");
        *packet.last_mut().unwrap() ^= 1;
        assert_eq!(exit_at(packet.clone(), 48), "bad-checksum");
        *packet.last_mut().unwrap() ^= 1;
        packet[23] ^= 1;
        assert_eq!(exit_at(packet, 48), "bad-checksum");
    }

    #[test]
    fn seven_octets_are_no_message() {
        let packet = craft::ipv6(HOST6, US6).next_header(58).payload(&[128, 0, 0, 0, 0, 0, 0]);
        assert_eq!(exit_at(packet.build(), 40), "truncated");
    }
}
