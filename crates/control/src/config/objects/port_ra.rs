//! `[port.NAME.ra]`: routers advertise themselves to the hosts of a link (RFC 4861, 6.2.1), which
//! make addresses of the port's /64 networks (RFC 4862). Not there: the port is silent.

use std::time::Duration;

use crate::config::declare::{as_field, object};
use crate::config::field::duration_text;
use crate::config::report::{Problem, Report};

object! {
    /// How a port advertises the router
    pub struct Ra {
        /// Longest time between two advertisements
        pub interval: Duration as "10s" = Duration::from_secs(600),
        /// How long hosts use the router after one; 0s: they do not, and only learn networks
        pub lifetime: Duration as "30m" = Duration::from_secs(1_800),
    }
}
as_field!(Ra);

impl Ra {
    pub(super) fn check(&self, port: &str, has_ip6: bool, report: &mut Report) {
        let field = format!("{port}.ra");
        if !has_ip6 {
            let message = "it has no IPv6 address to advertise from";
            report.push(Problem::new(&field, message).expected("an IPv6 address on the port"));
        }
        let (shortest, longest) = (Duration::from_secs(4), Duration::from_secs(1_800));
        if !(shortest..=longest).contains(&self.interval) {
            let message = format!("an advertisement every {}", duration_text(self.interval));
            let problem = Problem::new(format!("{field}.interval"), message);
            report.push(problem.expected("\"4s\" to \"30m\""));
        }
        let most = Duration::from_secs(9_000);
        if !self.lifetime.is_zero() && !(self.interval..=most).contains(&self.lifetime) {
            let message = format!("a lifetime of {}", duration_text(self.lifetime));
            let problem = Problem::new(format!("{field}.lifetime"), message);
            report.push(problem.expected("\"0s\", or the interval to \"150m\""));
        }
    }
}
