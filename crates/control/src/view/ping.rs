//! `volley ping`: whom the router asks whether he is there, and what comes back.

use std::net::IpAddr;
use std::time::Duration;

use super::answer::*;
use crate::config::objects::vrf::DEFAULT_NAME;

/// Whom to ask, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PingRequest {
    /// Who is asked.
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
    /// How many requests; without a number, until nobody listens any more.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 1_000_000_000)]
    pub count: Option<u32>,
    /// Milliseconds between two of them.
    #[serde(default = "usual::interval_ms")]
    #[schema(minimum = 10, maximum = 60_000, default = 1000)]
    pub interval_ms: u32,
    /// Octets of data in each.
    #[serde(default = "usual::size")]
    #[schema(minimum = 0, maximum = 65_500, default = 56)]
    pub size: u16,
    /// Milliseconds that an answer may take.
    #[serde(default = "usual::timeout_ms")]
    #[schema(minimum = 1, maximum = 60_000, default = 2000)]
    pub timeout_ms: u32,
    /// TTL or hop limit of requests.
    #[serde(default = "usual::ttl")]
    #[schema(minimum = 1, maximum = 254, default = 64)]
    pub ttl: u8,
    /// Whether requests may not be cut into pieces.
    #[serde(default)]
    pub df: bool,
}

/// What goes without saying.
pub(super) mod usual {
    pub(in crate::view) fn interval_ms() -> u32 {
        1000
    }
    pub(in crate::view) fn size() -> u16 {
        56
    }
    pub(in crate::view) fn timeout_ms() -> u32 {
        2000
    }
    pub(in crate::view) fn ttl() -> u8 {
        64
    }
}

impl PingRequest {
    /// The VRF that is meant.
    pub fn vrf(&self) -> &str {
        self.vrf.as_deref().unwrap_or(DEFAULT_NAME)
    }
}

/// What happens, one line each: the first is `begun`, the last `done`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum PingLine {
    /// Requests will go out.
    Begun {
        /// Who is asked.
        target: String,
        /// From which address.
        source: String,
        /// By the routes of which VRF.
        vrf: String,
        /// The port that a link-local address is behind.
        port: Option<String>,
        /// Octets of data in each request.
        size: u16,
    },
    /// A request goes out.
    Sent {
        /// Its number, from 1.
        sequence: u32,
    },
    /// An answer came.
    Reply {
        /// Of which request.
        sequence: u32,
        /// From whom.
        from: String,
        /// Octets of its ICMP message.
        bytes: u16,
        /// Its TTL or hop limit, as it came.
        ttl: u8,
        /// Nanoseconds from the control thread's handing the request to a worker until a worker
        /// had the answer.
        time_ns: u64,
        /// One was there before.
        duplicate: bool,
    },
    /// A request went nowhere.
    Problem {
        /// Which.
        sequence: u32,
        /// Who says so; nobody, if it did not leave.
        from: Option<String>,
        /// Why.
        problem: PingProblem,
        /// The longest packet that would have gone, if that is why.
        mtu: Option<u32>,
    },
    /// Nothing came in time.
    Silence {
        /// Of which request.
        sequence: u32,
    },
    /// It is over.
    Done(PingSummary),
}

/// Why a request went nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PingProblem {
    /// The router has no route, or nothing to send it from.
    NoRoute,
    /// Somebody has no route to its network.
    Net,
    /// Nobody is there who would take it.
    Host,
    /// The protocol is not spoken there.
    Protocol,
    /// Nobody listens on the port.
    Port,
    /// A filter or a route forbids it.
    Prohibited,
    /// Its source is not known beyond a link.
    Scope,
    /// It is too long for a link, and may not be cut.
    TooBig,
    /// It came too far.
    TimeExceeded,
    /// Pieces of it did not come.
    Reassembly,
    /// Something in its header is wrong.
    Parameter,
    /// Something else.
    Other,
}

impl PingProblem {
    /// In words, less who says it.
    pub fn words(self, mtu: Option<u32>) -> String {
        let unreachable = |what: &str| format!("destination unreachable ({what})");
        match (self, mtu) {
            (Self::NoRoute, _) => "no route".to_owned(),
            (Self::Net, _) => unreachable("net"),
            (Self::Host, _) => unreachable("host"),
            (Self::Protocol, _) => unreachable("protocol"),
            (Self::Port, _) => unreachable("port"),
            (Self::Prohibited, _) => unreachable("prohibited"),
            (Self::Scope, _) => unreachable("beyond scope of source"),
            (Self::Other, _) => unreachable("another reason"),
            (Self::TooBig, Some(mtu)) => format!("frag needed, mtu {mtu}"),
            (Self::TooBig, None) => "frag needed".to_owned(),
            (Self::TimeExceeded, _) => "time exceeded".to_owned(),
            (Self::Reassembly, _) => "time exceeded (reassembly)".to_owned(),
            (Self::Parameter, _) => "parameter problem".to_owned(),
        }
    }
}

