//! What the caller has of any scheduler.

use crate::packet::{Burst, Drops, Next, Packet, Sent, Verdict};
use crate::pool::Backlog;
use crate::report::Report;

/// A traffic scheduler over packets that the caller names by `T`.
pub trait Scheduler<T: Copy>: Send {
    /// Offers a packet. Every packet dropped because of it, itself or another, goes to `drops`.
    fn enqueue(&mut self, now_ns: u64, packet: Packet<T>, drops: Drops<'_, T>) -> Verdict;

    /// Offers several packets that arrived together: one call a burst in place of one a packet.
    fn enqueue_burst(&mut self, now_ns: u64, packets: &[Packet<T>], drops: Drops<'_, T>);

    /// The next packet to send, or how long to wait. Packets that CoDel drops on the way go to
    /// `drops`.
    fn dequeue(&mut self, now_ns: u64, drops: Drops<'_, T>) -> Next<T>;

    /// Up to `limit` packets at once, appended to `out`: one call a burst in place of one a packet.
    fn dequeue_burst(
        &mut self,
        now_ns: u64,
        limit: usize,
        out: &mut Vec<Sent<T>>,
        drops: Drops<'_, T>,
    ) -> Burst;

    /// Offers a packet that has waited elsewhere since `arrived_ns`: its delay counts from then.
    fn adopt(
        &mut self,
        now_ns: u64,
        arrived_ns: u64,
        packet: Packet<T>,
        drops: Drops<'_, T>,
    ) -> Verdict;

    /// Takes back a packet that could not be sent: it comes first again. Of several, give back the
    /// last one first. Up to 256 are held; the one past that is returned.
    fn give_back(&mut self, sent: Sent<T>) -> Result<(), Sent<T>>;

    /// Takes out the first of the packets that were given back.
    fn take_given_back(&mut self) -> Option<Sent<T>>;

    /// No tokens are left, as if bursts had just gone: time alone brings more. For one that stands
    /// in for another which nobody can ask.
    fn spend(&mut self, now_ns: u64);

    /// Takes out every queued packet, with its arrival and the class that it stood in; within a
    /// queue in its order.
    fn drain(&mut self, now_ns: u64, out: &mut dyn FnMut(u64, Packet<T>));

    /// How many packets wait, at no cost: what a worker asks each round.
    fn waiting_packets(&self) -> u32;

    /// What waits, in all queues together: a pass over the classes.
    fn backlog(&self) -> Backlog;

    /// The tree of disciplines and classes with their statistics.
    fn report(&self) -> Report;
}
