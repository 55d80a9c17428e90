//! Changing a scheduler while packets wait in it: they move over, in order, wherever the new shape
//! has room for them.
//!
//! ```text
//!   old ── drain: class, arrival, packet ──▶ new        class gone and no default, or a smaller limit: dropped, and told
//! ```

use crate::config::Config;
use crate::packet::{Dropped, Drops, Verdict};
use crate::{Error, Scheduler, build};

/// What became of the packets that waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Replaced {
    /// Packets that wait in the new scheduler.
    pub kept: u64,
    /// Packets that it had no place for.
    pub dropped: u64,
}

/// Puts a scheduler of the new configuration in the old one's place. If the configuration is
/// refused nothing changes.
pub fn replace<T: Copy + Send + 'static>(
    scheduler: &mut Box<dyn Scheduler<T>>,
    config: &Config,
    now_ns: u64,
    drops: Drops<'_, T>,
) -> Result<Replaced, Error> {
    let mut new = build::<T>(config)?;
    let result = take_over(&mut *scheduler, &mut new, now_ns, drops);
    *scheduler = new;
    Ok(result)
}

/// Moves all packets that wait in `old` into `new`, in order. Allocates a list of them.
pub fn take_over<T: Copy>(
    old: &mut Box<dyn Scheduler<T>>,
    new: &mut Box<dyn Scheduler<T>>,
    now_ns: u64,
    drops: Drops<'_, T>,
) -> Replaced {
    let mut result = Replaced::default();
    let mut count_drop = |dropped: Dropped<T>| {
        result.dropped += 1;
        drops(dropped);
    };
    let mut waiting = u64::from(old.waiting_packets());
    let mut given_back = Vec::new();
    while let Some(sent) = old.take_given_back() {
        given_back.push(sent);
    }
    for sent in given_back.into_iter().rev() {
        // As many were held at most as the new one can hold.
        waiting -= u64::from(new.give_back(sent).is_err());
    }
    old.drain(now_ns, &mut |arrived_ns, packet| {
        // Counted by the drops: a packet that is queued now may be dropped for one that follows.
        let _: Verdict = new.adopt(now_ns, arrived_ns, packet, &mut count_drop);
    });
    result.kept = waiting - result.dropped;
    result
}

#[cfg(test)]
mod tests {
    use crate::testing::Bench;
    use crate::units::{Rate, Size, Time};
    use crate::{
        ClassId, Config, Curve, FqCodelShape, HfscClass, HfscShape, HtbClass, HtbShape, Next,
        Packet, Replaced, SfqShape, Shape,
    };

    fn htb(minors: &[u16]) -> Shape {
        let class =
            |&minor: &u16| HtbClass::new(crate::ClassId::new(1, minor), None, Rate(8_000_000));
        Shape::Htb(HtbShape {
            handle: "1:".parse().unwrap(),
            default: None,
            r2q: 10,
            direct_packets: 1,
            all_workers: false,
            classes: minors.iter().map(class).collect(),
        })
    }

    #[test]
    fn packets_move_over_in_order() {
        let mut bench = Bench::new(Shape::fq_codel());
        for handle in 0..100 {
            bench.offer(0, handle, 100, handle as u32 % 3);
        }
        let replaced = bench.replace(1, &Config::of(Shape::sfq()));
        assert_eq!(replaced, Replaced { kept: 100, dropped: 0 });
        let out = bench.take_all(2);
        assert_eq!(out.len(), 100);
        for flow in 0..3 {
            assert!(out.iter().filter(|h| *h % 3 == flow).is_sorted());
        }
    }

    #[test]
    fn what_the_new_shape_has_no_room_for_is_dropped_and_told() {
        let mut bench = Bench::new(Shape::pfifo(100));
        for handle in 0..100 {
            bench.offer(0, handle, 100, 0);
        }
        let replaced = bench.replace(1, &Config::of(Shape::pfifo(30)));
        assert_eq!(replaced, Replaced { kept: 30, dropped: 70 });
        assert_eq!(bench.dropped_handles().len(), 70);
        assert_eq!(bench.take_all(2), (0..30).collect::<Vec<_>>());
    }

    #[test]
    fn classes_that_remain_keep_their_packets() {
        let mut bench = Bench::new(htb(&[1, 2]));
        for handle in 0..20 {
            let class = crate::ClassId::new(1, 1 + handle as u16 % 2);
            bench.offer_packet(0, crate::Packet::new(handle, 1000, 0).in_class(class));
        }
        let replaced = bench.replace(1, &Config::of(htb(&[2, 3])));
        // Class 1:1 is gone and there is no default: of its ten packets one fits into the unshaped
        // queue.
        assert_eq!(replaced, Replaced { kept: 11, dropped: 9 });
        assert!(bench.dropped_handles().iter().all(|handle| handle % 2 == 0));
    }

