//! The generator and the receiver on links in memory whose truth is known. Nearly all by a clock
//! that is stepped: the same on a machine that stalls.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // all of it is test code

use lab_search::stats::{ks, period};
use lab_traffic::arrivals::{Field, Imix, Process};
use lab_traffic::clock::Clock;
use lab_traffic::memory::{self, Account, Done, Line};
use lab_traffic::{End, Header, Plan, Rate, Side, Stream, TrafficResult, drive};
use lab_traffic::{FieldName, Vary};
use wire::MacAddr;

/// Each look at the clock takes this long: a few of them are an iteration.
const STEP_NS: u64 = 20;

fn stream(rate: Rate) -> Stream {
    let headers = vec![
        Header::Ethernet {
            source: MacAddr([2, 0, 0, 0, 0, 1]),
            destination: MacAddr([2, 0, 0, 0, 0, 2]),
            ethertype: None,
        },
        Header::Ipv4 {
            source: [198, 18, 0, 1].into(),
            destination: [198, 19, 0, 1].into(),
            ttl: 64,
            dscp: 0,
        },
        Header::Udp { source_port: 1_024, destination_port: 5_001 },
    ];
    Stream::new("s", headers, Imix::single(64), rate)
}

/// Sends for so long over a link with these faults.
fn send(
    clock: &Clock,
    there: &str,
    streams: [Vec<Stream>; 2],
    duration_s: f64,
) -> (TrafficResult, Account) {
    let (mut ends, account) = memory::pair(clock, there.parse().unwrap(), Line::default()).unwrap();
    let sides = ends.iter_mut().zip(streams).map(|(end, streams)| Side { end, streams }).collect();
    let plan = Plan::new(duration_s);
    (drive(clock, sides, &plan, &mut |_| true).unwrap(), account)
}

fn one_way(there: &str, stream: Stream, duration_s: f64) -> (TrafficResult, Account) {
    send(&Clock::stepped(STEP_NS), there, [vec![stream], vec![]], duration_s)
}

#[test]
fn a_wire_carries_all_of_both_directions() {
    let both = [vec![stream(Rate::Pps(1e6))], vec![stream(Rate::Pps(5e5)).reversed()]];
    let (result, _) = send(&Clock::stepped(STEP_NS), "", both, 0.05);
    let counts = |at: usize| {
        let stream = &result.streams[at];
        (stream.intended, stream.offered, stream.sequence.unique, stream.sequence.lost)
    };
    assert_eq!(counts(0), (50_000, 50_000, 50_000, 0));
    assert_eq!(counts(1), (25_000, 25_000, 25_000, 0));
    assert!(result.ends.iter().all(|end| end.foreign + end.stale + end.misdirected == 0));
    assert!(result.latency().max_ns() < 1_000, "{}", result.latency().max_ns());
}

#[test]
fn faults_that_were_made_are_counted_exactly() {
    let faults = "lose=10000,duplicate=3333,hold=7001,behind=40,delay=1us";
    let (result, account) = one_way(faults, stream(Rate::Pps(1e6)), 1.0);
    let (done, got) = (account.of(0), &result.streams[0].sequence);
    assert_eq!((got.lost, done.lost, got.loss_runs.clone()), (100, 100, vec![100]), "0.01 %");
    assert_eq!((got.duplicates, got.reordered), (done.duplicated, done.held));
    assert!(done.duplicated > 250 && done.held > 100, "{done:?}");
    assert_eq!((got.unique, got.is_exact()), (999_900, true));
}

#[test]
fn what_a_full_queue_loses_is_lost() {
    let (result, account) = one_way("capacity=500k,queue=100", stream(Rate::Pps(1e6)), 0.05);
    let Done { overflowed, .. } = account.of(0);
    assert_eq!(result.streams[0].sequence.lost, overflowed);
    assert!((24_500..25_000).contains(&overflowed), "{overflowed}");
}

