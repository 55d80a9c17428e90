//! Copies what mirrored interfaces receive; the frames themselves go on as if nobody listened.
//!
//! ```text
//!  port_rx, vlan_input, tunnel_decap ─▶ mirror_input ┬▶ acl_input, vlan_input, (an entrance)
//!                                                    └▶ interface_output   the copy
//! ```

use crate::plumbing::{Interfaces, Setup, WorkerCounters, copy_each, entrances};
use graph::{Context, Exits, Node, Published, add};
use packet::Frame;
use std::sync::Arc;

/// See the module.
pub struct MirrorInput {
    interfaces: Published<Interfaces>,
    counters: Arc<WorkerCounters>,
}

entrances! {
    /// By the mode of the interface that received the frame.
    pub enum Exit {
        /// The interface has sub-interfaces: one of them may be meant.
        Vlan => node "vlan-input",
        /// The interface has an access list: who listens sees what it denies, too.
        Acl => node "acl-input",
        /// A copy, to who listens.
        Copy => node "interface-output",
    }
}

impl Node for MirrorInput {
    const NAME: &'static str = "mirror-input";
    const ABOUT: &'static str = "copies what mirrored interfaces receive";
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
        let way = |rx: u16| {
            let exit = match interfaces.entrance(rx) {
                _ if interfaces.access(rx).is_some() => Exit::Acl,
                _ if interfaces.has_sub_interfaces(rx) => Exit::Vlan,
                entrance => entrance.into(),
            };
            (exit, interfaces.copies_of_received(rx))
        };
        copy_each(frame, exits, context, Exit::Copy, |packet| packet.rx(), way, |rx, made| {
            if let Some(counters) = self.counters.mirrored.get(usize::from(rx)) {
                add(if made { &counters.received } else { &counters.lost }, 1);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plumbing::MirrorTo;
    use crate::plumbing::testing::{ROUTED_VLAN, TRUNK, World};
    use graph::harness::NodeHarness;
    use std::sync::atomic::Ordering;

    /// The way of a frame that `id` received, and that of its copies to interface 5.
    fn run(world: &mut World, id: u16) -> (String, Vec<(String, u16)>) {
        let mirror = MirrorTo { received: Some(5), sent: None };
        world.change_interface(id, |row| row.mirror = mirror);
        let mut node = NodeHarness::<MirrorInput>::new(&world.setup).unwrap();
        let frame = vec![7; 60];
        let out = node.run(std::slice::from_ref(&frame), id, 0).remove(0);
        assert_eq!(out.header, frame);
        let copies = node.emitted();
        assert!(copies.iter().all(|copy| copy.header == frame));
        (out.exit, copies.into_iter().map(|copy| (copy.exit, copy.tx)).collect())
    }

    #[test]
    fn a_frame_goes_its_way_and_its_copy_to_who_listens() {
        for (id, exit) in [
            (0, "ethernet"),
            (2, "cross-connect"),
            (6, "bridge"),
            (TRUNK, "vlan"),
            (ROUTED_VLAN, "ethernet"),
        ] {
            let mut world = World::new();
            let (way, copies) = run(&mut world, id);
            assert_eq!((way.as_str(), copies), (exit, vec![("copy".to_owned(), 5)]));
            let counted = &world.setup.counters.mirrored[usize::from(id)].received;
            assert_eq!(counted.load(Ordering::Relaxed), 1);
        }
    }
}
