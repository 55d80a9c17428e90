//! The IPv6 packets of a vector that has others, too: see `ip_express`.

use super::express::{Ip6, OneFamily};

/// See the module.
pub type Ip6Express = OneFamily<Ip6>;
