//! `[icmp]`: rates of the messages the router sends by itself (RFC 1812, 4.3.2.8).

use super::{Config, Object};
use crate::config::change::Replaced;
use crate::config::host::Host;
use crate::config::read::TableReader;
use crate::config::report::Report;
use crate::config::table::Row;
use crate::config::write::{Fields, Writer};

/// Rates of ICMP messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Icmp {
    /// Whether echo requests to the router are answered.
    pub echo: bool,
    /// Echo replies per second and worker.
    pub echo_pps: u32,
    /// Errors (time exceeded, unreachable, …) per second and worker.
    pub errors_pps: u32,
}

impl Default for Icmp {
    fn default() -> Self {
        Self { echo: true, echo_pps: 10_000, errors_pps: 1_000 }
    }
}

impl Row for Icmp {
    const KIND: &'static str = "icmp";

    fn fields(&self) -> Fields {
        let default = Self::default();
        Fields::new()
            .unless("echo", &self.echo, &default.echo)
            .unless("echo_pps", &self.echo_pps, &default.echo_pps)
            .unless("errors_pps", &self.errors_pps, &default.errors_pps)
    }
}

impl Object for Icmp {
    type Change = Replaced<Self>;

    fn read(root: &mut TableReader<'_>) -> Self {
        let default = Self::default();
        root.table("icmp", |table| Self {
            echo: table.or("echo", default.echo),
            echo_pps: table.number("echo_pps", default.echo_pps, 1..=10_000_000),
            errors_pps: table.number("errors_pps", default.errors_pps, 0..=10_000_000),
        })
        .unwrap_or_default()
    }

    fn check(&self, _: &Config, _: &Host, _: &mut Report) {}

    fn write(&self, writer: &mut Writer) {
        writer.section_unless_default("[icmp]", &self.fields());
    }

    fn diff(old: &Self, new: &Self) -> Vec<Self::Change> {
        Replaced::between(old, new)
    }
}
