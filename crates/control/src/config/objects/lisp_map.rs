//! `[[lisp_map]]`: networks of other sites whose locators are given, not asked for.

use std::fmt;

use super::lisp_check::{check_endpoints, check_locators, port_of};
use super::port_kind::lisp::Locator;
use super::port_name::PortName;
use super::{Config, Object};
use crate::config::declare::object;
use crate::config::field::word_field;
use crate::config::host::Host;
use crate::config::key::{Key, field_key};
use crate::config::listed::Listed;
use crate::config::prefix::Prefix;
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::table::Table;

word_field! {
    /// What becomes of packets to a network that has no locators.
    MapAction {
        /// They are dropped.
        Drop = "drop",
        /// They go to the proxy of the port, or as the underlay routes them.
        Native = "native",
        /// Map resolvers are asked: an exception from a wider network.
        Ask = "ask",
    }
}

object! {
    /// Which network, of which instance
    #[derive(PartialOrd, Ord)]
    pub struct MapKey {
        /// The network
        pub eid: Prefix as "10.2.0.0/16",
        /// The port of the kind lisp whose instance it is of
        pub port: PortName as "lisp0",
    }
}
field_key!(MapKey, 2, |key| format!("{}@{}", key.eid, key.port));

impl fmt::Display for MapKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} port {}", self.eid, self.port)
    }
}

object! {
    /// A network of another site that is not asked for
    pub struct Mapping {
        /// Where it is reached
        pub rlocs: Vec<Locator> as "192.0.2.2" = Vec::new(),
        /// What becomes of packets to it, where it is reached nowhere
        pub action: Option<MapAction> as "drop" = None,
    }
    by { "to": rlocs }
}

impl Row for Mapping {
    const KIND: &'static str = "lisp_map";
    const CALLED: &'static str = "mapping";
}

/// Networks of other sites.
pub type LispMaps = Table<MapKey, Mapping>;

impl Listed for Mapping {
    type Key = MapKey;

    const IS_REPLACED: bool = true;
    const ONCE: Option<&'static str> =
        Some("several locators go into one list: rlocs = [\"…\", \"…\"]");
}

impl Object for LispMaps {
    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        for (key, mapping) in self.iter() {
            let field = key.path(Mapping::KIND);
            check_endpoints(&format!("{field}.eid"), key.eid, report);
            let port = port_of(&format!("{field}.port"), &key.port, config, report);
            let rlocs = format!("{field}.rlocs");
            check_locators(&rlocs, &mapping.rlocs, report);
            let mut refuse = |field: &str, message: String, expected: &str| {
                report.push(Problem::new(field, message).expected(expected));
            };
            match (&mapping.rlocs[..], mapping.action) {
                ([], None) => refuse(
                    &rlocs,
                    "the mapping has no locators".to_owned(),
                    "`rlocs`, or an `action`",
                ),
                ([_, ..], Some(action)) => {
                    let message = format!(
                        "the mapping has locators, and the action `{}` besides",
                        action.word()
                    );
                    refuse(&format!("{field}.action"), message, "`rlocs` or `action`, not both");
                }
                _ => {}
            }
            let Some(port) = port else { continue };
            for (index, rloc) in mapping.rlocs.iter().enumerate() {
                let (field, address) = (format!("{rlocs}[{index}]"), rloc.address);
                if port.locators.iter().any(|own| own.address == address) {
                    let message = format!("{address} is a locator of ours");
                    refuse(&field, message, "another site's locator");
                } else if !port
                    .locators
                    .iter()
                    .any(|own| own.address.is_ipv4() == address.is_ipv4())
                {
                    let message = format!("{} has no locator of the family of {address}", key.port);
                    refuse(&field, message, "a locator of a family that the port has");
                }
            }
        }
    }
}
