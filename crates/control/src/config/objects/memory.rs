//! `[memory]`: buffers and table sizes, claimed once when the router starts.

use super::port::Port;
use super::{Config, Object};
use crate::config::declare::object;
use crate::config::field::word_field;
use crate::config::host::Host;
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::rows::Section;

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

object! {
    /// Buffers and table sizes, claimed once when the router starts
    pub struct Memory {
        /// Packet buffers
        pub buffers: u32 [512..=4_194_304] = 16_384,
        /// Longest frame that one buffer holds; headroom comes on top
        pub frame_bytes: u16 [256..=16_384] = 2_048,
        /// Use of huge pages
        pub hugepages: Hugepages = Hugepages::Auto,
        /// IPv4 routes there is room for; `volley show memory` tells what they take
        pub routes: u32 [1..=33_554_432] = 1_048_576,
        /// IPv6 routes there is room for
        pub ip6_routes: u32 [1..=8_388_608] = 1_048_576,
        /// Stations of all bridges there is room for
        pub macs: u32 [1..=16_777_216] = 65_536,
    }
}

impl Row for Memory {
    const KIND: &'static str = "memory";
}

impl Memory {
    /// What rings of ports take for packets to come, nothing else has.
    fn check_buffers(&self, config: &Config, report: &mut Report) {
        let workers = &config.workers.placement;
        let taken = |port: &Port| {
            let queues = port.rx_queues.max(workers.count());
            port.kind.buffers_a_queue().saturating_mul(queues.into())
        };
        let takers: Vec<_> = config.ports.iter().map(|(name, port)| (name, taken(port))).collect();
        let takers = || takers.iter().filter(|(_, buffers)| *buffers > 0);
        let all = takers().fold(0, |all: u32, (_, buffers)| all.saturating_add(*buffers));
        let needed = all.saturating_add(workers.buffers());
        if all == 0 || needed <= self.buffers {
            return;
        }
        let each: Vec<_> = takers().map(|(name, buffers)| format!("{name} {buffers}")).collect();
        let message = format!(
            "receive rings of ports take {all} of {} packet buffers ({}), and packets on their way {}",
            self.buffers,
            each.join(", "),
            workers.buffers()
        );
        report.push(
            Problem::new("memory.buffers", message)
                .expected(format!("at least {needed}"))
                .help(format!("set memory.buffers to {} or more", needed.next_power_of_two())),
        );
    }
}

impl Section for Memory {}

impl Object for Memory {
    const NEEDS_RESTART: bool = true;

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
        self.check_buffers(config, report);
        let stations = config.stations.len();
        if stations > self.macs as usize {
            let message = format!("{stations} fixed stations and room for {}", self.macs);
            report.push(
                Problem::new("memory.macs", message)
                    .expected("room for every station")
                    .help(format!("set memory.macs to {} or more", stations.saturating_mul(2))),
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
}
