//! The time at which an end's port received each packet, where that is wanted, beside the
//! generator's own.
//!
//! ```text
//!  sent        at the port        at the receiver
//!   ├── latency ───┤                   │            by the port's time: no wait for the receiver's core in it
//!   ├──────────── software latency ────┤            by the generator's, of the same packets
//! ```

use std::time::Duration;

use dpdk::{Port, PortClock, ReceiveTimes};
use lab_record::Histogram;
use packet::PacketBuf;
use serde::{Deserialize, Serialize};

use super::clock_map::{ClockMap, Fit, Reading};
use super::end::End;
use crate::Error;
use crate::clock::Clock;

/// Between two readings of the port's clock.
const EVERY_NS: u64 = 20_000_000;
/// The best of so many counts, as a stall in between makes one useless.
const TRIES: usize = 5;

/// Which clock took the time at which packets came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LatencyClock {
    /// The generator's: the processor's counter, looked at when a burst is at hand.
    #[default]
    Processor,
    /// The ports', mapped to it.
    Port,
}

/// What an end's port said of its packets' times, by its own clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PortTimes {
    /// `realtime` (the kernel's CLOCK_REALTIME), `counter` or `ieee1588` (a card's).
    pub clock: String,
    /// How well it is known to the generator's.
    pub fit: Fit,
    /// Packets without a time of the port's: the generator's stood in.
    pub unstamped: u64,
    /// Packets that the port received before they were meant to leave: the map's error, 0 in their
    /// latency.
    pub before_sent: u64,
    /// The most of it.
    pub before_sent_ns: u64,
    /// Packets that the port received after they were at hand: the map's error.
    pub after_seen: u64,
    /// The most of it.
    pub after_seen_ns: u64,
    /// Latency of the same packets by the generator's clock, copies included.
    pub software_latency: Histogram,
}

/// An end's port times during a trial.
pub(super) struct Stamps {
    times: ReceiveTimes,
    map: ClockMap,
    due_ns: u64,
    told: PortTimes,
}

impl Stamps {
    /// Of an end whose port was opened for it; takes 20 ms then.
    pub(super) fn of(end: &End, clock: &Clock) -> Result<Option<Self>, Error> {
        let Some(port) = &end.port else { return Ok(None) };
        let Some((times, kind)) = port.receive_times() else { return Ok(None) };
        let refuse = |reason: String| Error::Port { port: end.name.clone(), reason };
        let first = read(port, clock).map_err(|error| refuse(error.to_string()))?;
        std::thread::sleep(Duration::from_nanos(EVERY_NS));
        let second = read(port, clock).map_err(|error| refuse(error.to_string()))?;
        let map = ClockMap::new(first, second)
            .ok_or_else(|| refuse("the clock that it stamps by stands still".into()))?;
        let name = match kind {
            PortClock::Realtime => "realtime",
            PortClock::Counter => "counter",
            PortClock::Ieee1588 => "ieee1588",
        };
        let told = PortTimes {
            clock: name.into(),
            fit: map.fit(),
            unstamped: 0,
            before_sent: 0,
            before_sent_ns: 0,
            after_seen: 0,
            after_seen_ns: 0,
            software_latency: Histogram::default(),
        };
        Ok(Some(Self { times, map, due_ns: second.after_ns + EVERY_NS, told }))
    }

    /// Reads the port's clock if it is time to.
    #[inline]
    pub(super) fn follow(&mut self, now_ns: u64, end: &End, clock: &Clock) {
        if now_ns < self.due_ns {
            return;
        }
        self.due_ns = now_ns + EVERY_NS;
        // A clock that is not read this time is the next: the map goes on, and the error shows
        // then.
        if let Some(Ok(reading)) = end.port.as_ref().map(|port| read(port, clock)) {
            self.map.follow(reading);
        }
    }

    /// When the port received a packet; that it is at hand is the next best.
    #[inline]
    pub(super) fn came_ns(&mut self, packet: &PacketBuf, at_ns: u64) -> u64 {
        match self.times.of(packet) {
            Some(ticks) => self.map.ns(ticks),
            None => {
                self.told.unstamped += 1;
                at_ns
            }
        }
    }

    /// Takes note of a packet that was meant to leave at one time, came at another, and was at hand
    /// at a third.
    #[inline]
    pub(super) fn note(&mut self, intended_ns: u64, came_ns: u64, at_ns: u64) {
        let told = &mut self.told;
        if came_ns < intended_ns {
            told.before_sent += 1;
            told.before_sent_ns = told.before_sent_ns.max(intended_ns - came_ns);
        }
        if came_ns > at_ns {
            told.after_seen += 1;
            told.after_seen_ns = told.after_seen_ns.max(came_ns - at_ns);
        }
        told.software_latency.record(at_ns.saturating_sub(intended_ns));
    }

    /// All of it, with a last reading: what the map said since the one before is judged, too.
    pub(super) fn finish(mut self, end: &End, clock: &Clock) -> PortTimes {
        self.follow(u64::MAX - EVERY_NS, end, clock);
        PortTimes { fit: self.map.fit(), ..self.told }
    }
}

/// The port's clock between two looks at ours: of some tries the quickest.
fn read(port: &Port, clock: &Clock) -> Result<Reading, dpdk::Error> {
    let once = || {
        let before_ns = clock.now_ns();
        let ticks = port.read_clock()?;
        Ok(Reading { ticks, before_ns, after_ns: clock.now_ns() })
    };
    let mut best: Reading = once()?;
    for _ in 1..TRIES {
        let next = once()?;
        if next.after_ns - next.before_ns < best.after_ns - best.before_ns {
            best = next;
        }
    }
    Ok(best)
}
