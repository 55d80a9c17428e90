//! Traffic schedulers as pure state machines over virtual time.
//!
//! ```text
//!   Config ─ build ─▶ Box<dyn Scheduler<T>>
//!
//!        enqueue(now, packet) ─▶ queued | dropped          ┌─ pfifo, bfifo, pfifo_fast, prio
//!                                     │                    ├─ sfq, codel, fq_codel, cake
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
//! [`build_for()`] makes one tree's schedulers for several threads: each has the packets that come
//! to it, all share the rates.
//!
//! A scheduler belongs to one thread at a time (`Send`, not `Sync`).

mod agenda;
mod build;
mod cake;
mod calendar;
mod check;
mod child;
mod class_id;
mod class_map;
mod codel;
mod codel_law;
mod config;
#[cfg(test)]
mod contributing;
mod curve;
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
mod kind;
mod least_heap;
mod link_layer;
mod lone_fifo;
mod memory;
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
mod said;
mod scheduler;
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
mod word;

pub use build::{build, build_for};
pub use cake::{CakeShape, Isolation, Tins};
pub use check::{check, warnings};
pub use class_id::ClassId;
pub use codel::CodelShape;
pub use config::Config;
pub use curve::Curve;
pub use error::Error;
pub use fifo::{BfifoShape, PfifoShape};
pub use filter::{Fields, Filter, Ports, Prefix, classify, first_of};
pub use fq_codel::FqCodelShape;
pub use hfsc::{HfscClass, HfscShape};
pub use htb::{HtbClass, HtbShape};
pub use link_layer::LinkLayer;
pub use memory::{longest_queue, memory};
pub use packet::{Burst, DropReason, Dropped, Drops, Hosts, Next, Offer, Packet, Sent, Verdict};
pub use plan::{Asks, ClassShape, Classes, Shape};
pub use pool::Backlog;
pub use prio::{PfifoFastShape, PrioShape};
pub use replace::{Replaced, replace, take_over};
pub use report::{Counters, Report};
pub use scheduler::Scheduler;
pub use settings::{Place, Setting, Settings, Slot, Visit};
pub use sfq::SfqShape;
pub use tbf::TbfShape;
pub use waiting_room::{Share, WaitingRoom};
pub use warning::Warning;
