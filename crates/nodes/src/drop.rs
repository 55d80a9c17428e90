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
        for (&interface, &reason) in frame.rx().iter().zip(frame.causes()) {
            self.counters.drops.count(interface, reason);
        }
        context.cache.release(frame.packets());
        exits.all_taken();
    }
}
