//! What holds for every scheduler, shape and load.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod ceilings;
mod deadlines;
mod latency;
mod shapes;
mod shares;
mod workers;

use proptest::prelude::*;
use sched::{Burst, Dropped, Hosts, Next, Packet, Shape, build};
use shapes::{any_conserving, any_load, any_shape, classes_of, is_work_conserving, named};
use std::collections::HashMap;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// Where nothing is held back a burst is what packets taken one by one are.
    #[test]
    fn bursts_are_the_packets_one_by_one(shape in any_conserving(), load in any_load()) {
        let mut pair = [(); 2].map(|()| build::<u64>(&named(shape.clone())).unwrap());
        let (mut now_ns, mut offered, mut all_sent) = (0, 0, 0);
        for step in &load {
            now_ns += step.after_ns;
            // Short ones, so that a turn has several.
            let length = 60 + step.length / 8;
            let (mut sent, mut dropped) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
            for (scheduler, dropped) in pair.iter_mut().zip(&mut dropped) {
                for handle in offered..offered + u64::from(step.offers) {
                    let flow = step.flow + handle as u32 % 3;
                    let packet = Packet::new(handle, length, flow);
                    let _ = scheduler.enqueue(now_ns, packet, &mut |drop| dropped.push(drop.handle));
                }
            }
            offered += u64::from(step.offers);
            let [one, other] = &mut pair;
            for _ in 0..step.takes {
                if let Next::Packet(one) = one.dequeue(now_ns, &mut |drop| dropped[0].push(drop.handle)) {
                    sent[0].push(one);
                }
            }
            let drops = &mut |drop: Dropped<u64>| dropped[1].push(drop.handle);
            other.dequeue_burst(now_ns, usize::from(step.takes), &mut sent[1], drops);
            prop_assert_eq!(&sent[0], &sent[1]);
            prop_assert_eq!(&dropped[0], &dropped[1]);
            all_sent += sent[0].len() as u64;
            let report = one.report();
            prop_assert_eq!(&report, &other.report());
            prop_assert_eq!(report.counters.sent_packets, all_sent);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Every packet offered is sent, dropped or waiting; exactly one of them, exactly once. Waits
    /// lie in the future and are kept; what gives out anything at all gives it out in the end.
    #[test]
    fn no_packet_is_lost_or_doubled(shape in any_shape(), load in any_load(), bursts in any::<bool>()) {
        let classes = classes_of(&shape);
        let conserving = is_work_conserving(&shape);
        let mut scheduler = build::<u64>(&named(shape)).unwrap();
        let mut fate: HashMap<u64, u32> = HashMap::new();
        let mut now_ns = 0;
        let mut offered = 0;
        for step in &load {
            now_ns += step.after_ns;
            for _ in 0..step.offers {
                let mut packet = Packet::new(offered, step.length, step.flow);
                packet.class = classes[step.class as usize % classes.len()];
                packet.priority = step.class % 16;
                packet.ecn_capable = step.flow % 2 == 0;
                packet.code_point = step.class % 64;
                packet.offer.hosts = Hosts { source: step.flow / 3, destination: step.flow % 3 };
                packet.offer.pure_ack = (step.class % 3 == 0).then_some(offered as u32);
                let _ = scheduler.enqueue(now_ns, packet, &mut |drop| *fate.entry(drop.handle).or_default() += 1);
                offered += 1;
            }
            if bursts {
                let (mut out, waiting) = (Vec::new(), scheduler.backlog().packets);
                let drops = &mut |drop: Dropped<u64>| *fate.entry(drop.handle).or_default() += 1;
                match scheduler.dequeue_burst(now_ns, step.takes as usize, &mut out, drops) {
                    Burst::More => prop_assert_eq!(out.len(), step.takes as usize),
                    Burst::Wait(until_ns) => prop_assert!(until_ns > now_ns && !conserving),
                    Burst::Empty => prop_assert_eq!(scheduler.backlog().packets, 0, "empty with {} waiting", waiting),
                }
                out.iter().for_each(|sent| *fate.entry(sent.handle).or_default() += 1);
                prop_assert_eq!(offered - fate.len() as u64, u64::from(scheduler.backlog().packets));
                continue;
            }
            for _ in 0..step.takes {
                let waiting = scheduler.backlog().packets;
                match scheduler.dequeue(now_ns, &mut |drop| *fate.entry(drop.handle).or_default() += 1) {
                    Next::Packet(sent) => *fate.entry(sent.handle).or_default() += 1,
                    Next::Wait(until_ns) => {
                        prop_assert!(until_ns > now_ns && !conserving);
                        break;
                    }
                    Next::Empty => {
                        prop_assert_eq!(scheduler.backlog().packets, 0, "empty with {} waiting", waiting);
                        break;
                    }
                }
            }
            prop_assert_eq!(offered - fate.len() as u64, u64::from(scheduler.backlog().packets));
        }
        loop {
            match scheduler.dequeue(now_ns, &mut |drop| *fate.entry(drop.handle).or_default() += 1) {
                Next::Packet(sent) => *fate.entry(sent.handle).or_default() += 1,
                Next::Wait(until_ns) => now_ns = until_ns,
                Next::Empty => break,
            }
        }
        prop_assert_eq!(fate.len() as u64, offered);
        prop_assert!(fate.values().all(|&times| times == 1));
        prop_assert_eq!(scheduler.backlog().bytes, 0);
    }

    /// A change of shape under load loses nothing either.
    #[test]
    fn replacing_loses_no_packet(from in any_shape(), to in any_shape(), load in any_load()) {
        let classes = classes_of(&from);
        let mut scheduler = build::<u64>(&named(from)).unwrap();
        let (mut now_ns, mut offered, mut sent, mut dropped) = (0, 0, 0, 0);
        for step in &load {
            now_ns += step.after_ns;
            for _ in 0..step.offers {
                let class = classes[step.class as usize % classes.len()];
                let packet = Packet::new(offered, step.length, step.flow).in_class(class);
                let _ = scheduler.enqueue(now_ns, packet, &mut |_| dropped += 1);
                offered += 1;
            }
            if let Next::Packet(_) = scheduler.dequeue(now_ns, &mut |_| dropped += 1) {
                sent += 1;
            }
        }
        let waiting = u64::from(scheduler.backlog().packets);
        let mut told = 0;
        let result = sched::replace(&mut scheduler, &named(to), now_ns, &mut |_| told += 1).unwrap();
        prop_assert_eq!((result.kept + result.dropped, result.dropped), (waiting, told));
        prop_assert_eq!(u64::from(scheduler.backlog().packets), result.kept);
        prop_assert_eq!(offered, sent + dropped + waiting);
        let mut rest = 0;
        loop {
            match scheduler.dequeue(now_ns, &mut |_| rest += 1) {
                Next::Packet(_) => rest += 1,
                Next::Wait(until_ns) => now_ns = until_ns,
                Next::Empty => break,
            }
        }
        prop_assert_eq!(rest, result.kept);
    }

    /// Flows that always have packets get the same bytes, to within a turn and a packet each.
    #[test]
    fn fair_queues_are_fair(
        fq in any::<bool>(),
        lengths in prop::collection::vec(60u32..1514, 2..8),
        rounds in 200usize..600,
    ) {
        let mut shape = if fq { Shape::fq_codel() } else { Shape::sfq() };
        match &mut shape {
            Shape::FqCodel(fq) => fq.flows = 65_536,
            Shape::Sfq(sfq) => (sfq.divisor, sfq.limit) = (65_536, 1000),
            _ => {}
        }
        let mut scheduler = build::<u64>(&named(shape)).unwrap();
        let offer = |scheduler: &mut Box<dyn sched::Scheduler<u64>>, flow: usize| {
            let packet = Packet::new(flow as u64, lengths[flow], flow as u32);
            let _ = scheduler.enqueue(0, packet, &mut |_| {});
        };
        for flow in 0..lengths.len() {
            (0..30).for_each(|_| offer(&mut scheduler, flow));
        }
        let mut got = vec![0i64; lengths.len()];
        for _ in 0..rounds {
            let Next::Packet(sent) = scheduler.dequeue(0, &mut |_| {}) else { panic!("work is there") };
            got[sent.handle as usize] += i64::from(sent.length_bytes);
            offer(&mut scheduler, sent.handle as usize);
        }
        let (least, most) = (got.iter().min().unwrap(), got.iter().max().unwrap());
        prop_assert!(most - least <= 2 * 1514 + 2 * 1514, "{:?}", got);
        if rounds / lengths.len() > 100 {
            let sum: i64 = got.iter().sum();
            let squares: i64 = got.iter().map(|bytes| bytes * bytes).sum();
            let jain = (sum * sum) as f64 / (lengths.len() as i64 * squares) as f64;
            prop_assert!(jain >= 0.95, "Jain's index {}", jain);
        }
    }
}
