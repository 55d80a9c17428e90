//! DPDK behind a small C shim: the environment, ports, queues, memory pools.
//!
//! ```text
//!  eal      started once; memory: hugepages or not; privilege: what we may do; log: kept quiet
//!  pool     packet buffers in DPDK's memory; thread: who has a cache of them
//!  spec     what a port is; device: the same as DPDK's arguments
//!  port     one open port: configure, start, stop, close; stats
//!  link     its link, watched; linux: the Linux device behind it, unmap: memif's memory
//!  queue    burst receive and transmit; gate: lets control stop a port under a polling worker
//!  ffi      the calls; shim/shim.c: DPDK's inline functions as real ones
//! ```
//! All of DPDK that a worker touches is a pool's cache and a queue's burst: one call a burst.
// DPDK is C: this crate is the wall between it and the rest.
#![allow(unsafe_code)]

mod checksum;
mod device;
mod eal;
mod error;
mod ffi;
mod gate;
mod link;
mod linux;
mod log;
mod memory;
pub mod offloads;
mod pool;
mod port;
mod privilege;
mod queue;
mod spec;
mod stale;
mod stats;
mod thread;
mod unmap;
mod veth;
mod xdp_sockets;

pub use eal::{Eal, EalFacts, EalOptions, IovaMode, MemoryChoice};
pub use error::Error;
pub use link::{Link, LinkEvent, LinkWatch};
pub use log::{LogLevel, LogRoute};
pub use memory::MemoryPlan;
pub use pool::DpdkPool;
pub use port::{Port, PortFacts, PortOptions};
pub use privilege::Privilege;
pub use queue::{RxHandle, TxHandle};
pub use spec::{MemifRole, PortSpec};
pub use stats::PortStats;
