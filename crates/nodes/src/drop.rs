//! Frees what nobody wants, and counts why: the cause of an edge to this node is the number of the
//! exit that led here.

use crate::plumbing::{Setup, WorkerCounters};
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
        context.cache.release(frame.packets());
        exits.all_taken();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plumbing::testing::World;
    use graph::harness::NodeHarness;

    #[test]
    fn drops_are_counted_by_interface_and_reason_and_buffers_come_back() {
        let world = World::new();
        let mut node = NodeHarness::<Drop>::new(&world.setup).unwrap();
        let before = node.free_buffers();
        let out = node.run_prepared(&vec![vec![0]; 3], 1, 0, |frame| {
            frame.fill_cause(0, 2);
            frame.view(2).set_rx(0);
        });
        assert!(out.iter().all(|out| out.exit == "taken"));
        let count = |interface, reason| world.setup.counters.drops.get(interface, reason);
        assert_eq!((count(1, 2), count(0, 2), count(1, 1)), (2, 1, 0));
        assert_eq!(node.free_buffers(), before);
    }
}
