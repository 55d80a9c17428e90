//! Trials on real devices: start one, wait for its first packet, settle, measure, collect, stop.
//!
//! ```text
//!  lab's namespace                      device's namespace
//!  ┌───────────────┐ g0 ═══ veth ═══ d0 ┌────────────────────────────┐
//!  │ drive (core 1)│                    │ bridge, router, testpmd,   │
//!  │  ends         │ g1 ═══ veth ═══ d1 │ Open vSwitch, Volley (core 0)
//!  └───────────────┘   or memif, vhost  └────────────────────────────┘
//!  place: namespaces, links, processes, every command written down      rig: one device, measured
//! ```
//! Nothing outlives the lab: the namespaces have no names and end with their processes, and each
//! process is killed by the kernel when the lab ends, however it ends.

pub mod added;
mod away;
pub mod campaign;
pub mod cards;
pub mod device;
pub mod devices;
pub mod frames;
pub mod functional;
pub mod host;
pub mod host_clock;
pub mod leases;
pub mod link;
pub mod modelled;
pub mod perf;
pub mod place;
pub mod probe;
pub mod rig;
pub mod self_test;
pub mod settings;
pub mod shape;
mod stand;
pub mod stream;
mod table;
pub mod telemetry;
mod upset;
pub mod versus;

pub use device::{Device, Job};
pub use link::LinkKind;
pub use place::Place;
pub use rig::{Bench, Rig, Wish};
