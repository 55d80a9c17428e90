//! Turns all ends on one thread: receive, send what is due, look at the clock, again.
//!
//! ```text
//!  start            end        + grace                 quiet for a while, or all is back
//!    ├── sending ────┼─ catch up ─┼─ wait for stragglers ─┤
//! ```
//! Sending ends sooner where each stream has a number of packets and has sent them.
//! An iteration that takes longer than the stall limit is one in which this thread was held up; it
//! is written down, as everything that happens then looks like the device's doing.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use lab_record::{Spike, Who};
use lab_search::stats::spikes::{Threshold, spikes};

use super::end::{BURST, End};
use super::own_time::OwnTime;
use super::port_times::{LatencyClock, Stamps};
use super::queues::counted;
use super::receiver::{Receiver, SPIKE_WINDOW_NS};
use super::result::{Away, EndResult, Gone, StreamResult, TrafficResult};
use super::sender::Sender;
use super::stream::{FCS_BYTES, Stream};
use crate::Error;
use crate::clock::Clock;

/// Of the stalls, so many of the longest are kept one by one.
const KEPT_STALLS: usize = 200;
/// Between two looks at whether somebody wants us to end.
const WATCH_NS: u64 = 5_000_000;

/// How long, and what to wait for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Time of sending.
    pub duration_ns: u64,
    /// Time after it in which packets already due may still leave.
    pub grace_ns: u64,
    /// So long without a packet means that none comes any more.
    pub quiet_ns: u64,
    /// Longest time to wait for stragglers.
    pub drain_ns: u64,
    /// An iteration longer than this is a stall.
    pub stall_ns: u64,
    /// Speed of the link, for rates that are shares of it.
    pub link_bps: f64,
    /// Names everything random.
    pub seed: u64,
    /// Packets that are handed to a port at once, where as many are due.
    pub burst: usize,
}

impl Plan {
    /// The usual for a trial of this length.
    pub fn new(duration_s: f64) -> Self {
        let duration_ns = (duration_s * 1e9) as u64;
        Self {
            duration_ns,
            grace_ns: (duration_ns / 50).max(2_000_000),
            quiet_ns: 50_000_000,
            drain_ns: 2_000_000_000,
            stall_ns: 5_000,
            link_bps: 10e9,
            seed: 1,
            burst: BURST,
        }
    }
}

/// An end and the streams sent there.
pub struct Side<'a> {
    /// The end.
    pub end: &'a mut End,
    /// What is sent there.
    pub streams: Vec<Stream>,
}

/// An end at work.
struct Working<'a> {
    end: &'a mut End,
    sender: Sender,
    receiver: Receiver,
    missed: u64,
    /// Frames by queue until it began.
    queues: Vec<u64>,
    /// If its port's times are wanted.
    stamps: Option<Stamps>,
}

/// Sends and receives. What is sent at one side comes out at the other, or with one side there.
/// `watch` is asked now and then, with the time since the start in nanoseconds, whether to go on.
pub fn drive(
    clock: &Clock,
    sides: Vec<Side<'_>>,
    plan: &Plan,
    watch: &mut dyn FnMut(u64) -> bool,
) -> Result<TrafficResult, Error> {
    // (name, from, to), by number.
    let mut streams: Vec<(String, usize, usize)> = Vec::new();
    let count = sides.len();
    for (from, side) in sides.iter().enumerate() {
        let to = count - 1 - from;
        streams.extend(side.streams.iter().map(|stream| (stream.name.clone(), from, to)));
    }
    let total = streams.len() as u16;
    let mut number = 0u16;
    let mut working = Vec::new();
    for (at, side) in sides.into_iter().enumerate() {
        let own: Vec<(u16, Stream)> = (number..).zip(side.streams).collect();
        number += own.len() as u16;
        let here: Vec<u16> = (0..total).filter(|&id| streams[usize::from(id)].2 == at).collect();
        working.push(Working {
            sender: Sender::new(&own, plan.link_bps, plan.seed, plan.burst)?,
            receiver: Receiver::new(total, &here),
            missed: side.end.missed(),
            queues: counted(&side.end.queues),
            stamps: Stamps::of(side.end, clock)?,
            end: side.end,
        });
    }
    let replays: Vec<_> = working.iter().flat_map(|side| side.sender.replays()).collect();
    for (id, under_way) in replays {
        working[streams[usize::from(id)].2].receiver.await_replay(id, under_way);
    }
    let turned = turn(clock, &mut working, plan, watch);
    Ok(collect(clock, &streams, working, turned))
}

