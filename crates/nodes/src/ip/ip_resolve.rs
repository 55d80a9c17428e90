//! Hands packets whose next hop's MAC is not known to the control thread, which asks for it.
//!
//! ```text
//!  ip4_lookup,  ip6_lookup, ip6_link ─▶ ip_resolve    the destination itself is the next hop
//!  ip4_rewrite, ip6_rewrite          ─▶     │         an adjacency that is not complete
//!                                           ▼
//!                                     control thread ─▶ inject    the MAC is known, or nobody answered
//! ```
//! One node for both families: packets of both wait in the same way.

use crate::tables::{Punt, Setup, SlowPath, Unresolved};
use fib::adjacency::{AdjacencyEntry, AdjacencyId, AdjacencyState, AdjacencyTable};
use graph::{Context, ExitIndex, Exits, Node};
use packet::{Frame, PacketView};
use std::net::IpAddr;
use std::sync::Arc;
use wire::{ip, ipv4, ipv6};

/// Cause: the packet's adjacency is the number of the interface that its destination is behind.
pub const INTERFACE: u16 = 1;
/// Cause: the packet's adjacency is one.
pub const ADJACENCY: u16 = 2;

/// See the module.
pub struct IpResolve {
    slow_path: SlowPath,
    adjacencies: Arc<AdjacencyTable>,
}

graph::exits! {
    /// What becomes of a packet that cannot wait.
    pub enum Exit {
        /// The control thread has as many packets as it takes.
        QueueFull => drop "Somebody sends to many neighbours that do not answer, a scan perhaps: \
            `volley show neighbor-shares` tells behind which port.",
        /// The adjacency was removed while the packet was under way.
        AdjacencyGone => drop "Nothing, if it ends: the configuration changed just then.",
    }
}

impl Node for IpResolve {
    const NAME: &'static str = "ip-resolve";
    const ABOUT: &'static str = "lets packets wait for their next hop's MAC";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        let slow_path = setup.shared.slow_path.clone();
        Self { slow_path, adjacencies: Arc::clone(&setup.shared.adjacencies) }
    }

    fn process(&mut self, frame: &mut Frame, exits: &mut Exits<'_, Exit>, _: &mut Context<'_>) {
        for slot in 0..frame.len() {
            let exit = self.hand_over(frame.view(slot));
            exits.set(slot, exit);
        }
    }
}

impl IpResolve {
    fn hand_over(&self, mut packet: PacketView<'_>) -> ExitIndex {
        let Some((adjacency, next_hop, interface)) = self.next_hop(&packet) else {
            return Exit::AdjacencyGone.into();
        };
        let Some(held) = packet.take() else { return Exit::QueueFull.into() };
        let punt = Unresolved { adjacency, next_hop, interface, packet: held };
        match self.slow_path.tell(Punt::Unresolved(punt)) {
            Ok(()) => ExitIndex::TAKEN,
            Err(punt) => {
                punt.into_packet().into_iter().for_each(|held| packet.put_back(held));
                Exit::QueueFull.into()
            }
        }
    }

    /// The adjacency, if there is one yet, the next hop, and the interface it is behind.
    fn next_hop(&self, packet: &PacketView<'_>) -> Option<(Option<u32>, IpAddr, u16)> {
        let id = packet.adjacency();
        if packet.cause() == INTERFACE {
            return Some((None, destination(packet.header())?, id as u16));
        }
        let is_live = |entry: &&AdjacencyEntry| entry.fields().state() != AdjacencyState::Free;
        let entry = self.adjacencies.entry(AdjacencyId(id)).filter(is_live)?;
        Some((Some(id), entry.next_hop(), entry.fields().interface()))
    }
}

/// The destination of a packet of either family, whose header was checked before.
fn destination(packet: &[u8]) -> Option<IpAddr> {
    Some(if ip::version(packet) == 6 {
        ipv6::Header::new(packet)?.destination_addr().into()
    } else {
        ipv4::Header::new(packet)?.destination_addr().into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{FAR, FAR6, HOST, HOST6, INCOMPLETE, OVER_IPIP6, QUEUE, World};
    use graph::harness::NodeHarness;
    use wire::craft;

    /// Adjacency, next hop, interface, length of the packet.
    type Waiting = (Option<u32>, IpAddr, u16, usize);

    /// Exits, and what waits.
    fn run(count: usize, cause: u16, id: u32) -> (Vec<String>, Vec<Waiting>) {
        run_with(craft::ipv4(HOST, FAR).udp(1, 2).build(), count, cause, id)
    }

    fn run_with(packet: Vec<u8>, count: usize, cause: u16, id: u32) -> (Vec<String>, Vec<Waiting>) {
        let world = World::new();
        let mut node = NodeHarness::<IpResolve>::new(&world.setup).unwrap();
        let out = node.run_prepared(&vec![packet; count], 0, 0, |frame| {
            frame.fill_cause(0, cause);
            frame.adjacencies_mut().fill(id);
        });
        let punts = world.all_punts().into_iter().map(|punt| match punt {
            Punt::Unresolved(Unresolved { adjacency, next_hop, interface, packet }) => {
                (adjacency, next_hop, interface, packet.bytes().len())
            }
            other => panic!("{other:?}"),
        });
        (out.into_iter().map(|out| out.exit).collect(), punts.collect())
    }

    #[test]
    fn a_packet_to_a_connected_subnet_waits_for_its_destination() {
        let (exits, punts) = run(1, INTERFACE, 1);
        assert_eq!(exits, ["taken"]);
        assert_eq!(punts, [(None, FAR.into(), 1, 28)]);
    }

    #[test]
    fn an_ipv6_packet_waits_for_its_destination_as_well() {
        let packet = craft::ipv6(HOST6, FAR6).udp(1, 2).build();
        let (_, punts) = run_with(packet, 1, INTERFACE, 1);
        assert_eq!(punts, [(None, FAR6.into(), 1, 48)]);
    }

    #[test]
    fn a_packet_to_an_incomplete_adjacency_waits_for_its_next_hop() {
        let (_, punts) = run(1, ADJACENCY, INCOMPLETE);
        assert_eq!(punts, [(Some(INCOMPLETE), [198, 51, 100, 3].into(), 1, 28)]);
    }

    #[test]
    fn an_adjacency_that_is_gone_is_waited_for_by_nobody() {
        for gone in [OVER_IPIP6 + 1, 9999] {
            assert_eq!(run(1, ADJACENCY, gone), (vec!["adjacency-gone".to_owned()], vec![]));
        }
    }

    #[test]
    fn a_full_queue_drops_what_it_does_not_take() {
        let (exits, punts) = run(QUEUE + 2, INTERFACE, 1);
        assert_eq!((exits[QUEUE - 1].as_str(), punts.len()), ("taken", QUEUE));
        assert_eq!(exits[QUEUE..], ["queue-full", "queue-full"]);
    }
}
