//! Hands packets whose next hop's MAC is not known to the control thread, which asks for it.
//!
//! ```text
//!  ip4_lookup  ─▶ ip4_resolve    a connected subnet: the destination is the next hop
//!  ip4_rewrite ─▶     │          an adjacency that is not complete
//!                     ▼
//!               control thread ─▶ inject     once the MAC is known, or nobody has answered
//! ```

use crate::plumbing::{Setup, SlowPath, SlowPathNews};
use fib::adjacency::{AdjacencyEntry, AdjacencyId, AdjacencyState, AdjacencyTable};
use graph::{Context, ExitIndex, Exits, Node};
use packet::{Frame, PacketView};
use std::net::IpAddr;
use std::sync::Arc;
use wire::ipv4;

/// Cause: the packet's adjacency is the number of the interface that its destination is behind.
pub const INTERFACE: u16 = 1;
/// Cause: the packet's adjacency is one.
pub const ADJACENCY: u16 = 2;

/// See the module.
pub struct Ip4Resolve {
    slow_path: SlowPath,
    adjacencies: Arc<AdjacencyTable>,
}

graph::exits! {
    /// What becomes of a packet that cannot wait.
    pub enum Exit {
        /// The control thread has as many packets as it takes.
        QueueFull => drop,
        /// The adjacency was removed while the packet was under way.
        AdjacencyGone => drop,
    }
}

impl Node for Ip4Resolve {
    const NAME: &'static str = "ip4-resolve";
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

impl Ip4Resolve {
    fn hand_over(&self, packet: PacketView<'_>) -> ExitIndex {
        let Some((adjacency, next_hop, interface)) = self.next_hop(&packet) else {
            return Exit::AdjacencyGone.into();
        };
        let packet = packet.take();
        let news = SlowPathNews::Unresolved { adjacency, next_hop, interface, packet };
        match self.slow_path.tell(news) {
            Ok(()) => ExitIndex::TAKEN,
            Err(_) => Exit::QueueFull.into(),
        }
    }

    /// The adjacency, if there is one yet, the next hop, and the interface it is behind.
    fn next_hop(&self, packet: &PacketView<'_>) -> Option<(Option<u32>, u32, u16)> {
        let id = packet.adjacency();
        if packet.cause() == INTERFACE {
            let destination = ipv4::Header::new(packet.header())?.destination();
            return Some((None, destination, id as u16));
        }
        let is_live = |entry: &&AdjacencyEntry| entry.fields().state() != AdjacencyState::Free;
        let entry = self.adjacencies.entry(AdjacencyId(id)).filter(is_live)?;
        match entry.next_hop() {
            IpAddr::V4(next_hop) => {
                Some((Some(id), next_hop.to_bits(), entry.fields().interface()))
            }
            IpAddr::V6(_) => None,
        }
    }
}
