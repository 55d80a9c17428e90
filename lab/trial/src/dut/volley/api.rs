//! Volley's API, as much of it as the lab asks: one GET a connection, JSON back.

use std::io::{Read, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use crate::Error;

/// Longest wait for an answer.
const ANSWER: Duration = Duration::from_secs(10);

/// The body of an answer of the API.
pub(super) fn get(socket: &Path, path: &str) -> Result<String, Error> {
    let line = format!("GET {path}");
    let refuse = |reason: String| Error::Command { line: line.clone(), reason };
    let exchange = || {
        let mut stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(ANSWER))?;
        stream.write_all(
            format!("GET {path} HTTP/1.1\r\nHost: v\r\nConnection: close\r\n\r\n").as_bytes(),
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map(|_| answer)
    };
    let answer = exchange().map_err(|error| refuse(error.to_string()))?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(|| refuse("no answer".into()))?;
    match head.starts_with("HTTP/1.1 200") {
        true => Ok(body.to_owned()),
        false => Err(refuse(head.lines().next().unwrap_or_default().to_owned())),
    }
}
