//! Trials on real devices: start one, wait for its first packet, settle, measure, collect, stop.
//!
//! ```text
//!  lab's namespace                      device's namespace
//!  ┌───────────────┐ g0 ═══ veth ═══ d0 ┌────────────────────────────┐
//!  │ drive (core 1)│                    │ bridge, router, testpmd,   │
//!  │  ends         │ g1 ═══ veth ═══ d1 │ Open vSwitch, Volley (core 0)
//!  └───────────────┘   or memif, vhost  └────────────────────────────┘
//!  place: namespaces, processes, every command written down      rig: one device, measured
//! ```
//! Nothing outlives the lab: the namespaces have no names and end with their processes, and each
//! process is killed by the kernel when the lab ends, however it ends.

mod away;
mod bench;
pub mod cost;
pub(crate) mod in_turn;
pub mod rig;
pub mod self_test;
mod spikes;
pub(crate) mod stand;
mod table;
mod upset;
pub(crate) mod wish;
