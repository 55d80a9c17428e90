//! HFSC by what its classes get, and when.

use crate::testing::Bench;
use crate::units::{Rate, Time};
use crate::{ClassId, Curve, HfscClass, HfscShape, Next, Packet, PrioShape, Shape, Verdict};

const SECOND: u64 = 1_000_000_000;
const MBIT: u64 = 1_000_000;

fn id(minor: u16) -> ClassId {
    ClassId::new(1, minor)
}

fn straight(mbit: u64) -> Option<Curve> {
    Some(Curve::straight(Rate(mbit * MBIT)))
}

/// A link-share class by its number, parent (0: none) and share in Mbit/s.
fn share(minor: u16, parent: u16, mbit: u64) -> HfscClass {
    HfscClass { ls: straight(mbit), ..HfscClass::new(id(minor), (parent != 0).then(|| id(parent))) }
}

fn hfsc(classes: Vec<HfscClass>) -> Bench {
    Bench::new(Shape::Hfsc(HfscShape { handle: id(0), default: None, classes }))
}

/// Mbit/s that each of the classes gets in two seconds.
fn rates(bench: &mut Bench, minors: &[u16], link_mbit: u64) -> Vec<f64> {
    let classes: Vec<_> = minors.iter().map(|&minor| (id(minor), 1000)).collect();
    let bytes = bench.compete(&classes, Rate(link_mbit * MBIT), 0..2 * SECOND);
    bytes.into_iter().map(|bytes| bytes as f64 * 8.0 / 2e6).collect()
}

fn assert_close(got: &[f64], wanted: &[f64]) {
    let close = got.iter().zip(wanted).all(|(got, wanted)| (got - wanted).abs() <= 0.02 * wanted);
    assert!(close, "got {got:?}, wanted {wanted:?}");
}

#[test]
fn the_link_is_shared_in_proportion_at_every_level() {
    let mut bench = hfsc(vec![
        share(1, 0, 3),
        share(2, 0, 1),
        share(11, 1, 1),
        share(12, 1, 2),
        share(21, 2, 5),
    ]);
    assert_close(&rates(&mut bench, &[11, 12, 21], 40), &[10.0, 20.0, 10.0]);
}

#[test]
fn a_fast_link_is_shared_in_bursts_as_packet_by_packet_and_limits_hold() {
    // Two promises among the leaves, a limit above one of them and one above both.
    let tree = || {
        let mut all = vec![
            share(1, 0, 80_000),
            share(2, 1, 40_000),
            share(10, 2, 10_000),
            share(11, 2, 30_000),
            share(20, 1, 40_000),
            share(21, 1, 1_000),
        ];
        (all[1].ul, all[3].ul) = (straight(50_000), straight(20_000));
        (all[2].rt, all[5].rt) = (straight(5_000), straight(2_000));
        hfsc(all)
    };
    // Whole nanoseconds each.
    for length in [64, 800, 1600] {
        let leaves = [10, 11, 20, 21].map(|minor| (id(minor), length));
        let (link, span_ns) = (Rate(128_000 * MBIT), 20_000_000);
        let one_by_one = tree().compete(&leaves, link, 0..span_ns);
        let mut bench = tree();
        let got = bench.compete_in_bursts(&leaves, link, 0..span_ns);
        for (in_bursts, alone) in got.iter().zip(&one_by_one) {
            let share = *in_bursts as f64 / *alone as f64;
            assert!((share - 1.0).abs() < 0.02, "{length}: {got:?} and {one_by_one:?}");
        }
        // A visit and its last packet, and the burst of 32 that was begun before the end.
        let most = |gbit: u64| gbit * 125_000 * 20 + 2800 + 33 * 1600;
        assert!(got[0] + got[1] <= most(50) && got[1] <= most(20), "{got:?}");
        let report = bench.report();
        assert_eq!(report.counters.sent_bytes, got.iter().sum::<u64>());
        assert_eq!(report.counters.sent_packets, report.counters.sent_bytes / u64::from(length));
    }
}

