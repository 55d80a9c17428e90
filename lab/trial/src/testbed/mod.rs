//! A test bed: hosts, how they are reached, devices on them, wires between.
//!
//! ```text
//! generator's host (here)                     device's host
//!  volley-lab run --testbed FILE ──── ssh ───▶ volley-lab agent       standard input and output, no daemon
//!   g0 ═══════════════ wire ═══════════════ d0  ┐ in a namespace of the agent's
//!   g1 ═══════════════ wire ═══════════════ d1  ┘ while it is allocated
//! ```
//! An agent goes through what a test bed's machines go through: allocate, set up, barrier (each
//! answer is one: nothing goes on before it), run, collect, reset.

pub mod agent;
mod protocol;
mod reached;
mod remote;
mod session;
mod wires;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Error;
pub use reached::Reached;

/// Speed of wires where nothing is said.
const GBPS: f64 = 1.0;

/// A test bed, as its file has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestBed {
    /// The hosts that devices are on.
    #[serde(rename = "host")]
    pub hosts: Vec<Host>,
    /// The devices.
    #[serde(rename = "device")]
    pub devices: Vec<BedDevice>,
    /// The first link and the second.
    #[serde(rename = "wire")]
    pub wires: Vec<Wire>,
    /// Speed of the wires: up to where searches go.
    #[serde(default = "gbps")]
    pub gbps: f64,
}

fn gbps() -> f64 {
    GBPS
}

/// A host that devices are on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Its name in this file, and in failures.
    pub name: String,
    /// How it is reached.
    pub reach: Reach,
    /// Address or name, by ssh.
    #[serde(default)]
    pub address: String,
    /// Who logs in; ssh's own choice unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Its port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// File of the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<PathBuf>,
    /// File of the hosts that are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_hosts: Option<PathBuf>,
    /// The program there.
    #[serde(default = "program")]
    pub agent: String,
    /// Processors that devices get there, as `taskset` writes them.
    #[serde(default = "cores")]
    pub cores: String,
}

fn program() -> String {
    "volley-lab".into()
}

fn cores() -> String {
    "0".into()
}

/// How a host is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// It is this one.
    Local,
    /// By ssh.
    Ssh,
}

/// A device of a test bed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BedDevice {
    /// Its name on the command line and in results.
    pub name: String,
    /// The host that it is on.
    pub host: String,
    /// What it is: as `--devices` takes it without a test bed, `script=FOLDER` for scripts there.
    pub kind: String,
}

/// A cable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wire {
    /// The kernel device at the generator's end.
    pub generator: String,
    /// That at the other end, on the host of every device.
    pub device: String,
}

impl TestBed {
    /// Out of a file.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(Error::file(path))?;
        Self::parse(&text)
            .map_err(|reason| Error::Command { line: path.display().to_string(), reason })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let bed: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        match bed.fault() {
            None => Ok(bed),
            Some(fault) => Err(fault),
        }
    }

    /// What is wrong with it beyond its grammar, if anything.
    fn fault(&self) -> Option<String> {
        if self.wires.len() != 2 {
            return Some(format!(
                "{} wires: a device has a first link and a second",
                self.wires.len()
            ));
        }
        if !(self.gbps > 0.0 && self.gbps <= 1_000.0) {
            return Some(format!("gbps = {}: above 0, up to 1000", self.gbps));
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.@".contains(c);
        let ends = self.wires.iter().flat_map(|wire| [&wire.generator, &wire.device]);
        for end in ends.clone() {
            if end.is_empty() || end.len() > 15 || !end.chars().all(plain) {
                return Some(format!("wire: {end:?} is no kernel device's name"));
            }
        }
        if self.wires[0].generator == self.wires[1].generator
            || self.wires[0].device == self.wires[1].device
        {
            return Some("both wires have an end in common".into());
        }
        for (at, host) in self.hosts.iter().enumerate() {
            if self.hosts[..at].iter().any(|it| it.name == host.name) {
                return Some(format!("two hosts are called {:?}", host.name));
            }
            // A word that begins with a dash would be an option of ssh's.
            let word = |text: &str| text.starts_with('-') || text.contains(char::is_whitespace);
            if host.reach == Reach::Ssh && (host.address.is_empty() || word(&host.address)) {
                return Some(format!(
                    "host {}: address {:?} is none that ssh could reach",
                    host.name, host.address
                ));
            }
            if host.user.as_deref().is_some_and(|user| user.is_empty() || word(user)) {
                return Some(format!("host {}: user {:?}", host.name, host.user));
            }
        }
        for (at, device) in self.devices.iter().enumerate() {
            if self.devices[..at].iter().any(|it| it.name == device.name) {
                return Some(format!("two devices are called {:?}", device.name));
            }
            if !self.hosts.iter().any(|host| host.name == device.host) {
                return Some(format!("device {}: there is no host {:?}", device.name, device.host));
            }
            if let Err(error) = crate::dut::named(&device.kind) {
                return Some(format!("device {}: {error}", device.name));
            }
        }
        self.devices.is_empty().then(|| "no [[device]]".into())
    }

    /// The device of a name.
    pub fn device(&self, name: &str) -> Result<&BedDevice, Error> {
        let names: Vec<&str> = self.devices.iter().map(|it| it.name.as_str()).collect();
        self.devices.iter().find(|it| it.name == name).ok_or_else(|| Error::Text {
            what: "device of the test bed",
            text: name.to_owned(),
            allowed: names.join(", ").into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BED: &str = "gbps = 10\n[[host]]\nname = 'dut'\nreach = 'ssh'\naddress = '192.0.2.7'\n\
        [[device]]\nname = 'bridge'\nhost = 'dut'\nkind = 'linux-bridge'\n\
        [[wire]]\ngenerator = 'e1'\ndevice = 'e2'\n[[wire]]\ngenerator = 'e3'\ndevice = 'e4'\n";

    #[test]
    fn a_test_bed_has_hosts_devices_and_two_wires() {
        let bed = TestBed::parse(BED).unwrap();
        assert_eq!(
            (bed.gbps, bed.hosts[0].agent.as_str(), bed.hosts[0].cores.as_str()),
            (10.0, "volley-lab", "0")
        );
        assert_eq!(bed.device("bridge").unwrap().kind, "linux-bridge");
        assert!(bed.device("other").unwrap_err().to_string().contains("bridge"));
    }

    #[test]
    fn what_cannot_be_is_said_by_its_name() {
        let fault = |from: &str, to: &str| {
            assert!(BED.contains(from), "{from}");
            TestBed::parse(&BED.replace(from, to)).unwrap_err()
        };
        assert!(fault("host = 'dut'", "host = 'gone'").contains("no host \"gone\""));
        assert!(fault("'linux-bridge'", "'toaster'").contains("toaster"));
        assert!(fault("'192.0.2.7'", "'-oProxyCommand=x'").contains("none that ssh could reach"));
        assert!(fault("'e3'", "'e1'").contains("in common"));
        assert!(fault("'e4'", "'e4; reboot'").contains("no kernel device's name"));
        assert!(fault("gbps = 10", "gbps = 0").contains("gbps = 0"));
        assert!(fault("[[wire]]\ngenerator = 'e3'\ndevice = 'e4'\n", "").contains("1 wires"));
        assert!(fault("reach = 'ssh'", "reach = 'telnet'").contains("telnet"));
    }
}
