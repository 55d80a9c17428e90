//! Packets followed through the graph.

use std::net::IpAddr;

use wire::choice::{Carried, Choice, Net};
use wire::ethernet::ethertype;

use super::answer::*;
use super::explained::{Decision, decided};
use crate::config::Prefix;
use crate::config::field::Field;
use crate::config::objects::acl::Protocol;
use crate::config::prefix::PrefixError;

/// Whatever the reason.
pub const ANY_REASON: &str = "any";

/// Which packets to trace: those of which all that is said is so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct TraceRequest {
    /// Only packets that come in here.
    #[serde(default)]
    #[param(format = "port")]
    pub port: Option<String>,
    /// Only packets from or to this address or network, as in `10.0.1.0/24`; inside a tunnel, too.
    #[serde(default)]
    #[param(format = "address")]
    pub host: Option<String>,
    /// Only packets from this address or network.
    #[serde(default)]
    #[param(format = "address")]
    pub source: Option<String>,
    /// Only packets to this address or network.
    #[serde(default)]
    #[param(format = "address")]
    pub destination: Option<String>,
    /// Only packets of this protocol: tcp, udp, icmp, icmp6, gre, sctp, a number, or arp, ip4, ip6.
    #[serde(default)]
    #[param(format = "protocol")]
    pub protocol: Option<String>,
    /// Only packets from this port of TCP, UDP or SCTP.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 65535)]
    #[param(minimum = 0, maximum = 65535, format = "number")]
    pub source_port: Option<u32>,
    /// Only packets to this port of TCP, UDP or SCTP.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 65535)]
    #[param(minimum = 0, maximum = 65535, format = "number")]
    pub destination_port: Option<u32>,
    /// Only packets that this node drops, as in `acl-input`.
    #[serde(default)]
    #[param(format = "node")]
    pub node: Option<String>,
    /// Only packets dropped for this reason, as in `no-route`; `any`: for whatever reason.
    #[serde(default)]
    #[param(format = "reason")]
    pub reason: Option<String>,
    /// How many packets; 20 unless said.
    #[serde(default = "usual_count")]
    #[schema(minimum = 1, maximum = 10000, default = 20)]
    #[param(minimum = 1, maximum = 10000, default = 20, format = "count")]
    pub count: u32,
}

/// Protocols below IP, and both versions of that.
const TYPES: [(&str, u16); 3] =
    [("arp", ethertype::ARP), ("ip4", ethertype::IPV4), ("ip6", ethertype::IPV6)];

fn usual_count() -> u32 {
    20
}

impl Default for TraceRequest {
    fn default() -> Self {
        Self {
            port: None,
            host: None,
            source: None,
            destination: None,
            protocol: None,
            source_port: None,
            destination_port: None,
            node: None,
            reason: None,
            count: usual_count(),
        }
    }
}

impl TraceRequest {
    /// What must be so of a frame, or what was said that cannot be.
    pub fn choice(&self) -> Result<Choice, EngineError> {
        Ok(Choice {
            host: net("host", &self.host)?,
            source: net("source", &self.source)?,
            destination: net("destination", &self.destination)?,
            carried: self.protocol.as_deref().map(carried).transpose()?,
            source_port: port("source_port", self.source_port)?,
            destination_port: port("destination_port", self.destination_port)?,
        })
    }

    /// Which packets, in words.
    pub fn said(&self) -> String {
        let mut said = String::new();
        let mut say = |word: &str, value: Option<String>| {
            if let Some(value) = value {
                said += &format!("{word}{value}");
            }
        };
        say(" from ", self.port.clone());
        say(", host ", self.host.clone());
        say(", source ", self.source.clone());
        say(", destination ", self.destination.clone());
        say(", protocol ", self.protocol.clone());
        say(", source port ", self.source_port.map(|port| port.to_string()));
        say(", destination port ", self.destination_port.map(|port| port.to_string()));
        say(", dropped by ", self.node.clone());
        match (&self.reason, &self.node) {
            (Some(reason), Some(_)) => say(": ", Some(reason.clone())),
            (reason, _) => say(", dropped: ", reason.clone()),
        }
        said
    }
}

/// An address or a network.
fn net(what: &str, text: &Option<String>) -> Result<Option<Net>, EngineError> {
    let Some(text) = text else { return Ok(None) };
    if let Ok(address) = text.parse::<IpAddr>() {
        let length = if address.is_ipv4() { 32 } else { 128 };
        return Ok(Some(Net { address, length }));
    }
    let wrong = |why: String| {
        let expected = "expected an address or a network, as in 10.0.1.2 or 10.0.1.0/24";
        EngineError::Wrong(format!("{what}: {why}: {expected}"))
    };
    if !text.contains('/') {
        return Err(wrong(format!("`{text}` is no address")));
    }
    let prefix: Prefix = text.parse().map_err(|error: PrefixError| wrong(error.to_string()))?;
    Ok(Some(Net { address: prefix.address(), length: prefix.length() }))
}

fn port(what: &str, number: Option<u32>) -> Result<Option<u16>, EngineError> {
    let wrong = |number| EngineError::Wrong(format!("{what} is {number}: expected 0 to 65535"));
    number.map(|number| u16::try_from(number).map_err(|_| wrong(number))).transpose()
}

