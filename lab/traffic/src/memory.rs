//! A link in memory, with the faults that one wants: what the generator is proven on.
//!
//! ```text
//! end a ─▶ lose · duplicate · hold back ─▶ serve (rate, stalls) ─▶ delay (+ pattern) ─▶ end b
//!       ◀─────────────────────── the same again, the other way ──────────────────────◀
//! ```
//! All of it is exact and counted: of 10,000 packets with `lose=1000` ten are lost, always the
//! same.

use std::collections::VecDeque;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use packet::{Burst, HeapPool, PacketBuf, PacketCache, Pool, RxQueue, TxQueue};
use serde::{Deserialize, Serialize};

use super::end::End;
use super::queues::QueueCounts;
use super::rate::with_prefix;
use crate::Error;
use crate::clock::Clock;

/// What a line does to packets. Numbers of 0 mean never.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Time on the way.
    pub delay_ns: u64,
    /// Added to it, packet after packet, over and over.
    pub pattern_ns: Vec<u64>,
    /// Packets served in a second; infinite without a limit.
    pub capacity_pps: f64,
    /// Packets that wait to be served or are on their way; more are lost.
    pub queue_packets: usize,
    /// Each packet of this number is lost.
    pub lose: u64,
    /// Each of this comes twice.
    pub duplicate: u64,
    /// Each of this is overtaken by the `behind` next ones.
    pub hold: u64,
    /// See `hold`.
    pub behind: u64,
    /// Nothing moves for `stall_ns` each `stall_period_ns`.
    pub stall_period_ns: u64,
    /// See `stall_period_ns`.
    pub stall_ns: u64,
}

impl Default for Line {
    fn default() -> Self {
        Self {
            delay_ns: 0,
            pattern_ns: Vec::new(),
            capacity_pps: f64::INFINITY,
            queue_packets: 4_096,
            lose: 0,
            duplicate: 0,
            hold: 0,
            behind: 8,
            stall_period_ns: 0,
            stall_ns: 0,
        }
    }
}

impl FromStr for Line {
    type Err = Error;

    /// Reads `delay=50us,lose=1000`; nothing at all is a wire.
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut line = Self::default();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let refuse = || Error::Text {
                what: "line in memory",
                text: part.to_owned(),
                allowed:
                    "delay=TIME, pattern=TIME+TIME…, capacity=PPS, queue=N, lose=N, duplicate=N, \
                          hold=N, behind=N, stall=TIME/PERIOD"
                        .into(),
            };
            let (key, value) = part.split_once('=').ok_or_else(refuse)?;
            let count = || with_prefix(value).filter(|&it| it >= 0.0).ok_or_else(refuse);
            match key {
                "delay" => line.delay_ns = time_ns(value).ok_or_else(refuse)?,
                "pattern" => {
                    let times = value.split('+').map(time_ns).collect::<Option<_>>();
                    line.pattern_ns = times.ok_or_else(refuse)?;
                }
                "capacity" => line.capacity_pps = count()?.max(1.0),
                "queue" => line.queue_packets = count()? as usize,
                "lose" => line.lose = count()? as u64,
                "duplicate" => line.duplicate = count()? as u64,
                "hold" => line.hold = count()? as u64,
                "behind" => line.behind = count()?.max(1.0) as u64,
                "stall" => {
                    let (length, period) = value.split_once('/').ok_or_else(refuse)?;
                    line.stall_ns = time_ns(length).ok_or_else(refuse)?;
                    line.stall_period_ns = time_ns(period).ok_or_else(refuse)?;
                }
                _ => return Err(refuse()),
            }
        }
        Ok(line)
    }
}

/// 50us is 50,000.
pub fn time_ns(text: &str) -> Option<u64> {
    let units = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
    let (digits, factor) =
        units.iter().find_map(|&(unit, factor)| Some((text.strip_suffix(unit)?, factor)))?;
    let value: f64 = digits.trim().parse().ok()?;
    (value >= 0.0 && value.is_finite()).then_some((value * factor).round() as u64)
}

