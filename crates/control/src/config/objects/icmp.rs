//! `[icmp]`: rates of the messages the router sends by itself (RFC 1812, 4.3.2.8).

use super::Object;
use crate::config::declare::object;
use crate::config::row::Row;
use crate::config::rows::Section;

object! {
    /// Rates of the messages the router sends by itself
    pub struct Icmp {
        /// Whether echo requests to the router are answered
        pub echo: bool = true,
        /// Whether echo requests to all stations of a link are, too
        pub echo_broadcasts: bool = false,
        /// Echo replies, of each worker
        pub echo_pps: u32 [1..=10_000_000] = 10_000,
        /// Errors (time exceeded, unreachable, …), of each worker
        pub errors_pps: u32 [0..=10_000_000] = 1_000,
    }
}

impl Row for Icmp {
    const KIND: &'static str = "icmp";
}

impl Section for Icmp {}

impl Object for Icmp {}
