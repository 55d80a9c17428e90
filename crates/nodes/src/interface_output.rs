//! The last look at a frame before its port: is the interface up, does the frame fit, count it.

use crate::plumbing::{Interface, Interfaces, Setup, WorkerCounters};
use graph::{Context, Exits, Node, Published, add};
use packet::Frame;
use std::sync::Arc;

/// A link header with two VLAN tags is this much longer than a plain one: such frames pass too.
const TAG_BYTES: u32 = 8;
const LINK_HEADER_BYTES: u32 = 14;

/// See the module.
pub struct InterfaceOutput {
    interfaces: Published<Interfaces>,
    counters: Arc<WorkerCounters>,
}

graph::exits! {
    /// What becomes of a frame that wants to leave.
    pub enum Exit {
        /// To the port.
        Transmit => node "port-tx",
        /// The interface is administratively down, or gone.
        InterfaceDown => drop,
        /// Longer than the interface's MTU allows.
        TooBig => drop,
    }
}

impl Node for InterfaceOutput {
    const NAME: &'static str = "interface-output";
    const ABOUT: &'static str = "checks and counts what interfaces send";
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
        let first = frame.tx()[0];
        let same = frame.tx().iter().fold(true, |same, &tx| same & (tx == first));
        if same && let Some(interface) = interfaces.get(first) {
            let longest = frame.lengths().iter().fold(0, |longest, &length| longest.max(length));
            if interface.up && longest <= limit(interface) {
                self.count(first, frame.len() as u64, frame.lengths().iter().sum());
                exits.all(Exit::Transmit);
                return;
            }
        }
        for slot in 0..frame.len() {
            let (tx, length) = (frame.tx()[slot], frame.lengths()[slot]);
            let exit = match interfaces.get(tx) {
                Some(interface) if interface.up && length <= limit(interface) => Exit::Transmit,
                Some(interface) if interface.up => Exit::TooBig,
                _ => Exit::InterfaceDown,
            };
            if exit == Exit::Transmit {
                self.count(tx, 1, length);
            }
            exits.set(slot, exit);
        }
    }
}

impl InterfaceOutput {
    #[inline]
    fn count(&self, interface: u16, packets: u64, bytes: u32) {
        let Some(counters) = self.counters.interfaces.get(usize::from(interface)) else { return };
        add(&counters.tx_packets, packets);
        add(&counters.tx_bytes, u64::from(bytes));
    }
}

fn limit(interface: &Interface) -> u32 {
    u32::from(interface.mtu_bytes) + LINK_HEADER_BYTES + TAG_BYTES
}
