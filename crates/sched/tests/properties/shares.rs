//! HFSC's shares, against what each class has been served.

use proptest::prelude::*;
use sched::units::{Rate, Time};
use sched::{ClassId, Config, Curve, HfscClass, HfscShape, Next, Packet, Shape, build};

const LONGEST: f64 = 1500.0;

fn id(minor: usize) -> ClassId {
    ClassId::new(1, minor as u16)
}

/// Rates from tens of kbit/s to gigabits, each an order of magnitude as likely as the next.
fn any_rate() -> impl Strategy<Value = u64> {
    (15u32..33).prop_flat_map(|bits| 1u64 << bits..2 << bits)
}

/// How long the class takes for so many bytes at its rate, in nanoseconds.
fn clock(bytes: u64, rate: u64) -> f64 {
    bytes as f64 * 8e9 / rate as f64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whoever is sent has been served no more than any of its brothers, each by its own rate, to
    /// within an eighth of a packet of the fastest; an idle one among them, and whether the rate is
    /// the curve's first piece or its second.
    #[test]
    fn the_one_that_is_sent_has_had_least_of_its_share(
        rates in prop::collection::vec(any_rate(), 2..40),
        lengths in prop::collection::vec(60u32..1500, 40),
        idle in prop::option::of(any_rate()),
        is_first_piece in any::<bool>(),
    ) {
        let class = |(at, &rate): (usize, &u64)| {
            // One that does not end here, or one that is over after a nanosecond.
            let ls = match is_first_piece {
                true => Curve { m1: Rate(rate), d: Time(1 << 40), m2: Rate(rate / 1000) },
                false => Curve { m1: Rate(1), d: Time(1), m2: Rate(rate) },
            };
            HfscClass { ls: Some(ls), ..HfscClass::new(id(at + 1), None) }
        };
        let classes = rates.iter().chain(&idle).enumerate().map(class).collect();
        let shape = HfscShape { handle: id(0), default: None, classes };
        let mut scheduler = build::<usize>(&Config::of(Shape::Hfsc(shape))).unwrap();
        let offer = |scheduler: &mut Box<dyn sched::Scheduler<usize>>, at: usize| {
            let packet = Packet::new(at, lengths[at], 0).in_class(id(at + 1));
            let _ = scheduler.enqueue(0, packet, &mut |_| {});
        };
        for at in 0..rates.len() {
            (0..2).for_each(|_| offer(&mut scheduler, at));
        }
        let fastest = rates.iter().chain(&idle).copied().max().unwrap();
        let day_ns = LONGEST / 8.0 * 8e9 / fastest as f64;
        let mut served = vec![0u64; rates.len()];
        for _ in 0..3000 {
            let Next::Packet(sent) = scheduler.dequeue(0, &mut |_| {}) else { panic!("work is there") };
            let at = sent.handle;
            let own_ns = clock(served[at], rates[at]);
            let clocks = served.iter().zip(&rates).map(|(&bytes, &rate)| clock(bytes, rate));
            let least_ns = clocks.fold(f64::MAX, f64::min);
            // Fixed point rounds each clock.
            let slack_ns = 2.0 + own_ns * 1e-6;
            prop_assert!(own_ns <= least_ns + day_ns + slack_ns, "{}: {} beside {}", at, own_ns, least_ns);
            served[at] += u64::from(sent.length_bytes);
            offer(&mut scheduler, at);
        }
    }
}
