//! Controllers of a bridge of flows: where they are, and how long they are waited for.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use super::bridge::{Bridge, BridgeName};
use crate::config::declare::{as_field, object};
use crate::config::field::{Field, Refusal, duration_text};
use crate::config::form::Form;
use crate::config::report::{Problem, Report};
use crate::config::toml_text::quoted;

/// OpenFlow's port (IANA).
const PORT: u16 = 6653;
/// Controllers of a bridge, at most.
const MOST: usize = 16;

/// Where a controller is, or comes to; as Open vSwitch writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// The bridge connects to it.
    Tcp(SocketAddr),
    /// It, or a tool, connects to the bridge.
    Ptcp(SocketAddr),
}

/// The number by which controllers know a bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datapath(pub u64);

object! {
    /// A controller of a bridge of flows
    pub struct Controller {
        /// Where it is, or where it comes to
        pub target: Target as "tcp:127.0.0.1:6653",
        /// Longest that is waited between two tries to connect
        pub max_backoff: Duration = Duration::from_secs(8),
        /// How long it may be silent until it is asked whether it is there; as long again, and the
        /// connection is over
        pub probe: Duration = Duration::from_secs(5),
    }
}
as_field!(Controller or target: Target => Controller::new);

/// An address with a port, or without: IPv6 ones in brackets.
fn socket(text: &str) -> Option<SocketAddr> {
    let bare = || text.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
    text.parse().ok().or_else(|| bare().map(|address| SocketAddr::new(address, PORT)))
}

/// A port, a colon, an address; each may be left out.
fn listener(text: &str) -> Option<SocketAddr> {
    let (port, address) = text.split_once(':').unwrap_or((text, ""));
    let port = if port.is_empty() { PORT } else { port.parse().ok()? };
    let address = address.trim_start_matches('[').trim_end_matches(']');
    let address = match address {
        "" => Ipv4Addr::UNSPECIFIED.into(),
        _ => address.parse().ok()?,
    };
    Some(SocketAddr::new(address, port))
}

impl Target {
    /// As Open vSwitch writes it.
    pub fn text(self) -> String {
        match self {
            Self::Tcp(address) => format!("tcp:{address}"),
            Self::Ptcp(address) => match address.ip() {
                IpAddr::V4(ip) => format!("ptcp:{}:{ip}", address.port()),
                IpAddr::V6(ip) => format!("ptcp:{}:[{ip}]", address.port()),
            },
        }
    }

    /// Whether the bridge connects: what comes of itself decides nothing about how it fails.
    pub fn is_active(self) -> bool {
        matches!(self, Self::Tcp(_))
    }
}

impl Field for Target {
    const EXPECTED: &'static str =
        "a controller, \"tcp:ADDRESS:PORT\", or where they come to, \"ptcp:PORT:ADDRESS\"";
    const FORM: Form = Form::Text("^(tcp:.+|ptcp:.*)$");

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let read = match kind {
            "tcp" => socket(rest).filter(|it| it.port() != 0).map(Self::Tcp),
            "ptcp" => listener(rest).filter(|it| it.port() != 0).map(Self::Ptcp),
            _ => None,
        };
        read.ok_or_else(|| {
            let what = match kind {
                "ssl" | "pssl" => "is by TLS, which is not spoken to controllers",
                "tcp" | "ptcp" => "has no IP address and port",
                _ => "is no controller",
            };
            Refusal { message: Some(format!("`{text}` {what}")), suggestion: None }
        })
    }

    fn to_toml(&self) -> String {
        quoted(&self.text())
    }
}

impl Field for Datapath {
    const EXPECTED: &'static str = "16 hexadecimal digits, not all zero";
    const FORM: Form = Form::Text("^(0x)?[0-9a-fA-F]{16}$");

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let digits = text.strip_prefix("0x").unwrap_or(text);
        let is_whole = digits.len() == 16 && digits.bytes().all(|it| it.is_ascii_hexdigit());
        let number = u64::from_str_radix(digits, 16).ok().filter(|it| is_whole && *it != 0);
        number.map(Self).ok_or_else(Refusal::default)
    }

    fn to_toml(&self) -> String {
        quoted(&format!("{:016x}", self.0))
    }
}

/// Finds what is wrong with the controllers of a bridge.
pub(super) fn check(name: &BridgeName, bridge: &Bridge, report: &mut Report) {
    let field = |index: usize| format!("bridge.{name}.controllers[{index}]");
    for (index, it) in bridge.controllers.iter().enumerate() {
        let text = it.target.text();
        if bridge.controllers[..index].iter().any(|other| other.target == it.target) {
            let problem = Problem::new(field(index), format!("{text} is listed twice"));
            report.push(problem.expected("each controller once"));
        }
        let times = [("max_backoff", it.max_backoff), ("probe", it.probe)];
        for (key, time) in times {
            if !(Duration::from_secs(1)..=Duration::from_secs(3600)).contains(&time) {
                let message = format!("{text} with `{key}` {}", duration_text(time));
                let problem = Problem::new(format!("{}.{key}", field(index)), message);
                report.push(problem.expected("\"1s\" to \"1h\""));
            }
        }
    }
    if bridge.controllers.len() > MOST {
        let message = format!("{} controllers", bridge.controllers.len());
        let problem = Problem::new(format!("bridge.{name}.controllers"), message);
        report.push(problem.expected("16 of them at most"));
    }
    if !bridge.has_flows() && !bridge.controllers.is_empty() {
        let message = format!("{name} is no bridge of flows, which controllers are for");
        let problem = Problem::new(format!("bridge.{name}.controllers"), message);
        report.push(problem.expected("`controllers` with `mode = \"flow\"`"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read_as_open_vswitch_writes_them() {
        let text = |text: &str| Target::from_text(text).map(Target::text).map_err(|it| it.message);
        for same in ["tcp:127.0.0.1:6653", "tcp:[::1]:7", "ptcp:6653:0.0.0.0", "ptcp:1:[::1]"] {
            assert_eq!(text(same).unwrap(), same);
        }
        assert_eq!(text("tcp:10.0.0.1").unwrap(), "tcp:10.0.0.1:6653");
        assert_eq!(text("tcp:[::1]").unwrap(), "tcp:[::1]:6653");
        assert_eq!(text("ptcp:").unwrap(), "ptcp:6653:0.0.0.0");
        assert_eq!(text("ptcp:99").unwrap(), "ptcp:99:0.0.0.0");
        assert_eq!(text("ptcp::[::1]").unwrap(), "ptcp:6653:[::1]");
        for (wrong, why) in [
            ("tcp:", "`tcp:` has no IP address and port"),
            ("tcp:host:1", "`tcp:host:1` has no IP address and port"),
            ("tcp:1.2.3.4:0", "`tcp:1.2.3.4:0` has no IP address and port"),
            ("ptcp:70000", "`ptcp:70000` has no IP address and port"),
            ("ssl:1.2.3.4", "`ssl:1.2.3.4` is by TLS, which is not spoken to controllers"),
            ("udp:1", "`udp:1` is no controller"),
        ] {
            assert_eq!(text(wrong).unwrap_err().unwrap(), why);
        }
    }

    #[test]
    fn a_datapath_is_sixteen_digits() {
        assert_eq!(Datapath::from_text("00000000000000ff"), Ok(Datapath(255)));
        assert_eq!(Datapath(255).to_toml(), "\"00000000000000ff\"");
        for wrong in ["ff", "0000000000000000", "00000000000000fg", "+0000000000000ff"] {
            assert!(Datapath::from_text(wrong).is_err(), "{wrong}");
        }
    }
}
