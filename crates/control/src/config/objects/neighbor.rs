//! `[[neighbor]]`: neighbours whose MAC address is given, not asked for.

use std::fmt;
use std::net::IpAddr;

use wire::MacAddr;

use super::connected::{Connected, is_link_local};
use super::port::{PortName, check_exists};
use super::{Config, Object};
use crate::config::edit::{Command, Words};
use crate::config::host::Host;
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::table::{Delta, Row, Table};
use crate::config::write::{Fields, Writer};

/// Which neighbour.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NeighborKey {
    /// Port it is behind.
    pub port: PortName,
    /// Its address.
    pub address: IpAddr,
}

impl fmt::Display for NeighborKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} port {}", self.address, self.port)
    }
}

/// A neighbour's station.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbor {
    /// Its MAC address.
    pub mac: MacAddr,
}

impl Row for Neighbor {
    const KIND: &'static str = "neighbor";

    fn fields(&self) -> Fields {
        Fields::new().with("mac", &self.mac)
    }
}

/// Static neighbours.
pub type Neighbors = Table<NeighborKey, Neighbor>;

impl Object for Neighbors {
    type Change = Delta<NeighborKey, Neighbor>;

    const COMMANDS: &'static [Command] = &[
        Command {
            noun: "neighbor",
            verb: "add",
            usage: "ADDRESS mac MAC port NAME",
            about: "Give a neighbour a fixed MAC address",
            run: neighbor_add,
        },
        Command {
            noun: "neighbor",
            verb: "del",
            usage: "ADDRESS port NAME",
            about: "Ask for a neighbour's MAC address again",
            run: neighbor_del,
        },
    ];

    fn read(root: &mut TableReader<'_>) -> Self {
        let mut neighbors = Self::default();
        root.each_item("neighbor", |table| {
            let address = table.required::<IpAddr>("address");
            let port = table.required::<PortName>("port");
            let mac = table.required::<MacAddr>("mac");
            let (Some(address), Some(port), Some(mac)) = (address, port, mac) else { return };
            let key = NeighborKey { port, address };
            if neighbors.contains(&key) {
                let problem =
                    Problem::new(table.field("address"), format!("{key} stands here twice"))
                        .expected("one [[neighbor]] for each address on a port");
                table.report().push(problem);
            }
            table.rename(field_of(&key));
            neighbors.insert(key, Neighbor { mac });
        });
        neighbors
    }

    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        let connected = Connected::of(&config.ports);
        for (key, neighbor) in self.iter() {
            let field = field_of(key);
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
            let on_any_link = is_link_local(key.address);
            if config.ports.contains(&key.port) && !on_any_link && reached != Some(&key.port) {
                let message = format!("{} is in no network of {}", key.address, key.port);
                report.push(
                    Problem::new(format!("{field}.address"), message)
                        .expected(format!("an address in a network of {}", key.port)),
                );
            }
        }
    }

    fn write(&self, writer: &mut Writer) {
        for (key, neighbor) in self.iter() {
            let fields =
                neighbor.fields().led_by("port", &key.port).led_by("address", &key.address);
            writer.section("[[neighbor]]", &fields);
        }
    }

    fn diff(old: &Self, new: &Self) -> Vec<Self::Change> {
        Self::delta(old, new)
    }
}

fn field_of(key: &NeighborKey) -> String {
    format!("neighbor.{}@{}", key.address, key.port)
}

fn neighbor_add(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let address = words.next("an address")?;
    words.must("mac")?;
    let mac = words.next("a MAC address")?;
    words.must("port")?;
    let key = NeighborKey { port: words.next("a port name")?, address };
    config.neighbors.insert(key, Neighbor { mac });
    Ok(())
}

fn neighbor_del(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let address = words.next("an address")?;
    words.must("port")?;
    let key = NeighborKey { port: words.next("a port name")?, address };
    match config.neighbors.remove(&key) {
        Some(_) => Ok(()),
        None => Err(Problem::new(field_of(&key), format!("there is no static neighbour {key}"))),
    }
}
