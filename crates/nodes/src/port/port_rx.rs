//! Brings packets in from the receive queues that this worker polls.
//!
//! ```text
//!  queue ─▶ port_rx ┬▶ vlan_input       the interface has sub-interfaces
//!                   ├▶ interface_input  or features
//!                   ├▶ (an entrance)    by its mode
//!                   └▶ drop             it is down, or the packet is a chain of buffers
//! ```

use crate::interface::{Entrance, entrances};
use crate::tables::{Interfaces, Mailbox, RxAttachment, Setup, WorkerCounters};
use graph::{Context, Exits, Node, Patience, Published, Role, Watch};
use packet::{Frame, PacketBuf, VECTOR, Wakes};
use std::sync::Arc;

/// How a worker waits for the packets of an interface that has it wait otherwise than adaptively.
/// It polls if one of its interfaces has it poll, and rests at once only if all have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RxMode {
    /// By polling, without a break.
    Polling,
    /// By the device's word alone, without polling for a moment first.
    Interrupt,
}

/// See the module.
pub struct PortRx {
    interfaces: Published<Interfaces>,
    counters: Arc<WorkerCounters>,
    mailbox: Arc<Mailbox<RxAttachment>>,
    queues: Vec<RxAttachment>,
    /// The queue whose turn it is to be first.
    first: usize,
    burst: Vec<PacketBuf>,
    /// Packets taken at once, at most.
    most: usize,
    burn_cycles: u32,
    /// What the interfaces had it wait with when nothing came last.
    patience: Patience,
}

entrances! {
    /// By the interface's mode.
    pub enum Exit {
        /// The interface has sub-interfaces: one of them may be meant.
        Vlan => node "vlan-input",
        /// The interface has features for what it receives: these first.
        Features => node "interface-input",
        /// The frame is longer than a packet buffer.
        Oversize => drop "Lower the sender's MTU, or raise `frame_bytes` in [memory].",
    }
}

impl Node for PortRx {
    const NAME: &'static str = "port-rx";
    const ABOUT: &'static str = "receives from ports";
    const ROLE: Role = Role::Input;
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            counters: Arc::clone(&setup.counters),
            mailbox: Arc::clone(&setup.rx),
            queues: Vec::new(),
            first: 0,
            burst: Vec::with_capacity(VECTOR),
            most: setup.shared.reception.vector_packets.clamp(1, VECTOR),
            burn_cycles: setup.shared.reception.burn_cycles,
            patience: Patience::default(),
        }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        self.mailbox.read(&mut self.queues, |attachment| attachment.interface);
        let queues = self.queues.len();
        if queues == 0 {
            return;
        }
        let interfaces = self.interfaces.get(context);
        self.first = (self.first + 1) % queues;
        let mut sole = None;
        let mut mixed = false;
        for turn in 0..queues {
            let room = self.most - frame.len();
            if room == 0 {
                break;
            }
            let RxAttachment { interface, queue } = &mut self.queues[(self.first + turn) % queues];
            queue.receive(context.cache, room, &mut self.burst);
            let count = self.burst.len();
            if count == 0 {
                continue;
            }
            let from = frame.len();
            let chained = frame.push_burst(&mut self.burst, *interface);
            let bytes = frame.lengths()[from..].iter().sum::<u32>();
            self.counters.count_received(*interface, count as u64, bytes.into());
            let exit = match interfaces.entrance(*interface) {
                Entrance::InterfaceDown => Exit::InterfaceDown,
                _ if interfaces.has_input_features(*interface) => Exit::Features,
                _ if interfaces.vlans(*interface).is_some() => Exit::Vlan,
                entrance => entrance.into(),
            };
            mixed |= chained || sole.is_some_and(|sole| sole != exit);
            sole = Some(exit);
            for slot in from..frame.len() {
                let oversize = chained && frame.view(slot).is_chain();
                exits.set(slot, if oversize { Exit::Oversize } else { exit });
            }
        }
        if frame.is_empty() {
            self.patience = patience(&self.queues, interfaces);
        }
        if let (Some(exit), false) = (sole, mixed) {
            exits.all(exit);
        }
        if self.burn_cycles > 0 {
            burn(u64::from(self.burn_cycles) * frame.len() as u64);
        }
    }

    fn before_rest(&mut self, watch: &mut Watch) {
        watch.wait_with(self.patience);
        if self.patience == Patience::Endless {
            return;
        }
        for RxAttachment { queue, .. } in &mut self.queues {
            match queue.before_rest() {
                Wakes::Readable(descriptor) => watch.readable(descriptor),
                Wakes::Either(one, other) => {
                    watch.readable(one);
                    watch.readable(other);
                }
                Wakes::Unseen => watch.look(),
            }
        }
    }

    fn after_rest(&mut self) {
        self.queues.iter_mut().for_each(|attachment| attachment.queue.after_rest());
    }
}

