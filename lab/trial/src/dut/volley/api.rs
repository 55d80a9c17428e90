//! Volley's API, as much of it as the lab asks: one GET a connection, JSON back.

use std::io::{self, Read, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use crate::Error;

/// Longest wait for an answer. The router's threads share the device's cores with its workers,
/// which never rest here: on a machine that others keep busy, seconds pass before they have their
/// turns.
const ANSWER: Duration = Duration::from_secs(30);

/// The body of an answer of the API.
pub(super) fn get(socket: &Path, path: &str) -> Result<String, Error> {
    let line = format!("GET {path}");
    let refuse = |reason: String| Error::Command { line: line.clone(), reason };
    let explain = |error: io::Error| match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
            let load = load.split(' ').next().unwrap_or_default();
            refuse(format!("no answer for {} s, at a load of {load}", ANSWER.as_secs()))
        }
        _ => refuse(error.to_string()),
    };
    let exchange = || {
        let mut stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(ANSWER))?;
        stream.write_all(
            format!("GET {path} HTTP/1.1\r\nHost: v\r\nConnection: close\r\n\r\n").as_bytes(),
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map(|_| answer)
    };
    let answer = exchange().map_err(explain)?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(|| refuse("no answer".into()))?;
    match head.starts_with("HTTP/1.1 200") {
        true => Ok(body.to_owned()),
        false => Err(refuse(head.lines().next().unwrap_or_default().to_owned())),
    }
}
