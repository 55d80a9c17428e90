//! Traffic schedulers as pure state machines over virtual time.
//!
//! ```text
//!   Config ─ build ─▶ Box<dyn Scheduler<T>>
//!
//!        enqueue(now, packet) ─▶ queued | dropped          ┌─ pfifo, bfifo, pfifo_fast, prio
//!                                     │                    ├─ sfq, codel, fq_codel
//!        ┌────────────────────────────┴──────────┐         ├─ tbf
//!        │  pool of slots   tree of disciplines  │ ◀───────┴─ htb, hfsc: trees of classes, any of these at the leaves
//!        └────────────────────────────┬──────────┘
//!        dequeue(now)         ─▶ packet (mark it?) | wait until | empty
//! ```
//!
//! No clock and no I/O inside: the same calls give the same answers, so a schedule can be replayed,
//! tested by properties, and compared packet by packet with another implementation. A packet is a
//! handle that is never looked into. Time is the caller's, in nanoseconds, and never goes back.
//!
//! All memory is reserved by [`build()`]; [`memory()`] tells how much. Enqueue and dequeue allocate
//! nothing. Each discipline's module states its time and space a packet.
//!
//! A scheduler belongs to one thread at a time (`Send`, not `Sync`).

mod agenda;
mod build;
mod class_id;
mod class_map;
mod codel;
mod codel_law;
mod config;
#[cfg(test)]
mod contributing;
mod discipline;
mod error;
mod fifo;
mod filter;
mod fq_codel;
mod given_back;
mod handles;
mod hash;
mod hfsc;
mod htb;
mod least_heap;
mod link_layer;
mod lone_fifo;
mod names;
mod packet;
#[cfg(test)]
#[path = "../../../docs/example/pfifo_head_drop.rs"]
mod pfifo_head_drop;
mod plan;
mod pool;
mod prefetch;
mod prio;
mod rate;
mod replace;
mod report;
mod ring;
mod root;
mod settings;
mod sfq;
mod tbf;
pub mod tc;
#[cfg(test)]
mod testing;
mod tree;
mod turns;
pub mod units;
mod waiting_room;
mod warning;
mod wheel;

pub use build::{build, longest_queue, memory};
pub use class_id::ClassId;
pub use codel::CodelShape;
pub use config::{Config, check, warnings};
pub use error::Error;
pub use fifo::{BfifoShape, PfifoShape};
pub use filter::{Fields, Filter, Ports, Prefix, classify};
pub use fq_codel::FqCodelShape;
pub use hfsc::{Curve, HfscClass, HfscShape};
pub use htb::{HtbClass, HtbShape};
pub use link_layer::LinkLayer;
pub use packet::{Burst, DropReason, Dropped, Drops, Next, Packet, Sent, Verdict};
pub use plan::{ClassShape, Classes, Shape};
pub use pool::Backlog;
pub use prio::{PfifoFastShape, PrioShape};
pub use replace::{Replaced, replace, take_over};
pub use report::{Counters, Report};
pub use settings::{Place, Setting, Settings, Slot, Visit};
pub use sfq::SfqShape;
pub use tbf::TbfShape;
pub use waiting_room::{Share, WaitingRoom};
pub use warning::Warning;

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
