//! One tree that several workers serve: what it sends is what one worker would, within a bound.

use proptest::prelude::*;
use sched::units::{Rate, Size};
use sched::{
    Burst, ClassId, Config, HtbClass, HtbShape, LinkLayer, Next, Packet, Report, Scheduler, Sent,
    SfqShape, Shape, build_for,
};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

const SECOND: u64 = 1_000_000_000;
const MBIT: u64 = 1_000_000;
const LONGEST: u32 = 1514;

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

fn tree(classes: Vec<HtbClass>) -> Config {
    let all_workers = true;
    Config::of(Shape::Htb(HtbShape { handle: id(0), all_workers, classes, ..HtbShape::default() }))
}

/// What a worker is lent of a class at a time.
fn piece(rate: u64) -> u64 {
    (rate / 8 / 2000).max(LONGEST.into())
}

/// The workers of one tree, each with a clock that wakes it when its scheduler asked for it, and
/// late by up to 20 us.
struct Workers {
    parts: Vec<Box<dyn Scheduler<u64>>>,
    due_ns: Vec<u64>,
    now_ns: u64,
    seed: u64,
    out: Vec<Sent<u64>>,
    dropped: Vec<u64>,
}

impl Workers {
    fn new(config: &Config, workers: usize) -> Self {
        let parts: Vec<_> = build_for::<u64>(config, workers).unwrap();
        let due_ns = vec![u64::MAX; parts.len()];
        let (out, dropped) = (Vec::new(), Vec::new());
        Self { parts, due_ns, now_ns: 0, seed: 1, out, dropped }
    }

    fn offer(&mut self, worker: usize, packet: Packet<u64>) {
        let dropped = &mut self.dropped;
        let _ = self.parts[worker].enqueue(self.now_ns, packet, &mut |it| dropped.push(it.handle));
    }

    /// A worker's round: what leaves stands in `out`.
    fn round(&mut self, worker: usize) {
        self.out.clear();
        let (part, dropped) = (&mut self.parts[worker], &mut self.dropped);
        let due_ns = loop {
            let mut drops = |it: sched::Dropped<u64>| dropped.push(it.handle);
            match part.dequeue_burst(self.now_ns, 32, &mut self.out, &mut drops) {
                Burst::More => {}
                Burst::Wait(until_ns) => {
                    assert!(
                        until_ns > self.now_ns && until_ns < u64::MAX,
                        "it waits for {until_ns}"
                    );
                    break until_ns;
                }
                Burst::Empty => break u64::MAX,
            }
        };
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.due_ns[worker] = due_ns.saturating_add((self.seed >> 40) % 20_000);
    }

    /// Who is due next.
    fn next(&self) -> Option<usize> {
        (0..self.parts.len())
            .filter(|&at| self.due_ns[at] != u64::MAX)
            .min_by_key(|&at| self.due_ns[at])
    }

    /// Keeps 20 packets of each flow waiting, each at its worker: (worker, class, flow, length).
    /// Bytes that each flow gets a second, in the second behind the first fifth of one.
    fn compete(&mut self, flows: &[(usize, u16, u32, u32)]) -> Vec<f64> {
        let workers = self.parts.len();
        let packet = |at: usize| {
            let (_, class, flow, length) = flows[at];
            Packet::new(at as u64, length, flow).in_class(id(class))
        };
        for (at, flow) in flows.iter().enumerate() {
            (0..20).for_each(|_| self.offer(flow.0 % workers, packet(at)));
        }
        let mut got = vec![0.0; flows.len()];
        (0..workers).for_each(|worker| self.due_ns[worker] = 0);
        while self.now_ns < SECOND * 6 / 5 {
            let worker = self.next().unwrap();
            self.now_ns = self.now_ns.max(self.due_ns[worker]);
            self.round(worker);
            let handles: Vec<u64> = self.out.iter().map(|sent| sent.handle).collect();
            for &handle in &handles {
                if self.now_ns >= SECOND / 5 {
                    got[handle as usize] += f64::from(flows[handle as usize].3);
                }
            }
            for handle in handles.into_iter().chain(std::mem::take(&mut self.dropped)) {
                self.offer(worker, packet(handle as usize));
            }
            if self.out.is_empty() {
                continue;
            }
            // What was offered behind the round asks in the next one, at once.
            self.due_ns[worker] = self.due_ns[worker].min(self.now_ns + 1);
        }
        got
    }

