//! What carries a port's packets: a driver of DPDK's, or one of ours.
//!
//! ```text
//!  Port ─▶ Driver ─┬─ EthDev   one of DPDK's ports, by its number
//!                  └─ ours     memif, af_packet (kinds)
//!  RxHandle, TxHandle ─▶ Source, Sink: one branch a burst
//! ```
//! Errors are error numbers of either sign, as DPDK's calls return them.

use crate::link::Link;
use crate::scattered::Gatherer;
use crate::stats::PortStats;
use crate::{PortClock, PortFacts, PortOptions};
use core::fmt;
use packet::{PacketBuf, RxQueue, TxQueue};
use std::sync::Arc;
use wire::cut::Cut;

/// How many queues there are, each way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Queues {
    pub(crate) rx: u16,
    pub(crate) tx: u16,
}

/// What could not be done, and why.
pub(crate) struct Failed {
    pub(crate) action: String,
    pub(crate) code: i32,
}

/// Where a receive queue's packets come from.
pub(crate) enum Source {
    /// A queue of DPDK's port of that number.
    Dpdk {
        /// The port.
        port: u16,
        /// The queue.
        queue: u16,
        /// For frames that it cuts, of a card.
        gatherer: Option<Box<Gatherer>>,
    },
    /// A queue of our own.
    Ours(Box<dyn RxQueue>),
}

/// Where a transmit queue's packets go.
pub(crate) enum Sink {
    /// A queue of DPDK's port of that number.
    Dpdk {
        /// The port.
        port: u16,
        /// The queue.
        queue: u16,
    },
    /// A queue of our own.
    Ours(Box<dyn TxQueue>),
}

/// Whether a large frame that is in no tunnel may leave by a port as it is.
pub(crate) type TakesLarge = Arc<dyn Fn(&Cut, &PacketBuf) -> bool + Send + Sync>;

/// A port's driver. It is shown as what it was told. What a driver does not say is what most
/// without a card do: there is nothing to set, and all packets are received.
pub(crate) trait Driver: fmt::Display + Send {
    /// Opens the port.
    fn open(&mut self, options: &PortOptions) -> Result<PortFacts, i32>;

    /// Sets its queues up, as many as it can of those that are wanted.
    fn configure(&mut self, wanted: Queues, options: &PortOptions) -> Result<Queues, Failed>;

    /// Lets packets flow.
    fn start(&mut self) -> Result<(), i32>;

    /// Holds packets back. No worker is in a queue.
    fn stop(&mut self) -> Result<(), i32>;

    /// Forgets the port, which is stopped.
    fn close(&mut self);

    /// A receive queue; none if somebody has it.
    fn source(&self, queue: u16) -> Option<Source>;

    /// A transmit queue; none if somebody has it.
    fn sink(&self, queue: u16) -> Option<Sink>;

    /// The link as the driver sees it.
    fn link(&self) -> Result<Link, i32>;

    /// Why nobody is at the other end, where the driver is who sees to it that somebody is.
    fn problem(&self) -> Option<String> {
        None
    }

    /// What it counts.
    fn stats(&self) -> Result<PortStats, i32>;

    /// All that it counts, by its own names.
    fn extended_stats(&self) -> Result<Vec<(String, u64)>, i32>;

    /// Its hardware address.
    fn mac(&self) -> Result<[u8; 6], i32>;

    /// Gives it a hardware address.
    fn set_mac(&mut self, address: [u8; 6]) -> Result<(), i32>;

    /// Largest packet without its Ethernet header.
    fn mtu(&self) -> Result<u16, i32>;

    /// Sets the largest packet; `EBUSY` if it must be stopped for it.
    fn set_mtu(&mut self, mtu: u16) -> Result<(), i32>;

    /// Receive all packets, or only those to the port's address.
    fn set_promiscuous(&mut self, _: bool) -> Result<(), i32> {
        Ok(())
    }

    /// Receive packets to all groups, or only to those joined.
    fn set_all_multicast(&mut self, _: bool) -> Result<(), i32> {
        Ok(())
    }

    /// Can tell when it received a packet.
    fn offers_times(&self) -> bool {
        false
    }

    /// The clock by which it tells that, once it runs.
    fn clock(&self) -> Option<PortClock> {
        None
    }

    /// Has large frames go on as they are, or be cut as they come, if it can do either.
    fn keep_whole(&self, _: bool) {}

    /// Which large frames whoever is at the other end takes, where that is not the same for all of
    /// them; for others its kind says it ([`Kind::takes_large`](crate::kind::Kind::takes_large)).
    fn takes_large(&self) -> Option<TakesLarge> {
        None
    }

    /// What that clock says.
    fn read_clock(&self, _: PortClock) -> Result<u64, i32> {
        Err(-libc::ENOTSUP)
    }
}
