//! Burst receive and transmit: what a port is to a worker. One dynamic call a burst.

use crate::{Burst, PacketBuf, PacketCache};
use std::os::fd::RawFd;

/// How a worker that rests learns that a queue has packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wakes {
    /// The descriptor is readable as long as there are some.
    Readable(RawFd),
    /// One of two is readable then: or there is more to it than packets, which is to be seen to.
    Either(RawFd, RawFd),
    /// Nobody tells: it must be looked at.
    Unseen,
}

/// One receive queue of a port; one worker polls it.
pub trait RxQueue: Send {
    /// Appends what came in, at most so many packets. A queue that makes its packets itself takes
    /// the buffers from `cache`.
    fn receive(&mut self, cache: &mut dyn PacketCache, most: usize, into: &mut Vec<PacketBuf>);

    /// The worker will rest after it has asked once more. Packets that come from here on are to
    /// wake it, by what this says.
    fn before_rest(&mut self) -> Wakes {
        Wakes::Unseen
    }

    /// The rest is over, or did not come to be.
    fn after_rest(&mut self) {}
}

/// One transmit queue of a port; one worker feeds it.
pub trait TxQueue: Send {
    /// Sends from the front: what it takes out of `packets` is its own, the rest stays the
    /// caller's. A queue that needs no driver releases what it took into `cache`.
    fn transmit(&mut self, cache: &mut dyn PacketCache, packets: &mut Burst<'_>);

    /// Sends from the front of a list; says how many went, which are not in it any more.
    fn send(&mut self, cache: &mut dyn PacketCache, packets: &mut Vec<PacketBuf>) -> usize {
        Burst::offer(packets, |burst| self.transmit(cache, burst))
    }

    /// Sees to it that what was taken is sent, if nobody else does. To be called in every pass of a
    /// worker's loop, with packets or without; a queue whose device needs no such care does
    /// nothing.
    fn push(&mut self) {}

    /// Whether [`TxQueue::push`] has still something to see to, so that nobody may rest for long.
    fn must_push(&self) -> bool {
        false
    }
}
