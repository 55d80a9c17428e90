//! Copies what mirrored interfaces receive; the frames themselves go on as if nobody listened.
//!
//! ```text
//!  interface_input ─▶ mirror_input ┬▶ (the next feature), interface_enter
//!                                  └▶ interface_output   the copy
//! ```

use crate::interface::Mirroring;
use crate::tables::{Feature, Received};

/// See the module.
pub enum MirrorInput {}

impl Feature for MirrorInput {
    const NAME: &'static str = "mirror-input";
    const ABOUT: &'static str = "copies what mirrored interfaces receive";
    // Who listens sees what other features drop, too.
    const PLACE: u8 = 0;
    type Side = Received;
    type Work = Mirroring<Received>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::{InTurn, MirrorTo};
    use crate::testing::{ROUTED_VLAN, TRUNK, World};
    use graph::harness::NodeHarness;
    use std::sync::atomic::Ordering;

    #[test]
    fn a_frame_goes_its_way_and_its_copy_to_who_listens() {
        for id in [0, 2, 6, TRUNK, ROUTED_VLAN] {
            let mut world = World::new();
            world.change_interface(id, |row| row.set::<MirrorInput>(Some(MirrorTo(5))));
            let mut node = NodeHarness::<InTurn<MirrorInput>>::new(&world.setup).unwrap();
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
