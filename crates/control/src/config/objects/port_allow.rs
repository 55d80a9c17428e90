//! `[port.NAME] allow`: whose packets a port receives at all.
//!
//! ```toml
//! allow = { from = ["192.0.2.0/24", "2001:db8::/32"] }   # sources by network
//! allow = { vrf = "customers", non_ip = false }          # or those that a VRF has routes to; nothing but IP
//! ```

use super::Config;
use super::vrf::{self, VrfName};
use crate::config::declare::{as_field, object};
use crate::config::prefix::Prefix;
use crate::config::report::{Problem, Report};

object! {
    /// Whose packets a port receives
    pub struct Allow {
        /// Those from these networks
        pub from: Vec<Prefix> as "192.0.2.0/24" = Vec::new(),
        /// Those from where this VRF has routes to
        pub vrf: Option<VrfName> as "red" = None,
        /// Whether what is no IP packet is received, ARP with it
        pub non_ip: bool = true,
    }
    also { "ip_only": non_ip = "false" }
}
as_field!(Allow);

impl Allow {
    pub(super) fn check(&self, field: &str, config: &Config, report: &mut Report) {
        if self.from.is_empty() && self.vrf.is_none() {
            let problem = Problem::new(field, "it lets nobody in");
            report.push(problem.expected("networks in `from`, a `vrf`, or both"));
        }
        vrf::check_exists(&format!("{field}.vrf"), self.vrf.as_ref(), &config.vrfs, report);
    }
}
