//! `[twins]`: how much of each class the kernel's twins get, so that no flood of one class starves
//! the others.

use super::{Config, Object};
use crate::config::change::Replaced;
use crate::config::host::Host;
use crate::config::read::TableReader;
use crate::config::report::Report;
use crate::config::table::Row;
use crate::config::write::{Fields, Writer};

/// Packets per second and worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Twins {
    /// ARP and neighbour discovery.
    pub neighbors_pps: u32,
    /// Routing protocols.
    pub routing_pps: u32,
    /// Other TCP connections.
    pub tcp_pps: u32,
    /// Everything else.
    pub rest_pps: u32,
}

impl Default for Twins {
    fn default() -> Self {
        Self { neighbors_pps: 2_000, routing_pps: 10_000, tcp_pps: 20_000, rest_pps: 2_000 }
    }
}

impl Row for Twins {
    const KIND: &'static str = "twins";

    fn fields(&self) -> Fields {
        let default = Self::default();
        Fields::new()
            .unless("neighbors_pps", &self.neighbors_pps, &default.neighbors_pps)
            .unless("routing_pps", &self.routing_pps, &default.routing_pps)
            .unless("tcp_pps", &self.tcp_pps, &default.tcp_pps)
            .unless("rest_pps", &self.rest_pps, &default.rest_pps)
    }
}

impl Object for Twins {
    type Change = Replaced<Self>;

    fn read(root: &mut TableReader<'_>) -> Self {
        let default = Self::default();
        root.table("twins", |table| {
            let mut pps = |key, default| table.number(key, default, 0..=10_000_000);
            Self {
                neighbors_pps: pps("neighbors_pps", default.neighbors_pps),
                routing_pps: pps("routing_pps", default.routing_pps),
                tcp_pps: pps("tcp_pps", default.tcp_pps),
                rest_pps: pps("rest_pps", default.rest_pps),
            }
        })
        .unwrap_or_default()
    }

    fn check(&self, _: &Config, _: &Host, _: &mut Report) {}

    fn write(&self, writer: &mut Writer) {
        writer.section_unless_default("[twins]", &self.fields());
    }

    fn diff(old: &Self, new: &Self) -> Vec<Self::Change> {
        Replaced::between(old, new)
    }
}