struct Turned {
    start_ns: u64,
    sending_ns: u64,
    elapsed_ns: u64,
    away: Away,
    stopped: bool,
}

fn turn(
    clock: &Clock,
    sides: &mut [Working<'_>],
    plan: &Plan,
    watch: &mut dyn FnMut(u64) -> bool,
) -> Turned {
    for side in sides.iter_mut() {
        side.end.drain();
    }
    let start_ns = clock.now_ns() + 10_000;
    let end_ns = start_ns + plan.duration_ns;
    let longest_ns = plan.duration_ns + plan.grace_ns + plan.drain_ns;
    for side in sides.iter_mut() {
        side.sender.schedule(start_ns, end_ns);
        side.receiver.schedule(start_ns, longest_ns);
    }
    let sends = sides.iter().any(|side| side.sender.has_streams());
    let mut stalls = Stalls::default();
    let mut last_ns = clock.now_ns();
    let mut own = OwnTime::new(last_ns);
    let mut watch_ns = start_ns + WATCH_NS;
    let mut stopped = false;
    // Once sending is over: since when.
    let mut over_ns: Option<u64> = None;
    loop {
        let now_ns = clock.now_ns();
        if now_ns - last_ns > plan.stall_ns {
            let length_ns = now_ns - last_ns;
            let who = own.explain(now_ns, length_ns);
            stalls.note(Gone { at_ns: last_ns.saturating_sub(start_ns), length_ns, who });
        }
        last_ns = now_ns;
        for Working { end, sender, receiver, stamps, .. } in sides.iter_mut() {
            // The time is taken when the packets are at hand, once for all of them.
            let mut at_ns = None;
            let mut at_hand_ns = || *at_ns.get_or_insert_with(|| clock.now_ns());
            match stamps {
                None => end.receive(|frame| receiver.observe(at_hand_ns(), frame)),
                Some(stamps) => {
                    stamps.follow(now_ns, end, clock);
                    end.receive_packets(|packet| {
                        let at_ns = at_hand_ns();
                        let came_ns = stamps.came_ns(packet, at_ns);
                        let left_ns = receiver.observe_stamped(at_ns, came_ns, packet.bytes());
                        left_ns.inspect(|&left_ns| stamps.note(left_ns, came_ns, at_ns));
                    })
                }
            };
            if over_ns.is_none() {
                sender.send(now_ns, end);
            }
            end.tx.push();
        }
        if now_ns >= watch_ns {
            watch_ns = now_ns + WATCH_NS;
            own.look(now_ns);
            if !watch(now_ns - start_ns) {
                stopped = true;
                over_ns.get_or_insert(now_ns);
                sides.iter_mut().for_each(|side| side.sender.stop(now_ns));
            }
        }
        match over_ns {
            None => {
                let spent = sends && sides.iter().all(|side| side.sender.is_spent());
                let done = || sides.iter().all(|side| side.sender.is_done());
                if spent || now_ns >= end_ns && (now_ns >= end_ns + plan.grace_ns || done()) {
                    over_ns = Some(now_ns);
                    sides.iter_mut().for_each(|side| side.sender.give_back(side.end));
                }
            }
            Some(over_ns) => {
                let sent: u64 = sides.iter().map(|side| side.sender.offered()).sum();
                let came: u64 = sides.iter().map(|side| side.receiver.unique).sum();
                let last = sides.iter().map(|side| side.receiver.last_ns()).max();
                let since_ns = now_ns.saturating_sub(last.unwrap_or(0).max(over_ns));
                if came >= sent || since_ns > plan.quiet_ns || now_ns - over_ns > plan.drain_ns {
                    break;
                }
            }
        }
    }
    sides.iter_mut().for_each(|side| side.sender.give_back(side.end));
    let sending_ns = over_ns.unwrap_or(last_ns).min(end_ns).saturating_sub(start_ns);
    let elapsed_ns = last_ns - start_ns;
    Turned { start_ns, sending_ns, elapsed_ns, away: stalls.account(), stopped }
}

fn collect(
    clock: &Clock,
    streams: &[(String, usize, usize)],
    mut sides: Vec<Working<'_>>,
    turned: Turned,
) -> TrafficResult {
    let name = |at: usize| sides[at].end.name.clone();
    let names: Vec<(String, String)> =
        streams.iter().map(|&(_, from, to)| (name(from), name(to))).collect();
    let mut results = Vec::new();
    let mut within = vec![0usize; sides.len()];
    for (id, ((stream, from, to), (from_name, to_name))) in streams.iter().zip(names).enumerate() {
        let sent = sides[*from].sender.sent(within[*from]);
        within[*from] += 1;
        let Some(received) = sides[*to].receiver.streams[id].take() else { continue };
        results.push(StreamResult {
            name: stream.clone(),
            from: from_name,
            to: to_name,
            intended: sent.intended,
            offered: sent.offered,
            octets: sent.octets,
            sequence: received.sequence.finish(sent.offered),
            jitter_ns: received.jitter.ns(),
            variation: received.variation.finish(&received.latency),
            latency: received.latency,
        });
    }
    let end = |side: Working<'_>| EndResult {
        missed: side.end.missed() - side.missed,
        queues: grown(&side.queues, &counted(&side.end.queues)),
        name: side.end.name.clone(),
        foreign: side.receiver.foreign,
        stale: side.receiver.stale,
        misdirected: side.receiver.misdirected,
        octets: side.receiver.octets + side.receiver.unique * FCS_BYTES as u64,
        rates: side.receiver.rates.rates(turned.start_ns + turned.sending_ns),
        per_ms: side.receiver.rates.per_ms().to_vec(),
        spikes: excursions(&side.receiver.worst_ns),
        gaps: side.sender.gaps,
        lateness: side.sender.lateness,
        starved: side.sender.starved,
        port_times: side.stamps.map(|stamps| stamps.finish(side.end, clock)),
    };
    let stamped = sides.iter().any(|side| side.stamps.is_some());
    TrafficResult {
        latency_clock: if stamped { LatencyClock::Port } else { LatencyClock::Processor },
        start_ns: turned.start_ns,
        duration_ns: turned.sending_ns,
        elapsed_ns: turned.elapsed_ns,
        streams: results,
        ends: sides.into_iter().map(end).collect(),
        away: turned.away,
        stopped: turned.stopped,
    }
}

