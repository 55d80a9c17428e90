//! Brings packets in from the receive queues that this worker polls.
//!
//! ```text
//!  queue ─▶ port_rx ┬▶ ethernet_input
//!                   ├▶ l2_xconnect      the interface is cross-connected: no header is read
//!                   └▶ drop             the interface is down, or the packet is a chain of buffers
//! ```

use crate::plumbing::{
    Interface, Interfaces, Mailbox, Mode, RxAttachment, Setup, WorkerCounters,
};
use graph::{Context, Exits, Node, Published, Role, add};
use packet::{Frame, PacketPtr, VECTOR};
use std::sync::Arc;

/// See the module.
pub struct PortRx {
    interfaces: Published<Interfaces>,
    counters: Arc<WorkerCounters>,
    mailbox: Arc<Mailbox<RxAttachment>>,
    queues: Vec<RxAttachment>,
    /// The queue whose turn it is to be first.
    first: usize,
    slots: [Option<PacketPtr>; VECTOR],
}

graph::exits! {
    /// By the interface's mode.
    pub enum Exit {
        /// To be routed, or for us.
        Ethernet => node "ethernet-input",
        /// To the interface that this one is cross-connected with.
        CrossConnect => node "l2-xconnect",
        /// The interface is administratively down.
        InterfaceDown => drop,
        /// The frame is longer than a packet buffer.
        Oversize => drop,
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
            slots: [None; VECTOR],
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
            let room = frame.room();
            if room == 0 {
                break;
            }
            let RxAttachment { interface, queue } = &mut self.queues[(self.first + turn) % queues];
            let count = queue.receive(context.cache, &mut self.slots[..room]);
            if count == 0 {
                continue;
            }
            let from = frame.len();
            let chained = frame.push_burst(&self.slots[..count], *interface);
            count_received(&self.counters, *interface, &frame.lengths()[from..]);
            let exit = exit_of(interfaces.get(*interface));
            mixed |= chained || sole.is_some_and(|sole| sole != exit);
            sole = Some(exit);
            for slot in from..frame.len() {
                let oversize = chained && frame.view(slot).packet().mbuf().nb_segs != 1;
                exits.set(slot, if oversize { Exit::Oversize } else { exit });
            }
        }
        if let (Some(exit), false) = (sole, mixed) {
            exits.all(exit);
        }
    }
}

#[inline]
fn exit_of(interface: Option<&Interface>) -> Exit {
    match interface {
        Some(Interface { up: true, mode: Mode::Routed, .. }) => Exit::Ethernet,
        Some(Interface { up: true, mode: Mode::CrossConnect(_), .. }) => Exit::CrossConnect,
        _ => Exit::InterfaceDown,
    }
}

#[inline]
fn count_received(counters: &WorkerCounters, interface: u16, lengths: &[u32]) {
    let Some(counters) = counters.interfaces.get(usize::from(interface)) else { return };
    add(&counters.rx_packets, lengths.len() as u64);
    add(&counters.rx_bytes, u64::from(lengths.iter().sum::<u32>()));
}
