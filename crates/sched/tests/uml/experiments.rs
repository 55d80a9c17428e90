//! The schedules: bursts behind a closed gate for order and drops, steady overload for shares and
//! rates.

use crate::boot::{Experiment, Played};

/// How a trace is compared.
pub(crate) enum Judge {
    /// The same packets in the same order.
    Exactly,
    /// Each class's or flow's bytes in each window, as a fraction.
    ByWindow { window_ms: u64, tolerance: f64 },
    /// The number and places of drops.
    Drops { tolerance: f64 },
}

pub(crate) struct Judged {
    pub(crate) experiment: Experiment,
    pub(crate) judge: Judge,
}

/// A gate: two packets use up its bucket, and it stays shut for as many milliseconds as the next
/// has bytes, while the burst arrives. Then it is opened; what comes out, and in which order, the
/// discipline behind it decides alone.
const GATE: &str = "tc qdisc add dev near root handle 1: tbf rate 8kbit burst 1600 limit 1000000";
const OPEN: &str =
    "tc qdisc change dev near root handle 1: tbf rate 4mbit burst 1600 limit 1000000";
/// The packets that shut it.
pub(crate) const SHUTTERS: usize = 2;

fn burst(name: &str, child: &str, queue_length: u32, packets: Vec<Played>) -> Judged {
    let mut all = vec![(0, 1500, 99, 0), (0, 100, 99, 0)];
    all.extend(
        packets.into_iter().map(|(_, length, flow, priority)| (500, length, flow, priority)),
    );
    let tc = vec![GATE.to_string(), format!("tc qdisc add dev near parent 1:1 handle 2: {child}")];
    let afterwards = vec![OPEN.to_string()];
    // The kernel looks again when the gate would have let the next packet through.
    let rest_ms = 1_500;
    let experiment =
        Experiment { name: name.to_string(), tc, queue_length, packets: all, afterwards, rest_ms };
    Judged { experiment, judge: Judge::Exactly }
}

/// Forty packets of four flows of unequal lengths and numbers, drawn once and for all.
fn mixed(count: u32) -> Vec<Played> {
    let mut seed = 7u32;
    let mut draw = |below: u32| {
        seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        (seed >> 16) % below
    };
    (0..count)
        .map(|_| {
            let flow = [0, 0, 0, 0, 1, 1, 2, 3][draw(8) as usize];
            (0, 100 + 50 * draw(20), flow, draw(16))
        })
        .collect()
}

/// A steady source: packets of one length, so many a second.
fn source(from_ms: u64, to_ms: u64, kbit: u64, length: u32, flow: u32, class: u32) -> Vec<Played> {
    let every_us = u64::from(length) * 8000 / kbit;
    (from_ms * 1000..to_ms * 1000)
        .step_by(every_us as usize)
        .map(|at| (at, length, flow, class))
        .collect()
}

fn steady(name: &str, tc: &[&str], sources: Vec<Vec<Played>>, judge: Judge) -> Judged {
    let mut packets: Vec<Played> = sources.into_iter().flatten().collect();
    packets.sort_by_key(|packet| packet.0);
    let tc = tc.iter().map(|line| line.to_string()).collect();
    let experiment = Experiment {
        name: name.to_string(),
        tc,
        queue_length: 1000,
        packets,
        afterwards: Vec::new(),
        rest_ms: 300,
    };
    Judged { experiment, judge }
}

const A: u32 = 0x1_0010;
const B: u32 = 0x1_0020;
const C: u32 = 0x1_0030;

fn htb() -> Judged {
    let tc = [
        "tc qdisc add dev near root handle 1: htb default 30",
        "tc class add dev near parent 1: classid 1:1 htb rate 4mbit ceil 4mbit burst 5000 cburst 5000",
        "tc class add dev near parent 1:1 classid 1:2 htb rate 3mbit ceil 3mbit burst 5000 cburst 5000",
        "tc class add dev near parent 1:2 classid 1:10 htb rate 1mbit ceil 3mbit burst 3000 cburst 3000 quantum 3000",
        "tc class add dev near parent 1:2 classid 1:20 htb rate 500kbit ceil 3mbit burst 3000 cburst 3000 quantum 1500",
        "tc class add dev near parent 1:1 classid 1:30 htb rate 1mbit ceil 4mbit burst 3000 cburst 3000 prio 1 quantum 1500",
    ];
    // All three; then the first is silent; then the third alone is.
    let mut sources = vec![source(0, 3000, 4000, 1000, 0, B)];
    sources.push(source(0, 1000, 4000, 1000, 0, A));
    sources.push(source(2000, 3000, 4000, 1000, 0, A));
    sources.push(source(0, 2000, 4000, 1000, 0, C));
    steady("htb", &tc, sources, Judge::ByWindow { window_ms: 250, tolerance: 0.10 })
}

