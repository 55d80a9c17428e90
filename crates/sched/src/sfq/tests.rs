//! What SFQ does to packets, by their handles.

use super::*;
use crate::packet::Dropped;
use crate::pool::Reuse;
use crate::{SfqShape, Shape, testing::Bench};

/// Room for six packets.
const SETTINGS: SfqSettings = SfqSettings {
    limit: 6,
    depth: 127,
    flows: 127,
    divisor: 1024,
    quantum_bytes: 1514,
    perturb_ns: 0,
    head_drop: false,
};

fn sfq(change: impl Fn(&mut u32, &mut u32, &mut bool)) -> Bench {
    let mut shape = Shape::sfq();
    if let Shape::Sfq(settings) = &mut shape {
        change(&mut settings.limit, &mut settings.depth, &mut settings.head_drop);
    }
    Bench::new(shape)
}

#[test]
fn flows_take_turns_by_allotment() {
    let mut bench = Bench::new(Shape::sfq());
    for handle in 0..4 {
        bench.offer(0, handle, 1514, 1);
    }
    for handle in 10..14 {
        bench.offer(0, handle, 1514, 2);
    }
    assert_eq!(bench.take_all(0), [0, 10, 1, 11, 2, 12, 3, 13]);
}

#[test]
fn short_packets_share_an_allotment() {
    let mut bench = Bench::new(Shape::sfq());
    for handle in 0..3 {
        bench.offer(0, handle, 757, 1);
    }
    for handle in 10..12 {
        bench.offer(0, handle, 1514, 2);
    }
    assert_eq!(bench.take_all(0), [0, 1, 10, 2, 11]);
}

#[test]
fn overflow_drops_the_tail_of_the_longest_queue() {
    let mut bench = sfq(|limit, _, _| *limit = 4);
    for handle in 0..3 {
        bench.offer(0, handle, 1000, 1);
    }
    bench.offer(0, 10, 1000, 2);
    bench.offer(0, 11, 1000, 2);
    assert_eq!(bench.dropped_handles(), [2]);
    assert_eq!(bench.take_all(0), [0, 1, 10, 11].map(|h| h).into_iter().collect::<Vec<_>>());
}

#[test]
fn with_head_drop_the_longest_queue_loses_its_oldest() {
    let mut bench = sfq(|limit, _, head_drop| (*limit, *head_drop) = (2, true));
    for handle in 0..3 {
        bench.offer(0, handle, 1000, 1);
    }
    assert_eq!(bench.dropped_handles(), [0]);
}

#[test]
fn a_flow_no_longer_than_its_depth() {
    let mut bench = sfq(|_, depth, _| *depth = 2);
    for handle in 0..3 {
        bench.offer(0, handle, 1000, 1);
    }
    assert_eq!(bench.dropped_handles(), [2]);
}

#[test]
fn an_emptied_flow_frees_its_place() {
    let mut bench = Bench::new(Shape::sfq());
    for round in 0..1000 {
        bench.offer(0, round, 100, round as u32);
        assert_eq!(bench.take_all(0), [round]);
    }
    assert!(bench.dropped_handles().is_empty());
}

#[test]
fn hashing_anew_keeps_every_packet_and_each_flows_order() {
    let mut shape = Shape::sfq();
    if let Shape::Sfq(settings) = &mut shape {
        settings.perturb = crate::units::Time(1_000_000);
    }
    let mut bench = Bench::new(shape);
    for handle in 0..60 {
        bench.offer(handle * 100_000, handle, 500, handle as u32 % 3);
    }
    let out = bench.take_all(7_000_000);
    assert_eq!(out.len(), 60);
    for flow in 0..3 {
        let of_flow: Vec<u64> = out.iter().copied().filter(|h| h % 3 == flow).collect();
        assert!(of_flow.is_sorted());
    }
}

#[test]
fn a_lone_packet_that_once_had_one_before_it_can_be_dropped() {
    let mut bench = Bench::new(Shape::Sfq(SfqShape { limit: 2, ..SfqShape::default() }));
    bench.offer(0, 1, 100, 1);
    bench.offer(0, 2, 100, 1);
    assert_eq!(bench.take_one(0), Some(1));
    bench.offer(0, 3, 100, 2);
    bench.offer(0, 4, 100, 3);
    assert_eq!(bench.dropped_handles(), [2]);
    assert_eq!(bench.take_all(0), [3, 4]);
    bench.offer(0, 5, 100, 1);
    assert_eq!(bench.take_all(0), [5]);
}

#[test]
fn who_is_longest_is_the_same_after_the_changes_were_counted_anew() {
    let offer_all = |changes: u32| {
        let mut fq = Sfq::new(SETTINGS);
        fq.lengths.changes = changes;
        let mut pool = Pool::new(100, Reuse::Soonest);
        let mut dropped = Vec::new();
        // Flows 1, 2 and 3 come to two packets in turn, and 2 last; what comes then finds the queue
        // full.
        for (handle, flow) in [1, 3, 2, 2, 1, 3, 4, 4, 4, 5].into_iter().enumerate() {
            let id = pool.take(&Packet::new(handle as u64, 100, flow), 0).unwrap();
            let mut drops = |packet: Dropped<u64>| dropped.push(packet.handle);
            let mut cx = Context {
                now_ns: 0,
                pool: &mut pool,
                drops: &mut drops,
                offer: Default::default(),
            };
            fq.enqueue(&mut cx, id, ClassId::NONE);
        }
        dropped
    };
    let dropped = offer_all(0);
    assert_eq!(dropped.len(), 4);
    for before_the_end in 0..12 {
        assert_eq!(offer_all(MOST_CHANGES - before_the_end), dropped);
    }
}
