//! Packets to our own addresses: to whom inside?
//!
//! ```text
//!  ip4_lookup ─▶ ip4_local ┬▶ whoever attached itself to the protocol (key: the protocol number)
//!                          ├▶ twin_output  the kernel's: TCP, fragments, protocols that nobody here speaks
//!                          ├▶ ip_reassemble  pieces, where there is no twin
//!                          └▶ icmp4_error  nobody did
//! ```
//! RFC 1122 section 3.2.1. Broadcasts do not come here: their routes have a kind of their own.

use crate::local::{Protocols, icmp_cause, twin_output};
use crate::tables::{Interfaces, Setup};
use graph::{Context, ExitIndex, Exits, Node, Published};
use packet::Frame;
use wire::icmp4::{message, unreachable};
use wire::ipv4;

/// See the module.
pub struct Ip4Local {
    interfaces: Published<Interfaces>,
    protocols: Protocols,
}

graph::exits! {
    /// What becomes of a packet for us that nobody takes.
    pub enum Exit {
        /// The interface has a twin, and the packet is the kernel's to answer.
        Twin => node "twin-output" cause twin_output::PACKET,
        /// RFC 1122 section 3.2.2.1: nobody here speaks the protocol.
        UnknownProtocol => answer "icmp4-error"
            "Nothing, where somebody tries what is there; else see who is to have it: a twin is \
            for what Linux answers."
            cause icmp_cause(message::UNREACHABLE, unreachable::PROTOCOL),
        /// A piece of a packet.
        Fragment => node "ip-reassemble",
    }
}

impl Node for Ip4Local {
    const NAME: &'static str = "ip4-local";
    const ABOUT: &'static str = "takes packets to our own addresses";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        let interfaces = setup.shared.interfaces.clone();
        Self { interfaces, protocols: Protocols::new(Exit::UnknownProtocol) }
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
            let exit = match ipv4::Header::new(packet.header()) {
                Some(header) if !header.is_fragment() => {
                    self.protocols.taker(header.protocol(), has_ip_tunnels)
                }
                _ => Exit::Fragment.into(),
            };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::Twin;
    use crate::tables::Link;
    use crate::testing::{HOST, IPIP, IPIP6, US, World};
    use graph::harness::NodeHarness;
    use wire::craft;

    fn exit_of(packet: Vec<u8>) -> String {
        exit_in(&World::new(), packet)
    }

    fn exit_in(world: &World, packet: Vec<u8>) -> String {
        let mut node = NodeHarness::<Ip4Local>::new(&world.setup).unwrap();
        node.attach(6, "tcp");
        node.attach(17, "udp");
        node.run(&[packet], 0, 0).remove(0).exit
    }

    #[test]
    fn packets_go_to_who_attached_to_their_protocol() {
        assert_eq!(exit_of(craft::ipv4(HOST, US).udp(1, 2).build()), "udp");
        assert_eq!(exit_of(craft::ipv4(HOST, US).protocol(132).build()), "unknown-protocol");
    }

    #[test]
    fn packets_in_packets_are_nobodys_while_no_tunnel_takes_them() {
        let inside = |number| craft::ipv4(HOST, US).protocol(number).build();
        let exit_in = |world: &World, number| {
            let mut node = NodeHarness::<Ip4Local>::new(&world.setup).unwrap();
            node.attach(4, "tunnel");
            node.attach(41, "tunnel");
            node.run(&[inside(number)], 0, 0).remove(0).exit
        };
        let mut world = World::new();
        for number in [4, 41] {
            assert_eq!(exit_in(&world, number), "tunnel");
        }
        for id in [IPIP, IPIP6] {
            world.change_interface(id, |row| row.link = Link::Port);
        }
        for number in [4, 41] {
            assert_eq!(exit_in(&world, number), "unknown-protocol");
        }
    }

    #[test]
    fn a_twin_gets_what_nobody_here_answers() {
        let mut world = World::new();
        world.change_interface(0, |row| row.put(Some(Twin)));
        let to_us = || craft::ipv4(HOST, US);
        assert_eq!(exit_in(&world, to_us().tcp(1, 22).build()), "twin");
        assert_eq!(exit_in(&world, to_us().protocol(89).build()), "twin");
        assert_eq!(exit_in(&world, to_us().fragment(0, true).udp(1, 2).build()), "twin");
        assert_eq!(exit_in(&world, to_us().udp(1, 2).build()), "udp");
        assert_eq!(exit_of(to_us().tcp(1, 22).build()), "tcp");
    }

    #[test]
    fn fragments_are_put_together_first() {
        for (offset, more) in [(0, true), (8, true), (8, false)] {
            let fragment = craft::ipv4(HOST, US).fragment(offset, more).udp(1, 2).build();
            assert_eq!(exit_of(fragment), "fragment");
        }
    }
}
