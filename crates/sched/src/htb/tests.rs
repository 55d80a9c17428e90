//! HTB by what its classes get.

use crate::testing::Bench;
use crate::units::{Rate, Size};
use crate::{Burst, ClassId, HtbClass, HtbShape, LinkLayer, Next, Packet, Shape};

const SECOND: u64 = 1_000_000_000;
const MBIT: u64 = 1_000_000;

fn id(minor: u16) -> ClassId {
    ClassId::new(1, minor)
}

/// A class by its number, parent (0: none), rate and ceil in Mbit/s.
fn class(minor: u16, parent: u16, rate: u64, ceil: u64) -> HtbClass {
    let parent = (parent != 0).then(|| id(parent));
    HtbClass {
        ceil: Some(Rate(ceil * MBIT)),
        ..HtbClass::new(id(minor), parent, Rate(rate * MBIT))
    }
}

fn htb(classes: Vec<HtbClass>) -> Bench {
    Bench::new(Shape::Htb(HtbShape {
        handle: id(0),
        default: None,
        r2q: 10,
        direct_packets: 1000,
        all_workers: false,
        classes,
    }))
}

/// Mbit/s that each of the classes gets in two seconds on a link of 1 Gbit/s.
fn rates(bench: &mut Bench, minors: &[u16]) -> Vec<f64> {
    let classes: Vec<_> = minors.iter().map(|&minor| (id(minor), 1000)).collect();
    let bytes = bench.compete(&classes, Rate(1000 * MBIT), 0..2 * SECOND);
    bytes.into_iter().map(|bytes| bytes as f64 * 8.0 / 2e6).collect()
}

fn assert_close(got: &[f64], wanted: &[f64]) {
    let close = got.iter().zip(wanted).all(|(got, wanted)| (got - wanted).abs() <= 0.02 * wanted);
    assert!(close, "got {got:?}, wanted {wanted:?}");
}

#[test]
fn a_leaf_alone_borrows_up_to_its_ceil() {
    let mut bench = htb(vec![class(1, 0, 10, 10), class(10, 1, 2, 6), class(20, 1, 3, 10)]);
    assert_close(&rates(&mut bench, &[10]), &[6.0]);
}

#[test]
fn rates_come_first_and_the_sum_keeps_the_ancestors_ceil() {
    let mut bench = htb(vec![class(1, 0, 10, 10), class(10, 1, 7, 10), class(20, 1, 3, 10)]);
    assert_close(&rates(&mut bench, &[10, 20]), &[7.0, 3.0]);
}

#[test]
fn the_excess_is_shared_by_quantum() {
    let mut classes = vec![class(1, 0, 30, 30), class(10, 1, 3, 30), class(20, 1, 3, 30)];
    classes[1].quantum = Some(Size(6000));
    classes[2].quantum = Some(Size(2000));
    // 24 Mbit/s are left over: 18 and 6.
    assert_close(&rates(&mut htb(classes), &[10, 20]), &[21.0, 9.0]);
}

#[test]
fn the_lower_priority_number_borrows_all_it_can_first() {
    let mut classes = vec![class(1, 0, 30, 30), class(10, 1, 3, 30), class(20, 1, 3, 30)];
    classes[2].prio = 1;
    assert_close(&rates(&mut htb(classes), &[10, 20]), &[27.0, 3.0]);
}

#[test]
fn a_deep_tree_keeps_every_ceil_on_the_way() {
    let mut classes = vec![class(1, 0, 100, 100)];
    for level in 2..=12 {
        classes.push(class(level, level - 1, 40, 100 - 5 * u64::from(level)));
    }
    classes.push(class(50, 1, 20, 100));
    let got = rates(&mut htb(classes), &[12, 50]);
    // The deep leaf: 40 Mbit/s in total at most. The other: all that is left of the root's 100.
    assert_close(&got, &[40.0, 60.0]);
}

#[test]
fn the_leaf_of_255_levels_borrows_from_the_top() {
    let mut classes = vec![class(1, 0, 10, 10)];
    classes.extend((2..=255).map(|level| class(level, level - 1, 1, 10)));
    assert_close(&rates(&mut htb(classes), &[255]), &[10.0]);
}

#[test]
fn a_link_too_slow_for_all_rights_goes_by_quantum_and_by_priority() {
    let three = || {
        let mut classes = vec![class(1, 0, 900, 900), class(2, 0, 900, 900), class(3, 0, 900, 900)];
        classes[0].quantum = Some(Size(6000));
        classes[1].quantum = Some(Size(2000));
        classes
    };
    assert_close(&rates(&mut htb(three()), &[1, 2]), &[750.0, 250.0]);
    let mut classes = three();
    classes[0].prio = 1;
    assert_close(&rates(&mut htb(classes), &[1, 2]), &[100.0, 900.0]);
}