    fn report(&self) -> Report {
        Report::joined(self.parts.iter().map(|part| part.report()).enumerate()).unwrap()
    }
}

/// Each flow's rate with so many workers, and with one.
fn beside_one(config: &Config, workers: usize, flows: &[(usize, u16, u32, u32)]) -> [Vec<f64>; 2] {
    [workers, 1].map(|workers| Workers::new(config, workers).compete(flows))
}

fn assert_within(percent: f64, [got, wanted]: &[Vec<f64>; 2]) {
    let close = |(got, wanted): (&f64, &f64)| (got - wanted).abs() <= wanted * percent / 100.0;
    assert!(got.iter().zip(wanted).all(close), "got {got:?}, one worker {wanted:?}");
}

#[test]
fn a_class_that_one_of_the_workers_serves_alone_has_all_its_rate() {
    for (rate, length) in [(1, 1514), (40, 1514), (40, 100), (2500, 1514)] {
        let config = tree(vec![class(1, 0, rate, rate), class(10, 1, rate, rate)]);
        let got = Workers::new(&config, 4).compete(&[(2, 10, 7, length)])[0];
        let wanted = (rate * MBIT / 8) as f64;
        // To a packet, of which the slowest sends 82 a second.
        assert!(got >= wanted * 0.99 && got <= wanted * 1.01 + 1514.0, "{got} of {wanted}");
    }
}

#[test]
fn classes_share_as_with_one_worker_wherever_their_packets_come() {
    let classes = vec![
        class(1, 0, 100, 100),
        class(10, 1, 60, 100),
        class(20, 1, 30, 100),
        class(30, 1, 10, 100),
    ];
    let config = tree(classes);
    for workers in [2, 4] {
        // Each class at a worker of its own; all at all; most at one.
        let apart = [(0, 10, 1, 1000), (1, 20, 2, 1514), (2, 30, 3, 300)];
        assert_within(3.0, &beside_one(&config, workers, &apart));
        let mut some = apart.to_vec();
        some.extend([(3, 10, 4, 1000), (0, 20, 5, 1514)]);
        let [got, one] = beside_one(&config, workers, &some);
        let by_class = |got: &[f64]| vec![got[0] + got[3], got[1] + got[4], got[2]];
        assert_within(3.0, &[by_class(&got), by_class(&one)]);
    }
}

#[test]
fn what_is_left_over_goes_to_whom_it_would_with_one_worker() {
    let mut by_quantum = vec![class(1, 0, 90, 90), class(10, 1, 10, 90), class(20, 1, 10, 90)];
    (by_quantum[1].quantum, by_quantum[2].quantum) = (Some(Size(6000)), Some(Size(2000)));
    let mut by_priority = vec![class(1, 0, 90, 90), class(10, 1, 10, 90), class(20, 1, 10, 90)];
    by_priority[2].prio = 1;
    let idle =
        vec![class(1, 0, 90, 90), class(10, 1, 10, 50), class(20, 1, 10, 90), class(30, 1, 60, 90)];
    let deep = vec![
        class(1, 0, 90, 90),
        class(2, 1, 60, 80),
        class(3, 1, 30, 90),
        class(10, 2, 10, 70),
        class(20, 3, 10, 90),
        class(30, 2, 20, 80),
    ];
    for classes in [by_quantum, by_priority, idle, deep] {
        let config = tree(classes);
        for workers in [2, 4] {
            let both = beside_one(&config, workers, &[(0, 10, 1, 1514), (1, 20, 2, 1514)]);
            assert_within(3.0, &both);
        }
    }
}

