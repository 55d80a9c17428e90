//! What a second worker brings: one data plane fed by a queue, and by two; and two planes, by one
//! each.
//!
//! ```text
//!  one     queue ─▶ worker 0 of A   worker 1 sleeps
//!  two     queue ─▶ worker 0 of A   queue ─▶ worker 1 of A
//!  apart   queue ─▶ worker 0 of A   queue ─▶ worker 0 of B
//!
//!  a round = a span of each, in turning order; its factors = packets a second of two / one, two / apart
//! ```
//! Two against one is what users get; it is as much the machine's as ours, since processors that
//! share a core or a cache take from each other and no clock tells that. Two against apart keeps
//! the same processors at work: what is missing to 1 there is what workers lose to each other in
//! tables and counters of ours. Seconds are those that a worker had a processor: what a busy
//! machine gives to others counts for neither.

use crate::report::{Row, round};
use crate::rig::{Rig, RigError};
use crate::sample::Middle;
use crate::scenario::Scenario;
use crate::thread_time::ThreadTime;
use packet::RxQueue;
use std::thread::sleep;
use std::time::Duration;

/// One span.
const SPAN: Duration = Duration::from_millis(20);
/// Before one: caches and branch predictors, and a worker that wakes up.
const WARM_UP: Duration = Duration::from_millis(2);
/// How long workers may take to give queues back: a stalled machine included.
const PATIENCE: Duration = Duration::from_secs(5);
/// A port that is not there: none gives its queues back for it.
const NO_PORT: u16 = 9;

/// Rows of two workers, of those scenarios that have such.
pub(crate) fn rows(
    scenarios: &[Scenario],
    rounds: usize,
    progress: fn(&str),
) -> Result<Vec<Row>, RigError> {
    let mut rows = Vec::new();
    for scenario in scenarios {
        let Some(make) = &scenario.make_for_two else { continue };
        progress(&format!("{} with two workers", scenario.name));
        let planes = [Plane::of(make()?)?, Plane::of(make()?)?];
        rows.push(row(scenario.name, planes, rounds));
    }
    Ok(rows)
}

fn row(name: &str, [mut a, mut b]: [Plane; 2], rounds: usize) -> Row {
    let (mut factors, mut shares, mut rates) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        let mut spans = [None; 3];
        for turn in 0..3 {
            let which = (round + turn) % 3;
            spans[which] = match which {
                0 => rate(&mut [(&mut a, 1)]),
                1 => rate(&mut [(&mut a, 2)]),
                _ => rate(&mut [(&mut a, 1), (&mut b, 1)]),
            };
        }
        if let [Some(one), Some(two), Some(apart)] = spans {
            factors.push(two / one);
            shares.push(two / apart);
            rates.push(two);
        }
    }
    let count = rates.len();
    let cycles = rates.iter().map(|rate| 2.0 * graph::tsc_hz() as f64 / rate);
    Row {
        workers: 2,
        mpps: round(Middle::of(rates.iter().copied()).median / 1e6),
        times_one_worker: Some(round(Middle::of(factors).median)),
        times_apart: Some(round(Middle::of(shares).median)),
        ..Row::plain(name.to_owned(), Middle::of(cycles), count, packet::VECTOR as f64)
    }
}

/// A data plane of two workers, its queues in our hands while none runs.
struct Plane {
    rig: Rig,
    clocks: Vec<ThreadTime>,
    queues: Vec<Box<dyn RxQueue>>,
}

impl Plane {
    /// The plane that was made last: its workers are the latest that have their names.
    fn of(rig: Rig) -> Result<Self, RigError> {
        let clocks = vec![ThreadTime::of("worker-0")?, ThreadTime::of("worker-1")?];
        let mut plane = Self { rig, clocks, queues: Vec::new() };
        plane.rest();
        match plane.queues.len() == plane.clocks.len() {
            true => Ok(plane),
            false => Err("a worker did not give its queue back".into()),
        }
    }

    /// Feeds so many of its workers.
    fn feed(&mut self, workers: usize) {
        let rest = self.queues.split_off(workers);
        self.rig.look_at_clock();
        self.rig.dataplane.attach_rx(0, std::mem::replace(&mut self.queues, rest));
    }

    /// Takes the queues back, those fed last before the others.
    fn rest(&mut self) {
        let taken = self.rig.dataplane.detach_port(NO_PORT, 0, PATIENCE, std::thread::yield_now);
        self.queues.splice(0..0, taken.rx);
    }

    /// Of each worker that is fed: packets brought so far, and the time it had.
    fn so_far(&self, workers: usize) -> impl Iterator<Item = (u64, Duration)> {
        self.clocks[..workers].iter().enumerate().map(|(worker, clock)| {
            let nodes = self.rig.dataplane.node_totals(Some(worker));
            let source = nodes.iter().find(|node| node.name == crate::rig::SOURCE);
            (source.map_or(0, |node| node.packets), clock.now())
        })
    }
}

/// Packets a second while so many workers of each plane are fed; none if one of them had no
/// processor.
fn rate(planes: &mut [(&mut Plane, usize)]) -> Option<f64> {
    planes.iter_mut().for_each(|(plane, workers)| plane.feed(*workers));
    sleep(WARM_UP);
    let now = || planes.iter().flat_map(|(plane, workers)| plane.so_far(*workers));
    let before: Vec<_> = now().collect();
    sleep(SPAN);
    let sum = now()
        .zip(before)
        .map(|((packets, time), (packets_before, time_before))| {
            let seconds = (time - time_before).as_secs_f64();
            (seconds > 0.0).then(|| (packets - packets_before) as f64 / seconds)
        })
        .sum();
    planes.iter_mut().for_each(|(plane, _)| plane.rest());
    sum
}
