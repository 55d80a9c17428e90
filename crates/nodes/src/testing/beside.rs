//! One packet, alone and beside another: nodes take vectors that are all alike by a shorter way.

use super::World;
use crate::tables::Setup;
use fib::adjacency::AdjacencyId;
use graph::Node;
use graph::harness::{NodeHarness, Outcome};

/// What becomes of a packet to a next hop, which is what becomes of it beside one to `another`. The
/// next hop was used if it left.
pub(crate) fn alone_and_beside<N: Node<Setup = Setup>>(
    packet: &[u8],
    adjacency: u32,
    another: u32,
) -> Outcome {
    let sent = |others: &[u32]| {
        let world = World::new();
        let mut node = NodeHarness::<N>::new(&world.setup).unwrap();
        let packets = vec![packet.to_vec(); 1 + others.len()];
        let mut out = node.run_prepared(&packets, 0, 0, |frame| {
            frame.adjacencies_mut().fill(adjacency);
            frame.adjacencies_mut()[1..].copy_from_slice(others);
        });
        let was_used = world.setup.shared.adjacencies.take_used(AdjacencyId(adjacency));
        let out = out.remove(0);
        assert_eq!(was_used, out.exit == "output");
        out
    };
    let (alone, beside) = (sent(&[]), sent(&[another]));
    assert_eq!(alone, beside);
    alone
}
