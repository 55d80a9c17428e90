//! Streams, transactions and datagrams as netperf and iperf measure them: each a number of its own
//! beside the lab's streams.
//!
//! | of a scenario | as | number |
//! |---|---|---|
//! | `write_bytes`, `socket_bytes` | netperf TCP_STREAM: one stream, small writes, small buffers | bits a second received |
//! | `transaction_bytes` | netperf TCP_RR: one connection, one request on the way | time of a transaction: 1 / rate |
//! | `datagram_mbps`, `datagram_bytes` | iperf UDP: a steady rate one way | jitter at the receiver (RFC 3550), share lost |

use std::time::{Duration, Instant};

use lab_record::Unit;
use lab_search::search::Terms;
use lab_search::search::stream::{
    DATAGRAM_BYTES, DATAGRAM_MBPS, SOCKET_BYTES, TRANSACTION_BYTES, WRITE_BYTES,
};

use super::{
    ASKER, CLIENT, CONNECTS_MS, IPERF_PORT, PATIENCE, RESPONDER_PORT, StreamRig, iperf, round_trip,
};
use crate::Error;

/// How long a server may be busy with what was before.
const BUSY: Duration = Duration::from_secs(10);

/// Names of the numbers.
pub const SMALL_WRITES: &str = "TCP stream, small writes";
/// See [`SMALL_WRITES`].
pub const TRANSACTION: &str = "TCP transaction";
/// See [`SMALL_WRITES`].
pub const JITTER: &str = "UDP jitter one way";
/// See [`SMALL_WRITES`].
pub const LOST: &str = "UDP lost one way";

/// What a scenario asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Methods {
    write_bytes: u64,
    socket_bytes: u64,
    transaction_bytes: u64,
    datagram_mbps: u64,
    datagram_bytes: u64,
}

/// A number of a trial.
pub(crate) type Number = (&'static str, Unit, f64);

impl Methods {
    /// As the search's parameters have it.
    pub(crate) fn of(terms: &Terms<'_>) -> Self {
        Self {
            write_bytes: terms.parameter(&WRITE_BYTES),
            socket_bytes: terms.parameter(&SOCKET_BYTES),
            transaction_bytes: terms.parameter(&TRANSACTION_BYTES),
            datagram_mbps: terms.parameter(&DATAGRAM_MBPS),
            datagram_bytes: terms.parameter(&DATAGRAM_BYTES),
        }
    }

    /// What iperf3 is told beyond where to.
    fn of_stream(&self) -> String {
        let socket = match self.socket_bytes {
            0 => String::new(),
            bytes => format!(" -w {bytes}"),
        };
        format!("-l {}{socket}", self.write_bytes)
    }

    fn of_datagrams(&self) -> String {
        format!("-u -b {}M -l {}", self.datagram_mbps, self.datagram_bytes)
    }
}

impl StreamRig<'_> {
    /// Every number that is asked for, one method after the other; nothing else is on the way.
    pub(crate) fn methods(
        &mut self,
        methods: &Methods,
        seconds: u64,
    ) -> Result<Vec<Number>, Error> {
        let mut found = Vec::new();
        if methods.write_bytes > 0 {
            let read = |told: &str| iperf::read(told, false);
            let run = self.iperf(&methods.of_stream(), seconds, read)?;
            let bps = run.ways.iter().map(|way| way.bps).sum();
            found.push((SMALL_WRITES, Unit::BitsPerSecond, bps));
        }
        if methods.transaction_bytes > 0 {
            found.push((TRANSACTION, Unit::Seconds, self.transactions(methods, seconds)?));
        }
        if methods.datagram_mbps > 0 {
            let datagrams = self.iperf(&methods.of_datagrams(), seconds, iperf::read_datagrams)?;
            found.push((JITTER, Unit::Seconds, datagrams.jitter_s));
            found.push((LOST, Unit::Share, datagrams.lost));
        }
        Ok(found)
    }

    fn iperf<T>(
        &mut self,
        how: &str,
        seconds: u64,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, Error> {
        let address = self.ends.addressing.address(1);
        let line = format!(
            "iperf3 -c {address} -p {IPERF_PORT} -J -t {seconds} {how} --connect-timeout {CONNECTS_MS} 2>/dev/null"
        );
        let (began, patience) = (Instant::now(), self.patience(PATIENCE));
        loop {
            self.ends.places[0].spawn(CLIENT, &line)?;
            let until = Instant::now() + Duration::from_secs(seconds) + patience;
            match read(&self.wait(0, CLIENT, until)?) {
                Ok(found) => return Ok(found),
                Err(reason) if is_busy(&reason) && began.elapsed() < self.patience(BUSY) => {
                    std::thread::sleep(Duration::from_millis(100));
                }
                Err(reason) => return Err(failed(reason)),
            }
        }
    }

    fn transactions(&mut self, methods: &Methods, seconds: u64) -> Result<f64, Error> {
        let to = self.ends.at(1, RESPONDER_PORT);
        let line = format!(
            "{} ask {to} --tcp --bytes {} --seconds {seconds} --out -",
            super::own_program(),
            methods.transaction_bytes
        );
        self.ends.places[0].spawn(ASKER, &line)?;
        let patience = self.patience(PATIENCE);
        let told = self.wait(0, ASKER, Instant::now() + Duration::from_secs(seconds) + patience)?;
        let found = round_trip::read(&told)?;
        match found.answered {
            0 => Err(failed("no request was answered".into())),
            answered => Ok(found.time_s / answered as f64),
        }
    }
}

/// Whether the server has not yet done with whom it served before: it serves one at a time.
fn is_busy(reason: &str) -> bool {
    ["busy", "reset by peer"].iter().any(|word| reason.contains(word))
}

fn failed(reason: String) -> Error {
    Error::Command { line: "a stream between the ends".to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    fn methods(lines: &str) -> Methods {
        let text = format!(
            "name = 'x'\ntitle = 'X'\nabout = 'y'\n[[function]]\nkind = 'bridge'\n[link]\nkind = 'veth'\n\
             [measure]\nsearch = 'stream'\n{lines}\n"
        );
        let scenario = Scenario::parse(&text, "x").unwrap();
        Methods::of(&scenario.measure.terms(0.0, 0.0))
    }

    #[test]
    fn what_a_scenario_says_is_what_iperf3_is_told() {
        let source = methods("write_bytes = 256\nsocket_bytes = 32768\ndatagram_mbps = 95");
        assert_eq!(source.of_stream(), "-l 256 -w 32768");
        assert_eq!(source.of_datagrams(), "-u -b 95M -l 1470");
        let none = methods("");
        assert_eq!((none.write_bytes, none.transaction_bytes, none.datagram_mbps), (0, 0, 0));
        assert_eq!(methods("write_bytes = 9").of_stream(), "-l 9");
    }
}
