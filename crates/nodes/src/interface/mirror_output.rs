//! Copies what mirrored interfaces send; the frames themselves leave as if nobody listened.
//!
//! ```text
//!  interface_output, (a feature) ─▶ mirror_output ┬▶ interface_leave
//!                                                 └▶ interface_output   the copy
//! ```
//! No interface that copies leave by is mirrored itself: the configuration's check sees to it.

use crate::interface::{MirrorTo, copy_each};
use crate::tables::{Feature, Interfaces, Setup, Turns, WorkerCounters, output_turn};
use graph::{Context, ExitIndex, Exits, Node, Published, Turn, add};
use packet::Frame;
use std::sync::Arc;

/// See the module.
pub struct MirrorOutput {
    interfaces: Published<Interfaces>,
    counters: Arc<WorkerCounters>,
    turns: Turns,
}

graph::exits! {
    /// What becomes of a frame, and of its copy.
    pub enum Exit {
        /// It leaves.
        Leave => node "interface-leave",
        /// A copy, to who listens.
        Copy => node "interface-output",
    }
}

impl Feature for MirrorOutput {
    const PLACE: u8 = 63;
    const CHANGES: bool = false;
    type Setting = MirrorTo;
}

impl Node for MirrorOutput {
    const NAME: &'static str = "mirror-output";
    const ABOUT: &'static str = "copies what mirrored interfaces send";
    const TURN: Option<Turn> = output_turn::<Self>();
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        let interfaces = setup.shared.interfaces.clone();
        let (counters, turns) = (Arc::clone(&setup.counters), Turns::new());
        Self { interfaces, counters, turns }
    }

    fn attach(&mut self, key: u32, exit: ExitIndex) {
        self.turns.attach(key, exit);
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        let way = |tx: u16| {
            let next = interfaces.get(tx).and_then(|row| self.turns.next(&row.output));
            (next.unwrap_or(Exit::Leave.into()), interfaces.copies_of_sent(tx))
        };
        copy_each(
            frame,
            exits,
            context,
            Exit::Copy,
            |packet| packet.tx(),
            way,
            |tx, made| {
                if let Some(counters) = self.counters.mirrored.get(usize::from(tx)) {
                    add(if made { &counters.sent } else { &counters.lost }, 1);
                }
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Interface;
    use crate::testing::{GRE, ROUTED_VLAN, World};
    use graph::harness::NodeHarness;
    use std::sync::atomic::Ordering;

    #[test]
    fn a_frame_leaves_and_its_copy_too() {
        for id in [0, ROUTED_VLAN, GRE, 99] {
            let mut world = World::new();
            if id != 99 {
                let set = |row: &mut Interface| row.output.set::<MirrorOutput>(Some(MirrorTo(5)));
                world.change_interface(id, set);
            }
            let mut node = NodeHarness::<MirrorOutput>::new(&world.setup).unwrap();
            let frame = vec![7; 60];
            let out = node.run_prepared(std::slice::from_ref(&frame), 9, 0, |frame| {
                frame.tx_mut()[0] = id;
            });
            assert_eq!((out[0].exit.as_str(), out[0].tx), ("leave", id));
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
