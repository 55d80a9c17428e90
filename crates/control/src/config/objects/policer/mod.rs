//! `[policer.NAME]`: what was agreed about traffic (RFC 2697, RFC 2698). Ports that name it share
//! it.
//!
//! ```text
//!  rate, burst                            one rate, two colours:   conform, violate
//!  rate, burst, excess_burst              one rate, three:         conform, exceed, violate
//!  rate, burst, peak_rate, peak_burst     two rates, three:        conform, exceed, violate
//!  packet_rate, packet_burst              packets, beside that or alone: too many violate
//! ```

#[cfg(test)]
mod tests;
mod treatment;

use super::name::name_field;
use super::{Config, Object};
use crate::config::declare::object;
use crate::config::host::Host;
use crate::config::listed::Listed;
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::table::Table;
use sched::units::{Rate, Size};

pub use treatment::{Dscp, Mark, Pcp, Treatment};

name_field! {
    /// A policer's name.
    PolicerName = "a policer name" of "policer"
}

/// Longest burst: more than any link sends in a second.
const MOST_BYTES: u64 = 1 << 40;
/// Most packets a second, and at once: more than any link carries.
const MOST_PACKETS: u32 = 4_000_000_000;

object! {
    /// What was agreed about traffic: frames within it pass, others are marked or dropped
    pub struct Policer {
        /// The committed rate; octets are not counted when left out
        pub rate: Option<Rate> as "10mbit" = None,
        /// The committed burst
        pub burst: Option<Size> as "64kb" = None,
        /// What more may come after silence, of one rate and three colours
        pub excess_burst: Option<Size> as "128kb" = None,
        /// The peak rate, where there are two
        pub peak_rate: Option<Rate> as "20mbit" = None,
        /// Its burst
        pub peak_burst: Option<Size> as "128kb" = None,
        /// Packets a second, however long they are, beside the rate or in its place
        pub packet_rate: Option<u32> as "10000" [1..=MOST_PACKETS] = None,
        /// Packets that may come at once
        pub packet_burst: Option<u32> as "1000" [1..=MOST_PACKETS] = None,
        /// Whether packets are no better than their DSCP says
        pub colour_aware: bool = false,
        /// What becomes of green packets
        pub conform: Treatment as "pass" = Treatment::PASS,
        /// What becomes of yellow ones
        pub exceed: Treatment as "\"dscp af12\"" = Treatment::PASS,
        /// What becomes of red ones
        pub violate: Treatment as "drop" = Treatment::Drop,
    }
}

impl Policer {
    fn check(&self, field: &str, report: &mut Report) {
        let mut refuse = |key: &str, message: String, expected: &str| {
            let problem = Problem::new(format!("{field}.{key}"), message);
            report.push(problem.expected(expected.to_owned()));
        };
        for (key, rate) in [("rate", self.rate), ("peak_rate", self.peak_rate)] {
            if rate == Some(Rate(0)) {
                refuse(key, "a rate of 0 lets nothing pass".to_owned(), "a rate above 0");
            }
        }
        let bursts = [
            ("burst", self.burst),
            ("excess_burst", self.excess_burst),
            ("peak_burst", self.peak_burst),
        ];
        for (key, burst) in bursts {
            if let Some(burst) = burst.filter(|burst| !(1..=MOST_BYTES).contains(&burst.0)) {
                refuse(key, format!("a burst of {} bytes", burst.0), "1 byte to 1024gb");
            }
        }
        let pairs = [
            (("rate", self.rate.is_some()), ("burst", self.burst.is_some())),
            (("peak_rate", self.peak_rate.is_some()), ("peak_burst", self.peak_burst.is_some())),
            (
                ("packet_rate", self.packet_rate.is_some()),
                ("packet_burst", self.packet_burst.is_some()),
            ),
        ];
        for ((rate, has_rate), (burst, has_burst)) in pairs {
            let (said, missing) = if has_rate { (rate, burst) } else { (burst, rate) };
            if has_rate != has_burst {
                let message = format!("`{said}` without `{missing}`");
                refuse(missing, message, &format!("{rate} and {burst}"));
            }
        }
        if let (Some(peak), Some(rate)) = (self.peak_rate, self.rate)
            && peak < rate
        {
            let message = format!("a peak rate of {peak}, below the rate of {rate}");
            refuse("peak_rate", message, "a peak rate that is not below the rate");
        }
        if self.rate.is_none() && self.burst.is_none() {
            let of_octets = [
                ("excess_burst", self.excess_burst.is_some()),
                ("peak_rate", self.peak_rate.is_some()),
            ];
            for (key, _) in of_octets.iter().filter(|(_, is_said)| *is_said) {
                refuse(key, format!("`{key}` without `rate`"), "rate and burst");
            }
            if self.packet_rate.is_none() && self.packet_burst.is_none() {
                let expected = "rate and burst, packet_rate and packet_burst, or all of them";
                refuse("rate", "it limits neither octets nor packets".to_owned(), expected);
            }
        }
        if self.excess_burst.is_some() && self.peak_rate.is_some() {
            let message = "`excess_burst` is for one rate, and there are two".to_owned();
            refuse("excess_burst", message, "excess_burst, or peak_rate and peak_burst");
        }
        if self.exceed != Treatment::PASS && self.excess_burst.is_none() && self.peak_rate.is_none()
        {
            let message =
                "with one rate and one burst no packet exceeds: it conforms or violates".to_owned();
            refuse("exceed", message, "excess_burst, or peak_rate and peak_burst");
        }
    }
}

impl Row for Policer {
    const KIND: &'static str = "policer";
}

/// All policers by name.
pub type Policers = Table<PolicerName, Policer>;

impl Listed for Policer {
    type Key = PolicerName;

    const IS_REPLACED: bool = true;
}

impl Object for Policers {
    fn check(&self, _: &Config, _: &Host, report: &mut Report) {
        for (name, policer) in self.iter() {
            policer.check(&format!("policer.{name}"), report);
        }
    }
}
