//! The packet buffer: its memory layout, pools, queues, and the safe view that nodes work through.
//!
//! ```text
//!  mbuf         one packet's buffer, laid out exactly as DPDK's rte_mbuf
//!  packet_ptr   a handle on one buffer; private: our own words behind the mbuf header
//!  pool         where buffers come from and go back to; heap_pool: one without DPDK
//!  queue        burst receive and transmit; memory_queue: a source and a sink without a device
//!  frame        up to 256 packets as arrays, what nodes borrow; view: one packet of it
//!  split        a frame divided by its packets' exits, with SIMD
//!  vectors      loops over arrays, compiled for the vectors that the processor has
//! ```
//!
//! `unsafe` lives here so that nodes need none: a [`Frame`] promises that each of its packets is a
//! live buffer and that `header .. header + length` lies inside it; every method keeps that
//! promise.
#![allow(unsafe_code)]

mod frame;
mod handoff;
mod heap_pool;
mod mbuf;
mod memory_queue;
mod packet_ptr;
mod pool;
mod prefetch;
mod private;
mod queue;
mod split;
mod vectors;
mod view;

pub use frame::{Frame, SLACK, VECTOR};
pub use handoff::{Consumer, Producer, handoff};
pub use heap_pool::HeapPool;
pub use mbuf::{HEADROOM_BYTES, MBUF_HEADER_BYTES, Mbuf};
pub use memory_queue::{MemorySink, MemorySource, Recorded, Repeat};
pub use packet_ptr::PacketPtr;
pub use pool::{PacketCache, Pool, PoolError, PoolUsage};
pub use prefetch::{prefetch_read, prefetch_write};
pub use private::{PRIVATE_BYTES, Private};
pub use queue::{RxQueue, TxQueue};
pub use split::{ExitBytes, Selection, Splitter};
pub use vectors::vectorized;
pub use view::PacketView;
