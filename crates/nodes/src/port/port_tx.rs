//! Hands frames to the transmit queues of this worker. What a full queue refuses is dropped here:
//! a router that waits for one port stalls all others.

use crate::tables::{Interfaces, Mailbox, Setup, TxAttachment};
use graph::{Context, ExitIndex, Exits, Node, Published, Role, Watch};
use packet::{Burst, Frame, TxQueue, VECTOR, alike};
use std::sync::Arc;

/// That of an interface that is gone.
const NO_PORT: u16 = u16::MAX;

/// See the module.
pub struct PortTx {
    interfaces: Published<Interfaces>,
    mailbox: Arc<Mailbox<TxAttachment>>,
    queues: Vec<TxAttachment>,
    /// Of each slot's frame, where they are several.
    ports: [u16; VECTOR],
}

graph::exits! {
    /// What becomes of a frame that its port did not take.
    pub enum Exit {
        /// The port's transmit queue is full.
        QueueFull => drop "The device takes less than comes: give the port a `qos`, which chooses \
            what waits, or a faster device.",
        /// The port is gone.
        NoPort => drop "Nothing, if it ends: the configuration changed just then.",
    }
}

impl Node for PortTx {
    const NAME: &'static str = "port-tx";
    const ABOUT: &'static str = "sends to ports";
    /// Ports come and go while there is nothing to send, too.
    const ROLE: Role = Role::Polled;
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            mailbox: Arc::clone(&setup.tx),
            queues: Vec::new(),
            ports: [NO_PORT; VECTOR],
        }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let Self { interfaces, mailbox, queues, ports } = self;
        mailbox.read(queues, |attachment| attachment.port);
        queues.iter_mut().for_each(|attachment| attachment.queue.push());
        if frame.is_empty() {
            return;
        }
        frame.commit();
        let interfaces = interfaces.get(context);
        let port_of = |tx: u16| interfaces.get(tx).map_or(NO_PORT, |row| row.port);
        let ports = &mut ports[..frame.len()];
        let sole = alike(frame.tx()).map(port_of).or_else(|| {
            ports.iter_mut().zip(frame.tx()).for_each(|(port, &tx)| *port = port_of(tx));
            alike(ports)
        });
        let mut send = |port: u16, packets: &mut Burst<'_>| {
            if let Some(queue) = queue_of(queues, port) {
                queue.transmit(context.cache, packets);
            }
        };
        match sole {
            Some(port) => frame.offer(|packets| send(port, packets)),
            None => frame.offer_groups(ports, send),
        }
        if frame.is_empty() {
            return exits.all_taken();
        }
        for (slot, &port) in ports.iter().enumerate() {
            exits.set(slot, exit_of(queues, sole.unwrap_or(port), frame.is_taken(slot)));
        }
    }

    fn before_rest(&mut self, watch: &mut Watch) {
        if self.queues.iter().any(|attachment| attachment.queue.must_push()) {
            watch.look();
        }
    }
}

#[inline]
fn queue_of(queues: &mut [TxAttachment], port: u16) -> Option<&mut dyn TxQueue> {
    let found = queues.iter_mut().find(|attachment| attachment.port == port)?;
    Some(&mut *found.queue)
}

