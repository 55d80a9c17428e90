//! The same schedule through ours: packets at the times at which the kernel was given them, sent
//! whenever they may be.

use sched::{ClassId, Next, Packet, Scheduler, build, tc};

use crate::boot::{Experiment, Trace};

/// What left, when (ns, as the trace counts), by number; and what was dropped, in order.
pub(crate) struct Replayed {
    pub(crate) sent: Vec<(u64, usize)>,
    pub(crate) dropped: Vec<usize>,
}

struct Replay {
    scheduler: Box<dyn Scheduler<u64>>,
    result: Replayed,
    wake_ns: Option<u64>,
}

impl Replay {
    fn send_all(&mut self, now_ns: u64) {
        let Self { scheduler, result, wake_ns } = self;
        loop {
            let next =
                scheduler.dequeue(now_ns, &mut |drop| result.dropped.push(drop.handle as usize));
            match next {
                Next::Packet(sent) => result.sent.push((now_ns, sent.handle as usize)),
                Next::Wait(until_ns) => {
                    *wake_ns = Some(until_ns);
                    return;
                }
                Next::Empty => {
                    *wake_ns = None;
                    return;
                }
            }
        }
    }

    fn run_until(&mut self, now_ns: u64) {
        while let Some(wake_ns) = self.wake_ns.filter(|&wake_ns| wake_ns <= now_ns) {
            self.send_all(wake_ns);
        }
    }
}

/// Plays the experiment with the times of the trace.
pub(crate) fn replay(experiment: &Experiment, trace: &Trace) -> Replayed {
    let lines = experiment.tc.join("\n");
    let mut devices = tc::read(&lines).unwrap_or_else(|faults| panic!("{faults:?}"));
    let mut config = devices.remove(0).1.unwrap_or_else(|| panic!("no qdisc is left: {lines}"));
    if let sched::Shape::PfifoFast(sched::PfifoFastShape { limit, .. }) = &mut config.root {
        *limit = experiment.queue_length;
    }
    if let sched::Shape::Tbf(tbf) = &mut config.root
        && let sched::Shape::PfifoFast(sched::PfifoFastShape { limit, .. }) = &mut *tbf.leaf
    {
        *limit = experiment.queue_length;
    }
    let scheduler = build(&config).unwrap_or_else(|error| panic!("{error}"));
    let result = Replayed { sent: Vec::new(), dropped: Vec::new() };
    let mut replay = Replay { scheduler, result, wake_ns: None };
    for &(now_ns, number) in &trace.sent {
        replay.run_until(now_ns);
        let (_, length, flow, priority) = experiment.packets[number];
        let mut packet = Packet::new(number as u64, length, flow);
        if priority > 0xffff {
            packet.class = ClassId::new((priority >> 16) as u16, priority as u16);
        } else {
            packet.priority = priority as u8;
        }
        let dropped = &mut replay.result.dropped;
        let _ = replay
            .scheduler
            .enqueue(now_ns, packet, &mut |drop| dropped.push(drop.handle as usize));
        replay.send_all(now_ns);
    }
    replay.run_until(u64::MAX);
    replay.result
}
