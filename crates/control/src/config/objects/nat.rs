//! `[nat.NAME]`: hosts inside look outside as if some other addresses had sent their packets (RFC
//! 2663, RFC 4787), and ports of those addresses may be servers' inside.
//!
//! ```text
//!  inside: lan, guests ──▶ outside: uplink     its own address, or `pool`
//!  forward: tcp port 8080 ◀── anybody          to 192.168.1.10 port 80
//! ```

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};

use super::name::name_field;
use super::port::check_exists;
use super::port_name::PortName;
use super::qos::units::PortRange;
use super::{Config, Object};
use crate::config::declare::{as_field, object};
use crate::config::field::{Field, Refusal, word_field};
use crate::config::form::Form;
use crate::config::host::Host;
use crate::config::listed::Listed;
use crate::config::prefix::Prefix;
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::table::Table;
use crate::config::toml_text::quoted;
use sched::Ports;

name_field! {
    /// A translation's name.
    NatName = "a translation's name" of "nat"
}

word_field! {
    /// What has ports.
    Transport {
        /// TCP.
        Tcp = "tcp",
        /// UDP.
        Udp = "udp",
    }
}

/// An address, or the first and the last of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRange {
    /// The first.
    pub first: Ipv4Addr,
    /// The last.
    pub last: Ipv4Addr,
}

impl Field for AddressRange {
    const EXPECTED: &'static str =
        "an IPv4 address or a range of them, as in 203.0.113.9 or \"203.0.113.8-203.0.113.15\"";
    const FORM: Form = Form::Text(r"^\s*[0-9.]+\s*(-\s*[0-9.]+\s*)?$");

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let address = |text: &str| text.trim().parse::<Ipv4Addr>().map_err(|_| Refusal::default());
        Ok(Self { first: address(first)?, last: address(last)? })
    }

    fn to_toml(&self) -> String {
        match *self {
            Self { first, last } if first == last => quoted(&first.to_string()),
            Self { first, last } => quoted(&format!("{first}-{last}")),
        }
    }
}

object! {
    /// Outer ports that are a server's inside
    pub struct Forward {
        /// TCP or UDP
        pub protocol: Transport as "tcp",
        /// The outer port, or ports
        pub port: PortRange as "8080",
        /// The server inside
        pub to: Ipv4Addr as "192.168.1.10",
        /// Its port that stands for the first; the same when left out
        pub to_port: Option<u16> as "80" [1..=65_535] = None,
        /// The outer address; the first of the translation when left out
        pub address: Option<Ipv4Addr> as "203.0.113.9" = None,
    }
}
as_field!(Forward table);

object! {
    /// Hosts inside look outside as if outer addresses had sent their packets
    pub struct Nat {
        /// The port to the outside
        pub outside: PortName as "uplink",
        /// The ports whose hosts are inside
        pub inside: Vec<PortName> as "lan" = Vec::new(),
        /// Outer addresses; the first of the port outside when left out
        pub pool: Vec<AddressRange> as "203.0.113.8-203.0.113.15" = Vec::new(),
        /// Outer ports, and identifiers of echoes
        pub ports: PortRange as "1024-65535" = PortRange(Ports { first: 1_024, last: 65_535 }),
        /// Whether anybody may reach an endpoint inside that has spoken with somebody outside
        pub open: bool = false,
        /// Hosts inside that speak IPv6 reach those of IPv4 by addresses that begin so (NAT64)
        pub nat64: Option<Prefix> as "64:ff9b::/96" = None,
        /// Outer ports that are servers' inside
        pub forward: Vec<Forward> as "tcp 8080 192.168.1.10 to_port 80" = Vec::new(),
    }
}

/// Most outer addresses of a translation.
const MOST_ADDRESSES: u64 = 65_536;

impl Nat {
    fn check(&self, field: &str, config: &Config, report: &mut Report) {
        let at = |key: &str| format!("{field}.{key}");
        check_exists(&at("outside"), &self.outside, &config.ports, report);
        if self.inside.is_empty() {
            let problem = Problem::new(at("inside"), "no port is inside");
            report.push(problem.expected("the ports whose hosts are translated"));
        }
        let vrf = |name: &PortName| config.ports.get(name).map(|port| &port.vrf);
        let is_elsewhere = |name| match (vrf(name), vrf(&self.outside)) {
            (Some(inside), Some(outside)) => inside != outside,
            _ => false,
        };
        for (index, name) in self.inside.iter().enumerate() {
            let field = at(&format!("inside[{index}]"));
            check_exists(&field, name, &config.ports, report);
            let wrong = if *name == self.outside {
                "is the port outside"
            } else if self.inside[..index].contains(name) {
                "is listed twice"
            } else if is_elsewhere(name) {
                "is in another VRF than the port outside"
            } else {
                continue;
            };
            let problem = Problem::new(field, format!("{name} {wrong}"));
            report.push(problem.expected("each port inside once, of the same VRF"));
        }
        self.check_addresses(field, config, report);
        let Ports { first, last } = self.ports.0;
        if first == 0 || first > last {
            let problem = Problem::new(at("ports"), format!("ports {first} to {last}"));
            report.push(problem.expected("a range of ports from 1 to 65535, the lower one first"));
        }
        self.check_forwards(field, report);
        self.check_nat64(&at("nat64"), report);
    }

