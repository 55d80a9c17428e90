//! `volley ping` and `volley traceroute`: asked by the router itself.
//!
//! ```text
//!  router ─▶ a line for each thing that happens ─▶ standard output, as ping(8) and traceroute(8) have it
//!  Ctrl-C ─▶ the summary of what was heard until then
//! ```
//! Exit codes are those of ping(8): 0 answered, 1 not answered, 2 it could not be asked.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use clap::Args;
use control::view::{
    Fields, Ping, PingLine, PingRequest, PingTally, Traceroute, TracerouteLine, TracerouteRequest,
    Verb,
};
use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::error::CliError;
use crate::session::Session;
use crate::time;

/// Whom to ask, and how.
#[derive(Debug, Args)]
pub(crate) struct PingArgs {
    #[command(flatten)]
    to: To,
    /// How many requests; without, until interrupted
    #[arg(long, short)]
    count: Option<u32>,
    /// Between two of them: seconds, or a time as in 200ms
    #[arg(long, short, value_name = "TIME", default_value = "1s", value_parser = time::interval)]
    interval: Duration,
    /// TTL or hop limit
    #[arg(long, short, default_value_t = 64)]
    ttl: u8,
}

/// Whither, and how.
#[derive(Debug, Args)]
pub(crate) struct TracerouteArgs {
    #[command(flatten)]
    to: To,
    /// How many requests each hop gets
    #[arg(long, short, default_value_t = 3)]
    count: u32,
    /// Between two of them: seconds, or a time as in 200ms
    #[arg(long, short, value_name = "TIME", default_value = "10ms", value_parser = time::interval)]
    interval: Duration,
    /// Hops after which it is given up
    #[arg(long, short, value_name = "HOPS", default_value_t = 30)]
    max_hops: u8,
}

/// What both take.
#[derive(Debug, Args)]
struct To {
    /// An address of a host or router; a link-local one with its port, as in fe80::1%p0
    #[arg(value_name = "ADDRESS")]
    to: String,
    /// The same port in words, as in: fe80::1 port p0
    #[arg(value_names = ["port", "PORT"], num_args = 2)]
    on: Vec<String>,
    /// VRF whose routes lead there
    #[arg(long, value_name = "NAME")]
    vrf: Option<String>,
    /// One of the router's addresses, to ask from
    #[arg(long, value_name = "ADDRESS")]
    source: Option<IpAddr>,
    /// Octets of data in each request
    #[arg(long, short, value_name = "BYTES", default_value_t = 56)]
    size: u16,
    /// How long an answer may take: seconds, or a time as in 200ms
    #[arg(long, short = 'W', value_name = "TIME", default_value = "2s", value_parser = time::interval)]
    timeout: Duration,
    /// Do not let requests be cut into pieces
    #[arg(long)]
    df: bool,
}

impl To {
    /// The address, and the port that it is behind.
    fn place(&self) -> Result<(IpAddr, Option<String>), CliError> {
        let wrong = |what: String| CliError::Usage(format!("error: {what}\n"));
        let (address, zone) = match self.to.split_once('%') {
            Some((address, port)) => (address, Some(port)),
            None => (&self.to[..], None),
        };
        let port = match (zone, &self.on[..]) {
            (zone, []) => zone,
            (None, [word, port]) if word == "port" => Some(&port[..]),
            (Some(_), _) => return Err(wrong(format!("`{}` has its port already", self.to))),
            (None, words) => {
                let words = words.join(" ");
                return Err(wrong(format!("`{words}`: expected a port, as in `port p0`")));
            }
        };
        let parsed = address.parse().map_err(|_| {
            let expected = "expected an address, as in 192.0.2.1, 2001:db8::1 or fe80::1%p0";
            wrong(format!("`{address}` is no address: {expected}"))
        })?;
        Ok((parsed, port.map(str::to_owned)))
    }
}

/// Milliseconds, no fewer than the time has.
fn ms(time: Duration) -> u32 {
    u32::try_from(time.as_micros().div_ceil(1000)).unwrap_or(u32::MAX)
}

