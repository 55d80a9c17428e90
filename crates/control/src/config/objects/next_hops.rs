//! `[next_hops]`: what is counted of those that packets are handed to.

use super::Object;
use crate::config::declare::object;
use crate::config::row::Row;
use crate::config::rows::Section;

object! {
    /// What is counted of next hops
    pub struct NextHops {
        /// Whether packets and octets are counted by next hop; costs each routed packet some cycles
        pub counters: bool = false,
    }
}

impl Row for NextHops {
    const KIND: &'static str = "next_hops";
}

impl Section for NextHops {}

impl Object for NextHops {}
