//! Hands frames to the transmit queues of this worker. What a full queue refuses is dropped here:
//! a router that waits for one port stalls all others.

use crate::plumbing::{Interfaces, Mailbox, Setup, TxAttachment};
use graph::{Context, ExitIndex, Exits, Node, Published};
use packet::{Frame, PacketPtr, VECTOR};
use std::sync::Arc;

/// See the module.
pub struct PortTx {
    interfaces: Published<Interfaces>,
    mailbox: Arc<Mailbox<TxAttachment>>,
    queues: Vec<TxAttachment>,
    /// Packets of one port and their slots, where a frame leaves by several.
    chosen: Vec<(PacketPtr, usize)>,
    packets: Vec<PacketPtr>,
}

graph::exits! {
    /// What becomes of a frame that its port did not take.
    pub enum Exit {
        /// The port's transmit queue is full.
        QueueFull => drop,
        /// The port is gone.
        NoPort => drop,
    }
}

impl Node for PortTx {
    const NAME: &'static str = "port-tx";
    const ABOUT: &'static str = "sends to ports";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            mailbox: Arc::clone(&setup.tx),
            queues: Vec::new(),
            chosen: Vec::with_capacity(VECTOR),
            packets: Vec::with_capacity(VECTOR),
        }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        self.mailbox.read(&mut self.queues, |attachment| attachment.port);
        frame.commit();
        let interfaces = self.interfaces.get(context);
        let first = frame.tx()[0];
        if frame.tx().iter().fold(true, |same, &tx| same & (tx == first)) {
            let port = interfaces.get(first).map(|interface| interface.port);
            let sent = send(&mut self.queues, port, frame.packets(), context);
            if sent == Ok(frame.len()) {
                exits.all_taken();
                return;
            }
            for slot in 0..frame.len() {
                exits.set(slot, exit_of(slot, sent));
            }
            return;
        }
        self.send_mixed(frame, exits, interfaces, context);
    }
}

impl PortTx {
    fn send_mixed(
        &mut self,
        frame: &Frame,
        exits: &mut Exits<'_, Exit>,
        interfaces: &Interfaces,
        context: &mut Context<'_>,
    ) {
        let port_of = |slot: usize| interfaces.get(frame.tx()[slot]).map(|row| row.port);
        let mut next = Some(0);
        let mut done = [false; VECTOR];
        while let Some(lead) = next.take() {
            let port = port_of(lead);
            self.chosen.clear();
            for (slot, &packet) in frame.packets().iter().enumerate().skip(lead) {
                if done[slot] {
                    continue;
                }
                if port_of(slot) == port {
                    done[slot] = true;
                    self.chosen.push((packet, slot));
                } else {
                    next = next.or(Some(slot));
                }
            }
            self.packets.clear();
            self.packets.extend(self.chosen.iter().map(|&(packet, _)| packet));
            let sent = send(&mut self.queues, port, &self.packets, context);
            for (index, &(_, slot)) in self.chosen.iter().enumerate() {
                exits.set(slot, exit_of(index, sent));
            }
        }
    }
}

/// Sends to a port: how many it took, or that there is no such port.
fn send(
    queues: &mut [TxAttachment],
    port: Option<u16>,
    packets: &[PacketPtr],
    context: &mut Context<'_>,
) -> Result<usize, Exit> {
    let attachment = queues.iter_mut().find(|attachment| Some(attachment.port) == port);
    let Some(TxAttachment { queue, .. }) = attachment else { return Err(Exit::NoPort) };
    Ok(queue.transmit(context.cache, packets))
}

fn exit_of(index: usize, sent: Result<usize, Exit>) -> ExitIndex {
    match sent {
        Ok(sent) if index < sent => ExitIndex::TAKEN,
        Ok(_) => Exit::QueueFull.into(),
        Err(exit) => exit.into(),
    }
}
