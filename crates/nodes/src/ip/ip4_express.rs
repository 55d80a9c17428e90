//! The IPv4 packets of a vector that has others, too: see `ip_express`.

use super::express::{Ip4, OneFamily};

/// See the module.
pub type Ip4Express = OneFamily<Ip4>;