#[test]
fn a_delay_line_is_measured_within_a_microsecond_and_a_hundredth() {
    for (delay, expected_ns) in [("20us", 20e3), ("1ms", 1e6), ("50ms", 50e6)] {
        let line = format!("delay={delay},queue=20000");
        let (result, _) = one_way(&line, stream(Rate::Pps(1e5)), 0.2);
        let latency = result.latency();
        for percent in [0.0, 50.0, 99.0, 100.0] {
            let off = (latency.percentile_ns(percent) as f64 - expected_ns).abs();
            assert!(off <= 1e3 + 0.01 * expected_ns, "{delay} p{percent}: {off} ns off");
        }
    }
}

/// The same by the machine's clock. A machine that is busy with other things makes packets late:
/// the fastest of them must be right all the same, and half of them where the generator was hardly
/// away.
#[test]
fn a_delay_line_is_measured_right_by_the_real_clock() {
    let clock = Clock::real();
    for (delay, expected_ns) in [("20us", 20e3), ("1ms", 1e6), ("50ms", 50e6)] {
        let right = |ns: u64| (ns as f64 - expected_ns).abs() <= 1e3 + 0.01 * expected_ns;
        let measured = (0..50).any(|_| {
            let line = format!("delay={delay},queue=20000");
            let streams = [vec![stream(Rate::Pps(1e5))], vec![]];
            let (result, _) = send(&clock, &line, streams, 0.03);
            let latency = result.latency();
            assert!(latency.min_ns() as f64 >= expected_ns, "{delay}: {}", latency.min_ns());
            let undisturbed = result.away.total_ns * 500 < result.elapsed_ns;
            assert!(!undisturbed || right(latency.percentile_ns(50.0)), "{delay}: {result:?}");
            right(latency.min_ns())
        });
        assert!(measured, "{delay} was never measured right");
    }
}

#[test]
fn the_jitter_of_a_known_pattern_is_that_of_the_pattern() {
    // Neighbours differ by 400 us; RFC 3550 converges to the mean difference.
    let (result, _) = one_way("delay=1ms,pattern=0us+400us", stream(Rate::Pps(1e3)), 0.5);
    let stream = &result.streams[0];
    assert!((stream.jitter_ns - 400e3).abs() < 1e3, "{}", stream.jitter_ns);
    assert!(stream.variation.pdv_max_ns.abs_diff(400_000) < 1_000);
    assert!((stream.variation.ipdv_mean_ns - 400e3).abs() < 1e3);
    assert_eq!(stream.sequence.reordered, 0);
}

#[test]
fn a_stall_of_200_us_each_100_ms_is_reported_with_its_period() {
    let (result, _) = one_way("delay=5us,stall=200us/100ms", stream(Rate::Pps(2e5)), 2.0);
    let receiver = result.ends.iter().find(|end| end.octets > 0).unwrap();
    let times: Vec<f64> = receiver.spikes.iter().map(|spike| spike.at_s).collect();
    assert!((19..=21).contains(&times.len()), "{} spikes", times.len());
    let found = period::find(&times).unwrap();
    assert!((found.period_s - 0.1).abs() < 0.001, "{}", found.period_s);
    let peak = receiver.spikes.iter().map(|spike| spike.peak).fold(0.0, f64::max);
    assert!((190e-6..210e-6).contains(&peak), "{peak}");
}

/// Arrival times on the far end of a wire: gaps as they are at the ring.
fn gaps_at_the_ring(arrivals: Process, pps: f64, duration_s: f64) -> Vec<f64> {
    let clock = Clock::stepped(STEP_NS);
    let ([mut a, mut b], _) = memory::pair(&clock, Line::default(), Line::default()).unwrap();
    let stamped = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    b.rx = Box::new(Stamping { inner: b.rx, clock: clock.clone(), times: stamped.clone() });
    let stream = Stream { arrivals, ..stream(Rate::Pps(pps)) };
    let sides = [(&mut a, vec![stream]), (&mut b, vec![])];
    let sides = sides.map(|(end, streams): (&mut End, Vec<Stream>)| Side { end, streams });
    drive(&clock, sides.into(), &Plan::new(duration_s), &mut |_| true).unwrap();
    let times = stamped.lock().unwrap();
    times.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect()
}