#[test]
fn it_does_not_matter_how_late_it_is() {
    let from = |start_ns: u64| {
        let mut bench = htb(vec![class(1, 0, 10, 10), class(10, 1, 2, 6), class(20, 1, 3, 10)]);
        let classes = [10, 20].map(|minor| (id(minor), 1000));
        let link = Rate(1000 * MBIT);
        // It has worked before, so that times are kept from then on.
        let before = bench.compete(&classes, link, 0..SECOND);
        let got = bench.compete(&classes, link, start_ns..start_ns + 2 * SECOND);
        (before, got)
    };
    let years_ns = 365 * 24 * 3600 * SECOND;
    let soon = from(100 * SECOND);
    // At the second the last time that can be told from the first moment lies within.
    for start_ns in [(1 << 53) - SECOND, years_ns, 100 * years_ns] {
        assert_eq!(from(start_ns), soon);
    }
}

#[test]
fn two_roots_do_not_lend_to_each_other() {
    let mut bench = htb(vec![class(1, 0, 10, 10), class(2, 0, 5, 5)]);
    assert_close(&rates(&mut bench, &[1, 2]), &[10.0, 5.0]);
}

#[test]
fn rates_hold_from_one_megabit_to_ten_gigabit() {
    for mbit in [1, 10, 100, 1000, 10_000] {
        let mut bench = htb(vec![class(1, 0, mbit, mbit)]);
        let span = 20_000 * SECOND / mbit / 100;
        let bytes = bench.compete(&[(id(1), 1500)], Rate(100_000 * MBIT), 0..span)[0];
        let rate = bytes as f64 * 8e3 / span as f64;
        assert!((rate / mbit as f64 - 1.0).abs() < 0.02, "{mbit} Mbit/s: {rate}");
    }
}

/// Three levels on a link of 128 Gbit/s, of which the middle one is brought to its ceil.
fn fast_tree() -> Bench {
    htb(vec![
        class(1, 0, 80_000, 80_000),
        class(2, 1, 20_000, 40_000),
        class(10, 2, 5_000, 40_000),
        class(11, 2, 10_000, 30_000),
        class(20, 1, 10_000, 80_000),
        class(21, 1, 1_000, 2_000),
    ])
}

#[test]
fn a_fast_link_is_shared_in_bursts_as_packet_by_packet_and_ceils_hold() {
    // Whole nanoseconds each.
    for length in [64, 800, 1600] {
        let leaves = [10, 11, 20, 21].map(|minor| (id(minor), length));
        let link = Rate(128_000 * MBIT);
        let one_by_one = fast_tree().compete(&leaves, link, 0..20_000_000);
        let mut bench = fast_tree();
        let got = bench.compete_in_bursts(&leaves, link, 0..20_000_000);
        for (in_bursts, alone) in got.iter().zip(&one_by_one) {
            let share = *in_bursts as f64 / *alone as f64;
            assert!((share - 1.0).abs() < 0.02, "{length}: {got:?} and {one_by_one:?}");
        }
        // 20 ms of a ceil's rate, its burst of 0.1 ms, a visit and its last packet, and the burst
        // of 32 that was begun before the end.
        let most = |gbit: u64| gbit * 125_000 * 201 / 10 + 1600 + 2800 + 33 * 1600;
        assert!(got[0] + got[1] <= most(40) && got[1] <= most(30) && got[3] <= most(2), "{got:?}");
        assert!(got.iter().sum::<u64>() <= most(80), "{got:?}");
        let report = bench.report();
        assert_eq!(report.counters.sent_bytes, got.iter().sum::<u64>());
        assert_eq!(report.counters.sent_packets, report.counters.sent_bytes / u64::from(length));
    }
}

#[test]
fn bursts_of_a_slow_link_are_its_packets_one_by_one() {
    let tree = || {
        let mut bench =
            htb(vec![class(1, 0, 1000, 1000), class(10, 1, 2, 900), class(20, 1, 1, 900)]);
        for handle in 0..200 {
            let class = id(10 + 10 * (handle % 2) as u16);
            let _ = bench.offer_packet(0, Packet::new(handle, 700, 0).in_class(class));
        }
        bench
    };
    let (mut one_by_one, mut in_bursts) = (tree(), tree());
    for now_ns in (0..2_000_000).step_by(50_000) {
        let (sent, _) = in_bursts.take_burst(now_ns, 1000);
        let handles: Vec<_> = sent.iter().map(|sent| sent.handle).collect();
        assert_eq!(one_by_one.take_all(now_ns), handles);
    }
    assert_eq!(in_bursts.take_burst(SECOND, 1000).1, Burst::Empty);
}

#[test]
fn packets_of_no_class_pass_unshaped() {
    let mut bench = htb(vec![class(1, 0, 1, 1)]);
    for handle in 0..50 {
        bench.offer(0, handle, 1500, 0);
    }
    assert_eq!(bench.take_all(0).len(), 50);
    assert_eq!(bench.report().gauge_value("direct_packets"), Some(50));
}

#[test]
fn a_waiting_class_says_when_it_may_go_on() {
    let mut classes = vec![class(1, 0, 8, 8)];
    (classes[0].burst, classes[0].cburst) = (Some(Size(1000)), Some(Size(1000)));
    let mut bench = htb(classes);
    for handle in 0..3 {
        bench.offer_packet(0, Packet::new(handle, 2000, 0).in_class(id(1)));
    }
    // 2000 bytes out of a bucket of 1000 leave a debt of 1000 bytes: 1 ms.
    assert_eq!(bench.take_all(0), [0]);
    assert_eq!(bench.dequeue(0), Next::Wait(1_000_000));
    assert!(bench.take_all(999_999).is_empty());
    assert_eq!(bench.take_all(1_000_000), [1]);
}