fn carried(text: &str) -> Result<Carried, EngineError> {
    if let Some((_, kind)) = TYPES.iter().find(|(name, _)| *name == text) {
        return Ok(Carried::Type(*kind));
    }
    let Ok(Protocol(number)) = Protocol::from_text(text) else {
        let expected = format!("{}, or arp, ip4, ip6", Protocol::EXPECTED);
        return Err(EngineError::Wrong(format!("protocol: `{text}`: expected {expected}")));
    };
    Ok(Carried::Protocol(number))
}

/// What was traced.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Trace {
    /// Whether packets are still being traced.
    pub running: bool,
    /// Packets traced so far.
    pub packets: Vec<TracedPacket>,
}

/// One packet's walk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TracedPacket {
    /// Its number, from 1.
    pub number: u32,
    /// Port it came in at.
    pub port: String,
    /// Worker that had it.
    pub worker: u32,
    /// Microseconds since the trace began.
    pub time_us: u64,
    /// Its length in bytes.
    pub bytes: u32,
    /// Its steps.
    pub steps: Vec<TraceStep>,
}

/// One step of a packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TraceStep {
    /// The node that it came to, by name, as in `ip4-lookup`.
    pub node: String,
    /// The exit by which the node sent it on.
    pub exit: String,
    /// The bytes that mattered, as a person reads them.
    pub detail: String,
    /// The same bytes in hexadecimal.
    pub hex: String,
    /// Cycles a packet of the node's call.
    pub cycles: f64,
    /// What decided, by the tables as they were a moment later: the rule, the route, the flow, the
    /// policer, the translation.
    #[serde(default)]
    pub decisions: Vec<Decision>,
}

impl View for Trace {
    view!("trace show", "/v1/trace", All => Self, "The packets traced, node by node");
    const TAG: &'static str = "observe";

    fn text(trace: &Self, style: Style) -> String {
        if trace.packets.is_empty() {
            let state = if trace.running { "waiting for packets" } else { "nothing was traced" };
            return format!("{state}\n");
        }
        let widest = |pick: fn(&TraceStep) -> &str| {
            let steps = trace.packets.iter().flat_map(|packet| &packet.steps);
            steps.map(|step| pick(step).chars().count()).max().unwrap_or(0)
        };
        let (node, exit) = (widest(|step| &step.node), widest(|step| &step.exit));
        let mut text = String::new();
        for packet in &trace.packets {
            let head = format!(
                "packet {}  from {}  {} bytes  worker {}  at {} us",
                packet.number, packet.port, packet.bytes, packet.worker, packet.time_us
            );
            text.push_str(&style.bold(&head));
            text.push('\n');
            for step in &packet.steps {
                let line = format!(
                    "  {:node$}  {:exit$}  {:>7.1} cycles  {}",
                    step.node, step.exit, step.cycles, step.detail
                );
                text.push_str(line.trim_end());
                if !step.hex.is_empty() {
                    text.push_str("  ");
                    text.push_str(&style.dim(&step.hex));
                }
                text.push('\n');
                text += &decided(&step.decisions, node, style);
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(change: impl FnOnce(&mut TraceRequest)) -> TraceRequest {
        let mut request = TraceRequest::default();
        change(&mut request);
        request
    }

    #[test]
    fn what_is_asked_for_is_read_and_what_cannot_be_is_told() {
        let all = request(|it| {
            it.host = Some("10.0.0.0/8".into());
            it.protocol = Some("udp".into());
            it.destination_port = Some(53);
            (it.node, it.reason) = (Some("ip4-lookup".into()), Some("no-route".into()));
        });
        let choice = all.choice().unwrap();
        let net = Net { address: [10, 0, 0, 0].into(), length: 8 };
        assert_eq!((choice.host, choice.carried), (Some(net), Some(Carried::Protocol(17))));
        assert_eq!((choice.source_port, choice.destination_port), (None, Some(53)));
        let said =
            ", host 10.0.0.0/8, protocol udp, destination port 53, dropped by ip4-lookup: no-route";
        assert_eq!(all.said(), said);
        assert_eq!(request(|it| it.reason = Some("any".into())).said(), ", dropped: any");
        assert!(TraceRequest::default().choice().unwrap().is_any());
        let arp = request(|it| it.protocol = Some("arp".into())).choice().unwrap();
        assert_eq!(arp.carried, Some(Carried::Type(0x0806)));
        for (wrong, told) in [
            (request(|it| it.host = Some("p1".into())), "host: `p1` is no address: expected an"),
            (request(|it| it.source = Some("10.0.0.1/8".into())), "source: `10.0.0.1/8` has bits"),
            (request(|it| it.destination = Some("::/129".into())), "destination: `/129` is not a"),
            (request(|it| it.protocol = Some("upd".into())), "protocol: `upd`: expected icmp, tcp"),
            (request(|it| it.source_port = Some(65_536)), "source_port is 65536: expected 0 to"),
        ] {
            let error = wrong.choice().unwrap_err().to_string();
            assert!(error.starts_with(told), "{error}");
        }
    }
}
