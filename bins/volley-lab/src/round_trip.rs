//! `volley-lab respond ADDRESS:PORT` and `ask ADDRESS:PORT`: small requests and their answers,
//! between any two hosts.

use std::net::SocketAddr;
use std::time::Duration;

use lab_record::RoundTrips;
use lab_trial::endpoint::round_trip::{self, Asking};

use crate::Failure;
use crate::arguments::Arguments;
use crate::say::say;

/// Octets of a request.
const BYTES: u64 = 64;

/// Answers for ever.
pub(crate) fn respond(arguments: &Arguments) -> Result<(), Failure> {
    arguments.only(&[])?;
    let at = address(arguments, "respond")?;
    Ok(round_trip::respond(at, |at| say!("listening at {at}"))?)
}

/// Asks, and tells how long the answers took.
pub(crate) fn ask(arguments: &Arguments) -> Result<(), Failure> {
    arguments.only(&["seconds", "every-ms", "requests", "bytes", "out"])?;
    let to = address(arguments, "ask")?;
    let duration = |flag: &str, default: f64| {
        let number = arguments.number(flag, default)?;
        let seconds = if flag == "every-ms" { number / 1e3 } else { number };
        let usual = (1e-6..=86_400.0).contains(&seconds);
        usual.then(|| Duration::from_secs_f64(seconds)).ok_or_else(|| {
            Failure::Usage(format!("--{flag} {number} is out of range (1 us to a day)"))
        })
    };
    let every = arguments.text("every-ms").map(|_| duration("every-ms", 0.0)).transpose()?;
    let found = round_trip::ask(&Asking {
        to,
        time: duration("seconds", 1.0)?,
        every,
        requests: arguments.count("requests", u64::MAX)?,
        bytes: arguments.count("bytes", BYTES)? as usize,
    })?;
    match arguments.text("out") {
        Some("-") => say!("{}", json(&found)?),
        Some(file) => {
            std::fs::write(file, json(&found)? + "\n").map_err(lab_record::Error::file(file))?
        }
        None => tell(&found),
    }
    Ok(())
}

fn address(arguments: &Arguments, command: &str) -> Result<SocketAddr, Failure> {
    let usage = || Failure::Usage(format!("{command} needs one address and port: 192.0.2.1:5202"));
    match &arguments.words[..] {
        [word] => word.parse().map_err(|_| usage()),
        _ => Err(usage()),
    }
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