#[test]
fn an_idle_classs_share_goes_to_its_brothers_first() {
    let mut bench = hfsc(vec![share(1, 0, 1), share(2, 0, 1), share(11, 1, 1), share(12, 1, 1)]);
    assert_close(&rates(&mut bench, &[11, 2], 40), &[20.0, 20.0]);
}

#[test]
fn an_upper_limit_holds_although_the_link_is_idle() {
    let mut limited = share(1, 0, 1);
    limited.ul = straight(6);
    let mut bench = hfsc(vec![limited, share(11, 1, 1), share(12, 1, 2)]);
    assert_close(&rates(&mut bench, &[11, 12], 100), &[2.0, 4.0]);
}

#[test]
fn a_brother_that_waits_for_its_limit_holds_up_no_other() {
    let mut limited = share(11, 1, 3);
    limited.ul = straight(1);
    let mut bench = hfsc(vec![share(1, 0, 1), share(2, 0, 1), limited, share(12, 1, 1)]);
    assert_close(&rates(&mut bench, &[11, 12, 2], 40), &[1.0, 19.0, 20.0]);
}

#[test]
fn who_comes_while_a_brother_waits_for_its_limit_goes_at_once() {
    let mut limited = share(11, 1, 1);
    limited.ul = straight(1);
    let mut bench = hfsc(vec![share(1, 0, 1), limited, share(12, 1, 1)]);
    for handle in 0..2 {
        bench.offer_packet(0, Packet::new(handle, 1000, 0).in_class(id(11)));
    }
    assert_eq!(bench.take_all(0), [0]);
    assert!(matches!(bench.dequeue(1000), Next::Wait(until_ns) if until_ns > 7_000_000));
    bench.offer_packet(1000, Packet::new(2, 1000, 0).in_class(id(12)));
    assert_eq!(bench.take_all(1000), [2]);
}

#[test]
fn limits_hold_from_one_megabit_to_ten_gigabit() {
    for mbit in [1, 10, 100, 1000, 10_000] {
        let mut limited = share(1, 0, 1);
        limited.ul = straight(mbit);
        let span = 20_000 * SECOND / mbit / 100;
        let mut bench = hfsc(vec![limited]);
        let bytes = bench.compete(&[(id(1), 1500)], Rate(100_000 * MBIT), 0..span)[0];
        let rate = bytes as f64 * 8e3 / span as f64;
        assert!((rate / mbit as f64 - 1.0).abs() < 0.02, "{mbit} Mbit/s: {rate}");
    }
}

#[test]
fn a_real_time_rate_is_kept_against_a_greedy_share() {
    let mut voice = HfscClass::new(id(1), None);
    voice.rt = straight(2);
    let mut bench = hfsc(vec![voice, share(2, 0, 100)]);
    assert_close(&rates(&mut bench, &[1, 2], 10), &[2.0, 8.0]);
}

/// The longest that a 160-byte packet, one every 20 ms, waits beside bulk traffic on a link of 1
/// Mbit/s.
fn voice_delay(rt: Curve) -> u64 {
    let mut voice = HfscClass::new(id(1), None);
    voice.rt = Some(rt);
    let mut bulk = share(2, 0, 1);
    bulk.rt = Some(Curve::straight(Rate(700_000)));
    let mut bench = hfsc(vec![voice, bulk]);
    let link_ns_per_byte = 8_000;
    let (mut now_ns, mut next_voice, mut worst) = (0, 0, 0);
    let mut arrivals = std::collections::VecDeque::new();
    for handle in 1000..1020 {
        bench.offer_packet(0, Packet::new(handle, 1500, 0).in_class(id(2)));
    }
    while now_ns < 10 * SECOND {
        while next_voice <= now_ns {
            arrivals.push_back(next_voice);
            bench.offer_packet(next_voice, Packet::new(1, 160, 0).in_class(id(1)));
            next_voice += 20_000_000;
        }
        match bench.dequeue(now_ns) {
            Next::Packet(sent) => {
                now_ns += u64::from(sent.length_bytes) * link_ns_per_byte;
                if sent.handle == 1 {
                    worst = worst.max(now_ns - arrivals.pop_front().unwrap());
                } else {
                    bench.offer_packet(now_ns, Packet::new(sent.handle, 1500, 0).in_class(id(2)));
                }
            }
            Next::Wait(until_ns) => now_ns = until_ns.min(next_voice),
            Next::Empty => now_ns = next_voice,
        }
    }
    worst
}