/// What a line did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Done {
    /// Packets lost on purpose.
    pub lost: u64,
    /// Packets lost because the queue was full.
    pub overflowed: u64,
    /// Packets sent twice.
    pub duplicated: u64,
    /// Packets overtaken.
    pub held: u64,
}

/// A direction of the link.
struct Way {
    line: Line,
    clock: Clock,
    began_ns: u64,
    /// When each may come out.
    queue: VecDeque<(u64, PacketBuf)>,
    /// Held back, until this many more have come.
    held: Option<(PacketBuf, u64)>,
    count: u64,
    served_ns: f64,
    done: Done,
}

impl Way {
    fn new(line: Line, clock: &Clock) -> Self {
        Self {
            line,
            began_ns: clock.now_ns(),
            clock: clock.clone(),
            queue: VecDeque::new(),
            held: None,
            count: 0,
            served_ns: 0.0,
            done: Done::default(),
        }
    }

    /// A time moved out of the stall that it lies in.
    fn after_stall(&self, at_ns: u64) -> u64 {
        let Line { stall_period_ns, stall_ns, .. } = self.line;
        if stall_period_ns == 0 {
            return at_ns;
        }
        let within = (at_ns - self.began_ns) % stall_period_ns;
        if within < stall_ns { at_ns + stall_ns - within } else { at_ns }
    }

    fn accept(&mut self, now_ns: u64, packet: PacketBuf, cache: &mut dyn PacketCache) {
        self.count += 1;
        let due = |each: u64| each > 0 && self.count.is_multiple_of(each);
        let (lose, twice, hold) =
            (due(self.line.lose), due(self.line.duplicate), due(self.line.hold));
        if lose {
            self.done.lost += 1;
            cache.release_one(packet);
        } else if hold && self.held.is_none() {
            self.done.held += 1;
            self.held = Some((packet, self.count + self.line.behind));
            return;
        } else {
            let copy = if twice { cache.copy_of(packet.bytes()) } else { None };
            self.enqueue(now_ns, packet, cache);
            if let Some(copy) = copy {
                self.done.duplicated += 1;
                self.enqueue(now_ns, copy, cache);
            }
        }
        if let Some((held, _)) = self.held.take_if(|(_, until)| self.count >= *until) {
            self.enqueue(now_ns, held, cache);
        }
    }

    fn enqueue(&mut self, now_ns: u64, packet: PacketBuf, cache: &mut dyn PacketCache) {
        if self.queue.len() >= self.line.queue_packets {
            self.done.overflowed += 1;
            cache.release_one(packet);
            return;
        }
        let mut out_ns = now_ns;
        if self.line.capacity_pps.is_finite() {
            self.served_ns = self.served_ns.max(now_ns as f64) + 1e9 / self.line.capacity_pps;
            out_ns = self.served_ns as u64;
        }
        let pattern = &self.line.pattern_ns;
        let extra = match pattern.len() {
            0 => 0,
            length => pattern[(self.count % length as u64) as usize],
        };
        let out_ns = self.after_stall(out_ns + self.line.delay_ns + extra);
        self.queue.push_back((out_ns, packet));
    }
}

impl Drop for Ways {
    fn drop(&mut self) {
        let Self { ways, pool } = self;
        let mut cache = pool.cache();
        for way in ways.iter_mut() {
            let mut way = lock(way);
            way.queue.drain(..).for_each(|(_, packet)| cache.release_one(packet));
            if let Some((held, _)) = way.held.take() {
                cache.release_one(held);
            }
        }
    }
}

/// Both directions, and what their packets live in.
struct Ways {
    ways: [Mutex<Way>; 2],
    pool: HeapPool,
}

fn lock(way: &Mutex<Way>) -> MutexGuard<'_, Way> {
    way.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Tx(Arc<Ways>, usize);
