//! HFSC's deadlines and HTB's ceilings, against naive twins that remember everything.

use proptest::prelude::*;
use sched::units::{Rate, Size, Time};
use sched::{
    ClassId, Config, Curve, HfscClass, HfscShape, HtbClass, HtbShape, Next, Packet, Shape, build,
};
use std::collections::VecDeque;

const LINK: u64 = 10_000_000;
const LONGEST: u32 = 1500;

fn id(minor: u16) -> ClassId {
    ClassId::new(1, minor)
}

fn on_wire_ns(bytes: u32) -> u64 {
    u64::from(bytes) * 8_000_000_000 / LINK
}

/// The deadline curve as the paper defines it: the least of all the curves begun at the starts of
/// busy periods.
struct NaiveDeadline {
    curve: Curve,
    /// Time and bytes served at the start of each busy period.
    starts: Vec<(f64, f64)>,
}

impl NaiveDeadline {
    /// When so many bytes are due: when the last of the curves has them.
    fn of(&self, bytes: f64) -> f64 {
        let (m1, m2) = (self.curve.m1.0 as f64 / 8e9, self.curve.m2.0 as f64 / 8e9);
        let d = self.curve.d.0 as f64;
        let one = |(x, y): &(f64, f64)| {
            let left = bytes - y;
            x + if left <= m1 * d { left / m1 } else { d + (left - m1 * d) / m2 }
        };
        self.starts.iter().map(one).fold(0.0, f64::max)
    }
}

