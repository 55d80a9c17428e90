//! `[[mac]]`: stations whose port in a bridge is given, not learned.

use std::fmt;
use std::net::IpAddr;

use wire::MacAddr;

use super::bridge::BridgeName;
use super::port_name::PortName;
use super::{Config, Object};
use crate::config::declare::object;
use crate::config::host::Host;
use crate::config::key::{Key, field_key};
use crate::config::listed::{Listed, check_exists};
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::table::Table;

object! {
    /// Which station
    #[derive(PartialOrd, Ord)]
    pub struct StationKey {
        /// The bridge
        pub bridge: BridgeName as "lan",
        /// Its address
        pub address: MacAddr as "02:00:00:00:00:0a",
    }
}
field_key!(StationKey, 2, |key| format!("{}+{}", key.bridge, key.address));

impl fmt::Display for StationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.bridge, self.address)
    }
}

object! {
    /// A station of a bridge that neither ages nor moves
    pub struct Station {
        /// Behind this port
        pub port: PortName as "lan1",
        /// Of a tunnel with several remotes, behind this one
        pub remote: Option<IpAddr> as "192.0.2.8" = None,
    }
}

impl Station {
    /// A station is behind a port, and of a tunnel with several remotes behind one of them.
    fn check_remote(&self, field: &str, config: &Config, report: &mut Report) {
        let Some(port) = config.ports.get(&self.port) else { return };
        let name = &self.port;
        let (message, expected) = match (port.kind.ends(), self.remote) {
            (Some(ends), Some(remote)) if port.kind.has_remotes() => {
                if remote.is_ipv4() == ends.local().is_ipv4() {
                    return;
                }
                let message = format!("{remote} is not of the family of {}", ends.local());
                (message, "a remote of the tunnel's family")
            }
            (Some(_), None) if port.kind.has_remotes() => (
                format!("{name} has several remotes, and the station is behind one"),
                "the `remote` that the station is behind",
            ),
            (_, Some(_)) => (format!("{name} does not have several remotes"), "no `remote` here"),
            (_, None) => return,
        };
        report.push(Problem::new(format!("{field}.remote"), message).expected(expected));
    }
}

impl Row for Station {
    const KIND: &'static str = "mac";
    const CALLED: &'static str = "fixed station";
}

/// Stations that do not move.
pub type Stations = Table<StationKey, Station>;

impl Listed for Station {
    type Key = StationKey;

    const IS_REPLACED: bool = true;
}

impl Object for Stations {
    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        for (key, station) in self.iter() {
            let field = key.path(Station::KIND);
            if !key.address.is_unicast() {
                let message = format!("{} is not the address of one station", key.address);
                report.push(
                    Problem::new(format!("{field}.address"), message)
                        .expected("the address of one station: first octet even, not all zero"),
                );
            }
            check_exists(&format!("{field}.bridge"), &key.bridge, &config.bridges, report);
            let Some(bridge) = config.bridges.get(&key.bridge) else { continue };
            station.check_remote(&field, config, report);
            if bridge.member(&station.port).is_none() {
                let message = format!("{} is not in bridge {}", station.port, key.bridge);
                let problem = Problem::new(format!("{field}.port"), message);
                report.push(problem.expected("a port of the bridge"));
            }
        }
    }
}