#[test]
fn who_lent_and_who_borrowed_is_counted() {
    let mut bench = htb(vec![class(1, 0, 10, 10), class(10, 1, 2, 10)]);
    rates(&mut bench, &[10]);
    let report = bench.report();
    let (parent, leaf) = (report.find(id(1)).unwrap(), report.find(id(10)).unwrap());
    let borrowed = leaf.gauge_value("borrowed").unwrap();
    assert_eq!(parent.gauge_value("lended"), Some(borrowed));
    let lended = leaf.gauge_value("lended").unwrap();
    assert_eq!((borrowed + lended) as u64, leaf.children[0].counters.sent_packets);
    assert_eq!(report.counters.sent_bytes, leaf.children[0].counters.sent_bytes);
    assert!((borrowed as f64 / lended as f64 - 4.0).abs() < 0.2, "{borrowed} {lended}");
    assert_eq!(leaf.backlog.packets, 20);
}

#[test]
fn a_leaf_that_an_aqm_empties_is_passed_over() {
    let mut classes = vec![class(1, 0, 1, 1), class(10, 1, 1, 1), class(20, 1, 1, 1)];
    classes[1].rate = Rate(500_000);
    classes[2].rate = Rate(500_000);
    classes[1].leaf = Some(Shape::codel());
    let mut bench = htb(classes);
    let bytes = bench.compete(&[(id(10), 1500), (id(20), 1500)], Rate(100 * MBIT), 0..20 * SECOND);
    assert!(bytes.iter().all(|&bytes| bytes > 1_000_000), "{bytes:?}");
    assert!(!bench.dropped.is_empty());
}

/// Times at which packets of 1000 bytes go that came at once, in microseconds.
fn times(bench: &mut Bench, class: ClassId, packets: u64) -> Vec<u64> {
    for handle in 0..packets {
        bench.offer_packet(0, Packet::new(handle, 1000, 0).in_class(class));
    }
    let (mut times, mut now_ns) = (Vec::new(), 0);
    loop {
        match bench.dequeue(now_ns) {
            Next::Packet(_) => times.push(now_ns / 1000),
            Next::Wait(until_ns) => now_ns = until_ns,
            Next::Empty => return times,
        }
    }
}

#[test]
fn a_link_of_cells_is_paid_for_in_cells() {
    let of = |linklayer| {
        let one = HtbClass {
            linklayer,
            burst: Some(Size(1)),
            cburst: Some(Size(1)),
            ..class(1, 0, 8, 8)
        };
        times(&mut htb(vec![one]), id(1), 4)
    };
    // A byte goes in 1 us. 1000 bytes take 21 cells: 1113 bytes. The first finds a full bucket of a
    // byte, and goes into debt.
    assert_eq!(of(LinkLayer::Ethernet), [0, 999, 1999, 2999]);
    assert_eq!(of(LinkLayer::Atm), [0, 1112, 2225, 3338]);
}

#[test]
fn promises_above_the_parents_ceil_are_kept_in_part_and_its_ceil_whole() {
    let tree = || htb(vec![class(1, 0, 10, 10), class(10, 1, 8, 8), class(20, 1, 16, 16)]);
    assert_close(&rates(&mut tree(), &[10, 20]), &[10.0 / 3.0, 20.0 / 3.0]);
    // Alone, a class has more than its part: all that its own ceil and its parent's allow.
    assert_close(&rates(&mut tree(), &[10]), &[8.0]);
    assert_close(&rates(&mut tree(), &[20]), &[10.0]);
}

#[test]
fn a_rate_above_its_own_ceil_counts_as_the_ceil() {
    let mut bench = htb(vec![class(1, 0, 20, 10)]);
    assert_close(&rates(&mut bench, &[1]), &[10.0]);
}

#[test]
fn an_oversubscribed_level_below_another_keeps_to_both_ceils() {
    let mut bench = htb(vec![
        class(1, 0, 10, 10),
        class(2, 1, 8, 30),
        class(3, 1, 8, 30),
        class(10, 2, 20, 30),
        class(20, 2, 20, 30),
        class(30, 3, 20, 30),
    ]);
    assert_close(&rates(&mut bench, &[10, 20, 30]), &[2.5, 2.5, 5.0]);
}

#[test]
fn a_class_that_was_spent_sends_a_packet_and_then_no_more_than_its_rate() {
    // 1000 bytes a millisecond.
    let offered = |spent: bool| {
        let mut bench = htb(vec![class(10, 0, 8, 8)]);
        if spent {
            bench.spend(SECOND);
        }
        for handle in 0..100 {
            bench.offer_packet(SECOND, Packet::new(handle, 1000, 0).in_class(id(10)));
        }
        bench.take_all(SECOND).len()
    };
    assert!(offered(false) > 1, "a class that begins has its burst");
    assert_eq!(offered(true), 1);
}