/// Concave curves that fit the link together: at most three tenths of it each, first piece and
/// second.
fn concave() -> impl Strategy<Value = Curve> {
    (5u64..30, 1u64..50, 1u64..=100).prop_map(|(m1, d, share)| Curve {
        m1: Rate(m1 * 100_000),
        d: Time(d * 1_000_000),
        m2: Rate((m1 * 1_000 * share).max(20_000)),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_packet_leaves_by_its_deadline_and_one_packet(
        curves in prop::collection::vec(concave(), 3),
        arrivals in prop::collection::vec((0usize..3, 0u64..20_000_000, 60u32..LONGEST, 1u8..8), 1..150),
    ) {
        let mut classes: Vec<HfscClass> = (1u16..)
            .zip(&curves)
            .map(|(minor, curve)| HfscClass { rt: Some(*curve), ..HfscClass::new(id(minor), None) })
            .collect();
        // A greedy class takes all that deadlines do not need.
        let ls = Some(Curve::straight(Rate(LINK)));
        classes.push(HfscClass { ls, ..HfscClass::new(id(9), None) });
        let shape = HfscShape { handle: id(0), default: None, classes };
        let mut config = Config::of(Shape::Hfsc(shape));
        config.link_rate = Some(Rate(LINK));
        let mut scheduler = build::<(usize, u32)>(&config).unwrap();
        let mut naive: Vec<NaiveDeadline> =
            curves.iter().map(|&curve| NaiveDeadline { curve, starts: Vec::new() }).collect();
        let (mut queued, mut served) = ([0u32; 3], [0f64; 3]);
        let greedy = Packet::new((9, LONGEST), LONGEST, 0).in_class(id(9));
        let mut drops = |_| {};
        for _ in 0..3 {
            let _ = scheduler.enqueue(0, greedy, &mut drops);
        }
        let mut at_ns = 0;
        let mut to_come: VecDeque<(u64, usize, u32)> = VecDeque::new();
        for (class, gap_ns, length, count) in arrivals {
            at_ns += gap_ns;
            (0..count).for_each(|_| to_come.push_back((at_ns, class, length)));
        }
        let mut now_ns = 0;
        while !to_come.is_empty() || queued.iter().any(|&count| count > 0) {
            while let Some((at_ns, class, length)) = to_come.pop_front_if(|next| next.0 <= now_ns) {
                if queued[class] == 0 {
                    naive[class].starts.push((at_ns as f64, served[class]));
                }
                queued[class] += 1;
                let packet = Packet::new((class, length), length, 0).in_class(id(class as u16 + 1));
                let _ = scheduler.enqueue(at_ns, packet, &mut drops);
            }
            let Next::Packet(sent) = scheduler.dequeue(now_ns, &mut drops) else {
                panic!("the greedy class always has packets");
            };
            let (class, length) = sent.handle;
            // While a packet is on the wire others arrive; they are offered at their own times,
            // before the next choice.
            now_ns += on_wire_ns(length);
            if class == 9 {
                let _ = scheduler.enqueue(now_ns - on_wire_ns(length), greedy, &mut drops);
                continue;
            }
            queued[class] -= 1;
            served[class] += f64::from(length);
            let due_ns = naive[class].of(served[class]) + on_wire_ns(LONGEST) as f64;
            // Fixed point loses a byte here and there: a few microseconds at these rates.
            let slack_ns = 8e9 / curves[class].m2.0 as f64 * 4.0 + 1_000.0;
            prop_assert!(now_ns as f64 <= due_ns + slack_ns, "left at {} but due by {}", now_ns, due_ns);
        }
    }

    #[test]
    fn no_class_exceeds_its_ceil_over_any_stretch_of_time(
        rates in prop::collection::vec((1u64..20, 0u64..20), 4),
        bursts in prop::collection::vec(100u64..5000, 5),
        load in prop::collection::vec((0u16..4, 0u64..3_000_000, 60u32..LONGEST, 1u8..10), 1..200),
    ) {
        // The parent's ceil is half of what the children may have together.
        let ceil = |&(rate, more): &(u64, u64)| rate + more;
        let top = rates.iter().map(ceil).max().unwrap().max(rates.iter().map(|rate| rate.0).sum());
        let mut classes = vec![HtbClass {
            burst: Some(Size(bursts[4])),
            cburst: Some(Size(bursts[4])),
            ..HtbClass::new(id(99), None, Rate(top * 100_000))
        }];
        for ((minor, rate), &burst) in (1u16..).zip(&rates).zip(&bursts) {
            classes.push(HtbClass {
                ceil: Some(Rate(ceil(rate) * 100_000)),
                burst: Some(Size(burst)),
                cburst: Some(Size(burst)),
                prio: minor as u8 % 2,
                ..HtbClass::new(id(minor), Some(id(99)), Rate(rate.0 * 100_000))
            });
        }
        let ceils: Vec<f64> = rates.iter().map(|rate| ceil(rate) as f64 * 1e5).chain([top as f64 * 1e5]).collect();
        let shape = HtbShape { handle: id(0), direct_packets: 1, classes, ..HtbShape::default() };
        let mut scheduler = build::<u16>(&Config::of(Shape::Htb(shape))).unwrap();
        // A leaky bucket for each class and for the parent, as the ceil defines it.
        let mut buckets = [(0u64, 0f64); 5];
        // A bucket may be overdrawn by the packet that empties it. The parent's may be by its
        // children's too: what a child may send by its own rate it sends, whatever its parent has
        // left.
        let mut depths: Vec<f64> = bursts.iter().map(|&burst| (burst + u64::from(LONGEST)) as f64).collect();
        depths[4] = depths.iter().sum();
        let mut charge = |at: usize, now_ns: u64, bytes: f64| {
            let (then, level) = buckets[at];
            let level = (level - (now_ns - then) as f64 * ceils[at] / 8e9).max(0.0) + bytes;
            buckets[at] = (now_ns, level);
            level <= depths[at] + 1.0
        };
        let mut now_ns = 0;
        let mut load = VecDeque::from(load);
        let mut next_ns = 0;
        loop {
            while next_ns <= now_ns && let Some((class, gap_ns, length, count)) = load.pop_front() {
                for _ in 0..count {
                    let packet = Packet::new(class, length, 0).in_class(id(class + 1));
                    let _ = scheduler.enqueue(now_ns, packet, &mut |_| {});
                }
                next_ns = now_ns + gap_ns;
            }
            match scheduler.dequeue(now_ns, &mut |_| {}) {
                Next::Packet(sent) => {
                    let bytes = f64::from(sent.length_bytes);
                    prop_assert!(charge(usize::from(sent.handle), now_ns, bytes), "class {}", sent.handle);
                    prop_assert!(charge(4, now_ns, bytes), "the parent");
                }
                Next::Wait(until_ns) if load.is_empty() => now_ns = until_ns,
                Next::Wait(until_ns) => now_ns = until_ns.min(next_ns.max(now_ns + 1)),
                Next::Empty if load.is_empty() => break,
                Next::Empty => now_ns = next_ns.max(now_ns),
            }
        }
    }
}
