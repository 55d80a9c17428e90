//! Hands messages of LISP's control plane to the control thread (RFC 9301).
//!
//! ```text
//!  udp4_local, udp6_local ─▶ lisp_control ┬▶ control thread
//!                                         ├▶ twin_output, icmp4_error, icmp6_error   there is no LISP here
//!                                         └▶ drop
//! ```

use super::lisp_off::{Off, refusals};
use super::lisp_resolve::alike;
use crate::tables::{Interfaces, Lisp, LispSaid, Punt, RateLimits, Setup, SlowPath};
use graph::{Attach, Context, ExitIndex, Exits, Node, Published};
use packet::{Frame, PacketView};
use std::net::IpAddr;
use wire::{ip, ipv4, ipv6, udp};

/// Messages told a second and worker, of sources that are alike: a map server hears many.
const MESSAGES_PER_SECOND: u32 = 200;
/// Kinds of sources that are told apart, so that a flood from some leaves others heard.
const SOURCES: usize = 1024;

/// See the module.
pub struct LispControl {
    interfaces: Published<Interfaces>,
    lisp: Published<Lisp>,
    slow_path: SlowPath,
    limits: RateLimits,
}

refusals! {
    /// What becomes of a message that is not heard.
    pub enum Exit {
        /// The control thread has as many messages as it takes.
        QueueFull => drop "Capture some, and look who sends so many messages.",
        /// A source says more than is listened to.
        TooMany => drop "Capture some, and look who sends so many messages.",
    }
}

impl Node for LispControl {
    const NAME: &'static str = "lisp-control";
    const ABOUT: &'static str = "takes messages about who is where";
    const ATTACH: &'static [Attach] = &[
        Attach { of: "udp4-local", key: udp::port::LISP_CONTROL as u32 },
        Attach { of: "udp6-local", key: udp::port::LISP_CONTROL as u32 },
    ];
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            lisp: setup.shared.lisp.clone(),
            slow_path: setup.shared.slow_path.clone(),
            limits: RateLimits::new(SOURCES, MESSAGES_PER_SECOND),
        }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let (interfaces, hears) = (self.interfaces.get(context), self.lisp.get(context).hears());
        for slot in 0..frame.len() {
            let packet = frame.view(slot);
            let exit = match hears {
                true => hand_over(&self.slow_path, &mut self.limits, packet, context.now_tsc),
                false => Exit::from(Off::of(&packet, interfaces)).into(),
            };
            exits.set(slot, exit);
        }
    }
}

fn hand_over(
    slow_path: &SlowPath,
    limits: &mut RateLimits,
    mut packet: PacketView<'_>,
    now_tsc: u64,
) -> ExitIndex {
    if !limits.take(source(packet.header()).map_or(0, alike), now_tsc) {
        return Exit::TooMany.into();
    }
    let upper = match ip::version(packet.header()) {
        6 => packet.adjacency() as usize,
        _ => ipv4::Header::new(packet.header()).map_or(0, |header| header.header_len()),
    };
    let interface = packet.rx();
    let Some(held) = packet.take() else { return Exit::QueueFull.into() };
    match slow_path.tell(Punt::LispSaid(LispSaid { interface, upper, packet: held })) {
        Ok(()) => ExitIndex::TAKEN,
        Err(punt) => {
            punt.into_packet().into_iter().for_each(|held| packet.put_back(held));
            Exit::QueueFull.into()
        }
    }
}

/// The network that a packet is from (/24, /64).
fn source(packet: &[u8]) -> Option<IpAddr> {
    Some(match ip::version(packet) {
        6 => IpAddr::V6((ipv6::Header::new(packet)?.source() >> 64 << 64).into()),
        _ => IpAddr::V4((ipv4::Header::new(packet)?.source() & 0xffff_ff00).into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::Twin;
    use crate::testing::{HOST, HOST6, US, US6, World};
    use graph::harness::NodeHarness;
    use wire::craft;

    fn exit_of(world: &World, packet: Vec<u8>, upper: u32) -> String {
        let mut node = NodeHarness::<LispControl>::new(&world.setup).unwrap();
        let by = |frame: &mut Frame| frame.adjacencies_mut().fill(upper);
        node.run_prepared(&[packet], 0, 0, by).remove(0).exit
    }

    #[test]
    fn a_message_is_told_with_where_its_datagram_begins() {
        let mut world = World::new();
        world.add_lisp();
        let four = craft::ipv4(HOST, US).udp(9, 4342).payload(b"abc").build();
        let six = craft::ipv6(HOST6, US6).udp(9, 4342).payload(b"def").build();
        assert_eq!(exit_of(&world, four, 0), "taken");
        assert_eq!(exit_of(&world, six, 40), "taken");
        let told = world.all_punts().into_iter().map(|punt| match punt {
            Punt::LispSaid(LispSaid { interface: 0, upper, packet }) => {
                packet.bytes()[upper + 8..].to_vec()
            }
            other => panic!("{other:?}"),
        });
        assert!(told.eq([b"abc".to_vec(), b"def".to_vec()]));
    }

    #[test]
    fn without_lisp_the_port_is_nobodys_or_the_kernels() {
        let mut world = World::new();
        let four = || craft::ipv4(HOST, US).udp(9, 4342).build();
        let six = || craft::ipv6(HOST6, US6).udp(9, 4342).build();
        assert_eq!(exit_of(&world, four(), 0), "unreachable4");
        assert_eq!(exit_of(&world, six(), 40), "unreachable6");
        world.change_interface(0, |row| row.put(Some(Twin)));
        assert_eq!(exit_of(&world, four(), 0), "twin");
        assert_eq!(exit_of(&world, six(), 40), "twin");
    }
}
