//! Counting by next hop, for the two nodes that packets leave by.
//!
//! What leads to a next hop, routes and groups, shares its adjacency, and that is all that a lookup
//! finds: so it is next hops that are counted, not routes.

use crate::tables::{NextHopCounters, Setup};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether to count, and where.
pub struct NextHopCount {
    is_on: Arc<AtomicBool>,
    counters: Arc<NextHopCounters>,
}

impl NextHopCount {
    /// This worker's.
    pub fn new(setup: &Setup) -> Self {
        let is_on = Arc::clone(&setup.shared.counts_next_hops);
        Self { is_on, counters: Arc::clone(&setup.next_hops) }
    }

    /// Whether to count: asked once a vector.
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// A packet left.
    #[inline(always)]
    pub fn add(&self, adjacency: u32, octets: usize) {
        self.counters.add(adjacency, octets);
    }
}

#[cfg(test)]
mod tests {
    use crate::ip::{ip4_rewrite::Ip4Rewrite, ip6_rewrite::Ip6Rewrite};
    use crate::testing::{
        FAR, FAR6, HOST, HOST6, INCOMPLETE, NARROW, TO_GATEWAY, TO_GATEWAY6, TO_HOST, World,
    };
    use graph::Node;
    use graph::harness::NodeHarness;
    use std::sync::atomic::Ordering;
    use wire::craft;

    fn run<N: Node<Setup = crate::tables::Setup>>(world: &World, packets: &[Vec<u8>], by: &[u32]) {
        let mut node = NodeHarness::<N>::new(&world.setup).unwrap();
        node.run_prepared(packets, 0, 0, |frame| frame.adjacencies_mut().copy_from_slice(by));
    }

    #[test]
    fn what_leaves_is_counted_by_next_hop_while_that_is_wanted() {
        let world = World::new();
        let of =
            |length: usize| craft::ipv4(HOST, FAR).ttl(9).udp(1, 2).payload_len(length).build();
        let last = craft::ipv4(HOST, FAR).ttl(1).udp(1, 2).build();
        let packets = [of(10), of(20), of(30), of(40), of(500), last];
        let by = [TO_HOST, TO_GATEWAY, TO_GATEWAY, INCOMPLETE, NARROW, TO_HOST];
        let read = |id| world.setup.next_hops.read(id);
        run::<Ip4Rewrite>(&world, &packets, &by);
        assert_eq!(read(TO_GATEWAY), [0, 0]);
        world.setup.shared.counts_next_hops.store(true, Ordering::Relaxed);
        run::<Ip4Rewrite>(&world, &packets, &by);
        assert_eq!([TO_HOST, TO_GATEWAY].map(read), [[1, 38], [2, 48 + 58]]);
        // What waits, is cut into pieces, or ends here is not counted by who it would leave by.
        assert_eq!([INCOMPLETE, NARROW].map(read), [[0, 0]; 2]);
        let six = craft::ipv6(HOST6, FAR6).udp(1, 2).payload_len(8).build();
        run::<Ip6Rewrite>(&world, &[six.clone(), six], &[TO_GATEWAY6; 2]);
        assert_eq!(read(TO_GATEWAY6), [2, 2 * 56]);
        world.setup.shared.counts_next_hops.store(false, Ordering::Relaxed);
        run::<Ip4Rewrite>(&world, &packets, &by);
        assert_eq!(read(TO_HOST), [1, 38]);
    }
}