struct Stamping {
    inner: Box<dyn packet::RxQueue>,
    clock: Clock,
    times: std::sync::Arc<std::sync::Mutex<Vec<u64>>>,
}

impl packet::RxQueue for Stamping {
    fn receive(
        &mut self,
        cache: &mut dyn packet::PacketCache,
        most: usize,
        into: &mut Vec<packet::PacketBuf>,
    ) {
        let first = into.len();
        self.inner.receive(cache, most, into);
        self.times.lock().unwrap().extend(into[first..].iter().map(|_| self.clock.now_ns()));
    }
}

#[test]
fn poisson_gaps_pass_a_kolmogorov_smirnov_test_at_the_ring() {
    // A mean gap of 100 us against iterations of 0.2 us.
    let gaps = gaps_at_the_ring(Process::Poisson, 1e4, 0.5);
    assert!(gaps.len() > 4_500, "{}", gaps.len());
    let exponential = |gap_ns: f64| 1.0 - (-gap_ns / 1e5).exp();
    let p = ks::p_value(&gaps, exponential);
    assert!(p > 0.001, "p = {p}");
    let constant = gaps_at_the_ring(Process::Constant, 1e4, 0.1);
    assert!(ks::p_value(&constant, exponential) < 1e-6, "constant gaps must fail");
    assert!(constant.iter().all(|gap| (gap - 1e5).abs() < 1e3));
}

#[test]
fn streams_of_one_end_keep_apart_and_sizes_and_flows_are_as_asked() {
    let mixed = Stream {
        frame_bytes: Imix::parse("7a4d1g", 1_518).unwrap(),
        vary: vec![Vary {
            field: FieldName::DestinationIp,
            step: 1,
            order: Field::Permutation { count: 1_000_000, seed: 3 },
        }],
        ..stream(Rate::BitsPerS(1e9))
    };
    let counted = Stream { packets: Some(1_000), ..stream(Rate::Pps(1e6)) };
    let streams = [vec![mixed, counted], vec![]];
    let (result, _) = send(&Clock::stepped(STEP_NS), "", streams, 0.01);
    let [mixed, counted] = &result.streams[..] else { panic!() };
    assert_eq!((counted.offered, counted.sequence.unique), (1_000, 1_000));
    assert_eq!((mixed.sequence.lost, mixed.sequence.reordered), (0, 0));
    let bits_per_s = mixed.octets as f64 * 8.0 / 0.01;
    assert!((bits_per_s / 1e9 - 1.0).abs() < 0.01, "{bits_per_s}");
}

#[test]
fn a_generator_that_cannot_keep_up_says_what_it_did_not_send() {
    // A look at the clock takes 20 us: no iteration is fast enough for 10 Mpps.
    let clock = Clock::stepped(20_000);
    let (result, _) = send(&clock, "queue=100000", [vec![stream(Rate::Pps(1e7))], vec![]], 0.05);
    let stream = &result.streams[0];
    assert_eq!(stream.intended, 500_000);
    assert!(stream.offered < 400_000, "{}", stream.offered);
    assert_eq!(stream.sequence.lost, 0);
    // What left late shows as latency: packets carry the time at which they were to leave.
    assert!(stream.latency.percentile_ns(50.0) > 1_000_000);
    assert!(result.ends[0].lateness.percentile_ns(50.0) > 1_000_000);
    assert!(result.away.count > 0);
}

#[test]
fn somebody_who_wants_it_to_end_gets_what_was_measured() {
    let clock = Clock::stepped(STEP_NS);
    let (mut ends, _) = memory::pair(&clock, Line::default(), Line::default()).unwrap();
    let [a, b] = &mut ends;
    let sides = vec![
        Side { end: a, streams: vec![stream(Rate::Pps(1e6))] },
        Side { end: b, streams: vec![] },
    ];
    let plan = Plan::new(3600.0);
    let result = drive(&clock, sides, &plan, &mut |elapsed_ns| elapsed_ns < 20_000_000).unwrap();
    assert!(result.stopped);
    let stream = &result.streams[0];
    assert!((20_000..40_000).contains(&stream.offered), "{}", stream.offered);
    assert_eq!(stream.sequence.lost, 0);
}
