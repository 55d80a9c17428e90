//! `[connections]`: how many connections are known at once, and for how long each without packets.

use std::time::Duration;

use super::{Config, Object};
use crate::config::declare::object;
use crate::config::host::Host;
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::rows::Section;

object! {
    /// Connections that translations and lists know: how many, and for how long without packets
    pub struct Connections {
        /// How many there is room for; each takes some 190 octets. A change forgets all there are
        pub max: u32 [64..=33_554_432] = 262_144,
        /// TCP: one side wants it
        pub tcp_syn_sent: Duration as "120s" = Duration::from_secs(120),
        /// TCP: both sides do
        pub tcp_syn_received: Duration as "60s" = Duration::from_secs(60),
        /// TCP: both know of each other
        pub tcp_established: Duration as "432000s" = Duration::from_secs(432_000),
        /// TCP: picked up in the middle, and not answered yet
        pub tcp_unanswered: Duration as "300s" = Duration::from_secs(300),
        /// TCP: one side says no more
        pub tcp_fin_wait: Duration as "120s" = Duration::from_secs(120),
        /// TCP: the other side has heard so
        pub tcp_close_wait: Duration as "60s" = Duration::from_secs(60),
        /// TCP: both say no more
        pub tcp_last_ack: Duration as "30s" = Duration::from_secs(30),
        /// TCP: both have heard so
        pub tcp_time_wait: Duration as "120s" = Duration::from_secs(120),
        /// TCP: it was reset
        pub tcp_close: Duration as "10s" = Duration::from_secs(10),
        /// Whether TCP connections are taken in that began before us
        pub tcp_loose: bool = true,
        /// UDP: not answered yet
        pub udp: Duration as "30s" = Duration::from_secs(30),
        /// UDP: answered
        pub udp_stream: Duration as "120s" = Duration::from_secs(120),
        /// An echo request and its answer
        pub icmp: Duration as "30s" = Duration::from_secs(30),
        /// Other protocols
        pub other: Duration as "600s" = Duration::from_secs(600),
    }
}

/// Longest timeout: a year.
const MOST: Duration = Duration::from_secs(365 * 86_400);

impl Connections {
    /// Every timeout, with its key.
    fn timeouts(&self) -> [(&'static str, Duration); 13] {
        [
            ("tcp_syn_sent", self.tcp_syn_sent),
            ("tcp_syn_received", self.tcp_syn_received),
            ("tcp_established", self.tcp_established),
            ("tcp_unanswered", self.tcp_unanswered),
            ("tcp_fin_wait", self.tcp_fin_wait),
            ("tcp_close_wait", self.tcp_close_wait),
            ("tcp_last_ack", self.tcp_last_ack),
            ("tcp_time_wait", self.tcp_time_wait),
            ("tcp_close", self.tcp_close),
            ("udp", self.udp),
            ("udp_stream", self.udp_stream),
            ("icmp", self.icmp),
            ("other", self.other),
        ]
    }
}

impl Row for Connections {
    const KIND: &'static str = "connections";
}

impl Section for Connections {}

impl Object for Connections {
    fn check(&self, _: &Config, _: &Host, report: &mut Report) {
        for (key, timeout) in self.timeouts() {
            if timeout < Duration::from_secs(1) || timeout > MOST {
                let message = format!("{} s", timeout.as_secs_f64());
                let problem = Problem::new(format!("connections.{key}"), message);
                report.push(problem.expected("1s to 365 days, in whole seconds"));
            } else if timeout.subsec_nanos() != 0 {
                let message = format!("{} s", timeout.as_secs_f64());
                let problem = Problem::new(format!("connections.{key}"), message);
                report.push(problem.expected("whole seconds"));
            }
        }
    }
}
