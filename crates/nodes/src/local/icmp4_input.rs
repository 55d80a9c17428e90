//! ICMP messages to ourselves (RFC 1122 section 3.2.2).
//!
//! ```text
//!  ip4_local ─▶ icmp4_input ┬▶ icmp4_echo   somebody asks if we are there
//!                           ├▶ (control thread)  answers and errors of our own echo requests
//!                           ├▶ twin_output  the kernel's: errors, answers, rarer questions
//!                           └▶ drop
//! ```
//! Only echo requests are answered. Errors belong to connections, of which the router has none, but
//! the kernel may; redirects are for hosts (RFC 1812 section 4.3.3.2 lets routers ignore them).

use crate::local::{EchoEar, Heard, read_echo4, twin_output};
use crate::tables::{Interfaces, Setup};
use graph::{Attach, Context, ExitIndex, Exits, Node, Published};
use packet::{Frame, PacketView};
use wire::icmp4::{self, message};
use wire::ip::protocol;
use wire::{checksum, ipv4};

/// See the module.
pub struct Icmp4Input {
    interfaces: Published<Interfaces>,
    ear: EchoEar,
}

graph::exits! {
    /// What becomes of an ICMP message.
    pub enum Exit {
        /// It asks for an echo.
        Echo => node "icmp4-echo",
        /// The interface has a twin, and the message is the kernel's.
        Twin => node "twin-output" cause twin_output::PACKET,
        /// Fewer bytes than an ICMP header.
        Truncated => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// RFC 792: the checksum over the message is wrong.
        BadChecksum => drop "A link or a device on the way damages packets: look at the error \
            counters along it.",
        /// It tells of an error in a packet that we sent.
        ErrorMessage => drop "Something that the router sends does not arrive, a tunnel's packets \
            perhaps: capture some, they name it.",
        /// An answer to a question that we did not ask.
        Unasked => drop "Nothing, if few; many are the echo of an attack with our address as its \
            source.",
        /// RFC 1122 section 3.2.2: a message of unknown type is silently discarded.
        UnknownType => drop "Nothing: nobody needs an answer to it.",
        /// About an echo request of ours, and more of those than the control thread takes.
        SlowPathFull => drop "Ask less often: ping and traceroute take an `--interval`.",
    }
}

impl Node for Icmp4Input {
    const NAME: &'static str = "icmp4-input";
    const ABOUT: &'static str = "reads ICMP messages to ourselves";
    const ATTACH: &'static [Attach] = &[Attach { of: "ip4-local", key: protocol::ICMP4 as u32 }];
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

impl Icmp4Input {
    /// Answers and errors that are about our own echo requests are the control thread's.
    fn ask_ear(&self, exit: Exit, packet: &PacketView<'_>, now_tsc: u64) -> Heard {
        match exit {
            Exit::ErrorMessage | Exit::Unasked => {
                self.ear.hear(packet.rx(), now_tsc, || read_echo4(packet.header()))
            }
            _ => Heard::Other,
        }
    }
}

/// Whether the kernel's twin gets what would take this exit.
fn is_kernels(exit: Exit) -> bool {
    matches!(exit, Exit::ErrorMessage | Exit::Unasked | Exit::UnknownType)
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
    use crate::local::Twin;
    use crate::tables::{EchoSaid, Punt};
    use crate::testing::{HOST, US, World};
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
    fn a_twin_gets_all_sound_messages_but_echo_requests() {
        let mut world = World::new();
        world.change_interface(0, |row| row.put(Some(Twin)));
        let mut node = NodeHarness::<Icmp4Input>::new(&world.setup).unwrap();
        for (message_type, exit) in [(0, "twin"), (3, "twin"), (8, "echo"), (13, "twin")] {
            let packet = craft::ipv4(HOST, US).icmp4(message_type, 0, [0; 4]).build();
            assert_eq!(node.run(&[packet], 0, 0).remove(0).exit, exit, "{message_type}");
        }
        let damaged = craft::ipv4(HOST, US).icmp4(0, 0, [0; 4]).checksum(1).build();
        assert_eq!(node.run(&[damaged], 0, 0).remove(0).exit, "bad-checksum");
    }

    #[test]
    fn what_is_said_of_our_own_echo_requests_is_told_twin_or_not() {
        let mut world = World::new();
        world.change_interface(0, |row| row.put(Some(Twin)));
        assert!(world.setup.shared.echo_ids.take(7));
        let mut node = NodeHarness::<Icmp4Input>::new(&world.setup).unwrap();
        let request = craft::ipv4(US, HOST).icmp_echo(7, 1).build();
        let error = craft::ipv4(HOST, US).icmp4(11, 0, [0; 4]).payload(&request).build();
        let reply = |id| craft::ipv4(HOST, US).icmp_echo_reply(id, 1).build();
        let out = node.run(&[error, reply(7), reply(8)], 0, 0);
        let exits: Vec<_> = out.iter().map(|out| out.exit.as_str()).collect();
        assert_eq!(exits, ["taken", "taken", "twin"]);
        let said = world.all_punts().into_iter().map(|punt| match punt {
            Punt::Echo(heard) => heard.said,
            other => panic!("{other:?}"),
        });
        let error = EchoSaid::Error { cause: 0x0b00, rest: 0 };
        assert_eq!(said.collect::<Vec<_>>(), [error, EchoSaid::Reply { bytes: 8 }]);
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
