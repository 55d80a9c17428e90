//! `[arp]`: timers of neighbours, of IPv4 (RFC 826; ageing after RFC 1122, 2.3.2.1) and of IPv6
//! (RFC 4861 section 7.3).

use std::time::Duration;

use super::{Config, Object};
use crate::config::declare::object;
use crate::config::field::duration_text;
use crate::config::host::Host;
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::rows::Section;

object! {
    /// Timers of neighbours: ARP and neighbour discovery
    pub struct Arp {
        /// How long an answer is believed; who is in use is asked again by then
        pub lifetime: Duration as "90s" = Duration::from_secs(300),
        /// Whether neighbours that nobody sends to are asked again, too, and so kept
        pub keep: bool = false,
        /// Time between two requests for the same neighbour
        pub retry: Duration as "500ms" = Duration::from_secs(1),
        /// Requests without an answer before the neighbour counts as unreachable
        pub attempts: u16 [1..=100] = 3,
        /// Packets held for one neighbour while it is asked for
        pub hold_packets: u16 [0..=1_024] = 16,
        /// Requests sent, all neighbours together
        pub requests_pps: u32 [1..=1_000_000] = 1_000,
    }
}

impl Row for Arp {
    const KIND: &'static str = "arp";
}

impl Section for Arp {}

impl Object for Arp {
    fn check(&self, _: &Config, _: &Host, report: &mut Report) {
        let second = Duration::from_secs(1);
        if self.lifetime < second {
            let message =
                format!("an answer is believed for {} only", duration_text(self.lifetime));
            report.push(Problem::new("arp.lifetime", message).expected("\"1s\" or more"));
        }
        let tenth = Duration::from_millis(100);
        if self.retry < tenth {
            let message =
                format!("asking again after {} floods the link", duration_text(self.retry));
            report.push(Problem::new("arp.retry", message).expected("\"100ms\" or more"));
        }
    }
}
