//! `police_in`, `police_out`, `mark_dscp` and `mark_pcp` of a port: what it holds its frames to,
//! and writes into those that it receives.

use super::Config;
use super::policer::{Dscp, Mark, Pcp, PolicerName};
use crate::config::declare::{flat, object};
use crate::config::listed::check_exists;
use crate::config::report::Report;

object! {
    /// What a port holds its frames to
    pub struct Policing {
        /// The policer of what it receives
        pub police_in: Option<PolicerName> as "gold" = None,
        /// The policer of what it sends
        pub police_out: Option<PolicerName> as "gold" = None,
        /// DSCP of what it receives, where its policer writes nothing else
        pub mark_dscp: Option<Dscp> as "ef" = None,
        /// Priority in the VLAN tag of what it receives, likewise
        pub mark_pcp: Option<Pcp> as "5" = None,
    }
}
flat!(Box<Policing>);

impl Policing {
    /// What is written into what the port receives, where its policer writes nothing else.
    pub fn mark(&self) -> Mark {
        Mark { dscp: self.mark_dscp, pcp: self.mark_pcp }
    }

    pub(super) fn check(&self, port: &str, config: &Config, report: &mut Report) {
        for (key, name) in [("police_in", &self.police_in), ("police_out", &self.police_out)] {
            if let Some(name) = name {
                check_exists(&format!("{port}.{key}"), name, &config.policers, report);
            }
        }
    }
}
