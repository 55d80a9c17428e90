//! `[ip4]`: what of IPv4 is not everywhere the same.

use super::Object;
use crate::config::declare::object;
use crate::config::row::Row;
use crate::config::rows::Section;

object! {
    /// What of IPv4 is not everywhere the same
    pub struct Ip4 {
        /// Whether 240.0.0.0/4 is routed, and taken for senders' addresses, as Linux does
        pub class_e: bool = false,
    }
}

impl Row for Ip4 {
    const KIND: &'static str = "ip4";
}

impl Section for Ip4 {}

impl Object for Ip4 {}
