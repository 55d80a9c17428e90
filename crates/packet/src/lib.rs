//! The packet buffer: its memory layout, pools, queues, and the safe view that nodes work through.
//!
//! ```text
//!  mbuf         one packet's buffer, laid out exactly as DPDK's rte_mbuf
//!  packet_buf   one buffer, owned; private: our own words behind the mbuf header
//!  burst        several that change hands together
//!  pool         where buffers come from and go back to; heap_pool: one without DPDK; foreign: what DPDK
//!               takes that for; placed: packets in memory that others see
//!  large        several packets of a flow in one frame, to be cut where it leaves
//!  queue        burst receive and transmit; memory_queue: a source and a sink without a device
//!  scheduler    packets that wait in a scheduler; handoff: a ring from one thread to another
//!  frame        up to 256 packets as arrays, what nodes borrow; view: one packet of it
//!  split        a frame divided by its packets' exits; slots: a choice of some; compress: with SIMD
//!  groups       the slots of a frame by what they have in common
//!  vectors      loops over arrays, compiled for the vectors that the processor has
//! ```
//!
//! `unsafe` lives here so that nodes need none. Who has a [`PacketBuf`], a [`Frame`] or a [`Burst`]
//! owns its packets, and they are moved, not copied: nothing that safe code does with them uses a
//! buffer that was given back, gives one back twice, writes what others read, or reaches past a
//! frame's end. What it can do is lose a packet, and so the memory of its pool. Miri runs this
//! crate's tests.
#![allow(unsafe_code)]

mod burst;
mod compress;
mod foreign;
mod frame;
mod groups;
mod handoff;
#[cfg(test)]
mod handoff_tests;
mod heap_pool;
mod large;
mod mbuf;
mod memory_queue;
mod packet_buf;
mod placed;
mod pool;
mod prefetch;
mod private;
mod queue;
mod scheduler;
mod slots;
mod split;
mod sync;
#[cfg(test)]
mod testing;
mod vectors;
mod view;

pub use burst::Burst;
pub use compress::Splitter;
pub use foreign::{FOREIGN_POOL_BYTES, foreign_pool};
pub use frame::Frame;
pub use groups::{Group, Groups, alike};
pub use heap_pool::HeapPool;
pub use large::Large;
pub use mbuf::{HEADROOM_BYTES, MBUF_HEADER_BYTES, Mbuf};
pub use memory_queue::{MemorySink, MemorySource, Recorded, Repeat};
pub use packet_buf::PacketBuf;
pub use placed::place_buffers;
pub use pool::{PacketCache, Pool, PoolError, PoolUsage};
pub use prefetch::{prefetch_read, prefetch_write};
pub use private::PRIVATE_BYTES;
pub use queue::{RxQueue, TxQueue, Wakes};
pub use scheduler::{Handed, Handing, Left, Offered, PacketScheduler, Released, hand_over};
pub use slots::{ExitBytes, SLACK, Selection, VECTOR};
pub use split::{Part, Parts};
pub use vectors::vectorized;
pub use view::{PacketView, References};
