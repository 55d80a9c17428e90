//! Packets to our own addresses: to whom inside?
//!
//! ```text
//!  ip4_lookup ─▶ ip4_local ┬▶ whoever attached itself to the protocol (key: the protocol number)
//!                          └▶ icmp4_error  nobody did
//! ```
//! RFC 1122 section 3.2.1. Broadcasts do not come here: their routes have a kind of their own.

use crate::plumbing::{Setup, icmp_cause};
use graph::{Context, ExitIndex, Exits, Node};
use packet::Frame;
use wire::icmp4::{message, unreachable};
use wire::ipv4;

/// See the module.
pub struct Ip4Local {
    by_protocol: [ExitIndex; 256],
}

graph::exits! {
    /// What becomes of a packet for us that nobody takes.
    pub enum Exit {
        /// RFC 1122 section 3.2.2.1: nobody here speaks the protocol.
        UnknownProtocol => node "icmp4-error" cause icmp_cause(message::UNREACHABLE, unreachable::PROTOCOL),
        /// A piece of a packet: the router does not put packets to itself together.
        Fragment => drop,
    }
}

impl Node for Ip4Local {
    const NAME: &'static str = "ip4-local";
    const ABOUT: &'static str = "takes packets to our own addresses";
    type Exit = Exit;
    type Setup = Setup;

    fn new(_: &Setup) -> Self {
        Self { by_protocol: [Exit::UnknownProtocol.into(); 256] }
    }

    fn attach(&mut self, key: u32, exit: ExitIndex) {
        if let Some(place) = self.by_protocol.get_mut(key as usize) {
            *place = exit;
        }
    }

    fn process(&mut self, frame: &mut Frame, exits: &mut Exits<'_, Exit>, _: &mut Context<'_>) {
        exits.each(frame, |packet| match ipv4::Header::new(packet.header()) {
            Some(header) if !header.is_fragment() => {
                self.by_protocol[usize::from(header.protocol())]
            }
            _ => Exit::Fragment.into(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plumbing::testing::{HOST, US, World};
    use graph::harness::NodeHarness;
    use wire::craft;

    fn exit_of(packet: Vec<u8>) -> String {
        let mut node = NodeHarness::<Ip4Local>::new(&World::new().setup).unwrap();
        node.attach(17, "udp");
        node.run(&[packet], 0, 0).remove(0).exit
    }

    #[test]
    fn packets_go_to_who_attached_to_their_protocol() {
        assert_eq!(exit_of(craft::ipv4(HOST, US).udp(1, 2).build()), "udp");
        assert_eq!(exit_of(craft::ipv4(HOST, US).protocol(132).build()), "unknown-protocol");
    }

    #[test]
    fn fragments_are_not_put_together() {
        for (offset, more) in [(0, true), (8, true), (8, false)] {
            let fragment = craft::ipv4(HOST, US).fragment(offset, more).udp(1, 2).build();
            assert_eq!(exit_of(fragment), "fragment");
        }
    }
}
