//! Burst receive and transmit: what a port is to a worker. One dynamic call a burst.

use crate::{PacketCache, PacketPtr};

/// One receive queue of a port; one worker polls it.
pub trait RxQueue: Send {
    /// Fills up to all `slots` from the front and says how many. The caller owns those packets.
    /// A queue that makes its packets itself takes the buffers from `cache`.
    fn receive(&mut self, cache: &mut dyn PacketCache, slots: &mut [Option<PacketPtr>]) -> usize;
}

/// One transmit queue of a port; one worker feeds it.
pub trait TxQueue: Send {
    /// Sends from the front and says how many were taken; the queue owns those, the caller the
    /// rest. A queue that needs no driver releases what it took into `cache`.
    fn transmit(&mut self, cache: &mut dyn PacketCache, packets: &[PacketPtr]) -> usize;

    /// Sees to it that what was taken is sent, if nobody else does. To be called in every pass of a
    /// worker's loop, with packets or without; a queue whose device needs no such care does
    /// nothing.
    fn push(&mut self) {}
}
