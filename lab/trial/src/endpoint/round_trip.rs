//! Requests and their answers: small UDP datagrams there and back, one after the other or at a
//! steady pace.
//!
//! ```text
//! one at a time    request ▶ answer ▶ request ▶ answer …        how many transactions fit into a second
//! at a pace        request ─ request ─ request ─ …              what other traffic does to a round trip: requests
//!                      └ answer  └ answer                       leave on time, whether the last was answered or not
//!
//! ┌─ sequence, 8 octets ─┬─ sent, ns, 8 octets ─┬─ zeros ─┐
//! ```
//! A datagram that is lost is a request without an answer, never a long wait for a retransmission.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::time::{Duration, Instant};

use lab_record::RoundTrips;
use lab_traffic::receive::jitter::Jitter;

use super::transaction;
use crate::Error;

/// Sequence and time of a request.
const STAMP_BYTES: usize = 16;
/// Largest payload that fits a frame of Ethernet over IPv6.
const LARGEST_BYTES: usize = 1_452;
/// After which a request that is waited for counts as lost.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often one who waits looks up.
const LOOK: Duration = Duration::from_millis(50);

/// Who is asked, how often.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Asking {
    /// Who answers.
    pub to: SocketAddr,
    /// For how long.
    pub time: Duration,
    /// Time between two requests; none: each is sent when the last was answered or lost.
    pub every: Option<Duration>,
    /// Most requests.
    pub requests: u64,
    /// Octets of each, 16 to 1452.
    pub bytes: usize,
}

/// What `volley-lab ask` told.
pub fn read(told: &str) -> Result<RoundTrips, Error> {
    serde_json::from_str(told).map_err(|error| Error::Command {
        line: "volley-lab ask".into(),
        reason: format!("{error} in {told:.200}"),
    })
}

/// Answers every datagram with itself, for ever, and so every octet of every connection; `told`
/// hears where.
pub fn respond(at: SocketAddr, told: impl FnOnce(SocketAddr)) -> Result<(), Error> {
    let refuse = |error: io::Error| port(at, &error);
    let socket = UdpSocket::bind(at).map_err(refuse)?;
    let at = socket.local_addr().map_err(refuse)?;
    let listener = TcpListener::bind(at).map_err(refuse)?;
    std::thread::spawn(move || transaction::respond(&listener));
    told(at);
    let mut datagram = [0; 65_536];
    loop {
        match socket.recv_from(&mut datagram) {
            // Who asked may be gone by now; the next one is not.
            Ok((length, from)) => drop(socket.send_to(&datagram[..length], from)),
            Err(error) if passes(&error) => {}
            Err(error) => return Err(refuse(error)),
        }
    }
}

/// Asks, and says what came of it.
pub fn ask(asking: &Asking) -> Result<RoundTrips, Error> {
    if !(STAMP_BYTES..=LARGEST_BYTES).contains(&asking.bytes) {
        let (what, value) = ("octets of a request", asking.bytes as f64);
        return Err(Error::Parameter { what, value, range: "16 to 1452" });
    }
    let here: SocketAddr = match asking.to {
        SocketAddr::V4(_) => ([0, 0, 0, 0], 0).into(),
        SocketAddr::V6(_) => ([0u16; 8], 0).into(),
    };
    let outcome = || {
        let socket = UdpSocket::bind(here)?;
        socket.connect(asking.to)?;
        match asking.every {
            None => one_at_a_time(&socket, asking),
            Some(every) => at_a_pace(&socket, asking, every),
        }
    };
    outcome().map_err(|error| port(asking.to, &error))
}

fn port(at: SocketAddr, error: &io::Error) -> Error {
    Error::Port { port: at.to_string(), reason: error.to_string() }
}

/// Errors that say that nobody is there just now, or nothing came: the next datagram may fare
/// better.
fn passes(error: &io::Error) -> bool {
    use ErrorKind::{ConnectionRefused, Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), ConnectionRefused | Interrupted | TimedOut | WouldBlock)
}

/// The answers so far.
struct Answers {
    began: Instant,
    /// Of each request, whether it was answered.
    known: Vec<bool>,
    jitter: Jitter,
    found: RoundTrips,
}

