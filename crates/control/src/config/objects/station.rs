//! `[[mac]]`: stations whose port in a bridge is given, not learned.

use std::fmt;
use std::net::IpAddr;

use wire::MacAddr;

use super::bridge::BridgeName;
use super::port::PortName;
use super::{Config, Object};
use crate::config::edit::{Command, Words};
use crate::config::host::Host;
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::table::{Delta, Row, Table};
use crate::config::write::{Fields, Writer};

/// Which station.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StationKey {
    /// The bridge.
    pub bridge: BridgeName,
    /// Its address.
    pub address: MacAddr,
}

impl fmt::Display for StationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.bridge, self.address)
    }
}

/// Where a station is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Station {
    /// Behind this port.
    pub port: PortName,
    /// Of a tunnel with several remotes, behind this one.
    pub remote: Option<IpAddr>,
}

impl Station {
    /// A station is behind a port, and of a tunnel with several remotes behind one of them.
    fn check_remote(&self, field: &str, config: &Config, report: &mut Report) {
        let Some(port) = config.ports.get(&self.port) else { return };
        let name = &self.port;
        let (message, expected) = match (port.kind.ends(), self.remote) {
            (Some(ends), Some(remote)) if port.kind.has_remotes() => {
                if remote.is_ipv4() == ends.local.is_ipv4() {
                    return;
                }
                let message = format!("{remote} is not of the family of {}", ends.local);
                (message, "a remote of the tunnel's family")
            }
            (Some(_), None) if port.kind.has_remotes() => {
                (format!("{name} has several remotes"), "the `remote` that the station is behind")
            }
            (_, Some(_)) => (format!("{name} has not several remotes"), "no `remote` here"),
            (_, None) => return,
        };
        report.push(Problem::new(format!("{field}.remote"), message).expected(expected));
    }
}

impl Row for Station {
    const KIND: &'static str = "mac";

    fn fields(&self) -> Fields {
        Fields::new().with("port", &self.port).maybe("remote", &self.remote)
    }
}

/// Stations that do not move.
pub type Stations = Table<StationKey, Station>;

impl Object for Stations {
    type Change = Delta<StationKey, Station>;

    const COMMANDS: &'static [Command] = &[
        Command {
            noun: "mac",
            verb: "add",
            usage: "BRIDGE MAC port NAME [remote ADDRESS]",
            about: "Fix a station behind a port of a bridge",
            run: mac_add,
        },
        Command {
            noun: "mac",
            verb: "del",
            usage: "BRIDGE MAC",
            about: "Learn again where a station is",
            run: mac_del,
        },
    ];

    fn read(root: &mut TableReader<'_>) -> Self {
        let mut stations = Self::default();
        root.each_item("mac", |table| {
            let bridge = table.required::<BridgeName>("bridge");
            let address = table.required::<MacAddr>("address");
            let port = table.required::<PortName>("port");
            let remote = table.optional("remote");
            let (Some(bridge), Some(address), Some(port)) = (bridge, address, port) else { return };
            let key = StationKey { bridge, address };
            table.rename(field_of(&key));
            if stations.insert(key, Station { port, remote }).is_some() {
                let problem =
                    Problem::new(table.field("address"), format!("{address} stands here twice"));
                table.report().push(problem.expected("each station of a bridge once"));
            }
        });
        stations
    }

    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        for (key, station) in self.iter() {
            let field = field_of(key);
            if !key.address.is_unicast() {
                let message = format!("{} is no station's address", key.address);
                report.push(
                    Problem::new(format!("{field}.address"), message)
                        .expected("the address of one station: first octet even, not all zero"),
                );
            }
            let Some(bridge) = config.bridges.get(&key.bridge) else {
                let message = format!("there is no bridge `{}`", key.bridge);
                report.push_missing(Problem::new(format!("{field}.bridge"), message));
                continue;
            };
            station.check_remote(&field, config, report);
            if bridge.member(&station.port).is_none() {
                let message = format!("{} is not in bridge {}", station.port, key.bridge);
                let problem = Problem::new(format!("{field}.port"), message);
                report.push(problem.expected("a port of the bridge"));
            }
        }
    }

    fn write(&self, writer: &mut Writer) {
        for (key, station) in self.iter() {
            let fields = Fields::new().with("bridge", &key.bridge).with("address", &key.address);
            let fields = fields.with("port", &station.port).maybe("remote", &station.remote);
            writer.section("[[mac]]", &fields);
        }
    }

    fn diff(old: &Self, new: &Self) -> Vec<Self::Change> {
        Self::delta(old, new)
    }
}

fn field_of(key: &StationKey) -> String {
    format!("mac.{}+{}", key.bridge, key.address)
}

fn key_of(words: &mut Words<'_>) -> Result<StationKey, Problem> {
    Ok(StationKey { bridge: words.next("a bridge name")?, address: words.next("a MAC address")? })
}

fn mac_add(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let key = key_of(words)?;
    words.must("port")?;
    let port = words.next("a port name")?;
    let remote = if words.take("remote") { Some(words.next("an address")?) } else { None };
    config.stations.insert(key, Station { port, remote });
    Ok(())
}

fn mac_del(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let key = key_of(words)?;
    match config.stations.remove(&key) {
        Some(_) => Ok(()),
        None => Err(Problem::new(field_of(&key), format!("{key} is not fixed"))),
    }
}