#[test]
fn a_class_sends_more_than_its_rate_by_borrowing_with_all_its_workers() {
    let config = tree(vec![class(1, 0, 1000, 1000), class(10, 1, 1, 1000)]);
    let got = Workers::new(&config, 2).compete(&[(0, 10, 1, 1514), (1, 10, 2, 1514)]);
    assert!(got[0] + got[1] > 0.97 * 125e6, "{got:?}");
    assert!((got[0] - got[1]).abs() < 0.03 * got[0], "{got:?}");
}

#[test]
fn flows_of_a_class_share_alike_however_they_are_spread() {
    let sfq = SfqShape { divisor: 65_536, limit: 1000, ..SfqShape::default() };
    let config = tree(vec![HtbClass { leaf: Some(sfq.into()), ..class(10, 0, 40, 40) }]);
    let flows =
        [(0, 10, 1, 1000), (0, 10, 2, 1000), (0, 10, 3, 1000), (1, 10, 4, 1000), (2, 10, 5, 1000)];
    for workers in [2, 3, 4] {
        assert_within(3.0, &beside_one(&config, workers, &flows));
    }
}

#[test]
fn what_the_link_adds_is_paid_for_by_each_worker() {
    let mut top = class(10, 0, 40, 40);
    (top.overhead, top.mpu, top.linklayer) = (26, 84, LinkLayer::Atm);
    for length in [60, 100, 1500] {
        let flows = [(0, 10, 1, length), (1, 10, 2, length)];
        let [got, one] = beside_one(&tree(vec![top.clone()]), 2, &flows);
        assert_within(3.0, &[vec![got[0] + got[1]], vec![one[0] + one[1]]]);
    }
}

#[test]
fn the_report_is_of_all_workers_together() {
    let config = tree(vec![class(1, 0, 100, 100), class(10, 1, 60, 100), class(20, 1, 40, 100)]);
    let mut workers = Workers::new(&config, 2);
    workers.compete(&[(0, 10, 1, 1000), (1, 10, 2, 1000), (1, 20, 3, 1000)]);
    let report = workers.report();
    let parts = [0, 1].map(|at| workers.parts[at].report().counters.sent_packets);
    assert!(parts.iter().all(|&sent| sent > 1000), "{parts:?}");
    assert_eq!(report.counters.sent_packets, parts[0] + parts[1]);
    assert_eq!(report.gauge_value("worker_1_packets"), Some(parts[1] as i64));
    let (top, ten) = (report.find(id(1)).unwrap(), report.find(id(10)).unwrap());
    assert_eq!(top.counters.sent_bytes, report.counters.sent_bytes);
    assert_eq!(top.counters.sent_packets, report.counters.sent_packets);
    assert!(ten.gauge_value("tokens_ns").is_some());
    let told = |name| ten.gauge_value(name).unwrap() as u64;
    assert_eq!(told("lended") + told("borrowed"), ten.counters.sent_packets);
}

#[test]
fn a_tree_that_workers_cannot_share_is_refused() {
    let shared =
        |classes| HtbShape { handle: id(0), all_workers: true, classes, ..HtbShape::default() };
    let below = Shape::tbf(Rate(MBIT), Size(3000), shared(vec![class(1, 0, 1, 1)]).into());
    let mut differ = vec![class(1, 0, 10, 10), class(2, 0, 10, 10)];
    differ[1].overhead = 4;
    for (shape, told) in
        [(below, "under another discipline"), (shared(differ).into(), "differ in overhead")]
    {
        let error = sched::check(&Config::of(shape)).unwrap_err();
        assert!(error.to_string().contains(told), "{error}");
    }
    let memory_limit = Size(sched::memory(&tree(vec![class(1, 0, 1, 1)])).0 * 2);
    let config = Config { memory_limit, ..tree(vec![class(1, 0, 1, 1)]) };
    assert_eq!(build_for::<u64>(&config, 2).map(|parts| parts.len()).ok(), Some(2));
    assert!(build_for::<u64>(&config, 3).is_err(), "each worker has room for all that may wait");
}