fn hfsc() -> Judged {
    let tc = [
        "tc qdisc add dev near root handle 1: hfsc default 30",
        "tc class add dev near parent 1: classid 1:1 hfsc ls rate 4mbit ul rate 4mbit",
        "tc class add dev near parent 1:1 classid 1:2 hfsc ls rate 3mbit",
        "tc class add dev near parent 1:2 classid 1:10 hfsc rt m1 2mbit d 10ms m2 500kbit ls rate 1mbit",
        "tc class add dev near parent 1:2 classid 1:20 hfsc ls rate 2mbit ul rate 2mbit",
        "tc class add dev near parent 1:1 classid 1:30 hfsc sc rate 1mbit",
        "tc qdisc add dev near parent 1:10 pfifo limit 50",
        "tc qdisc add dev near parent 1:20 pfifo limit 50",
        "tc qdisc add dev near parent 1:30 pfifo limit 50",
    ];
    let mut sources = vec![source(0, 3000, 4000, 1000, 0, C)];
    sources.push(source(0, 2000, 4000, 1000, 0, A));
    sources.push(source(1000, 3000, 4000, 1000, 0, B));
    steady("hfsc", &tc, sources, Judge::ByWindow { window_ms: 250, tolerance: 0.10 })
}

fn codel() -> Judged {
    let tc = [
        "tc qdisc add dev near root handle 1: tbf rate 1mbit burst 1600 limit 1000000",
        "tc qdisc add dev near parent 1:1 handle 2: codel limit 1000 target 5ms interval 100ms noecn",
    ];
    let sources = vec![source(0, 2500, 1300, 1000, 0, 0)];
    steady("codel", &tc, sources, Judge::Drops { tolerance: 0.1 })
}

fn fq_codel() -> Judged {
    let tc = [
        "tc qdisc add dev near root handle 1: tbf rate 3mbit burst 1600 limit 1000000",
        "tc qdisc add dev near parent 1:1 handle 2: fq_codel limit 1000 flows 65535 quantum 1500 noecn",
    ];
    let sources = vec![
        source(0, 2500, 2500, 1000, 0, 0),
        source(0, 2500, 2000, 700, 1, 0),
        source(0, 2500, 200, 200, 2, 0),
    ];
    steady("fq_codel under load", &tc, sources, Judge::ByWindow { window_ms: 250, tolerance: 0.15 })
}

/// Everything that is compared.
pub(crate) fn all() -> Vec<Judged> {
    vec![
        burst("prio", "prio bands 3", 1000, mixed(40)),
        burst("pfifo_fast, full", "pfifo_fast", 8, mixed(40)),
        burst("sfq", "sfq divisor 65536 quantum 1514 limit 100", 1000, mixed(40)),
        burst("sfq, full", "sfq divisor 65536 quantum 1514 limit 20 depth 10", 1000, mixed(40)),
        burst(
            "sfq, head drop",
            "sfq divisor 65536 quantum 1514 limit 20 headdrop",
            1000,
            mixed(40),
        ),
        burst(
            "fq_codel",
            "fq_codel flows 65535 quantum 300 target 50s interval 99s",
            1000,
            mixed(40),
        ),
        burst(
            "fq_codel, full",
            "fq_codel flows 65535 quantum 300 limit 20 target 50s interval 99s",
            1000,
            mixed(40),
        ),
        burst("codel, full", "codel limit 20 target 50s interval 99s", 1000, mixed(40)),
        htb(),
        hfsc(),
        codel(),
        fq_codel(),
    ]
}