struct Rx(Arc<Ways>, usize);

impl TxQueue for Tx {
    fn transmit(&mut self, cache: &mut dyn PacketCache, packets: &mut Burst<'_>) {
        let mut way = lock(&self.0.ways[self.1]);
        let now_ns = way.clock.now_ns();
        while let Some(packet) = packets.pop() {
            way.accept(now_ns, packet, cache);
        }
    }
}

impl RxQueue for Rx {
    fn receive(&mut self, _: &mut dyn PacketCache, most: usize, into: &mut Vec<PacketBuf>) {
        let mut way = lock(&self.0.ways[self.1]);
        if way.queue.is_empty() {
            return;
        }
        let now_ns = way.clock.now_ns();
        for _ in 0..most {
            if way.queue.front().is_none_or(|(out_ns, _)| *out_ns > now_ns) {
                return;
            }
            into.extend(way.queue.pop_front().map(|(_, packet)| packet));
        }
    }
}

/// Tells what the lines of a link did.
#[derive(Clone)]
pub struct Account(Arc<Ways>);

impl Account {
    /// Of the direction sent at this end: 0 or 1.
    pub fn of(&self, direction: usize) -> Done {
        lock(&self.0.ways[direction]).done
    }
}

/// Buffers of a link in memory.
const BUFFERS: usize = 8_192;

/// A link whose directions do this to their packets: two ends.
pub fn pair(clock: &Clock, there: Line, back: Line) -> Result<([End; 2], Account), Error> {
    let most = there.queue_packets + back.queue_packets;
    let pool = HeapPool::new(BUFFERS + most, 9_100)
        .map_err(|error| Error::Port { port: "memory".into(), reason: error.to_string() })?;
    let caches = [pool.cache(), pool.cache()];
    let ways = [there, back].map(|line| Mutex::new(Way::new(line, clock)));
    let ways = Arc::new(Ways { ways, pool });
    let [first, second] = caches;
    let end = |name: &str, cache, tx, rx| End {
        name: name.into(),
        rx: Box::new(Rx(Arc::clone(&ways), rx)),
        queues: QueueCounts::default(),
        tx: Box::new(Tx(Arc::clone(&ways), tx)),
        cache,
        came: Vec::new(),
        port: None,
    };
    let ends = [end("memory a", first, 0, 1), end("memory b", second, 1, 0)];
    Ok((ends, Account(ways)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_is_said() {
        let line: Line =
            "delay=50us,pattern=0us+3us,lose=1000,stall=200us/100ms,capacity=2M".parse().unwrap();
        assert_eq!((line.delay_ns, line.lose, line.stall_ns), (50_000, 1_000, 200_000));
        assert_eq!((line.pattern_ns, line.capacity_pps), (vec![0, 3_000], 2e6));
        assert_eq!("".parse::<Line>().unwrap(), Line::default());
        for wrong in ["delay", "delay=5", "speed=1", "stall=1ms", "lose=-1"] {
            let error = wrong.parse::<Line>().unwrap_err().to_string();
            assert!(error.contains(wrong), "{error}");
        }
    }

    #[test]
    fn a_packet_comes_out_when_its_delay_is_over() {
        let clock = Clock::stepped(0);
        let line = Line { delay_ns: 1_000, ..Line::default() };
        let ([mut a, mut b], _) = pair(&clock, line, Line::default()).unwrap();
        let mut packets = vec![a.cache.copy_of(&[7; 60]).unwrap()];
        assert_eq!(a.tx.send(&mut *a.cache, &mut packets), 1);
        clock.jump(999);
        assert_eq!(b.receive(|_| {}), 0);
        clock.jump(1);
        assert_eq!(b.receive(|frame| assert_eq!(frame, [7; 60])), 1);
        assert_eq!(a.receive(|_| {}), 0, "there is no echo");
    }
}