/// Asks until all is answered, or interrupted.
pub(crate) fn ping(session: &Session, args: &PingArgs) -> Result<(), CliError> {
    let PingArgs { to, count, interval, ttl } = args;
    let (address, port) = to.place()?;
    let (interval_ms, timeout_ms) = (ms(*interval), ms(to.timeout));
    let request = PingRequest {
        address,
        port,
        vrf: to.vrf.clone(),
        source: to.source,
        count: *count,
        interval_ms,
        size: to.size,
        timeout_ms,
        ttl: *ttl,
        df: to.df,
    };
    let (mut tally, began, mut done) = (PingTally::default(), Instant::now(), None);
    let client = session.client.beside(patience(interval_ms, timeout_ms))?;
    lines::<Ping, PingLine>(session, &client, Fields(request), |line| {
        tally.count(line);
        if let PingLine::Done(summary) = line {
            done = Some(summary.clone());
            return String::new();
        }
        line.text()
    })?;
    let is_whole = done.is_some();
    let summary = done.unwrap_or_else(|| tally.summary(began.elapsed()));
    match session.output.json {
        true if is_whole => {}
        true => json(session, &PingLine::Done(summary.clone()))?,
        false => session.output.text(&summary.text(&to.to))?,
    }
    if summary.received == 0 { Err(CliError::Quiet) } else { Ok(()) }
}

/// Asks hop by hop until the address answers, or interrupted.
pub(crate) fn traceroute(session: &Session, args: &TracerouteArgs) -> Result<(), CliError> {
    let TracerouteArgs { to, count, interval, max_hops } = args;
    let (address, port) = to.place()?;
    let (interval_ms, timeout_ms) = (ms(*interval), ms(to.timeout));
    let request = TracerouteRequest {
        address,
        port,
        vrf: to.vrf.clone(),
        source: to.source,
        count: *count,
        interval_ms,
        size: to.size,
        timeout_ms,
        max_hops: *max_hops,
        df: to.df,
    };
    let mut is_reached = false;
    let client = session.client.beside(patience(interval_ms.saturating_mul(*count), timeout_ms))?;
    lines::<Traceroute, TracerouteLine>(session, &client, Fields(request), |line| {
        is_reached |= matches!(line, TracerouteLine::Done { reached: true, .. });
        line.text()
    })?;
    if is_reached { Ok(()) } else { Err(CliError::Quiet) }
}

/// How long nothing may be heard of the router: a line comes for each request.
fn patience(interval_ms: u32, timeout_ms: u32) -> Duration {
    const MORE: Duration = Duration::from_secs(30);
    Duration::from_millis(u64::from(interval_ms) + u64::from(timeout_ms)) + MORE
}

/// Writes lines as they come, until the last one, or until interrupted.
fn lines<V: Verb, L: DeserializeOwned>(
    session: &Session,
    client: &Client,
    request: V::Request,
    mut text: impl FnMut(&L) -> String,
) -> Result<(), CliError> {
    let output = session.output;
    let told = client.make_lines_until_interrupted::<V>(request, |line| {
        let read = serde_json::from_slice(line);
        let read = read.map_err(|error| CliError::Broken(error.to_string()))?;
        let text = text(&read);
        if output.json { output.bytes(&[line, b"\n"].concat()) } else { output.text(&text) }
    });
    told.map_err(|error| match error {
        CliError::Refused { detail, json } => CliError::NotAsked { detail, json },
        other => other,
    })
}

fn json(session: &Session, line: &PingLine) -> Result<(), CliError> {
    let line = serde_json::to_string(line).map_err(|error| CliError::Broken(error.to_string()))?;
    session.output.text(&format!("{line}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(to: &str, on: &[&str]) -> Result<(String, Option<String>), String> {
        let on = on.iter().map(|word| (*word).to_owned()).collect();
        let (vrf, source, size, timeout) = (None, None, 56, Duration::from_secs(1));
        let to = To { to: to.to_owned(), on, vrf, source, size, timeout, df: false };
        let found = to.place().map(|(address, port)| (address.to_string(), port));
        found.map_err(|error| error.to_string())
    }

    #[test]
    fn a_link_local_address_is_said_with_its_port() {
        let found =
            |address: &str, port: Option<&str>| Ok((address.to_owned(), port.map(str::to_owned)));
        assert_eq!(place("fe80::1%p0", &[]), found("fe80::1", Some("p0")));
        assert_eq!(place("fe80::1", &["port", "p0"]), found("fe80::1", Some("p0")));
        assert_eq!(place("10.0.0.9", &[]), found("10.0.0.9", None));
        for (to, on, expected) in [
            ("fe80::1%p0", &["port", "p0"][..], "has its port already"),
            ("fe80::1", &["by", "p0"], "expected a port, as in `port p0`"),
            ("host.example", &[], "`host.example` is no address: expected an address"),
        ] {
            let told = place(to, on).unwrap_err();
            assert!(told.contains(expected), "{told}");
        }
    }
}