#[test]
fn what_one_worker_gives_back_another_may_have() {
    // A megabyte a second and a packet at once. Worker 0 is lent 3,000 bytes and sends 1,000; then
    // what waited moves elsewhere.
    for looks_again in [true, false] {
        let mut workers = Workers::new(&tree(vec![class(10, 0, 8, 8)]), 2);
        (0..3).for_each(|handle| workers.offer(0, Packet::new(handle, 1000, 0).in_class(id(10))));
        assert!(matches!(workers.parts[0].dequeue(0, &mut |_| {}), Next::Packet(_)));
        workers.parts[0].drain(0, &mut |_, _| {});
        if looks_again {
            assert_eq!(workers.parts[0].dequeue(0, &mut |_| {}), Next::Empty);
        }
        workers.offer(1, Packet::new(3, 1000, 0).in_class(id(10)));
        workers.round(1);
        assert_eq!(workers.out.len(), usize::from(looks_again));
    }
}

/// A leaky bucket for each class, the top last: whether it held less than it may.
struct Buckets {
    of: Vec<(u64, f64)>,
    rates: Vec<f64>,
    depths: Vec<f64>,
}

impl Buckets {
    fn charge(&mut self, at: usize, now_ns: u64, bytes: f64) -> bool {
        let (then, level) = self.of[at];
        let level =
            (level - now_ns.saturating_sub(then) as f64 * self.rates[at] / 8e9).max(0.0) + bytes;
        self.of[at] = (now_ns.max(then), level);
        level <= self.depths[at] + 1.0
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Over any stretch of time no class, and not the top, sends more than its ceil gives, its
    /// burst, a piece, and of each worker two pieces and a packet. No packet is lost or doubled,
    /// and those of a worker's class leave in order.
    #[test]
    fn no_class_exceeds_its_ceil_by_more_than_what_its_workers_are_lent(
        workers in 1usize..5,
        scale in prop_oneof![Just(100_000u64), Just(5_000_000), Just(50_000_000)],
        rates in prop::collection::vec((1u64..20, 0u64..20), 4),
        bursts in prop::collection::vec(100u64..5000, 5),
        load in prop::collection::vec((0u16..4, 0usize..4, 0u64..2_000_000, 60u32..LONGEST, 1u8..40), 1..300),
    ) {
        let ceil = |&(rate, more): &(u64, u64)| rate + more;
        let top = rates.iter().map(ceil).max().unwrap().max(rates.iter().map(|rate| rate.0).sum());
        let mut classes = vec![HtbClass {
            burst: Some(Size(bursts[4])),
            cburst: Some(Size(bursts[4])),
            ..HtbClass::new(id(99), None, Rate(top * scale))
        }];
        for ((minor, rate), &burst) in (1u16..).zip(&rates).zip(&bursts) {
            classes.push(HtbClass {
                ceil: Some(Rate(ceil(rate) * scale)),
                burst: Some(Size(burst)),
                cburst: Some(Size(burst)),
                prio: minor as u8 % 2,
                ..HtbClass::new(id(minor), Some(id(99)), Rate(rate.0 * scale))
            });
        }
        let lent = |rate: u64| piece(rate * scale) + workers as u64 * (2 * piece(rate * scale) + u64::from(LONGEST));
        let mut depths: Vec<f64> = rates.iter().zip(&bursts).map(|(rate, burst)| (burst + lent(rate.0)) as f64).collect();
        // What a child may send by its own rate it sends, whatever its parent has left.
        depths.push(depths.iter().sum::<f64>() + bursts[4] as f64);
        let rates = rates.iter().map(|rate| (ceil(rate) * scale) as f64).chain([(top * scale) as f64]).collect();
        let mut buckets = Buckets { of: vec![(0, 0.0); 5], rates, depths };
        let mut it = Workers::new(&tree(classes), workers);
        let mut offered = 0u64;
        let mut fate: HashMap<u64, (u16, usize)> = HashMap::new();
        let mut last: HashMap<(u16, usize), u64> = HashMap::new();
        let mut load = load.into_iter();
        let (mut next, mut next_ns) = (load.next(), 0);
        loop {
            let due = it.next();
            let due_ns = due.map_or(u64::MAX, |worker| it.due_ns[worker]);
            let worker = match next {
                Some((class, worker, gap_ns, length, count)) if next_ns <= due_ns => {
                    it.now_ns = it.now_ns.max(next_ns);
                    let worker = worker % workers;
                    for _ in 0..count {
                        fate.insert(offered, (class, worker));
                        it.offer(worker, Packet::new(offered, length, 0).in_class(id(class + 1)));
                        offered += 1;
                    }
                    (next, next_ns) = (load.next(), next_ns + gap_ns);
                    worker
                }
                _ => match due {
                    Some(worker) => {
                        it.now_ns = it.now_ns.max(due_ns);
                        worker
                    }
                    None => break,
                },
            };
            it.round(worker);
            for sent in &it.out {
                let (class, from) = fate.remove(&sent.handle).unwrap();
                prop_assert_eq!(from, worker);
                let before = last.insert((class, worker), sent.handle);
                prop_assert!(before.is_none_or(|before| before < sent.handle));
                let bytes = f64::from(sent.length_bytes);
                prop_assert!(buckets.charge(class.into(), it.now_ns, bytes), "class {}", class);
                prop_assert!(buckets.charge(4, it.now_ns, bytes), "the top");
            }
            for handle in it.dropped.drain(..) {
                prop_assert!(fate.remove(&handle).is_some());
            }
        }
        prop_assert!(fate.is_empty(), "{} packets are left", fate.len());
    }
}

/// Threads that serve one tree at once, over a clock that each of them moves: no more than the
/// rate and the bound goes, and every packet goes once.
#[test]
fn threads_that_serve_one_tree_keep_its_rate_and_its_packets() {
    const THREADS: usize = 4;
    const PACKETS: u64 = 40_000;
    let config = tree(vec![class(1, 0, 800, 800), class(10, 1, 500, 800), class(20, 1, 300, 800)]);
    let parts = build_for::<u64>(&config, THREADS).unwrap();
    let clock = AtomicU64::new(0);
    let sent_bytes = AtomicU64::new(0);
    let over = AtomicU64::new(0);
    let bound = |rate| piece(rate) + THREADS as u64 * (2 * piece(rate) + u64::from(LONGEST));
    let most =
        bound(500 * MBIT) + bound(300 * MBIT) + 3 * (u64::from(LONGEST) + 100 * MBIT / 8 / 100);
    std::thread::scope(|scope| {
        for (thread, mut part) in parts.into_iter().enumerate() {
            let (clock, sent_bytes, over) = (&clock, &sent_bytes, &over);
            scope.spawn(move || {
                let (mut out, mut offered, mut sent, mut dropped) = (Vec::new(), 0, 0, 0);
                let mut seen = vec![false; PACKETS as usize];
                while sent + dropped < PACKETS {
                    let now_ns = clock.fetch_add(500, Ordering::AcqRel);
                    while offered < PACKETS && offered - sent - dropped < 64 {
                        let minor =
                            if (offered + thread as u64).is_multiple_of(2) { 10 } else { 20 };
                        let packet = Packet::new(offered, 1000, offered as u32).in_class(id(minor));
                        let _ = part.enqueue(now_ns, packet, &mut |_| dropped += 1);
                        offered += 1;
                    }
                    out.clear();
                    part.dequeue_burst(now_ns, 32, &mut out, &mut |_| dropped += 1);
                    for packet in &out {
                        assert!(!std::mem::replace(&mut seen[packet.handle as usize], true));
                        sent += 1;
                    }
                    let bytes = 1000 * out.len() as u64;
                    let all = sent_bytes.fetch_add(bytes, Ordering::AcqRel) + bytes;
                    // The clock is read after what it is held against was sent.
                    let by_now = clock.load(Ordering::Acquire) * (800 * MBIT / 8) / SECOND;
                    over.fetch_max(all.saturating_sub(by_now), Ordering::AcqRel);
                }
                assert_eq!((sent, dropped), (PACKETS, 0));
            });
        }
    });
    let over = over.into_inner();
    assert!(over <= most, "{over} bytes above the rate, of {most}");
}