/// The longest that an interface asks for.
fn patience(queues: &[RxAttachment], interfaces: &Interfaces) -> Patience {
    let modes = queues.iter().map(|it| interfaces.get(it.interface)?.get::<RxMode>().copied());
    modes.fold(Patience::None, |patience, mode| match (patience, mode) {
        (Patience::Endless, _) | (_, Some(RxMode::Polling)) => Patience::Endless,
        (patience, Some(RxMode::Interrupt)) => patience,
        (_, None) => Patience::Moment,
    })
}

/// Does nothing for so many cycles.
#[cold]
fn burn(cycles: u64) {
    let start = graph::tsc();
    while graph::tsc().wrapping_sub(start) < cycles {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use graph::harness::NodeHarness;
    use packet::{MemorySource, PacketCache, Repeat, RxQueue};
    use std::sync::atomic::Ordering;

    fn attach(world: &World, interface: u16, count: usize) {
        let queue = Box::new(MemorySource::new(vec![vec![7; 60]; count], Repeat::Once));
        world.setup.rx.add(RxAttachment { interface, queue });
    }

    fn exits(world: &World) -> Vec<String> {
        let mut node = NodeHarness::<PortRx>::new(&world.setup).unwrap();
        node.run(&[], 0, 0).into_iter().map(|out| out.exit).collect()
    }

    #[test]
    fn the_interface_says_where_its_frames_go() {
        for (interface, exit) in
            [(0, "ethernet"), (2, "cross-connect"), (4, "interface-down"), (99, "interface-down")]
        {
            let world = World::new();
            attach(&world, interface, 2);
            assert_eq!(exits(&world), [exit, exit]);
        }
    }

    #[test]
    fn it_polls_if_one_interface_has_it_and_rests_at_once_if_all_have() {
        use RxMode::{Interrupt, Polling};
        for (modes, patience) in [
            ([None, None], Patience::Moment),
            ([Some(Interrupt), None], Patience::Moment),
            ([Some(Interrupt), Some(Interrupt)], Patience::None),
            ([Some(Interrupt), Some(Polling)], Patience::Endless),
            ([None, Some(Polling)], Patience::Endless),
        ] {
            let mut world = World::new();
            for (interface, mode) in [0, 2].into_iter().zip(modes) {
                world.change_interface(interface, |row| row.put(mode));
                attach(&world, interface, 1);
            }
            let mut node = NodeHarness::<PortRx>::new(&world.setup).unwrap();
            assert_eq!(node.run(&[], 0, 0).len(), 2);
            assert!(node.run(&[], 0, 0).is_empty());
            assert_eq!(node.watched().patience(), patience, "{modes:?}");
        }
    }

    #[test]
    fn frames_of_several_queues_come_in_one_vector_and_are_counted() {
        let world = World::new();
        attach(&world, 0, 2);
        attach(&world, 2, 1);
        let mut exits = exits(&world);
        exits.sort_unstable();
        assert_eq!(exits, ["cross-connect", "ethernet", "ethernet"]);
        let counters = &world.setup.counters.interfaces[0];
        assert_eq!(counters.rx_packets.load(Ordering::Relaxed), 2);
        assert_eq!(counters.rx_bytes.load(Ordering::Relaxed), 120);
    }

    #[test]
    fn a_vector_takes_256_and_the_next_queue_is_first_next_time() {
        let world = World::new();
        attach(&world, 0, 300);
        attach(&world, 2, 300);
        let mut node = NodeHarness::<PortRx>::new(&world.setup).unwrap();
        let mut firsts = Vec::new();
        for _ in 0..2 {
            let out = node.run(&[], 0, 0);
            assert_eq!(out.len(), VECTOR);
            firsts.push(out[0].exit.clone());
        }
        firsts.sort_unstable();
        assert_eq!(firsts, ["cross-connect", "ethernet"]);
    }

    #[test]
    fn a_smaller_vector_is_taken_whole_and_no_further() {
        let mut world = World::new();
        world.setup.shared.reception.vector_packets = 3;
        attach(&world, 0, 5);
        attach(&world, 2, 5);
        let mut node = NodeHarness::<PortRx>::new(&world.setup).unwrap();
        let counts = [0; 5].map(|_| node.run(&[], 0, 0).len());
        assert_eq!((counts[..3].to_vec(), counts.iter().sum::<usize>()), (vec![3; 3], 10));
    }

    #[test]
    fn packets_burn_what_they_are_told_to_and_nothing_burns_nothing() {
        let mut world = World::new();
        world.setup.shared.reception.burn_cycles = 100_000;
        attach(&world, 0, 20);
        let mut node = NodeHarness::<PortRx>::new(&world.setup).unwrap();
        let start = graph::tsc();
        assert_eq!(node.run(&[], 0, 0).len(), 20);
        assert!(graph::tsc() - start >= 2_000_000);
    }

    /// Brings one frame in two buffers, and one in one.
    struct Chains;

    impl RxQueue for Chains {
        fn receive(&mut self, cache: &mut dyn PacketCache, _: usize, into: &mut Vec<PacketBuf>) {
            let [mut chain, rest, alone] = [0; 3].map(|_| cache.copy_of(&[7; 60]).unwrap());
            chain.chain(rest).unwrap();
            into.extend([chain, alone]);
        }
    }

    #[test]
    fn a_frame_longer_than_a_buffer_is_dropped_and_the_others_are_not() {
        let world = World::new();
        world.setup.rx.add(RxAttachment { interface: 0, queue: Box::new(Chains) });
        assert_eq!(exits(&world), ["oversize", "ethernet"]);
    }

    /// Tells of its packets.
    struct Telling;

    impl RxQueue for Telling {
        fn receive(&mut self, _: &mut dyn PacketCache, _: usize, _: &mut Vec<PacketBuf>) {}

        fn before_rest(&mut self) -> Wakes {
            Wakes::Readable(0)
        }
    }

    #[test]
    fn only_queues_of_which_nobody_tells_must_be_looked_at() {
        let world = World::new();
        world.setup.rx.add(RxAttachment { interface: 0, queue: Box::new(Telling) });
        let mut node = NodeHarness::<PortRx>::new(&world.setup).unwrap();
        node.run(&[], 0, 0);
        assert!(!node.watched().must_look());
        attach(&world, 2, 1);
        node.run(&[], 0, 0);
        assert!(node.watched().must_look());
    }

    #[test]
    fn a_queue_that_is_asked_back_comes_back() {
        let world = World::new();
        attach(&world, 0, 300);
        let mut node = NodeHarness::<PortRx>::new(&world.setup).unwrap();
        assert_eq!(node.run(&[], 0, 0).len(), VECTOR);
        world.setup.rx.ask_back(0);
        assert!(node.run(&[], 0, 0).is_empty());
        assert_eq!(world.setup.rx.take_returned().len(), 1);
    }
}
