//! HTB's ceilings in a tree of three levels, against leaky buckets.
//!
//! ```text
//!   top ─┬─ inner ─┬─ leaf 0        each has a ceil of its own; leaves may have greater ones than
//!        │         └─ leaf 1        what is above them
//!        ├─ leaf 2
//!        └─ leaf 3                  packet by packet and in bursts, on slow links and on fast ones
//! ```

use proptest::prelude::*;
use sched::units::{Rate, Size};
use sched::{Burst, ClassId, Config, HtbClass, HtbShape, Next, Packet, Scheduler, Shape, build};
use std::collections::VecDeque;

const LONGEST: u32 = 1500;
const LEAVES: usize = 4;
const INNER: usize = 4;
const TOP: usize = 5;
const CLASSES: usize = 6;

fn id(at: usize) -> ClassId {
    ClassId::new(1, at as u16 + 1)
}

/// The classes above a leaf.
fn above(leaf: usize) -> impl Iterator<Item = usize> {
    (leaf < 2).then_some(INNER).into_iter().chain([TOP])
}

/// The class as its ceil defines it: what came of late at most.
#[derive(Clone, Copy, Default)]
struct Bucket {
    filled_ns: u64,
    level: f64,
    bits_per_second: f64,
    depth: f64,
}

impl Bucket {
    /// Whether so many bytes more still fit.
    fn holds(&mut self, now_ns: u64, bytes: f64) -> bool {
        let leaked = (now_ns - self.filled_ns) as f64 * self.bits_per_second / 8e9;
        *self = Self { filled_ns: now_ns, level: (self.level - leaked).max(0.0) + bytes, ..*self };
        self.level <= self.depth + 1.0
    }
}

#[derive(Debug, Clone)]
struct Tree {
    /// Rates, ceils and bursts.
    classes: [(u64, u64, u64); CLASSES],
}

fn any_tree() -> impl Strategy<Value = Tree> {
    let leaves = prop::collection::vec((1u64..20, 0u64..20), LEAVES);
    let more = (0u64..10, 0u64..10);
    let bursts = prop::collection::vec(100u64..5000, CLASSES);
    (leaves, more, bursts, prop_oneof![Just(100_000), Just(400_000_000)]).prop_map(
        |(leaves, more, bursts, unit)| {
            let rates: Vec<u64> = leaves.iter().map(|leaf| leaf.0).collect();
            let inner = rates[0] + rates[1];
            let top = inner + more.0 + rates[2] + rates[3];
            let ceil = |at: usize| match at {
                INNER => (inner, inner + more.0),
                TOP => (top, top + more.1),
                leaf => (leaves[leaf].0, leaves[leaf].0 + leaves[leaf].1),
            };
            let class = |at: usize| (ceil(at).0 * unit, ceil(at).1 * unit, bursts[at]);
            Tree { classes: std::array::from_fn(class) }
        },
    )
}

impl Tree {
    fn shape(&self) -> Shape {
        let class = |(at, &(rate, ceil, burst)): (usize, &(u64, u64, u64))| HtbClass {
            ceil: Some(Rate(ceil)),
            burst: Some(Size(burst)),
            cburst: Some(Size(burst)),
            prio: at as u8 % 2,
            ..HtbClass::new(id(at), above(at).find(|&above| above > at).map(id), Rate(rate))
        };
        let classes = self.classes.iter().enumerate().map(class).collect();
        Shape::Htb(HtbShape { handle: ClassId::new(1, 0), classes, ..HtbShape::default() })
    }

    fn buckets(&self) -> [Bucket; CLASSES] {
        // A bucket may be overdrawn by the visit that empties it.
        let visit = (self.classes[TOP].1 / 8_000_000).min(2_800) + u64::from(LONGEST);
        let own = |at: usize| (self.classes[at].2 + visit) as f64;
        // Those of inner classes may be by what is below, too: what a class may send by its own
        // rate it sends, whatever is left above.
        let depth = |at: usize| match at {
            INNER => own(INNER) + own(0) + own(1),
            TOP => (0..CLASSES).map(own).sum(),
            leaf => own(leaf),
        };
        std::array::from_fn(|at| Bucket {
            bits_per_second: self.classes[at].1 as f64,
            depth: depth(at),
            ..Bucket::default()
        })
    }
}

/// Packets that go now, so many at most, and from when on there are others; none where all went.
fn take(scheduler: &mut dyn Scheduler<usize>, now_ns: u64, most: usize) -> Taken {
    let drops = &mut |_| {};
    if most == 1 {
        return match scheduler.dequeue(now_ns, drops) {
            Next::Packet(sent) => (vec![(sent.handle, sent.length_bytes)], Some(now_ns)),
            Next::Wait(until_ns) => (Vec::new(), Some(until_ns)),
            Next::Empty => (Vec::new(), None),
        };
    }
    let mut out = Vec::new();
    let until_ns = match scheduler.dequeue_burst(now_ns, most, &mut out, drops) {
        Burst::More => Some(now_ns),
        Burst::Wait(until_ns) => Some(until_ns),
        Burst::Empty => None,
    };
    (out.iter().map(|sent| (sent.handle, sent.length_bytes)).collect(), until_ns)
}

type Taken = (Vec<(usize, u32)>, Option<u64>);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_class_exceeds_its_ceil_over_any_stretch_of_time(
        tree in any_tree(),
        load in prop::collection::vec((0..LEAVES, 0u64..3_000_000, 60u32..LONGEST, 1u8..20), 1..200),
        most in prop_oneof![Just(1usize), Just(32)],
    ) {
        let mut scheduler = build::<usize>(&Config::of(tree.shape())).unwrap();
        let mut buckets = tree.buckets();
        // On a fast link all comes as much faster.
        let speed = tree.classes[TOP].0 / 10_000_000;
        let mut load = VecDeque::from(load);
        let (mut now_ns, mut next_ns) = (0, 0);
        loop {
            while next_ns <= now_ns && let Some((leaf, gap_ns, length, count)) = load.pop_front() {
                for _ in 0..count {
                    let packet = Packet::new(leaf, length, 0).in_class(id(leaf));
                    let _ = scheduler.enqueue(now_ns, packet, &mut |_| {});
                }
                next_ns = now_ns + gap_ns / speed.max(1);
            }
            let (sent, until_ns) = take(&mut *scheduler, now_ns, most);
            for (leaf, length_bytes) in sent {
                for class in std::iter::once(leaf).chain(above(leaf)) {
                    let holds = buckets[class].holds(now_ns, f64::from(length_bytes));
                    prop_assert!(holds, "class {}", class);
                }
            }
            match until_ns {
                Some(until_ns) if load.is_empty() => now_ns = until_ns,
                Some(until_ns) => now_ns = until_ns.min(next_ns.max(now_ns + 1)),
                None if load.is_empty() => break,
                None => now_ns = next_ns.max(now_ns),
            }
        }
    }
}
