//! `[memory]`: buffers and table sizes, claimed once when the router starts.

use super::{Config, Object};
use crate::config::change::Replaced;
use crate::config::field::word_field;
use crate::config::host::Host;
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::table::Row;
use crate::config::write::{Fields, Writer};

/// Ethernet header and two VLAN tags, that a frame has beside its MTU.
const FRAME_OVERHEAD_BYTES: u16 = 14 + 8;

word_field! {
    /// Use of huge pages.
    Hugepages {
        /// Where the machine has them.
        Auto = "auto",
        /// Never.
        Never = "never",
        /// Refuse to start without.
        Require = "require",
    }
}

/// Buffers and table sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Packet buffers.
    pub buffers: u32,
    /// Longest frame that one buffer holds; headroom comes on top.
    pub frame_bytes: u16,
    /// Use of huge pages.
    pub hugepages: Hugepages,
    /// IPv4 routes there is room for.
    pub routes: u32,
    /// IPv6 routes there is room for.
    pub ip6_routes: u32,
    /// Stations of bridges there is room for.
    pub macs: u32,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            buffers: 16_384,
            frame_bytes: 2_048,
            hugepages: Hugepages::Auto,
            routes: 1_048_576,
            ip6_routes: 1_048_576,
            macs: 65_536,
        }
    }
}

impl Row for Memory {
    const KIND: &'static str = "memory";

    fn fields(&self) -> Fields {
        let default = Self::default();
        Fields::new()
            .unless("buffers", &self.buffers, &default.buffers)
            .unless("frame_bytes", &self.frame_bytes, &default.frame_bytes)
            .unless("hugepages", &self.hugepages, &default.hugepages)
            .unless("routes", &self.routes, &default.routes)
            .unless("ip6_routes", &self.ip6_routes, &default.ip6_routes)
            .unless("macs", &self.macs, &default.macs)
    }
}

impl Object for Memory {
    type Change = Replaced<Self>;

    const NEEDS_RESTART: bool = true;

    fn read(root: &mut TableReader<'_>) -> Self {
        let default = Self::default();
        root.table("memory", |table| Self {
            buffers: table.number("buffers", default.buffers, 512..=4_194_304),
            frame_bytes: table.number("frame_bytes", default.frame_bytes, 256..=16_384),
            hugepages: table.or("hugepages", default.hugepages),
            routes: table.number("routes", default.routes, 1..=16_777_216),
            ip6_routes: table.number("ip6_routes", default.ip6_routes, 1..=4_194_304),
            macs: table.number("macs", default.macs, 1..=16_777_216),
        })
        .unwrap_or_default()
    }

    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        let room = self.frame_bytes.saturating_sub(FRAME_OVERHEAD_BYTES);
        for (name, port) in config.ports.iter().filter(|(_, port)| port.mtu > room) {
            let message = format!("packets of {} bytes do not fit a buffer", port.mtu);
            report.push(
                Problem::new(format!("port.{name}.mtu"), message)
                    .expected(format!("at most {room} with frame_bytes = {}", self.frame_bytes))
                    .help(format!(
                        "set memory.frame_bytes to {} or more",
                        port.mtu.saturating_add(FRAME_OVERHEAD_BYTES)
                    )),
            );
        }
        let ip6 = config.routes.iter().filter(|(key, _)| key.prefix.address().is_ipv6()).count();
        for (field, family, count, room) in [
            ("routes", "IPv4", config.routes.len() - ip6, self.routes),
            ("ip6_routes", "IPv6", ip6, self.ip6_routes),
        ] {
            if count > room as usize {
                let message = format!("{count} static {family} routes and room for {room}");
                report.push(
                    Problem::new(format!("memory.{field}"), message)
                        .expected("room for every route")
                        .help(format!("set memory.{field} to {count} or more")),
                );
            }
        }
    }

    fn write(&self, writer: &mut Writer) {
        writer.section_unless_default("[memory]", &self.fields());
    }

    fn diff(old: &Self, new: &Self) -> Vec<Self::Change> {
        Replaced::between(old, new)
    }
}
