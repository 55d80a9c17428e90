//! One packet, alone and beside another: nodes take vectors that are all alike by a shorter way.

use super::World;
use crate::tables::Setup;
use fib::adjacency::AdjacencyId;
use graph::Node;
use graph::harness::{NodeHarness, Outcome};

/// Octets of the link header that a packet came with, which is in front of it still.
const LINK: usize = 14;

/// What becomes of a packet to a next hop, which is what becomes of it beside one to `another`, and
/// behind the link header that it came with. The next hop was used if it left.
pub(crate) fn alone_and_beside<N: Node<Setup = Setup>>(
    packet: &[u8],
    adjacency: u32,
    another: u32,
) -> Outcome {
    let sent = |in_front: usize, others: &[u32]| {
        let world = World::new();
        let mut node = NodeHarness::<N>::new(&world.setup).unwrap();
        let packets = vec![[&vec![9; in_front], packet].concat(); 1 + others.len()];
        let mut out = node.run_prepared(&packets, 0, in_front, |frame| {
            frame.adjacencies_mut().fill(adjacency);
            frame.adjacencies_mut()[1..].copy_from_slice(others);
        });
        let was_used = world.setup.shared.adjacencies.take_used(AdjacencyId(adjacency));
        let out = out.remove(0);
        assert_eq!(was_used, out.exit == "output");
        out
    };
    let alone = sent(0, &[]);
    assert_eq!(alone, sent(0, &[another]));
    let behind = sent(LINK, &[]);
    assert_eq!(behind, sent(LINK, &[another]));
    assert_eq!((&behind.exit, &behind.header), (&alone.exit, &alone.header));
    assert_eq!(behind.whole.len(), packet.len() + LINK);
    alone
}

/// Packets to one next hop, of which some do not leave, fare as each does alone.
pub(crate) fn fare_as_alone<N: Node<Setup = Setup>>(packets: &[Vec<u8>], adjacency: u32) {
    let world = World::new();
    for in_front in [0, LINK] {
        let packets: Vec<_> =
            packets.iter().map(|packet| [&vec![9; in_front], &packet[..]].concat()).collect();
        let sent = |packets: &[Vec<u8>]| {
            let mut node = NodeHarness::<N>::new(&world.setup).unwrap();
            let to = |frame: &mut packet::Frame| frame.adjacencies_mut().fill(adjacency);
            node.run_prepared(packets, 0, in_front, to)
        };
        let alone: Vec<_> =
            packets.iter().flat_map(|packet| sent(std::slice::from_ref(packet))).collect();
        assert_eq!(sent(&packets), alone);
    }
}