/// How it went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PingSummary {
    /// Requests that went out.
    pub transmitted: u32,
    /// Requests that were answered.
    pub received: u32,
    /// Answers beyond the first of a request.
    pub duplicates: u32,
    /// Errors that were told of requests.
    pub errors: u32,
    /// Of a hundred requests, so many were not answered.
    pub loss_percent: f64,
    /// From the first request on.
    pub elapsed_ms: u64,
    /// Shortest time of an answer; none if none came.
    pub min_ns: Option<u64>,
    /// Their mean.
    pub avg_ns: Option<u64>,
    /// The longest.
    pub max_ns: Option<u64>,
    /// Their standard deviation.
    pub mdev_ns: Option<u64>,
}

/// Counts lines as they come: what a summary is made of, by whoever has heard so much.
#[derive(Clone, Debug, Default)]
pub struct PingTally {
    summary: PingSummary,
    sum_ns: f64,
    squares: f64,
}

impl PingTally {
    /// One more.
    pub fn count(&mut self, line: &PingLine) {
        let summary = &mut self.summary;
        match line {
            PingLine::Sent { .. } => summary.transmitted += 1,
            PingLine::Reply { duplicate: true, .. } => summary.duplicates += 1,
            PingLine::Reply { time_ns, .. } => {
                summary.received += 1;
                self.sum_ns += *time_ns as f64;
                self.squares += (*time_ns as f64).powi(2);
                summary.min_ns = Some(summary.min_ns.map_or(*time_ns, |min| min.min(*time_ns)));
                summary.max_ns = summary.max_ns.max(Some(*time_ns));
            }
            PingLine::Problem { .. } => summary.errors += 1,
            PingLine::Begun { .. } | PingLine::Silence { .. } | PingLine::Done(_) => {}
        }
    }

    /// What it comes to.
    pub fn summary(&self, elapsed: Duration) -> PingSummary {
        let mut summary = self.summary.clone();
        let (sent, received) = (f64::from(summary.transmitted), f64::from(summary.received));
        if sent > 0.0 {
            summary.loss_percent = 100.0 * (sent - received).max(0.0) / sent;
        }
        summary.elapsed_ms = elapsed.as_millis() as u64;
        if received > 0.0 {
            let mean = self.sum_ns / received;
            let variance = (self.squares / received - mean * mean).max(0.0);
            summary.avg_ns = Some(mean as u64);
            summary.mdev_ns = Some(variance.sqrt() as u64);
        }
        summary
    }
}

/// Milliseconds, to the microsecond.
pub(super) fn ms(time_ns: u64) -> String {
    format!("{:.3}", time_ns as f64 / 1e6)
}

impl PingLine {
    /// As who uses ping knows it; empty where that says nothing.
    pub fn text(&self) -> String {
        match self {
            Self::Begun { target, source, vrf, port, size } => {
                let port = port.as_ref().map_or(String::new(), |port| format!("%{port}"));
                let vrf = if vrf == DEFAULT_NAME { String::new() } else { format!(" vrf {vrf}") };
                format!("PING {target}{port} from {source}{vrf}: {size} data bytes\n")
            }
            Self::Sent { .. } => String::new(),
            Self::Reply { sequence, from, bytes, ttl, time_ns, duplicate } => {
                let again = if *duplicate { " (DUP!)" } else { "" };
                let time = ms(*time_ns);
                format!(
                    "{bytes} bytes from {from}: icmp_seq={sequence} ttl={ttl} time={time} ms{again}\n"
                )
            }
            Self::Problem { sequence, from, problem, mtu } => {
                let from = from.as_ref().map_or(String::new(), |from| format!(" from {from}"));
                format!("icmp_seq={sequence} {}{from}\n", problem.words(*mtu))
            }
            Self::Silence { sequence } => format!("icmp_seq={sequence} no answer\n"),
            Self::Done(summary) => summary.text(""),
        }
    }
}

impl PingSummary {
    /// As who uses ping knows it.
    pub fn text(&self, target: &str) -> String {
        let Self { transmitted, received, duplicates, errors, loss_percent, elapsed_ms, .. } = self;
        let some = |count: &u32, what: &str| match count {
            0 => String::new(),
            count => format!(", +{count} {what}"),
        };
        let more = some(duplicates, "duplicates") + &some(errors, "errors");
        // As many digits as say something.
        let loss = format!("{loss_percent:.2}");
        let loss = loss.trim_end_matches('0').trim_end_matches('.');
        let target = if target.is_empty() { String::new() } else { format!("{target} ") };
        let mut text = format!(
            "\n--- {target}ping statistics ---\n{transmitted} packets transmitted, \
             {received} received{more}, {loss}% packet loss, time {elapsed_ms}ms\n"
        );
        if let (Some(min), Some(avg), Some(max), Some(mdev)) =
            (self.min_ns, self.avg_ns, self.max_ns, self.mdev_ns)
        {
            let times = [min, avg, max, mdev].map(ms).join("/");
            text += &format!("rtt min/avg/max/mdev = {times} ms\n");
        }
        text
    }
}
