//! `volley-lab respond ADDRESS:PORT` and `ask ADDRESS:PORT`: small requests and their answers,
//! between any two hosts.

use std::net::SocketAddr;
use std::time::Duration;

use clap::Args;
use lab_record::RoundTrips;
use lab_trial::endpoint::round_trip::{self, Asking};
use lab_trial::endpoint::transaction;

use crate::say::say;
use crate::{Failure, numbers};

/// Answers until it is stopped.
#[derive(Debug, Args)]
pub(crate) struct Respond {
    /// Where it listens, as in 192.0.2.1:5202
    #[arg(value_name = "ADDRESS:PORT")]
    at: SocketAddr,
}

/// Asks one after the other, or at a pace.
#[derive(Debug, Args)]
pub(crate) struct Ask {
    /// Who answers, as in 192.0.2.1:5202
    #[arg(value_name = "ADDRESS:PORT")]
    to: SocketAddr,
    /// For how long
    #[arg(long, default_value = "1", value_parser = numbers::seconds)]
    seconds: Duration,
    /// Ask at this pace, whether or not the last was answered
    #[arg(long, value_name = "MS", value_parser = numbers::milliseconds)]
    every_ms: Option<Duration>,
    /// How many at most
    #[arg(long, value_name = "N", value_parser = numbers::count)]
    requests: Option<u64>,
    /// Over one TCP connection, as netperf's TCP_RR
    #[arg(long)]
    tcp: bool,
    /// Octets of a request
    #[arg(long, default_value = "64", value_parser = numbers::count)]
    bytes: u64,
    /// Write what came of it as JSON; `-` for standard output
    #[arg(long, value_name = "JSON")]
    out: Option<String>,
}

/// Answers for ever.
pub(crate) fn respond(arguments: &Respond) -> Result<(), Failure> {
    Ok(round_trip::respond(arguments.at, |at| say!("listening at {at}"))?)
}

/// Asks, and tells how long the answers took.
pub(crate) fn ask(arguments: &Ask) -> Result<(), Failure> {
    let ask = if arguments.tcp { transaction::ask } else { round_trip::ask };
    let found = ask(&Asking {
        to: arguments.to,
        time: arguments.seconds,
        every: arguments.every_ms,
        requests: arguments.requests.unwrap_or(u64::MAX),
        bytes: arguments.bytes as usize,
    })?;
    match arguments.out.as_deref() {
        Some("-") => say!("{}", json(&found)?),
        Some(file) => {
            std::fs::write(file, json(&found)? + "\n").map_err(lab_record::Error::file(file))?
        }
        None => tell(&found),
    }
    Ok(())
}

fn json(found: &RoundTrips) -> Result<String, Failure> {
    serde_json::to_string(found).map_err(|error| lab_record::Error::file("-")(error.into()).into())
}

fn tell(found: &RoundTrips) {
    let RoundTrips { asked, answered, time_s, jitter_ns, histogram } = found;
    let us = |percent| histogram.percentile_ns(percent) as f64 / 1e3;
    say!(
        "{answered} of {asked} requests answered in {time_s:.2} s, {:.0} a second",
        *answered as f64 / time_s.max(1e-9)
    );
    say!(
        "round trip, us: min {:.1}, p50 {:.1}, p90 {:.1}, p99 {:.1}, max {:.1}; jitter {:.1}",
        us(0.0),
        us(50.0),
        us(90.0),
        us(99.0),
        histogram.max_ns() as f64 / 1e3,
        jitter_ns / 1e3
    );
}
