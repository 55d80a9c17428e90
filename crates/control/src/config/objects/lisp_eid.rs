//! `[[lisp_eid]]`: our own networks of endpoints, told to map servers and to who asks.

use std::fmt;
use std::time::Duration;

use super::lisp_check::{check_endpoints, port_of};
use super::port_name::PortName;
use super::{Config, Object};
use crate::config::declare::object;
use crate::config::host::Host;
use crate::config::key::{Key, field_key};
use crate::config::listed::Listed;
use crate::config::prefix::Prefix;
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::table::Table;

/// As long as others may remember it, when nothing is said.
const TTL: Duration = Duration::from_secs(24 * 3600);
const MINUTE: Duration = Duration::from_secs(60);

object! {
    /// Which network, of which instance
    #[derive(PartialOrd, Ord)]
    pub struct EidKey {
        /// The network
        pub prefix: Prefix as "10.1.0.0/16",
        /// The port of the kind lisp whose instance and locators it has
        pub port: PortName as "lisp0",
    }
}
field_key!(EidKey, 2, |key| format!("{}@{}", key.prefix, key.port));

impl fmt::Display for EidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} port {}", self.prefix, self.port)
    }
}

object! {
    /// A network of our own endpoints
    pub struct OwnEid {
        /// How long others may remember where it is
        pub ttl: Duration = TTL,
    }
}

impl Row for OwnEid {
    const KIND: &'static str = "lisp_eid";
    const CALLED: &'static str = "own network of endpoints";
}

/// Our own networks.
pub type LispEids = Table<EidKey, OwnEid>;

impl Listed for OwnEid {
    type Key = EidKey;

    const IS_REPLACED: bool = true;
}

impl Object for LispEids {
    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        for (key, own) in self.iter() {
            let field = key.path(OwnEid::KIND);
            check_endpoints(&format!("{field}.prefix"), key.prefix, report);
            port_of(&format!("{field}.port"), &key.port, config, report);
            if own.ttl < MINUTE {
                let message = format!("others may remember it for {} s", own.ttl.as_secs());
                let problem = Problem::new(format!("{field}.ttl"), message);
                report.push(problem.expected("1m or more: messages count in minutes"));
            }
        }
    }
}