/// The exit of a frame to a port, by whether that took it.
fn exit_of(queues: &mut [TxAttachment], port: u16, is_taken: bool) -> ExitIndex {
    match queue_of(queues, port) {
        _ if is_taken => ExitIndex::TAKEN,
        Some(_) => Exit::QueueFull.into(),
        None => Exit::NoPort.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use graph::harness::NodeHarness;
    use packet::{MemorySink, PacketCache, Recorded};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Takes so many frames and no more.
    struct Narrow(usize);

    impl TxQueue for Narrow {
        fn transmit(&mut self, cache: &mut dyn PacketCache, packets: &mut Burst<'_>) {
            cache.release(packets.take_front(self.0));
        }
    }

    fn attach(world: &World, port: u16) -> Recorded {
        let recorded = Recorded::default();
        let queue = Box::new(MemorySink::recording(Arc::clone(&recorded)));
        world.setup.tx.add(TxAttachment { port, queue });
        recorded
    }

    /// The exits of frames that leave by these interfaces; frame n holds the byte n.
    fn run(world: &World, leave_by: &[u16]) -> Vec<String> {
        let frames: Vec<_> = (0..leave_by.len()).map(|n| vec![n as u8]).collect();
        let mut node = NodeHarness::<PortTx>::new(&world.setup).unwrap();
        let by = |frame: &mut Frame| frame.tx_mut().copy_from_slice(leave_by);
        node.run_prepared(&frames, 9, 0, by).into_iter().map(|out| out.exit).collect()
    }

    #[test]
    fn frames_leave_by_their_port_in_order() {
        let world = World::new();
        let (zero, one) = (attach(&world, 0), attach(&world, 1));
        assert_eq!(run(&world, &[0, 1, 0, 1, 1]), ["taken"; 5]);
        assert_eq!(*zero.lock().unwrap(), [[0], [2]]);
        assert_eq!(*one.lock().unwrap(), [[1], [3], [4]]);
    }

    /// Counts how often it is pushed.
    struct Pushed(Arc<AtomicUsize>);

    impl TxQueue for Pushed {
        fn transmit(&mut self, cache: &mut dyn PacketCache, packets: &mut Burst<'_>) {
            cache.release(packets.take_all());
        }

        fn push(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_port_that_nothing_leaves_by_any_more_is_still_looked_after() {
        let world = World::new();
        let pushed = Arc::new(AtomicUsize::new(0));
        world.setup.tx.add(TxAttachment { port: 0, queue: Box::new(Pushed(Arc::clone(&pushed))) });
        attach(&world, 1);
        let mut node = NodeHarness::<PortTx>::new(&world.setup).unwrap();
        let by = |frame: &mut Frame| frame.tx_mut().fill(1);
        for _ in 0..3 {
            node.run_prepared(&[vec![7]], 9, 0, by);
        }
        assert_eq!(pushed.load(Ordering::Relaxed), 3);
    }

    /// Has something left to send.
    struct Owing;

    impl TxQueue for Owing {
        fn transmit(&mut self, cache: &mut dyn PacketCache, packets: &mut Burst<'_>) {
            cache.release(packets.take_all());
        }

        fn must_push(&self) -> bool {
            true
        }
    }

    #[test]
    fn nobody_rests_for_long_while_a_port_has_something_left_to_send() {
        let world = World::new();
        attach(&world, 1);
        let mut node = NodeHarness::<PortTx>::new(&world.setup).unwrap();
        node.run(&[], 0, 0);
        assert!(!node.watched().must_look());
        world.setup.tx.add(TxAttachment { port: 0, queue: Box::new(Owing) });
        node.run(&[], 0, 0);
        assert!(node.watched().must_look());
    }

    #[test]
    fn what_a_full_queue_refuses_is_dropped() {
        let world = World::new();
        world.setup.tx.add(TxAttachment { port: 0, queue: Box::new(Narrow(2)) });
        attach(&world, 1);
        assert_eq!(run(&world, &[0, 0, 0]), ["taken", "taken", "queue-full"]);
        let world = World::new();
        world.setup.tx.add(TxAttachment { port: 0, queue: Box::new(Narrow(1)) });
        attach(&world, 1);
        assert_eq!(run(&world, &[0, 1, 0]), ["taken", "taken", "queue-full"]);
    }

    #[test]
    fn frames_to_a_port_that_is_gone_are_dropped() {
        for (leave_by, exits) in [([0, 0], ["no-port", "no-port"]), ([99, 1], ["no-port", "taken"])]
        {
            let world = World::new();
            attach(&world, 1);
            assert_eq!(run(&world, &leave_by), exits);
        }
    }

    #[test]
    fn the_frame_that_leaves_is_the_one_the_arrays_describe() {
        let world = World::new();
        let recorded = attach(&world, 0);
        let mut node = NodeHarness::<PortTx>::new(&world.setup).unwrap();
        node.run_prepared(&[b"link header".to_vec()], 9, 5, |frame| frame.view(0).truncate(3));
        assert_eq!(*recorded.lock().unwrap(), [b"hea".to_vec()]);
    }
}