/// Queues that brought frames meanwhile; one where there is but one.
fn grown(before: &[u64], after: &[u64]) -> u64 {
    let busy = before.iter().zip(after).filter(|(before, after)| before < after).count();
    busy.max(1) as u64
}

/// Spikes in the worst latency of each window.
fn excursions(worst_ns: &[u64]) -> Vec<Spike> {
    let windows = worst_ns.iter().enumerate().filter(|&(_, &worst)| worst > 0);
    let point = |(at, &worst): (usize, &u64)| {
        ((at as u64 * SPIKE_WINDOW_NS) as f64 / 1e9, worst as f64 / 1e9)
    };
    let series: Vec<(f64, f64)> = windows.map(point).collect();
    if series.is_empty() { Vec::new() } else { spikes(&series, Threshold::default()) }
}

/// Counts stalls, keeping the longest.
#[derive(Default)]
pub struct Stalls {
    away: Away,
    /// Length and time, and who; the shortest first.
    longest: BinaryHeap<Reverse<(u64, u64, Option<Who>)>>,
}

impl Stalls {
    /// Takes note of one.
    pub fn note(&mut self, Gone { at_ns, length_ns, who }: Gone) {
        self.away.count += 1;
        self.away.total_ns += length_ns;
        self.longest.push(Reverse((length_ns, at_ns, who)));
        if self.longest.len() > KEPT_STALLS {
            self.longest.pop();
        }
    }

    /// All of them, the longest in order of time.
    pub fn account(self) -> Away {
        let gone = |Reverse((length_ns, at_ns, who))| Gone { at_ns, length_ns, who };
        let mut longest: Vec<Gone> = self.longest.into_iter().map(gone).collect();
        longest.sort_unstable_by_key(|gone| gone.at_ns);
        Away { longest, ..self.away }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_count_that_brought_something_meanwhile() {
        assert_eq!(grown(&[], &[]), 1);
        assert_eq!(grown(&[3, 9, 0], &[3, 10, 1]), 2);
    }
}
