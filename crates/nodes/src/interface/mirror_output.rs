//! Copies what mirrored interfaces send; the frames themselves leave as if nobody listened.
//!
//! ```text
//!  interface_output, (a feature) ─▶ mirror_output ┬▶ interface_leave
//!                                                 └▶ interface_output   the copy
//! ```
//! No interface that copies leave by is mirrored itself: the configuration's check sees to it.

use crate::interface::Mirroring;
use crate::tables::{Feature, Sent};

/// See the module.
pub enum MirrorOutput {}

impl Feature for MirrorOutput {
    const NAME: &'static str = "mirror-output";
    const ABOUT: &'static str = "copies what mirrored interfaces send";
    const PLACE: u8 = 63;
    type Side = Sent;
    type Work = Mirroring<Sent>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::{InTurn, MirrorTo};
    use crate::tables::Interface;
    use crate::testing::{GRE, ROUTED_VLAN, World};
    use graph::harness::NodeHarness;
    use std::sync::atomic::Ordering;

    #[test]
    fn a_frame_leaves_and_its_copy_too() {
        for id in [0, ROUTED_VLAN, GRE, 99] {
            let mut world = World::new();
            if id != 99 {
                let set = |row: &mut Interface| row.set::<MirrorOutput>(Some(MirrorTo(5)));
                world.change_interface(id, set);
            }
            let mut node = NodeHarness::<InTurn<MirrorOutput>>::new(&world.setup).unwrap();
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
