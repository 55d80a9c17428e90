//! Frees what nobody wants, and counts why: the cause of an edge to this node is the number of the
//! exit that led here.

use crate::tables::{Setup, WorkerCounters};
use graph::{Context, Exits, NoExit, Node};
use packet::Frame;
use std::sync::Arc;

/// See the module.
pub struct Drop {
    counters: Arc<WorkerCounters>,
}

impl Node for Drop {
    const NAME: &'static str = "drop";
    const ABOUT: &'static str = "frees packets, counted by interface and reason";
    type Exit = NoExit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self { counters: Arc::clone(&setup.counters) }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, NoExit>,
        context: &mut Context<'_>,
    ) {
        for (slot, &reason) in frame.causes().iter().enumerate() {
            let outbound = self.counters.outbound.get(usize::from(reason)) == Some(&true);
            let interface = if outbound { frame.tx()[slot] } else { frame.rx()[slot] };
            self.counters.drops.count(interface, reason);
        }
        context.cache.release(frame.take_all());
        exits.all_taken();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use graph::harness::NodeHarness;

    /// Drops of interface 0 and 1 for `reason`, of three packets from 1 to 0.
    fn counted(reason: u16) -> (u64, u64) {
        let world = World::new();
        let mut node = NodeHarness::<Drop>::new(&world.setup).unwrap();
        let before = node.free_buffers();
        let out = node.run_prepared(&vec![vec![0]; 3], 1, 0, |frame| {
            frame.fill_cause(0, reason);
            frame.tx_mut().fill(0);
        });
        assert!(out.iter().all(|out| out.exit == "taken"));
        assert_eq!(node.free_buffers(), before);
        let count = |interface| world.setup.counters.drops.get(interface, reason);
        (count(0), count(1))
    }

    #[test]
    fn drops_are_counted_by_reason_where_the_packet_came_in() {
        assert_eq!(counted(0), (0, 3));
    }

    #[test]
    fn drops_on_the_way_out_are_counted_where_the_packet_was_to_leave() {
        assert_eq!(counted(1), (3, 0));
    }
}
