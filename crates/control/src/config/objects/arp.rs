//! `[arp]`: timers of IPv4 address resolution (RFC 826; ageing after RFC 1122, 2.3.2.1).

use std::time::Duration;

use super::{Config, Object};
use crate::config::change::Replaced;
use crate::config::field::{Field, duration_text};
use crate::config::host::Host;
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::table::Row;
use crate::config::write::{Fields, Writer};

/// Timers of address resolution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arp {
    /// How long an answer is believed before it is asked for again.
    pub lifetime: Duration,
    /// Time between two requests for the same neighbour.
    pub retry: Duration,
    /// Requests without an answer before the neighbour counts as unreachable.
    pub attempts: u16,
    /// Packets held for one neighbour while it is asked for.
    pub hold_packets: u16,
    /// Requests sent per second, all neighbours together.
    pub requests_pps: u32,
}

impl Default for Arp {
    fn default() -> Self {
        Self {
            lifetime: Duration::from_secs(300),
            retry: Duration::from_secs(1),
            attempts: 3,
            hold_packets: 16,
            requests_pps: 1_000,
        }
    }
}

impl Row for Arp {
    const KIND: &'static str = "arp";

    fn fields(&self) -> Fields {
        let default = Self::default();
        Fields::new()
            .unless("lifetime", &self.lifetime, &default.lifetime)
            .unless("retry", &self.retry, &default.retry)
            .unless("attempts", &self.attempts, &default.attempts)
            .unless("hold_packets", &self.hold_packets, &default.hold_packets)
            .unless("requests_pps", &self.requests_pps, &default.requests_pps)
    }
}

impl Object for Arp {
    type Change = Replaced<Self>;

    const NEEDS_RESTART: bool = true;

    fn read(root: &mut TableReader<'_>) -> Self {
        let default = Self::default();
        root.table("arp", |table| Self {
            lifetime: table.or("lifetime", default.lifetime),
            retry: table.or("retry", default.retry),
            attempts: table.number("attempts", default.attempts, 1..=100),
            hold_packets: table.number("hold_packets", default.hold_packets, 0..=1_024),
            requests_pps: table.number("requests_pps", default.requests_pps, 1..=1_000_000),
        })
        .unwrap_or_default()
    }

    fn check(&self, _: &Config, _: &Host, report: &mut Report) {
        let second = Duration::from_secs(1);
        if self.lifetime < second {
            let message =
                format!("an answer is believed for {} only", duration_text(self.lifetime));
            report.push(Problem::new("arp.lifetime", message).expected("\"1s\" or more"));
        }
        let tenth = Duration::from_millis(100);
        if self.retry < tenth {
            let message = format!("asking again after {} floods the link", self.retry.to_toml());
            report.push(Problem::new("arp.retry", message).expected("\"100ms\" or more"));
        }
    }

    fn write(&self, writer: &mut Writer) {
        writer.section_unless_default("[arp]", &self.fields());
    }

    fn diff(old: &Self, new: &Self) -> Vec<Self::Change> {
        Replaced::between(old, new)
    }
}
