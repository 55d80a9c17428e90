//! Controllers of a bridge of flows: where they are, and how long they are waited for.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use super::bridge::{Bridge, BridgeName};
use crate::config::declare::{as_field, object};
use crate::config::field::{Field, Refusal, duration_text, word_field};
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
    /// The bridge connects to it, over TLS.
    Ssl(SocketAddr),
    /// It, or a tool, connects to the bridge, over TLS.
    Pssl(SocketAddr),
}

word_field! {
    /// A version of the protocol by which controllers speak, as Open vSwitch calls it.
    Protocol {
        /// OpenFlow 1.0.
        V10 = "OpenFlow10",
        /// OpenFlow 1.3.
        V13 = "OpenFlow13",
        /// OpenFlow 1.4.
        V14 = "OpenFlow14",
        /// OpenFlow 1.5.
        V15 = "OpenFlow15",
    }
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
        /// Over TLS: the file of our private key
        pub private_key: Option<PathBuf> as "/etc/volley/switch-privkey.pem" = None,
        /// Over TLS: the file of our certificate, and of those above it
        pub certificate: Option<PathBuf> as "/etc/volley/switch-cert.pem" = None,
        /// Over TLS: the file of the certificate of who has signed the other's
        pub ca_cert: Option<PathBuf> as "/etc/volley/cacert.pem" = None,
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
        let (kind, address) = match self {
            Self::Tcp(address) => ("tcp", address),
            Self::Ptcp(address) => ("ptcp", address),
            Self::Ssl(address) => ("ssl", address),
            Self::Pssl(address) => ("pssl", address),
        };
        match address.ip() {
            _ if self.is_active() => format!("{kind}:{address}"),
            IpAddr::V4(ip) => format!("{kind}:{}:{ip}", address.port()),
            IpAddr::V6(ip) => format!("{kind}:{}:[{ip}]", address.port()),
        }
    }

    /// Whether the bridge connects: what comes of itself decides nothing about how it fails.
    pub fn is_active(self) -> bool {
        matches!(self, Self::Tcp(_) | Self::Ssl(_))
    }

    /// Whether both have to show certificates.
    pub fn is_by_tls(self) -> bool {
        matches!(self, Self::Ssl(_) | Self::Pssl(_))
    }
}

