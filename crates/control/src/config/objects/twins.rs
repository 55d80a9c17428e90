//! `[twins]`: how much of each class the kernel's twins get, so that no flood of one class starves
//! the others.

use super::Object;
use crate::config::declare::object;
use crate::config::row::Row;
use crate::config::rows::Section;

object! {
    /// What the kernel's twins of ports get, of each worker
    pub struct Twins {
        /// ARP and neighbour discovery
        pub neighbors_pps: u32 [0..=10_000_000] = 2_000,
        /// Routing protocols
        pub routing_pps: u32 [0..=10_000_000] = 10_000,
        /// Other TCP connections
        pub tcp_pps: u32 [0..=10_000_000] = 20_000,
        /// Everything else
        pub rest_pps: u32 [0..=10_000_000] = 2_000,
    }
}

impl Row for Twins {
    const KIND: &'static str = "twins";
}

impl Section for Twins {}

impl Object for Twins {}
