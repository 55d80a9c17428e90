//! HFSC's deadlines, against a naive twin that remembers everything.

use proptest::prelude::*;
use sched::units::{Rate, Time};
use sched::{ClassId, Config, Curve, HfscClass, HfscShape, Next, Packet, Shape, build};
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
}
