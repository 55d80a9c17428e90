//! `[[acl.NAME.rule]]`: what packets it fits, and what becomes of them. What is not said fits
//! always.

use super::{Action, Fallback};
use crate::config::declare::{Declared, object};
use crate::config::field::{Field, Refusal, word_field};
use crate::config::form::Form;
use crate::config::objects::policer::Dscp;
use crate::config::objects::port_name::PortName;
use crate::config::objects::qos::units::{PortRange, Protocol};
use crate::config::objects::vrf::VrfName;
use crate::config::prefix::Prefix;
use crate::config::report::{Problem, Report};
use crate::config::toml_text::quoted;
use crate::config::write::Fields;
use std::net::IpAddr;
use wire::MacAddr;
use wire::ip::protocol;

object! {
    /// One rule of an access list: what is not said fits always
    #[derive(Hash)]
    pub struct Rule {
        /// What becomes of packets that fit
        pub action: Action as "permit",
        /// Where they come from
        pub source: Option<Prefix> as "192.0.2.0/24" = None,
        /// Where they go
        pub destination: Option<Prefix> as "198.51.100.0/24" = None,
        /// Their protocol
        pub protocol: Option<Protocol> as "tcp" = None,
        /// Their source port
        pub source_port: Option<PortRange> as "1024-65535" = None,
        /// Their destination port
        pub destination_port: Option<PortRange> as "443" = None,
        /// The type of ICMP message
        pub icmp_type: Option<u8> as "8" = None,
        /// Its code
        pub icmp_code: Option<u8> as "0" = None,
        /// TCP flags that are set, or not
        pub tcp_flags: Option<TcpFlags> as "\"syn !ack\"" = None,
        /// Their outer VLAN; 0: none
        pub vlan: Option<u16> as "0" = None,
        /// The station that sent them
        pub source_mac: Option<MacAddr> as "02:00:00:00:00:07" = None,
        /// The station that they are for
        pub destination_mac: Option<MacAddr> as "02:00:00:00:00:01" = None,
        /// The VLAN behind the outer one; 0: none
        pub inner_vlan: Option<u16> as "7" = None,
        /// Their class of service
        pub dscp: Option<Dscp> as "ef" = None,
        /// Their time to live, or hop limit
        pub ttl: Option<u8> as "255" = None,
        /// Whether they are fragments, and which; the first one has the ports
        pub fragment: Option<Fragment> as "none" = None,
        /// With `route`: the VRF whose routes say where they go
        pub vrf: Option<VrfName> as "red" = None,
        /// With `route`: the next hop that they go to
        pub via: Option<IpAddr> as "192.0.2.9" = None,
        /// The port that it is behind
        pub port: Option<PortName> as "uplink" = None,
        /// What becomes of them while that is not to be had
        pub fallback: Option<Fallback> as "usual" = None,
    }
}

word_field! {
    /// Which packets, by whether they are fragments.
    Fragment {
        /// Whole packets.
        None = "none",
        /// Every fragment.
        Any = "any",
        /// The first of a packet.
        First = "first",
        /// All but the first.
        Later = "later",
    }
}

impl Rule {
    /// Its fields, as the file has them.
    pub(super) fn fields(&self) -> Fields {
        self.write(Fields::new())
    }

