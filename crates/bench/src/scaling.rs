//! What a second worker brings: the same data plane fed by one queue, and by two.
//!
//! ```text
//!  span: queue 0 ─▶ worker 0, worker 1 sleeps │ queue 0 ─▶ worker 0, queue 1 ─▶ worker 1 │ …
//!  a pair = two neighbouring spans, one of each; its factor = packets a second of two / of one
//! ```
//! Seconds are those that a worker had a processor: what a busy machine gives to others counts for
//! neither. Two processors that share a core share its units, too, and no clock tells that.

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
    pairs: usize,
    progress: fn(&str),
) -> Result<Vec<Row>, RigError> {
    let mut rows = Vec::new();
    for scenario in scenarios {
        let Some(make) = &scenario.make_for_two else { continue };
        progress(&format!("{} with two workers", scenario.name));
        rows.push(row(scenario.name, &make()?, pairs)?);
    }
    Ok(rows)
}

fn row(name: &str, rig: &Rig, pairs: usize) -> Result<Row, RigError> {
    let clocks = [ThreadTime::of("worker-0")?, ThreadTime::of("worker-1")?];
    let mut queues = taken_back(rig);
    if queues.len() != clocks.len() {
        return Err("a worker did not give its queue back".into());
    }
    let (mut factors, mut rates) = (Vec::new(), Vec::new());
    for pair in 0..pairs {
        let [one, two] = match pair % 2 {
            0 => [1, 2].map(|count| rate(rig, &clocks[..count], &mut queues)),
            _ => {
                let [two, one] = [2, 1].map(|count| rate(rig, &clocks[..count], &mut queues));
                [one, two]
            }
        };
        factors.push(two / one);
        rates.push(two);
    }
    let cycles = rates.iter().map(|rate| 2.0 * graph::tsc_hz() as f64 / rate);
    Ok(Row {
        workers: 2,
        mpps: round(Middle::of(rates.iter().copied()).median / 1e6),
        times_one_worker: Some(round(Middle::of(factors).median)),
        ..Row::plain(name.to_owned(), Middle::of(cycles), pairs, packet::VECTOR as f64)
    })
}

/// Packets a second of as many workers as there are clocks, each fed by a queue.
fn rate(rig: &Rig, clocks: &[ThreadTime], queues: &mut Vec<Box<dyn RxQueue>>) -> f64 {
    let rest = queues.split_off(clocks.len());
    rig.look_at_clock();
    rig.dataplane.attach_rx(0, std::mem::take(queues));
    sleep(WARM_UP);
    let brought = |worker| {
        let nodes = rig.dataplane.node_totals(Some(worker));
        nodes.iter().find(|node| node.name == crate::rig::SOURCE).map_or(0, |node| node.packets)
    };
    let now = || clocks.iter().enumerate().map(|(worker, clock)| (brought(worker), clock.now()));
    let before: Vec<_> = now().collect();
    sleep(SPAN);
    let each = now().zip(before).map(|((packets, time), (packets_before, time_before))| {
        (packets - packets_before) as f64 / (time - time_before).as_secs_f64()
    });
    let sum = each.sum();
    *queues = taken_back(rig);
    queues.extend(rest);
    sum
}

fn taken_back(rig: &Rig) -> Vec<Box<dyn RxQueue>> {
    rig.dataplane.detach_port(NO_PORT, 0, PATIENCE, std::thread::yield_now).rx
}