    /// RFC 6052 section 2.2.
    fn check_nat64(&self, field: &str, report: &mut Report) {
        const LENGTHS: [u8; 6] = [32, 40, 48, 56, 64, 96];
        let Some(prefix) = &self.nat64 else { return };
        let wrong = match prefix.address() {
            IpAddr::V4(_) => "is a network of IPv4",
            IpAddr::V6(_) if !LENGTHS.contains(&prefix.length()) => "has another length",
            IpAddr::V6(address) if address.octets()[8] != 0 => "has bits 64 to 71 set",
            IpAddr::V6(address) if address.is_multicast() => "is of groups",
            IpAddr::V6(_) => return,
        };
        let problem = Problem::new(field, format!("{prefix} {wrong}"));
        report.push(
            problem
                .expected("64:ff9b::/96, or an own IPv6 prefix of 32, 40, 48, 56, 64 or 96 bits"),
        );
    }

    fn check_addresses(&self, field: &str, config: &Config, report: &mut Report) {
        let mut sum = 0;
        for (index, range) in self.pool.iter().enumerate() {
            let field = format!("{field}.pool[{index}]");
            let (first, last) = (u32::from(range.first), u32::from(range.last));
            let overlaps = |other: &AddressRange| {
                u32::from(other.first) <= last && first <= u32::from(other.last)
            };
            let wrong = if first > last {
                "ends before it begins"
            } else if range.first.is_multicast() || range.last.is_multicast() {
                "is no host's"
            } else if self.pool[..index].iter().any(overlaps) {
                "is there already"
            } else {
                sum += u64::from(last - first) + 1;
                continue;
            };
            let message = format!("{} {wrong}", range.to_toml().trim_matches('"'));
            report.push(Problem::new(field, message).expected("addresses of hosts, each once"));
        }
        if sum > MOST_ADDRESSES {
            let problem = Problem::new(format!("{field}.pool"), format!("{sum} addresses"));
            report.push(problem.expected(format!("at most {MOST_ADDRESSES}")));
        }
        let outside = config.ports.get(&self.outside);
        if self.pool.is_empty() && outside.is_some_and(|port| !port.has_ip4()) {
            let message = format!("{} has no IPv4 address to translate to", self.outside);
            let problem = Problem::new(format!("{field}.pool"), message);
            report.push(problem.expected("an address of that port, or a pool"));
        }
    }

    fn check_forwards(&self, field: &str, report: &mut Report) {
        for (index, forward) in self.forward.iter().enumerate() {
            let field = format!("{field}.forward[{index}]");
            let Ports { first, last } = forward.port.0;
            let overlaps = |other: &&Forward| {
                let ports = other.port.0;
                (other.protocol, other.address) == (forward.protocol, forward.address)
                    && ports.first <= last
                    && first <= ports.last
            };
            let last_inside = u32::from(forward.to_port.unwrap_or(first)) + u32::from(last)
                - u32::from(first.min(last));
            let wrong = if first == 0 || first > last {
                format!("ports {first} to {last}")
            } else if last_inside > 65_535 {
                format!("its last port inside is {last_inside}")
            } else if let Some(other) = self.forward[..index].iter().find(overlaps) {
                let to = other.to;
                format!("{} port {first} is forwarded to {to} already", forward.protocol.word())
            } else {
                continue;
            };
            report.push(Problem::new(field, wrong).expected("each port from 1 to 65535 once"));
        }
    }
}

impl Row for Nat {
    const KIND: &'static str = "nat";
}

/// Translations by name.
pub type Nats = Table<NatName, Nat>;

impl Listed for Nat {
    type Key = NatName;
}

impl Object for Nats {
    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        let mut used: HashMap<&PortName, &NatName> = HashMap::new();
        for (name, nat) in self.iter() {
            nat.check(&format!("nat.{name}"), config, report);
            for port in nat.inside.iter().chain([&nat.outside]) {
                if let Some(other) = used.insert(port, name).filter(|other| *other != name) {
                    let message = format!("{port} is in nat {other} already");
                    let problem = Problem::new(format!("nat.{name}"), message);
                    report.push(problem.expected("each port in one translation"));
                }
            }
        }
    }
}
