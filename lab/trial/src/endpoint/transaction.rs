//! Transactions over TCP, as netperf's TCP_RR has them: one connection, a request of some octets,
//! an answer of as many, and only then the next.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use lab_record::RoundTrips;
use lab_traffic::receive::jitter::Jitter;

use super::round_trip::Asking;
use crate::Error;

/// Largest request.
const LARGEST_BYTES: usize = 1 << 16;
/// After which who does not answer is taken for gone.
const PATIENCE: Duration = Duration::from_secs(5);

/// Sends every octet back on every connection, for ever.
pub(super) fn respond(listener: &TcpListener) -> io::Result<()> {
    loop {
        match listener.accept() {
            Ok((stream, _)) => drop(std::thread::spawn(move || echo(stream))),
            Err(error) if passes(&error) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Until whoever asks hangs up.
fn echo(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut octets = vec![0; LARGEST_BYTES];
    loop {
        match stream.read(&mut octets)? {
            0 => return Ok(()),
            length => stream.write_all(&octets[..length])?,
        }
    }
}

fn passes(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted)
}

/// Asks over one connection, and says what came of it.
pub fn ask(asking: &Asking) -> Result<RoundTrips, Error> {
    if !(1..=LARGEST_BYTES).contains(&asking.bytes) {
        let (what, value) = ("octets of a request", asking.bytes as f64);
        return Err(Error::Parameter { what, value, range: "1 to 65536" });
    }
    exchange(asking)
        .map_err(|error| Error::Port { port: asking.to.to_string(), reason: error.to_string() })
}

fn exchange(asking: &Asking) -> io::Result<RoundTrips> {
    let mut stream = connect(asking.to)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let (request, mut answer) = (vec![0x5a; asking.bytes], vec![0; asking.bytes]);
    let (mut found, mut jitter) = (RoundTrips::default(), Jitter::default());
    let began = Instant::now();
    while found.asked < asking.requests && began.elapsed() < asking.time {
        let sent = Instant::now();
        stream.write_all(&request)?;
        found.asked += 1;
        stream.read_exact(&mut answer)?;
        let took_ns = sent.elapsed().as_nanos() as u64;
        found.answered += 1;
        found.histogram.record(took_ns);
        jitter.observe(took_ns as i64);
        if let Some(every) = asking.every {
            std::thread::sleep(every.saturating_sub(sent.elapsed()));
        }
    }
    found.time_s = began.elapsed().as_secs_f64();
    found.jitter_ns = jitter.ns();
    Ok(found)
}

fn connect(to: SocketAddr) -> io::Result<TcpStream> {
    TcpStream::connect_timeout(&to, PATIENCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn responder() -> SocketAddr {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let at = listener.local_addr().unwrap();
        std::thread::spawn(move || respond(&listener));
        at
    }

    fn asking(to: SocketAddr, bytes: usize) -> Asking {
        Asking { to, time: Duration::from_secs(20), every: None, requests: 100, bytes }
    }

    #[test]
    fn each_request_is_answered_whole_before_the_next() {
        let to = responder();
        for bytes in [1, 65_536] {
            let found = ask(&asking(to, bytes)).unwrap();
            assert_eq!((found.asked, found.answered, found.histogram.count()), (100, 100, 100));
            assert!(found.time_s * 1e9 >= 100.0 * found.histogram.min_ns() as f64);
        }
    }

    #[test]
    fn time_ends_it_and_nobody_there_is_an_error() {
        let time = Duration::from_millis(20);
        let brief = Asking { time, requests: u64::MAX, ..asking(responder(), 1) };
        let found = ask(&brief).unwrap();
        assert!(found.answered > 0 && found.time_s >= 0.02, "{found:?}");
        let gone = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
        assert!(ask(&asking(gone, 1)).unwrap_err().to_string().contains("refused"));
        assert!(ask(&asking(gone, 0)).unwrap_err().to_string().contains("1 to 65536"));
    }
}
