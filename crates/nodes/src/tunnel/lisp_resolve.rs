//! Hands packets whose endpoint nobody knows yet to the control thread, which asks for it.
//!
//! ```text
//!  lisp_encap ─▶ lisp_resolve ─▶ control thread ─▶ inject ─▶ lisp_encap    the locators are known
//! ```

use crate::tables::{EidWanted, Punt, RateLimits, Setup, SlowPath};
use fib::ecmp::flow_hash;
use graph::{Context, ExitIndex, Exits, Node};
use packet::{Frame, PacketView};
use std::net::IpAddr;
use wire::{ip, ipv4, ipv6};

/// Packets told a second and worker, to endpoints that are alike.
const PACKETS_PER_SECOND: u32 = 20;
/// Kinds of endpoints that are told apart, so that a flood to some leaves others asked for.
const KINDS: usize = 1024;

/// See the module.
pub struct LispResolve {
    slow_path: SlowPath,
    limits: RateLimits,
}

graph::exits! {
    /// What becomes of a packet that cannot wait.
    pub enum Exit {
        /// The control thread has as many packets as it takes.
        QueueFull => drop "Somebody sends to many endpoints that nobody knows, a scan perhaps.",
        /// More packets to one endpoint than are needed to ask for it.
        AskedAlready => drop "Nothing, if it ends: the first packets to a new endpoint only. Else \
            nobody answers: `volley show lisp`.",
        /// No IP packet.
        NoPacket => drop "The sender, or a device on the way, makes wrong packets: capture some and \
            look who it is.",
    }
}

impl Node for LispResolve {
    const NAME: &'static str = "lisp-resolve";
    const ABOUT: &'static str = "lets packets wait for their endpoint's locators";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        let slow_path = setup.shared.slow_path.clone();
        Self { slow_path, limits: RateLimits::new(KINDS, PACKETS_PER_SECOND) }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        for slot in 0..frame.len() {
            let exit = self.hand_over(frame.view(slot), context.now_tsc);
            exits.set(slot, exit);
        }
    }
}

impl LispResolve {
    fn hand_over(&mut self, mut packet: PacketView<'_>, now_tsc: u64) -> ExitIndex {
        let Some(endpoint) = destination(packet.header()) else { return Exit::NoPacket.into() };
        let interface = packet.tx();
        let kind = alike(endpoint) ^ usize::from(interface);
        if !self.limits.take(kind, now_tsc) {
            return Exit::AskedAlready.into();
        }
        let Some(held) = packet.take() else { return Exit::QueueFull.into() };
        let punt = EidWanted { interface, endpoint, packet: Some(held) };
        match self.slow_path.tell(Punt::EidWanted(punt)) {
            Ok(()) => ExitIndex::TAKEN,
            Err(punt) => {
                punt.into_packet().into_iter().for_each(|held| packet.put_back(held));
                Exit::QueueFull.into()
            }
        }
    }
}

/// A number for endpoints that are alike.
pub(super) fn alike(endpoint: IpAddr) -> usize {
    let word = match endpoint {
        IpAddr::V4(endpoint) => u128::from(u32::from(endpoint)),
        IpAddr::V6(endpoint) => endpoint.into(),
    };
    flow_hash(0, word, 0, 0, 0) as usize
}

fn destination(packet: &[u8]) -> Option<IpAddr> {
    Some(match ip::version(packet) {
        6 => ipv6::Header::new(packet)?.destination_addr().into(),
        _ => ipv4::Header::new(packet)?.destination_addr().into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{HOST, HOST6, QUEUE, World};
    use graph::harness::NodeHarness;
    use wire::craft;

    fn run(world: &World, packets: &[Vec<u8>]) -> Vec<String> {
        let mut node = NodeHarness::<LispResolve>::new(&world.setup).unwrap();
        let out = node.run_prepared(packets, 0, 0, |frame| frame.tx_mut().fill(5));
        out.into_iter().map(|out| out.exit).collect()
    }

    #[test]
    fn a_packet_waits_for_its_endpoint() {
        let world = World::new();
        let four = craft::ipv4(HOST, [10, 9, 0, 1]).udp(1, 2).build();
        let six = craft::ipv6(HOST6, 9).udp(1, 2).build();
        assert_eq!(run(&world, &[four.clone(), six.clone()]), ["taken", "taken"]);
        let told = world.all_punts().into_iter().map(|punt| match punt {
            Punt::EidWanted(EidWanted { interface, endpoint, packet }) => {
                (interface, endpoint.to_string(), packet.unwrap().bytes().to_vec())
            }
            other => panic!("{other:?}"),
        });
        let told: Vec<_> = told.collect();
        assert_eq!(told, [(5, "10.9.0.1".to_owned(), four), (5, "::9".to_owned(), six)]);
    }

    #[test]
    fn what_is_no_packet_asks_for_nobody() {
        let world = World::new();
        let cut = craft::ipv4(HOST, [10, 9, 0, 1]).build()[..19].to_vec();
        assert_eq!(run(&world, &[cut]), ["no-packet"]);
        assert_eq!(world.all_punts().len(), 0);
    }

    #[test]
    fn a_full_queue_drops_what_it_does_not_take() {
        let to = |last| craft::ipv4(HOST, [10, 9, 0, last]).udp(1, 2).build();
        let packets: Vec<_> = (0..QUEUE as u8 + 1).map(to).collect();
        assert_eq!(run(&World::new(), &packets)[QUEUE - 1..], ["taken", "queue-full"]);
    }

    #[test]
    fn a_flood_to_one_endpoint_leaves_another_asked_for() {
        let world = World::new();
        let to = |last| craft::ipv4(HOST, [10, 9, 0, last]).udp(1, 2).build();
        let mut node = NodeHarness::<LispResolve>::new(&world.setup).unwrap();
        let mut exits = Vec::new();
        for last in std::iter::repeat_n(1, 40).chain([2]) {
            exits.extend(node.run(&[to(last)], 0, 0).into_iter().map(|out| out.exit));
            world.all_punts();
        }
        assert_eq!(exits[19..21], ["taken", "asked-already"]);
        assert_eq!(exits[40], "taken");
    }
}
