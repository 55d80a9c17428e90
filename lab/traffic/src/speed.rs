//! What the generator and the receiver cost a packet on one core, with a link in memory between
//! them.
//!
//! ```text
//! built, stamped ─▶ memory ─▶ read, counted, timed          packet_ns: all of it
//!                                            └───── timing_ns: what its latency adds to counting it
//! ```
//! Of several rounds the best counts: whatever else a machine does only makes them worse.

use std::hint::black_box;

use super::drive::{Plan, Side, drive};
use super::header::Header;
use super::memory::{self, Line};
use super::rate::Rate;
use super::receiver::Receiver;
use super::stream::Stream;
use crate::Error;
use crate::arrivals::Imix;
use crate::clock::Clock;
use crate::receive::SequenceTracker;
use crate::test_frame::Signature;
use wire::MacAddr;

/// Costs of a packet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed {
    /// Built, sent, received and timed.
    pub packet_ns: f64,
    /// Of this, for its latency: histogram, jitter, delay variation, rates, the worst of each
    /// window.
    pub timing_ns: f64,
    /// A look at the clock, of which there are two for up to 32 packets.
    pub look_ns: f64,
}

const ROUNDS: usize = 15;
const PACKETS: u64 = 200_000;
const CHUNK: u64 = 5_000;
/// An iteration that long was not ours alone.
const STALL_NS: u64 = 50_000;

impl Speed {
    /// Packets of a core in a second.
    pub fn pps(&self) -> f64 {
        1e9 / self.packet_ns
    }

    /// Measures it.
    pub fn measure(clock: &Clock) -> Result<Self, Error> {
        let (mut packet_ns, mut look_ns) = (f64::INFINITY, f64::INFINITY);
        let (mut timed_ns, mut counted_ns) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..ROUNDS {
            packet_ns = packet_ns.min(round(clock)?);
            timed_ns = timed_ns.min(timed(clock));
            counted_ns = counted_ns.min(counted(clock));
            look_ns = look_ns.min(each(clock, |_| _ = black_box(clock.now_ns())));
        }
        Ok(Self { packet_ns, timing_ns: (timed_ns - counted_ns).max(0.0), look_ns })
    }
}

/// As fast as it goes, there and back, without the time in which the thread was away.
fn round(clock: &Clock) -> Result<f64, Error> {
    let (source, destination) = (MacAddr([2, 0, 0, 0, 0, 1]), MacAddr([2, 0, 0, 0, 0, 2]));
    let (from, to) = ([198, 18, 0, 1].into(), [198, 18, 0, 2].into());
    let headers = vec![
        Header::Ethernet { source, destination, ethertype: None },
        Header::Ipv4 { source: from, destination: to, ttl: 64, dscp: 0 },
        Header::Udp { source_port: 1_024, destination_port: 5_001 },
    ];
    let stream = Stream::new("speed", headers, Imix::single(64), Rate::Max);
    let stream = Stream { packets: Some(PACKETS), ..stream };
    let (mut ends, _) = memory::pair(clock, Line::default(), Line::default())?;
    let sides = ends.iter_mut().zip([vec![stream], Vec::new()]);
    let sides = sides.map(|(end, streams)| Side { end, streams }).collect();
    let plan = Plan { stall_ns: STALL_NS, ..Plan::new(60.0) };
    let result = drive(clock, sides, &plan, &mut |_| true)?;
    let busy_ns = result.elapsed_ns.saturating_sub(result.away.total_ns);
    Ok(busy_ns as f64 / result.received().max(1) as f64)
}

/// Time of one of many calls, each with its number: of the chunk in which least interrupted them.
fn each(clock: &Clock, mut work: impl FnMut(u64)) -> f64 {
    let chunk = |first: u64| {
        let began_ns = clock.now_ns();
        (first..first + CHUNK).for_each(&mut work);
        (clock.now_ns() - began_ns) as f64 / CHUNK as f64
    };
    (0..PACKETS / CHUNK).map(|at| at * CHUNK).map(chunk).fold(f64::INFINITY, f64::min)
}

/// A test frame as it comes in.
fn frame() -> ([u8; 60], Signature) {
    ([0; 60], Signature { sequence: 0, intended_ns: 1_000, flow: None })
}

/// Received with all that is kept of its time.
fn timed(clock: &Clock) -> f64 {
    let (mut frame, signature) = frame();
    let mut receiver = Receiver::new(1, &[0]);
    receiver.schedule(0, 1_000_000_000);
    let cost = each(clock, |sequence| {
        // The frame has room for its signature.
        let _ = Signature { sequence, ..signature }.write(&mut frame);
        receiver.observe(2_000 + sequence, black_box(&frame));
    });
    black_box(&receiver.unique);
    cost
}

/// Received and counted, whenever it came.
fn counted(clock: &Clock) -> f64 {
    let (mut frame, signature) = frame();
    let mut tracker = SequenceTracker::new(1 << 16);
    let cost = each(clock, |sequence| {
        let _ = Signature { sequence, ..signature }.write(&mut frame);
        if let Some(signature) = Signature::read(black_box(&frame), false) {
            tracker.observe(signature.sequence);
        }
    });
    black_box(tracker.unique());
    cost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_costs_are_those_of_the_clock_that_measures() {
        // Each look takes 20 ns: nothing else takes any time.
        let speed = Speed::measure(&Clock::stepped(20)).unwrap();
        assert_eq!(speed.look_ns.round(), 20.0);
        assert!(speed.timing_ns < 0.01, "{speed:?}");
        // A few looks an iteration of up to 32 packets.
        assert!((1.0..10.0).contains(&speed.packet_ns), "{speed:?}");
        assert!((speed.pps() * speed.packet_ns - 1e9).abs() < 1.0);
    }
}