    pub(super) fn check(&self, field: &str, report: &mut Report) {
        let mut refuse = |name: &str, message: String, expected: &str| {
            let problem = Problem::new(format!("{field}.{name}"), message);
            report.push(problem.expected(expected));
        };
        if let (Some(source), Some(destination)) = (self.source, self.destination)
            && source.address().is_ipv4() != destination.address().is_ipv4()
        {
            let message = format!("{destination} is not of the family of {source}");
            refuse("destination", message, "source and destination of one family");
        }
        let number = self.protocol.map(|Protocol(number)| number);
        let is_one_of = |some: &[u8]| number.is_some_and(|number| some.contains(&number));
        for (name, ports) in
            [("source_port", self.source_port), ("destination_port", self.destination_port)]
        {
            let Some(PortRange(ports)) = ports else { continue };
            if ports.first > ports.last {
                let message = format!("{} is above {}", ports.first, ports.last);
                refuse(name, message, "the lower port first");
            }
            if number.is_some() && !is_one_of(&[protocol::TCP, protocol::UDP, protocol::SCTP]) {
                refuse(name, "this protocol has no ports".to_owned(), "tcp, udp or sctp");
            }
        }
        let icmp = [protocol::ICMP4, protocol::ICMP6];
        if self.icmp_type.is_some() && !is_one_of(&icmp) {
            let message = "only ICMP has types of messages".to_owned();
            refuse("icmp_type", message, "protocol = \"icmp\" or \"icmp6\" beside it");
        }
        if self.icmp_code.is_some() && self.icmp_type.is_none() {
            refuse("icmp_code", "a code of no type".to_owned(), "an `icmp_type` beside it");
        }
        if self.tcp_flags.is_some() && !is_one_of(&[protocol::TCP]) {
            refuse("tcp_flags", "only TCP has flags".to_owned(), "protocol = \"tcp\" beside it");
        }
        for (name, vlan) in [("vlan", self.vlan), ("inner_vlan", self.inner_vlan)] {
            if let Some(vlan) = vlan.filter(|vlan| *vlan > wire::vlan::MAX_VID) {
                refuse(name, format!("{vlan} is not a VLAN"), "a number from 0, for none, to 4094");
            }
        }
        let asks_for_transport = self.source_port.is_some()
            || self.destination_port.is_some()
            || self.icmp_type.is_some()
            || self.tcp_flags.is_some();
        if self.fragment == Some(Fragment::Later) && asks_for_transport {
            let message = "later fragments have no ports, no message and no flags".to_owned();
            refuse("fragment", message, "a rule by addresses and protocol, or another `fragment`");
        }
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.fields().inline())
    }
}

/// TCP flags by their bits (RFC 9293 section 3.1, RFC 3168 section 6.1).
const FLAGS: [(&str, u8); 8] = [
    ("fin", 0x01),
    ("syn", 0x02),
    ("rst", 0x04),
    ("psh", 0x08),
    ("ack", 0x10),
    ("urg", 0x20),
    ("ece", 0x40),
    ("cwr", 0x80),
];

/// TCP flags that must be set, and some that must not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TcpFlags {
    /// Those that must be set.
    pub set: u8,
    /// Those that are looked at.
    pub of: u8,
}

impl Field for TcpFlags {
    const EXPECTED: &'static str = "TCP flags, as in \"syn !ack\": set, and not set";
    const FORM: Form = Form::Text(r"^\s*(!?(fin|syn|rst|psh|ack|urg|ece|cwr)\b\s*)+$");

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let mut flags = Self { set: 0, of: 0 };
        for word in text.split_whitespace() {
            let name = word.strip_prefix('!').unwrap_or(word);
            let Some((_, bit)) = FLAGS.iter().find(|(known, _)| *known == name) else {
                let message = Some(format!("`{word}` is not a TCP flag"));
                return Err(Refusal { message, suggestion: None });
            };
            if flags.of & bit != 0 {
                let message = Some(format!("`{name}` is listed twice"));
                return Err(Refusal { message, suggestion: None });
            }
            flags.of |= bit;
            flags.set |= if name == word { *bit } else { 0 };
        }
        if flags.of == 0 { Err(Refusal::default()) } else { Ok(flags) }
    }

    fn to_toml(&self) -> String {
        let asked = FLAGS.iter().filter(|(_, bit)| self.of & bit != 0);
        let words = asked.map(|(name, bit)| match self.set & bit {
            0 => format!("!{name}"),
            _ => (*name).to_owned(),
        });
        quoted(&words.collect::<Vec<_>>().join(" "))
    }
}
