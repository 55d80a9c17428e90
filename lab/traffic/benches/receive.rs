//! What the receiver costs a packet: the trackers, each alone and together, on one core.

use std::hint::black_box;
use std::time::Instant;

use lab_record::Histogram;
use lab_search::random::Random;
use lab_traffic::receive::SequenceTracker;
use lab_traffic::receive::delay_variation::DelayVariationTracker;
use lab_traffic::receive::jitter::Jitter;
use lab_traffic::receive::rate_windows::RateWindows;
use lab_traffic::test_frame::Signature;

const PACKETS: u64 = 5_000_000;

/// The least of several rounds: what is left when nothing interrupts.
fn measure(name: &str, mut round: impl FnMut()) {
    let times = (0..7).map(|_| {
        let start = Instant::now();
        round();
        start.elapsed().as_secs_f64()
    });
    let least_s = times.fold(f64::INFINITY, f64::min);
    println!("{name:<28}{:>8.2} ns a packet", 1e9 * least_s / PACKETS as f64);
}

fn main() {
    let mut random = Random::new(1);
    let latencies: Vec<u64> =
        (0..4_096).map(|_| 4_000 + (2_000.0 * random.exponential()) as u64).collect();
    let latency = |packet: u64| latencies[(packet % 4_096) as usize];
    let mut frame = [0u8; 60];
    let signature = Signature { sequence: 7, intended_ns: 1_234_567_890, flow: None };
    if signature.write(&mut frame).is_err() {
        return;
    }
    measure("read the signature", || {
        for _ in 0..PACKETS {
            black_box(Signature::read(black_box(&frame), false));
        }
    });
    measure("histogram", || {
        let mut histogram = Histogram::default();
        (0..PACKETS).for_each(|packet| histogram.record(latency(packet)));
        black_box(&histogram);
    });
    measure("sequence, in order", || {
        let mut tracker = SequenceTracker::new(1 << 16);
        (0..PACKETS).for_each(|packet| {
            tracker.observe(packet);
        });
        black_box(tracker.finish(PACKETS));
    });
    measure("sequence, pairs swapped", || {
        let mut tracker = SequenceTracker::new(1 << 16);
        (0..PACKETS).for_each(|packet| {
            tracker.observe(packet ^ 1);
        });
        black_box(tracker.finish(PACKETS));
    });
    measure("everything", || {
        let mut histogram = Histogram::default();
        let mut tracker = SequenceTracker::new(1 << 16);
        let (mut jitter, mut variation) = (Jitter::default(), DelayVariationTracker::default());
        let mut windows = RateWindows::new(0, 2_000);
        for packet in 0..PACKETS {
            black_box(Signature::read(black_box(&frame), false));
            let latency_ns = latency(packet);
            histogram.record(latency_ns);
            tracker.observe(packet);
            jitter.observe(latency_ns as i64);
            variation.observe(latency_ns);
            windows.observe(packet * 70, 1);
        }
        black_box((variation.finish(&histogram), jitter.ns(), windows.per_ms().len()));
    });
}
