//! `[[neighbor]]`: neighbours whose MAC address is given, not asked for.

use std::fmt;
use std::net::IpAddr;

use wire::MacAddr;

use super::connected::{Connected, is_link_local};
use super::port::check_exists;
use super::port_name::PortName;
use super::route::OnLink;
use super::{Config, Object};
use crate::config::declare::object;
use crate::config::host::Host;
use crate::config::key::{Key, field_key};
use crate::config::listed::Listed;
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::table::Table;

object! {
    /// Which neighbour
    #[derive(PartialOrd, Ord)]
    pub struct NeighborKey {
        /// Its address
        pub address: IpAddr as "192.0.2.9",
        /// Port it is behind
        pub port: PortName as "uplink",
    }
}
field_key!(NeighborKey, 1, |key| format!("{}@{}", key.address, key.port));

impl fmt::Display for NeighborKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} port {}", self.address, self.port)
    }
}

object! {
    /// A neighbour that is not asked for its MAC address
    pub struct Neighbor {
        /// Its MAC address
        pub mac: MacAddr as "02:00:00:00:00:09",
    }
}

impl Row for Neighbor {
    const KIND: &'static str = "neighbor";
    const CALLED: &'static str = "static neighbour";
}

/// Static neighbours.
pub type Neighbors = Table<NeighborKey, Neighbor>;

impl Listed for Neighbor {
    type Key = NeighborKey;

    const IS_REPLACED: bool = true;
}

impl Object for Neighbors {
    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        let (connected, on_link) =
            (Connected::of(&config.ports), OnLink::of(&config.routes, &config.ports));
        for (key, neighbor) in self.iter() {
            let field = key.path(Neighbor::KIND);
            if !neighbor.mac.is_unicast() {
                let message = format!("{} is not the address of one station", neighbor.mac);
                report.push(
                    Problem::new(format!("{field}.mac"), message)
                        .expected("a MAC address with an even first octet, not all zero"),
                );
            }
            check_exists(&format!("{field}.port"), &key.port, &config.ports, report);
            let vrf = config.ports.get(&key.port).and_then(|port| port.vrf.as_ref());
            let reached = connected.port_to(vrf, key.address);
            let is_neighbor = is_link_local(key.address)
                || reached == Some(&key.port)
                || reached.is_none() && on_link.has(vrf, &key.port, key.address);
            if config.ports.contains(&key.port) && !is_neighbor {
                let message = format!("{} is in no network of {}", key.address, key.port);
                report.push(
                    Problem::new(format!("{field}.address"), message)
                        .expected(format!("an address in a network of {}", key.port))
                        .help("a route with this port, and nothing else, puts a network there"),
                );
            }
        }
    }
}