impl Answers {
    fn new(began: Instant) -> Self {
        let (known, jitter, found) = (Vec::new(), Jitter::default(), RoundTrips::default());
        Self { began, known, jitter, found }
    }

    fn now_ns(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }

    /// Waits for a datagram; the sequence of the request that it is the first answer to.
    fn next(&mut self, socket: &UdpSocket, patience: Duration) -> io::Result<Option<u64>> {
        let mut datagram = [0; LARGEST_BYTES];
        socket.set_read_timeout(Some(patience.max(Duration::from_millis(1))))?;
        match socket.recv(&mut datagram) {
            Ok(length) => Ok(self.take(&datagram[..length], self.now_ns())),
            Err(error) if passes(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn take(&mut self, datagram: &[u8], now_ns: u64) -> Option<u64> {
        let (sequence, rest) = datagram.split_first_chunk::<8>()?;
        let (sent_ns, _) = rest.split_first_chunk::<8>()?;
        let (sequence, sent_ns) = (u64::from_be_bytes(*sequence), u64::from_be_bytes(*sent_ns));
        let round_trip_ns = now_ns.checked_sub(sent_ns)?;
        // No more requests than fit the time were sent: what lies beyond is not ours.
        let index = usize::try_from(sequence).ok().filter(|&index| index < MOST_REQUESTS)?;
        if self.known.len() <= index {
            self.known.resize(index + 1, false);
        }
        if std::mem::replace(&mut self.known[index], true) {
            return None;
        }
        self.found.answered += 1;
        self.found.histogram.record(round_trip_ns);
        self.jitter.observe(round_trip_ns as i64);
        Some(sequence)
    }

    fn finish(mut self, asked: u64, time: Duration) -> RoundTrips {
        self.found.asked = asked;
        self.found.time_s = time.as_secs_f64();
        self.found.jitter_ns = self.jitter.ns();
        self.found
    }
}

/// Most requests of one asking: what a minute of a fast loopback needs, and their answers are a bit
/// each.
const MOST_REQUESTS: usize = 1 << 26;

/// A request is sent; one that cannot be is as good as lost.
fn send(socket: &UdpSocket, began: Instant, sequence: u64, bytes: usize) -> io::Result<()> {
    let mut datagram = [0; LARGEST_BYTES];
    datagram[..8].copy_from_slice(&sequence.to_be_bytes());
    let sent_ns = began.elapsed().as_nanos() as u64;
    datagram[8..STAMP_BYTES].copy_from_slice(&sent_ns.to_be_bytes());
    match socket.send(&datagram[..bytes]) {
        Err(error) if !passes(&error) => Err(error),
        _ => Ok(()),
    }
}

fn one_at_a_time(socket: &UdpSocket, asking: &Asking) -> io::Result<RoundTrips> {
    let began = Instant::now();
    let mut answers = Answers::new(began);
    let most = asking.requests.min(MOST_REQUESTS as u64);
    let mut asked = 0;
    while asked < most && began.elapsed() < asking.time {
        let sent = Instant::now();
        send(socket, began, asked, asking.bytes)?;
        loop {
            let left = PATIENCE.saturating_sub(sent.elapsed());
            if left.is_zero() || answers.next(socket, left)? == Some(asked) {
                break;
            }
        }
        asked += 1;
    }
    Ok(answers.finish(asked, began.elapsed()))
}

fn at_a_pace(socket: &UdpSocket, asking: &Asking, every: Duration) -> io::Result<RoundTrips> {
    let began = Instant::now();
    let fits = asking.time.as_nanos() / every.as_nanos().max(1);
    let most = asking.requests.min(MOST_REQUESTS as u64).min(fits.max(1) as u64);
    std::thread::scope(|scope| {
        let sending = scope.spawn(move || {
            for sequence in 0..most {
                let due = every.mul_f64(sequence as f64);
                std::thread::sleep(due.saturating_sub(began.elapsed()));
                send(socket, began, sequence, asking.bytes)?;
            }
            Ok::<_, io::Error>(began.elapsed())
        });
        let mut answers = Answers::new(began);
        while !sending.is_finished() {
            answers.next(socket, LOOK)?;
        }
        let last = Instant::now();
        while answers.found.answered < most && last.elapsed() < PATIENCE {
            answers.next(socket, LOOK)?;
        }
        let gone = || Err(io::Error::other("the thread that sends panicked"));
        Ok(answers.finish(most, sending.join().unwrap_or_else(|_| gone())?))
    })
}

#[cfg(test)]
mod tests {
    use lab_record::Histogram;

    use super::*;
    use std::sync::mpsc;

    fn responder() -> SocketAddr {
        let (told, heard) = mpsc::channel();
        std::thread::spawn(move || {
            respond(([127, 0, 0, 1], 0).into(), |at| told.send(at).unwrap()).unwrap();
        });
        heard.recv().unwrap()
    }

    fn asking(to: SocketAddr) -> Asking {
        let time = Duration::from_secs(20);
        Asking { to, time, every: None, requests: 200, bytes: 64 }
    }

    #[test]
    fn each_request_is_answered_once_one_at_a_time_or_at_a_pace() {
        let to = responder();
        for every in [None, Some(Duration::from_micros(300))] {
            let found = ask(&Asking { every, ..asking(to) }).unwrap();
            assert_eq!((found.asked, found.answered, found.histogram.count()), (200, 200, 200));
            assert!(found.histogram.min_ns() > 100, "{found:?}");
        }
    }

    #[test]
    fn a_pace_goes_on_for_its_time_and_no_longer() {
        let every = Some(Duration::from_millis(1));
        let time = Duration::from_millis(30);
        let found = ask(&Asking { every, time, ..asking(responder()) }).unwrap();
        assert_eq!((found.asked, found.answered), (30, 30));
    }

    #[test]
    fn nobody_there_is_no_answer() {
        let socket = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
        let to = socket.local_addr().unwrap();
        let found = ask(&Asking { requests: 1, ..asking(to) }).unwrap();
        assert_eq!((found.asked, found.answered, found.histogram.count()), (1, 0, 0));
        drop(socket);
        let time = Duration::from_millis(20);
        let every = Some(Duration::from_millis(5));
        let found = ask(&Asking { every, time, ..asking(to) }).unwrap();
        assert_eq!((found.asked, found.answered), (4, 0));
    }

    #[test]
    fn foreign_and_doubled_datagrams_are_no_answers() {
        let mut answers = Answers::new(Instant::now());
        let datagram =
            |sequence: u64, sent_ns: u64| [sequence.to_be_bytes(), sent_ns.to_be_bytes()].concat();
        assert_eq!(answers.take(&datagram(3, 1_000), 4_000), Some(3));
        assert_eq!(answers.take(&datagram(3, 1_000), 5_000), None);
        assert_eq!(answers.take(&datagram(0, 9_000), 5_000), None);
        assert_eq!(answers.take(&datagram(u64::MAX, 0), 5_000), None);
        assert_eq!(answers.take(b"too short", 5_000), None);
        let found = answers.finish(4, Duration::from_secs(1));
        assert_eq!((found.answered, found.histogram.count()), (1, 1));
        assert_eq!(found.histogram.percentile_ns(50.0) / 100, 30);
    }

    #[test]
    fn a_request_has_room_for_its_stamp_and_fits_a_frame() {
        let to = ([127, 0, 0, 1], 9).into();
        for bytes in [0, 15, 1_453] {
            assert!(ask(&Asking { bytes, ..asking(to) }).is_err());
        }
    }

    #[test]
    fn merged_round_trips_add_up() {
        let mut both = RoundTrips::default();
        for (answered, jitter_ns) in [(1, 100.0), (3, 500.0)] {
            let mut histogram = Histogram::default();
            histogram.record_many(1_000, answered);
            let one = RoundTrips { asked: 4, answered, time_s: 1.0, jitter_ns, histogram };
            both.merge(&one);
        }
        assert_eq!((both.asked, both.answered, both.histogram.count()), (8, 4, 4));
        assert_eq!((both.time_s, both.jitter_ns), (2.0, 400.0));
    }
}
