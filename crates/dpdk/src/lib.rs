//! DPDK behind a small C shim: the environment, ports, queues, memory pools.
//!
//! ```text
//!  eal      started once; memory: hugepages or not; privilege, open_files: what we may do; log: kept quiet
//!  pool     packet buffers in DPDK's memory; thread: who has a cache of them; shared_pool: those that peers of memifs see
//!  kinds    the kinds of ports, one file each; kind: what differs by kind
//!  driver   what carries a port's packets: eth_dev, one of DPDK's, or one of ours (kinds/memif, kinds/af_packet)
//!  device   a port as DPDK takes it; arguments: with what it is told; stale: sockets left by the dead
//!  port     one open port: configure, start, stop, close; descriptors, stats
//!  facts    what a driver says of a port
//!  queue    burst receive and transmit; gate: lets control stop a port under a polling worker
//!  receive_times  when a port received each packet
//!  rests    until a machine kicks; attached: while one is there
//!  link     a port's link; link_watch: what happens to it; linux: the Linux device behind it
//!  offloads what Linux does to packets before we see them; checksum: and how we live with it; large_pool: room for what it has not cut
//!  large_frames  large frames as DPDK's drivers have them, and as we do; merging: packets of a stream put together
//!  scattered  frames that a card cuts into several buffers, put together
//!  xdp_sockets, bpf_objects, taken: what af_xdp forgets
//!  ffi      the calls; shim/shim.c: DPDK's inline functions as real ones
//! ```
//! All of DPDK that a worker touches is a pool's cache and a queue's burst: one call a burst. All
//! the rest is the control thread's: ports open, close and change while workers poll.
//!
//! What the drivers of DPDK 22.11 get wrong, and is put right here:
//! - memif believes what its peer writes, and more: ports of that kind have a driver of ours;
//! - af_xdp keeps its buffers when it fails to open (`taken`), its socket and its buffers when
//!   closed (`xdp_sockets`), its program and its map (`bpf_objects`), and takes half of a pool
//!   whose buffers lie on a page each (`volley_pool_create` in the shim);
//! - af_packet says nothing of missing checksums and of frames cut off, nor of times and types of
//!   tags, receives what the kernel sends, and copies a packet at a time: ports of that kind have a
//!   driver of ours, too (crate `sockets`);
//! - vhost fails on a socket file that a killed process left (`stale`), and believes much of what
//!   it is told: a guard stands in front of it (crate `vhost`).
//!
//! The feature `static` links a chosen set of drivers into the program, which then needs the C
//! library alone.
//! Where it runs, af_xdp wants the file `xsk_def_xdp_prog.o` of the package libxdp1.
// DPDK is C: this crate is the wall between it and the rest.
#![allow(unsafe_code)]

mod arguments;
mod attached;
mod bpf_objects;
mod checksum;
mod descriptors;
mod device;
mod driver;
mod eal;
mod error;
mod eth_dev;
mod facts;
mod ffi;
mod gate;
#[cfg(test)]
mod gate_tests;
mod interface_request;
mod kind;
pub mod kinds;
mod large_frames;
mod large_pool;
mod link;
mod link_watch;
mod linux;
mod log;
mod membarrier;
mod memory;
mod merging;
pub mod offloads;
mod open_files;
mod pool;
mod port;
mod privilege;
mod queue;
mod receive_times;
mod rests;
mod scattered;
mod shared_pool;
mod stale;
mod stats;
mod sync;
mod taken;
mod thread;
mod xdp_queues;
mod xdp_sockets;

pub use eal::{Eal, EalFacts, EalOptions, IovaMode};
pub use error::Error;
pub use facts::PortFacts;
pub use kinds::{MemifRole, PortSpec};
pub use large_pool::LARGE_POOL_MIB;
pub use link::Link;
pub use link_watch::{LinkEvent, LinkWatch};
pub use log::{LogLevel, LogRoute};
pub use memory::{MemoryChoice, MemoryPlan};
pub use pool::{DpdkPool, pools_of_ports};
pub use port::{Port, PortOptions};
pub use privilege::Privilege;
pub use queue::{RxHandle, TxHandle};
pub use receive_times::{PortClock, ReceiveTimes};
pub use shared_pool::SHARED_HEADER_BYTES;
pub use stats::PortStats;
