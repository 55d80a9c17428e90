//! `volley traceroute`: which routers are on a way.

use std::net::IpAddr;

use super::answer::*;
use super::ping::{PingProblem, ms};
use crate::config::objects::vrf::DEFAULT_NAME;

/// Whither, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TracerouteRequest {
    /// Where the way leads.
    #[schema(value_type = String, example = "192.0.2.9")]
    pub address: IpAddr,
    /// The port whose neighbour a link-local address is.
    #[serde(default)]
    pub port: Option<String>,
    /// VRF whose routes lead there; `default` or nothing is the default one.
    #[serde(default)]
    pub vrf: Option<String>,
    /// One of the router's addresses, to ask from; without one, that of the port by which requests
    /// leave.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub source: Option<IpAddr>,
    /// How many requests each hop gets.
    #[serde(default = "usual_count")]
    #[schema(minimum = 1, maximum = 10, default = 3)]
    pub count: u32,
    /// Milliseconds between two of them.
    #[serde(default = "usual_interval_ms")]
    #[schema(minimum = 10, maximum = 60_000, default = 10)]
    pub interval_ms: u32,
    /// Octets of data in each.
    #[serde(default = "super::ping::usual::size")]
    #[schema(minimum = 0, maximum = 65_500, default = 56)]
    pub size: u16,
    /// Milliseconds that an answer may take.
    #[serde(default = "super::ping::usual::timeout_ms")]
    #[schema(minimum = 1, maximum = 60_000, default = 2000)]
    pub timeout_ms: u32,
    /// Hops after which it is given up.
    #[serde(default = "usual_hops")]
    #[schema(minimum = 1, maximum = 254, default = 30)]
    pub max_hops: u8,
    /// Whether requests may not be cut into pieces.
    #[serde(default)]
    pub df: bool,
}

fn usual_count() -> u32 {
    3
}

fn usual_interval_ms() -> u32 {
    10
}

fn usual_hops() -> u8 {
    30
}

impl TracerouteRequest {
    /// The VRF that is meant.
    pub fn vrf(&self) -> &str {
        self.vrf.as_deref().unwrap_or(DEFAULT_NAME)
    }
}

/// What a trace finds, one line each: the first is `begun`, the last `done`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum TracerouteLine {
    /// Requests will go out.
    Begun {
        /// Where the way leads.
        target: String,
        /// From which address.
        source: String,
        /// By the routes of which VRF.
        vrf: String,
        /// The port that a link-local address is behind.
        port: Option<String>,
        /// Hops after which it is given up.
        max_hops: u8,
        /// Octets of data in each request.
        size: u16,
    },
    /// All was heard of a hop that will be.
    Hop {
        /// Its distance, from 1.
        hop: u8,
        /// What came of each request.
        answers: Vec<HopAnswer>,
    },
    /// It is over.
    Done {
        /// Whether the address itself answered.
        reached: bool,
        /// Hops that were asked.
        hops: u8,
    },
}

/// What came of one request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HopAnswer {
    /// Who answered; none if nobody did in time.
    pub from: Option<String>,
    /// How long it took, as for ping.
    pub time_ns: Option<u64>,
    /// Why it went no further, if that is not its TTL.
    pub problem: Option<PingProblem>,
    /// The longest packet that would have gone on, if that is why.
    pub mtu: Option<u32>,
}

impl HopAnswer {
    /// What traceroute puts behind the time.
    fn mark(&self) -> String {
        match (self.problem, self.mtu) {
            (None, _) => String::new(),
            (Some(PingProblem::Net | PingProblem::NoRoute), _) => " !N".to_owned(),
            (Some(PingProblem::Host), _) => " !H".to_owned(),
            (Some(PingProblem::Protocol), _) => " !P".to_owned(),
            (Some(PingProblem::Prohibited), _) => " !X".to_owned(),
            (Some(PingProblem::TooBig), Some(mtu)) => format!(" !F-{mtu}"),
            (Some(PingProblem::TooBig), None) => " !F".to_owned(),
            (Some(other), _) => format!(" !<{}>", other.words(None)),
        }
    }
}

impl TracerouteLine {
    /// As who uses traceroute knows it.
    pub fn text(&self) -> String {
        match self {
            Self::Begun { target, source, vrf, port, max_hops, size } => {
                let port = port.as_ref().map_or(String::new(), |port| format!("%{port}"));
                let vrf = if vrf == DEFAULT_NAME { String::new() } else { format!(" vrf {vrf}") };
                format!(
                    "traceroute to {target}{port} from {source}{vrf}, {max_hops} hops max, {size} data bytes\n"
                )
            }
            Self::Hop { hop, answers } => {
                let mut text = format!("{hop:>2} ");
                let mut last = None;
                for answer in answers {
                    let (Some(from), Some(time_ns)) = (&answer.from, answer.time_ns) else {
                        let mark = answer.mark();
                        text += if mark.is_empty() { " *" } else { &mark };
                        continue;
                    };
                    if last != Some(from) {
                        text += &format!(" {from}");
                    }
                    last = Some(from);
                    text += &format!("  {} ms{}", ms(time_ns), answer.mark());
                }
                text + "\n"
            }
            Self::Done { .. } => String::new(),
        }
    }
}