impl Field for Target {
    const EXPECTED: &'static str = "a controller, \"tcp:ADDRESS:PORT\", or where they come to, \"ptcp:PORT:ADDRESS\"; over TLS \"ssl:\" and \"pssl:\"";
    const FORM: Form = Form::Text("^((tcp|ssl):.+|(ptcp|pssl):.*)$");

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let read = match kind {
            "tcp" => socket(rest).filter(|it| it.port() != 0).map(Self::Tcp),
            "ptcp" => listener(rest).filter(|it| it.port() != 0).map(Self::Ptcp),
            "ssl" => socket(rest).filter(|it| it.port() != 0).map(Self::Ssl),
            "pssl" => listener(rest).filter(|it| it.port() != 0).map(Self::Pssl),
            _ => None,
        };
        read.ok_or_else(|| {
            let what = match kind {
                "tcp" | "ptcp" | "ssl" | "pssl" => "has no IP address and port",
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

impl Controller {
    /// What TLS needs: all of it there, where it is spoken.
    fn check_files(&self, field: &str, report: &mut Report) {
        let text = self.target.text();
        let files = [
            ("private_key", &self.private_key),
            ("certificate", &self.certificate),
            ("ca_cert", &self.ca_cert),
        ];
        for (key, file) in files {
            let field = format!("{field}.{key}");
            match file {
                Some(_) if !self.target.is_by_tls() => {
                    let message = format!("{text} is not over TLS, which `{key}` is for");
                    let problem = Problem::new(field, message);
                    report.push(problem.expected(format!("`{key}` with \"ssl:…\" or \"pssl:…\"")));
                }
                Some(file) if !file.is_absolute() => {
                    let file = file.display();
                    let message = format!("`{file}` depends on where the router is started");
                    let problem = Problem::new(field, message);
                    report.push(problem.expected("an absolute path, as in \"/etc/volley/…\""));
                }
                None if self.target.is_by_tls() => {
                    let message = format!("{text} is over TLS and has no `{key}`");
                    let problem = Problem::new(field, message);
                    report.push(problem.expected(
                        "`private_key`, `certificate` and `ca_cert`, files in PEM, beside `target`",
                    ));
                }
                _ => {}
            }
        }
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
        it.check_files(&field(index), report);
    }
    if bridge.controllers.len() > MOST {
        let message = format!("{} controllers", bridge.controllers.len());
        let problem = Problem::new(format!("bridge.{name}.controllers"), message);
        report.push(problem.expected("16 of them at most"));
    }
    for (index, protocol) in bridge.protocols.iter().enumerate() {
        if bridge.protocols[..index].contains(protocol) {
            let message = format!("{} is listed twice", protocol.word());
            let problem = Problem::new(format!("bridge.{name}.protocols[{index}]"), message);
            report.push(problem.expected("each version once"));
        }
    }
    let said = [
        ("controllers", !bridge.controllers.is_empty()),
        ("protocols", !bridge.protocols.is_empty()),
    ];
    for (key, _) in said.into_iter().filter(|(_, is_said)| *is_said && !bridge.has_flows()) {
        let message = format!("{name} is no bridge of flows, which {key} are for");
        let problem = Problem::new(format!("bridge.{name}.{key}"), message);
        report.push(problem.expected(format!("`{key}` with `mode = \"flow\"`")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::read;

    #[test]
    fn targets_are_read_as_open_vswitch_writes_them() {
        let text = |text: &str| Target::from_text(text).map(Target::text).map_err(|it| it.message);
        let tcp = ["tcp:127.0.0.1:6653", "tcp:[::1]:7", "ptcp:6653:0.0.0.0", "ptcp:1:[::1]"];
        let tls = ["ssl:127.0.0.1:6653", "ssl:[::1]:7", "pssl:6653:0.0.0.0", "pssl:1:[::1]"];
        for same in tcp.into_iter().chain(tls) {
            assert_eq!(text(same).unwrap(), same);
        }
        assert_eq!(text("ssl:10.0.0.1").unwrap(), "ssl:10.0.0.1:6653");
        assert_eq!(text("pssl:").unwrap(), "pssl:6653:0.0.0.0");
        let is = |text: &str| Target::from_text(text).map(|it| (it.is_active(), it.is_by_tls()));
        assert_eq!((is("ssl:1.2.3.4"), is("pssl:")), (Ok((true, true)), Ok((false, true))));
        assert_eq!((is("tcp:1.2.3.4"), is("ptcp:")), (Ok((true, false)), Ok((false, false))));
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
            ("ssl:host:1", "`ssl:host:1` has no IP address and port"),
            ("pssl:70000", "`pssl:70000` has no IP address and port"),
            ("udp:1", "`udp:1` is no controller"),
        ] {
            assert_eq!(text(wrong).unwrap_err().unwrap(), why);
        }
    }

    #[test]
    fn over_tls_there_are_keys_and_elsewhere_none() {
        let told = |controller: &str| {
            let bridge = format!("[bridge.br0]\nmode = \"flow\"\ncontrollers = [{controller}]\n");
            read(&bridge).map(drop).unwrap_err()
        };
        let files = "private_key = \"/k\", certificate = \"/c\", ca_cert = \"/a\"";
        let whole = format!("{{ target = \"ssl:10.0.0.1\", {files} }}");
        let config = read(&format!("[bridge.br0]\nmode = \"flow\"\ncontrollers = [{whole}]\n"));
        let (_, bridge) = config.as_ref().unwrap().bridges.iter().next().unwrap();
        assert_eq!(bridge.controllers[0].ca_cert, Some("/a".into()));
        for bare in ["\"pssl:\"", "{ target = \"pssl:\", max_backoff = \"1s\" }"] {
            let error = told(bare);
            for key in ["private_key", "certificate", "ca_cert"] {
                let part = format!("pssl:6653:0.0.0.0 is over TLS and has no `{key}`");
                assert!(error.contains(&part), "{error}");
            }
            assert!(error.contains("`private_key`, `certificate` and `ca_cert`"), "{error}");
        }
        let error = told(&whole.replace("\"/c\"", "\"c.pem\""));
        assert!(error.contains("`c.pem` depends on where the router is started"), "{error}");
        let error = told(&whole.replace("ssl:", "tcp:"));
        let part = "tcp:10.0.0.1:6653 is not over TLS, which `ca_cert` is for";
        assert!(error.contains(part), "{error}");
    }

    #[test]
    fn versions_are_words_of_a_bridge_of_flows_each_once() {
        let bridge = |more: &str| read(&format!("[bridge.br0]\n{more}\n"));
        let some = "protocols = [\"OpenFlow10\", \"OpenFlow13\"]";
        let config = bridge(&format!("mode = \"flow\"\n{some}")).unwrap();
        let (_, read) = config.bridges.iter().next().unwrap();
        assert_eq!(read.protocols, [Protocol::V10, Protocol::V13]);
        for (wrong, why) in [
            (some.to_owned(), "br0 is no bridge of flows, which protocols are for"),
            ("mode = \"flow\"\nprotocols = [\"OpenFlow11\"]".to_owned(), "OpenFlow11"),
            (
                "mode = \"flow\"\nprotocols = [\"OpenFlow10\", \"OpenFlow10\"]".to_owned(),
                "OpenFlow10 is listed twice",
            ),
        ] {
            let error = bridge(&wrong).unwrap_err();
            assert!(error.contains(why), "{error}");
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
