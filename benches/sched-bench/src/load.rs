//! A scheduler under load: bursts of 32 in, 32 out, with a standing backlog, on a link that is
//! always busy.
//!
//! Counted is all between two looks at the clock: the scheduler's two calls a burst, reading the
//! descriptions of the packets (24 bytes each, made beforehand, in order) and writing those that
//! come out. What that is without a scheduler is the row `none`.

use sched::{Burst, Config, Error, Packet, Scheduler, Sent, build};
use std::time::Instant;

use crate::cases::{Case, LINK, leaf};
use crate::nothing::Nothing;

const BURST: usize = 32;
pub(crate) const SLICE: usize = 1000;
const LENGTH_BYTES: u32 = 700;

/// Packets that are made beforehand; then they come again.
const ARRIVALS: usize = 65_536;

/// One case's scheduler and the packets on their way to it.
pub(crate) struct Load {
    scheduler: Box<dyn Scheduler<u64>>,
    /// The packets to come, in an order drawn beforehand.
    arrivals: Vec<Packet<u64>>,
    next: usize,
    out: Vec<Sent<u64>>,
    now_ns: u64,
}

impl Load {
    /// Builds the scheduler of this configuration, or none, and fills it: two packets a flow, at
    /// least a thousand.
    pub(crate) fn new(case: &Case, config: Option<&Config>) -> Result<Self, Error> {
        let mut seed = 1u64;
        let mut draw = |below: u32| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((seed >> 33) % u64::from(below)) as u32
        };
        let arrivals = (0..ARRIVALS as u64)
            .map(|handle| {
                let flow = draw(case.flows);
                let packet = Packet::new(handle, LENGTH_BYTES, flow);
                if case.classes > 1 { packet.in_class(leaf(flow)) } else { packet }
            })
            .collect();
        let scheduler: Box<dyn Scheduler<u64>> = match config {
            Some(config) => build(config)?,
            None => Box::new(Nothing::default()),
        };
        let out = Vec::with_capacity(BURST);
        let mut load = Self { scheduler, arrivals, next: 0, out, now_ns: 0 };
        let fill = (2 * case.flows).clamp(1000, 100_000);
        (0..fill).for_each(|_| load.offer(1));
        Ok(load)
    }

    /// Offers the next so many packets in one call.
    #[inline]
    fn offer(&mut self, count: usize) {
        if self.next + count > self.arrivals.len() {
            self.next = 0;
        }
        let packets = &self.arrivals[self.next..self.next + count];
        self.next += count;
        self.scheduler.enqueue_burst(self.now_ns, packets, &mut |_| {});
    }

    /// Takes so many slices of packets through enqueue and dequeue: nanoseconds a packet in the
    /// median slice.
    #[inline(never)]
    pub(crate) fn run(&mut self, slices: usize) -> f64 {
        let mut figures: Vec<f64> = (0..slices).map(|_| self.slice()).collect();
        figures.sort_by(f64::total_cmp);
        figures[slices / 2]
    }

    fn slice(&mut self) -> f64 {
        let mut sent = 0;
        let start = Instant::now();
        while sent < SLICE {
            // As many come as went, so that the backlog stands.
            self.offer(self.out.len());
            self.out.clear();
            match self.scheduler.dequeue_burst(self.now_ns, BURST, &mut self.out, &mut |_| {}) {
                Burst::More => {}
                Burst::Wait(until_ns) => self.now_ns = self.now_ns.max(until_ns),
                Burst::Empty => self.offer(BURST),
            }
            sent += self.out.len();
            let bytes = self.out.len() as u64 * u64::from(LENGTH_BYTES);
            self.now_ns += bytes * 8_000_000_000 / LINK.0;
        }
        start.elapsed().as_nanos() as f64 / sent as f64
    }
}
