//! Changing a scheduler while packets wait in it: they move over, in order, wherever the new shape has room for them.
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

/// Puts a scheduler of the new configuration in the old one's place. If the configuration is refused nothing changes.
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
    use crate::units::Rate;
    use crate::{Config, HtbClass, HtbShape, Next, Replaced, Shape};

    fn htb(minors: &[u16]) -> Shape {
        let class =
            |&minor: &u16| HtbClass::new(crate::ClassId::new(1, minor), None, Rate(8_000_000));
        Shape::Htb(HtbShape {
            handle: "1:".parse().unwrap(),
            default: None,
            r2q: 10,
            direct_packets: 1,
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
        // Class 1:1 is gone and there is no default: of its ten packets one fits into the unshaped queue.
        assert_eq!(replaced, Replaced { kept: 11, dropped: 9 });
        assert!(bench.dropped_handles().iter().all(|handle| handle % 2 == 0));
    }

    #[test]
    fn waiting_time_counts_on_across_the_change() {
        let mut bench = Bench::new(Shape::pfifo(100));
        for handle in 0..50 {
            bench.offer(0, handle, 1514, 0);
        }
        bench.replace(200_000_000, &Config::of(Shape::codel()));
        bench.take_one(200_000_000);
        // A full interval above the target by the arrival times of the old queue: CoDel begins to drop.
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
