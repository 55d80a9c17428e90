//! Copies what mirrored interfaces receive; the frames themselves go on as if nobody listened.
//!
//! ```text
//!  interface_input ─▶ mirror_input ┬▶ (the next feature), interface_enter
//!                                  └▶ interface_output   the copy
//! ```

use crate::interface::{MirrorTo, copy_each};
use crate::tables::{Feature, Interfaces, Setup, Turns, WorkerCounters, input_turn};
use graph::{Context, ExitIndex, Exits, Node, Published, Turn, add};
use packet::Frame;
use std::sync::Arc;

/// See the module.
pub struct MirrorInput {
    interfaces: Published<Interfaces>,
    counters: Arc<WorkerCounters>,
    turns: Turns,
}

graph::exits! {
    /// What becomes of a frame, and of its copy.
    pub enum Exit {
        /// It goes in.
        Enter => node "interface-enter",
        /// A copy, to who listens.
        Copy => node "interface-output",
    }
}

impl Feature for MirrorInput {
    // Who listens sees what other features drop, too.
    const PLACE: u8 = 0;
    const CHANGES: bool = false;
    type Setting = MirrorTo;
}

impl Node for MirrorInput {
    const NAME: &'static str = "mirror-input";
    const ABOUT: &'static str = "copies what mirrored interfaces receive";
    const TURN: Option<Turn> = input_turn::<Self>();
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
        let way = |rx: u16| {
            let next = interfaces.get(rx).and_then(|row| self.turns.next(&row.input));
            (next.unwrap_or(Exit::Enter.into()), interfaces.copies_of_received(rx))
        };
        copy_each(
            frame,
            exits,
            context,
            Exit::Copy,
            |packet| packet.rx(),
            way,
            |rx, made| {
                if let Some(counters) = self.counters.mirrored.get(usize::from(rx)) {
                    add(if made { &counters.received } else { &counters.lost }, 1);
                }
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ROUTED_VLAN, TRUNK, World};
    use graph::harness::NodeHarness;
    use std::sync::atomic::Ordering;

    #[test]
    fn a_frame_goes_its_way_and_its_copy_to_who_listens() {
        for id in [0, 2, 6, TRUNK, ROUTED_VLAN] {
            let mut world = World::new();
            world.change_interface(id, |row| row.input.set::<MirrorInput>(Some(MirrorTo(5))));
            let mut node = NodeHarness::<MirrorInput>::new(&world.setup).unwrap();
            let frame = vec![7; 60];
            let out = node.run(std::slice::from_ref(&frame), id, 0).remove(0);
            assert_eq!((out.exit.as_str(), &out.header), ("enter", &frame));
            let copies: Vec<_> = node.emitted().into_iter().map(|it| (it.tx, it.header)).collect();
            assert_eq!(copies, [(5, frame)]);
            let counted = &world.setup.counters.mirrored[usize::from(id)].received;
            assert_eq!(counted.load(Ordering::Relaxed), 1);
        }
    }
}
