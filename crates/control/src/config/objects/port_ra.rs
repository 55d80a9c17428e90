//! `[port.NAME.ra]`: routers advertise themselves to the hosts of a link (RFC 4861, 6.2.1), which
//! make addresses of the port's /64 networks (RFC 4862). Not there: the port is silent.

use std::time::Duration;

use super::port::{Port, PortName};
use crate::config::field::duration_text;
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::write::Fields;

/// How a port advertises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ra {
    /// Longest time between two advertisements.
    pub interval: Duration,
    /// How long hosts use the router after one; 0: they do not, and only learn networks.
    pub lifetime: Duration,
}

impl Default for Ra {
    fn default() -> Self {
        Self { interval: Duration::from_secs(600), lifetime: Duration::from_secs(1_800) }
    }
}

impl Ra {
    pub(super) fn read(table: &mut TableReader<'_>) -> Self {
        let default = Self::default();
        Self {
            interval: table.or("interval", default.interval),
            lifetime: table.or("lifetime", default.lifetime),
        }
    }

    pub(super) fn fields(&self) -> Fields {
        let default = Self::default();
        Fields::new().unless("interval", &self.interval, &default.interval).unless(
            "lifetime",
            &self.lifetime,
            &default.lifetime,
        )
    }

    pub(super) fn check(&self, name: &PortName, port: &Port, report: &mut Report) {
        let field = format!("port.{name}.ra");
        if !port.has_ip6() {
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