#[test]
fn on_a_link_with_nothing_else_a_promise_is_kept_to_the_nanosecond() {
    let mut bench = hfsc(vec![HfscClass { rt: straight(8), ..HfscClass::new(id(1), None) }]);
    for handle in 0..3 {
        bench.offer_packet(0, Packet::new(handle, 1000, 0).in_class(id(1)));
    }
    // A byte a microsecond.
    assert_eq!(bench.take_all(0), [0]);
    for (handle, at_ns) in [(1, 1_000_000), (2, 2_000_000)] {
        assert_eq!(bench.dequeue(at_ns - 1), Next::Wait(at_ns));
        assert_eq!(bench.take_all(at_ns), [handle]);
    }
    assert_eq!(bench.dequeue(2_000_000), Next::Empty);
}

#[test]
fn a_concave_curve_gives_little_delay_at_a_low_rate() {
    let rate = Rate(64_000);
    let straight = voice_delay(Curve::straight(rate));
    let concave = voice_delay(Curve { m1: Rate(256_000), d: Time(5_000_000), m2: rate });
    // By the rate alone 160 bytes are due after 20 ms, by the curve after 5; a bulk packet on the
    // wire adds 12.
    assert!(straight > 20_000_000, "{straight}");
    assert!(concave <= 17_010_000, "{concave}");
}

#[test]
fn a_class_that_was_idle_gets_no_credit_for_it() {
    let mut bench = hfsc(vec![share(1, 0, 1), share(2, 0, 1)]);
    let alone = bench.compete(&[(id(2), 1000)], Rate(10 * MBIT), 0..SECOND);
    assert!(alone[0] > 1_200_000);
    let both = bench.compete(&[(id(2), 1000), (id(1), 1000)], Rate(10 * MBIT), SECOND..2 * SECOND);
    let ratio = both[0] as f64 / both[1] as f64;
    assert!((ratio - 1.0).abs() < 0.05, "{both:?}");
}

#[test]
fn without_a_default_packets_of_no_class_are_dropped() {
    let mut bench = hfsc(vec![share(1, 0, 1)]);
    assert_eq!(bench.offer(0, 5, 100, 0), Verdict::Dropped);
    assert_eq!(bench.dropped_handles(), [5]);
}

#[test]
fn work_by_deadline_is_told_apart() {
    let mut voice = HfscClass::new(id(1), None);
    voice.rt = straight(2);
    voice.ls = straight(2);
    let mut bench = hfsc(vec![voice]);
    rates(&mut bench, &[1], 10);
    let report = bench.report();
    let class = report.find(id(1)).unwrap();
    let by_deadline = class.gauge_value("rtwork_bytes").unwrap() as f64;
    let all = class.gauge_value("work_bytes").unwrap() as f64;
    assert!((all / 2.5e6 - 1.0).abs() < 0.02 && (by_deadline / 0.5e6 - 1.0).abs() < 0.05);
}

#[test]
fn disciplines_that_choose_their_head_late_stand_at_the_leaves() {
    let handle = ClassId::new(2, 0);
    let bands = vec![Shape::pfifo(100); 3];
    let prio = Shape::Prio(PrioShape { handle, bands, priomap: [1; 16] });
    for leaf in [Shape::sfq(), Shape::codel(), Shape::fq_codel(), prio.clone()] {
        let mut one = share(1, 0, 1);
        one.rt = straight(1);
        one.leaf = Some(leaf);
        let mut bench = hfsc(vec![one, share(2, 0, 3)]);
        let bytes = bench.compete(&[(id(1), 1000), (id(2), 1000)], Rate(4 * MBIT), 0..4 * SECOND);
        assert!((bytes[0] as f64 / 500_000.0 - 1.0).abs() < 0.1, "{bytes:?}");
    }
}