    /// A tree of two leaves under 1:9, of HTB or HFSC; `change` changes the first leaf.
    fn tree(hfsc: bool, change: impl Fn(&mut HtbClass, &mut HfscClass)) -> Shape {
        let (id, top) = (|minor| ClassId::new(1, minor), Some(ClassId::new(1, 9)));
        let curve = |mbit: u64| Some(Curve::straight(Rate(mbit * 1_000_000)));
        let (mut htb, mut hfsc_classes) = (Vec::new(), Vec::new());
        htb.push(HtbClass::new(id(9), None, Rate(9_000_000)));
        hfsc_classes.push(HfscClass { ls: curve(9), ..HfscClass::new(id(9), None) });
        for minor in [1, 2] {
            htb.push(HtbClass::new(id(minor), top, Rate(2_000_000)));
            hfsc_classes.push(HfscClass { ls: curve(2), ..HfscClass::new(id(minor), top) });
        }
        change(&mut htb[1], &mut hfsc_classes[1]);
        let (handle, default) = (id(0), None);
        if hfsc {
            return Shape::Hfsc(HfscShape { handle, default, classes: hfsc_classes });
        }
        Shape::Htb(HtbShape {
            handle,
            default,
            r2q: 10,
            direct_packets: 1,
            all_workers: false,
            classes: htb,
        })
    }

    #[test]
    fn no_change_that_leaves_room_loses_a_packet_or_its_class() {
        type Change = fn(&mut HtbClass, &mut HfscClass);
        let changes: [(&str, Change); 6] = [
            ("nothing", |_, _| ()),
            ("rate", |htb, hfsc| {
                htb.rate = Rate(1_000_000);
                hfsc.ls = Some(Curve::straight(Rate(1_000_000)));
            }),
            ("ceil or upper limit", |htb, hfsc| {
                htb.ceil = Some(Rate(9_000_000));
                hfsc.ul = Some(Curve::straight(Rate(9_000_000)));
            }),
            ("priority or real-time curve", |htb, hfsc| {
                htb.prio = 3;
                hfsc.rt = Some(Curve { m1: Rate(3_000_000), d: Time(1_000), m2: Rate(1_000_000) });
            }),
            ("the leaf's discipline", |htb, hfsc| {
                (htb.leaf, hfsc.leaf) = (Some(Shape::fq_codel()), Some(Shape::fq_codel()));
            }),
            ("the class's parent", |htb, hfsc| (htb.parent, hfsc.parent) = (None, None)),
        ];
        for (change, from, to) in changes.iter().flat_map(|change| {
            [(false, false), (false, true), (true, false), (true, true)]
                .map(|to| (change, to.0, to.1))
        }) {
            let mut bench = Bench::new(tree(from, |_, _| ()));
            for handle in 0..100u64 {
                let class = ClassId::new(1, 1 + handle as u16 % 2);
                bench.offer_packet(0, Packet::new(handle, 1000, 0).in_class(class));
            }
            let replaced = bench.replace(1, &Config::of(tree(to, change.1)));
            assert_eq!(replaced, Replaced { kept: 100, dropped: 0 }, "{}", change.0);
            let report = bench.report();
            for minor in [1, 2] {
                let class = report.find(ClassId::new(1, minor)).unwrap();
                assert_eq!(class.backlog.packets, 50, "{} of 1:{minor}", change.0);
            }
        }
    }

    #[test]
    fn options_of_plain_disciplines_change_around_the_packets() {
        let slow = |leaf| Shape::tbf(Rate(1_000_000), Size(2000), leaf);
        let fq = |flows| Shape::FqCodel(FqCodelShape { flows, ..FqCodelShape::default() });
        let sfq = |divisor| Shape::Sfq(SfqShape { divisor, ..SfqShape::default() });
        for (from, to) in [
            (Shape::pfifo(100), Shape::pfifo(50)),
            (slow(Shape::pfifo(100)), Shape::tbf(Rate(9_000_000), Size(9000), Shape::pfifo(100))),
            (Shape::pfifo(100), slow(Shape::pfifo(100))),
            (slow(Shape::codel()), Shape::codel()),
            (fq(1024), fq(16)),
            (sfq(1024), sfq(4096)),
            (Shape::prio(3), Shape::prio(2)),
            (Shape::pfifo_fast(), fq(1024)),
        ] {
            let told = format!("{from:?} to {to:?}");
            let mut bench = Bench::new(from);
            for handle in 0..50u64 {
                bench.offer(0, handle, 1000, handle as u32 % 5);
            }
            let replaced = bench.replace(1, &Config::of(to));
            assert_eq!(replaced, Replaced { kept: 50, dropped: 0 }, "{told}");
            assert_eq!(bench.waiting(), 50, "{told}");
        }
    }

    #[test]
    fn waiting_time_counts_on_across_the_change() {
        let mut bench = Bench::new(Shape::pfifo(100));
        for handle in 0..50 {
            bench.offer(0, handle, 1514, 0);
        }
        bench.replace(200_000_000, &Config::of(Shape::codel()));
        bench.take_one(200_000_000);
        // A full interval above the target by the arrival times of the old queue: CoDel begins to
        // drop.
        bench.take_one(301_000_000);
        assert_eq!(bench.dropped_handles(), [1]);
    }

    #[test]
    fn a_refused_configuration_changes_nothing() {
        let mut bench = Bench::new(Shape::pfifo(10));
        bench.offer(0, 7, 100, 0);
        assert!(bench.try_replace(1, &Config::of(Shape::pfifo(0))).is_err());
        assert_eq!(bench.take_all(2), [7]);
        assert_eq!(bench.dequeue(2), Next::Empty);
    }
}
