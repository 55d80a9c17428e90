//! `--churn`: what it costs the packets that routes come and go meanwhile.
//!
//! ```text
//!  worker thread:   packets on 256 routes, as many as it can
//!  this thread:     rest │ 255 000 routes in and out │ rest │ in and out │ …
//!  a pair = two neighbouring spans, one of each; its loss = 1 - packets a second then / at rest
//! ```
//! Neighbouring spans share what else the machine is doing; the order within a pair alternates.
//! Packets are counted by the processor time of the worker, so that a busy machine takes nothing
//! from either.

use crate::rig::{RigError, plane};
use crate::sample::Middle;
use crate::scenarios::setting::{NEXT_HOP_MAC, adjacency, udp};
use crate::thread_time::ThreadTime;
use dataplane::{Dataplane, Threads};
use fib::{Forward, Ip4Prefix};
use nodes::tables::{Kind, Mode};
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

/// Routes that come and go.
const ROUTES: u32 = 255_000;
/// Routes made between two looks at the clock.
const SLICE: usize = 256;
/// One span.
const SPAN: Duration = Duration::from_millis(50);

/// Measures so many pairs and prints what came of it.
pub(crate) fn run(pairs: usize, progress: fn(&str)) -> Result<(), RigError> {
    let packets = (0..4096).map(|n| udp(0x0a00_0009 + ((n % 256) << 8))).collect();
    let dataplane = plane(packets, Mode::Routed, |settings| {
        settings.threads = Threads::Pinned(vec![None]);
    })?;
    let id = dataplane.adjacencies.allocate(&adjacency(Ipv4Addr::new(192, 0, 3, 9).into()))?;
    dataplane.adjacencies.complete(id, NEXT_HOP_MAC);
    let forward = Forward::new(Kind::Rewrite as u8, id.0);
    for n in 0..256 {
        dataplane.ip4.insert(Ip4Prefix::new(0x0a00_0000 + (n << 8), 24)?, forward)?;
    }
    let elsewhere = (0..ROUTES).map(|n| Ip4Prefix::new(0x1400_0000 + (n << 8), 24));
    let mut churn =
        Churn { routes: elsewhere.collect::<Result<_, _>>()?, forward, at: 0, changes: 0 };
    let worker = ThreadTime::of("worker-0")?;
    let mut losses = Vec::with_capacity(pairs);
    for pair in 0..pairs {
        progress(&format!("pair {pair} of {pairs}"));
        let (rest, busy) = if pair % 2 == 0 {
            let rest = rate(&dataplane, worker, || Ok(()))?;
            (rest, rate(&dataplane, worker, || churn.step(&dataplane))?)
        } else {
            let busy = rate(&dataplane, worker, || churn.step(&dataplane))?;
            (rate(&dataplane, worker, || Ok(()))?, busy)
        };
        losses.push(100.0 * (1.0 - busy / rest));
    }
    progress("");
    let (low, high) = interval(&losses);
    let changes = churn.changes as f64 / (pairs as f64 * SPAN.as_secs_f64());
    println!(
        "throughput lost while routes come and go ({changes:.0} changes a second): \
         median {:.2} %, 95 % interval {low:.2} to {high:.2} %, over {pairs} pairs",
        Middle::of(losses.iter().copied()).median
    );
    Ok(())
}

/// Routes on their way in or out.
struct Churn {
    routes: Vec<Ip4Prefix>,
    forward: Forward,
    /// How many changes of the present round are made: first all routes come, then all go.
    at: usize,
    changes: u64,
}

impl Churn {
    fn step(&mut self, dataplane: &Dataplane) -> Result<(), RigError> {
        let count = self.routes.len();
        for _ in 0..SLICE {
            match self.at {
                at if at < count => drop(dataplane.ip4.insert(self.routes[at], self.forward)?),
                at => drop(dataplane.ip4.remove(self.routes[at - count])),
            }
            self.at = (self.at + 1) % (2 * count);
        }
        self.changes += SLICE as u64;
        Ok(())
    }
}

/// Packets a second of the worker's, over one span in which `step` is done again and again.
fn rate(
    dataplane: &Dataplane,
    worker: ThreadTime,
    mut step: impl FnMut() -> Result<(), RigError>,
) -> Result<f64, RigError> {
    let sent = || dataplane.interface_totals(1).tx_packets;
    let (start, worked, before) = (Instant::now(), worker.now(), sent());
    while start.elapsed() < SPAN {
        step()?;
        std::hint::spin_loop();
    }
    Ok((sent() - before) as f64 / (worker.now() - worked).as_secs_f64())
}

/// Where the median lies, 95 times in 100: between two ranks of the sorted values, whatever they
/// are distributed like.
fn interval(values: &[f64]) -> (f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (half, reach) = (sorted.len() as f64 / 2.0, 0.98 * (sorted.len() as f64).sqrt());
    let at = |rank: f64| {
        let last = sorted.len().saturating_sub(1);
        sorted.get((rank.max(0.0) as usize).min(last)).copied().unwrap_or_default()
    };
    (at((half - reach).floor()), at((half + reach).ceil()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_holds_the_median_and_narrows() {
        let values: Vec<f64> = (0..101).map(f64::from).collect();
        assert_eq!(interval(&values), (40.0, 61.0));
        let more: Vec<f64> = (0..10_001).map(|n| f64::from(n) / 100.0).collect();
        let (low, high) = interval(&more);
        assert!(low > 48.0 && low < 50.0 && high > 50.0 && high < 52.0, "{low} {high}");
    }
}
