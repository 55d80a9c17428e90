//! Copies what mirrored interfaces send; the frames themselves leave as if nobody listened.
//!
//! ```text
//!  interface_output ─▶ mirror_output ┬▶ (a departure)
//!                                    └▶ interface_output   the copy
//! ```
//! No interface that copies leave by is mirrored itself: the configuration's check sees to it.

use crate::plumbing::{Interface, Interfaces, Setup, WorkerCounters, copy_each, departures};
use graph::{Context, Exits, Node, Published, add};
use packet::Frame;
use std::sync::Arc;

/// See the module.
pub struct MirrorOutput {
    interfaces: Published<Interfaces>,
    counters: Arc<WorkerCounters>,
}

departures! {
    /// By what the interface stands on.
    pub enum Exit {
        /// A copy, to who listens.
        Copy => node "interface-output",
    }
}

impl Node for MirrorOutput {
    const NAME: &'static str = "mirror-output";
    const ABOUT: &'static str = "copies what mirrored interfaces send";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        let interfaces = setup.shared.interfaces.clone();
        Self { interfaces, counters: Arc::clone(&setup.counters) }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        let way = |tx: u16| {
            let departure = interfaces.get(tx).map(Interface::departure);
            // An interface that is gone, port_tx says so.
            (departure.map_or(Exit::Transmit, Exit::from), interfaces.copies_of_sent(tx))
        };
        copy_each(frame, exits, context, Exit::Copy, |packet| packet.tx(), way, |tx, made| {
            if let Some(counters) = self.counters.mirrored.get(usize::from(tx)) {
                add(if made { &counters.sent } else { &counters.lost }, 1);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plumbing::MirrorTo;
    use crate::plumbing::testing::{GRE, ROUTED_VLAN, World};
    use graph::harness::NodeHarness;
    use std::sync::atomic::Ordering;

    #[test]
    fn a_frame_leaves_and_its_copy_too() {
        for (id, exit) in [(0, "transmit"), (ROUTED_VLAN, "tag"), (GRE, "encap"), (99, "transmit")] {
            let mut world = World::new();
            if id != 99 {
                let mirror = MirrorTo { received: None, sent: Some(5) };
                world.change_interface(id, |row| row.mirror = mirror);
            }
            let mut node = NodeHarness::<MirrorOutput>::new(&world.setup).unwrap();
            let frame = vec![7; 60];
            let out = node.run_prepared(std::slice::from_ref(&frame), 9, 0, |frame| {
                frame.tx_mut()[0] = id;
            });
            assert_eq!((out[0].exit.as_str(), out[0].tx), (exit, id));
            let copies: Vec<_> = node.emitted().into_iter().map(|it| (it.tx, it.header)).collect();
            let counted = world.setup.counters.mirrored.get(usize::from(id));
            let counted = counted.map_or(0, |row| row.sent.load(Ordering::Relaxed));
            match id {
                99 => assert_eq!((copies, counted), (Vec::new(), 0)),
                _ => assert_eq!((copies, counted), (vec![(5, frame)], 1)),
            }
        }
    }
}
