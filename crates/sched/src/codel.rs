//! CoDel (RFC 8289): one FIFO whose head is dropped or marked when packets have waited too long for
//! too long.
//!
//! ```text
//!   enqueue ──▶ tail [ · · · · ] head ──▶ codel_law ──▶ dequeue
//!                                            └──▶ dropped, or marked CE
//! ```
//!
//! Time O(1) a packet sent and O(1) a packet dropped; space 200 bytes and the slots.

use crate::codel_law::{CodelCounters, CodelSettings, CodelState, Head, tick};
use crate::discipline::{Accepted, Discipline, Drained, Step};
use crate::kind::Kind;
use crate::names::Names;
use crate::packet::DropReason;
use crate::plan::Plan;
use crate::pool::{Backlog, Context, Queue, Reuse, SlotId};
use crate::report::{Counters, Report};
use crate::said::Said;
use crate::settings::{settings, within};
use crate::units::Time;
use crate::{ClassId, Error};

pub(crate) struct Codel {
    queue: Queue,
    backlog: Backlog,
    limit: u32,
    settings: CodelSettings,
    state: CodelState,
    law: CodelCounters,
    over_limit: u64,
    counters: Counters,
    told: String,
}

impl Codel {
    /// `told` is what it is set to, as `tc` shows it.
    pub(crate) fn new(limit: u32, settings: CodelSettings, told: String) -> Self {
        Self {
            queue: Queue::EMPTY,
            backlog: Backlog::default(),
            limit,
            settings,
            state: CodelState::NEW,
            law: CodelCounters::default(),
            over_limit: 0,
            counters: Counters::default(),
            told,
        }
    }
}

impl Discipline for Codel {
    #[inline(always)]
    fn enqueue<T: Copy>(&mut self, cx: &mut Context<'_, T>, id: SlotId, _: ClassId) -> Accepted {
        if self.backlog.packets >= self.limit {
            self.over_limit += 1;
            cx.drop_packet(id, DropReason::QueueFull);
            return false;
        }
        self.backlog.add(cx.length_bytes(id));
        self.queue.push(cx.pool, id);
        true
    }

    #[inline(always)]
    fn dequeue<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Step {
        let Self { queue, backlog, settings, state, law, .. } = self;
        let next = state.next(settings, law, cx, |cx| {
            let (id, slot) = queue.pop_slot(cx.pool)?;
            backlog.remove(slot.length_bytes);
            Some((id, Head { arrived_ns: slot.note, backlog_bytes: backlog.bytes }))
        });
        let Some(id) = next else { return Step::Empty };
        self.counters.sent(cx.length_bytes(id));
        Step::Packet(id)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn own_backlog(&mut self) -> Option<&mut Backlog> {
        Some(&mut self.backlog)
    }

    fn drain<T: Copy>(&mut self, cx: &mut Context<'_, T>, class: ClassId, out: Drained<'_>) {
        while let Some(id) = self.queue.pop(cx.pool) {
            out(class, id);
        }
        self.backlog = Backlog::default();
    }

    fn report(&self) -> Report {
        let settings = format!("limit {}p {}{}", self.limit, self.told, ecn(self.settings.ecn));
        let counters = Counters {
            dropped: self.law.dropped + self.over_limit,
            marked: self.law.marked + self.law.marked_threshold,
            ..self.counters
        };
        Report::new("codel", settings, counters, self.backlog)
            .gauge("drop_overlimit", self.over_limit)
            .gauge("ecn_mark", self.law.marked)
            .gauge("ce_mark", self.law.marked_threshold)
            .gauge("count", u64::from(self.state.count))
            .gauge("dropping", u64::from(self.state.dropping))
    }
}

settings! {
    /// What `codel` can be set to.
    pub struct CodelShape: "codel" {
        /// Its name, as in `1:`; one is found if not given.
        handle: maybe ClassId, its_name();
        /// The most packets that wait.
        limit: usual u32 = 1000, within(1, 1 << 24, "1 to 2^24");
        /// The delay that is acceptable for long.
        target: usual Time = Time(5_000_000);
        /// How long it may be exceeded: about the longest round trip.
        interval: usual Time = Time(100_000_000);
        /// Mark packets that can be marked; else drop.
        ecn: usual bool = false, tc_off("noecn");
        /// Mark every such packet that waited longer than this.
        ce_threshold: maybe Time;
    }
}

/// The word for it, where it is so.
pub(crate) fn ecn(marks: bool) -> &'static str {
    if marks { " ecn" } else { "" }
}

impl CodelShape {
    /// What the law of delays goes by.
    pub(crate) fn law(&self, mtu_bytes: u32) -> CodelSettings {
        CodelSettings {
            target: tick(self.target.0),
            interval: tick(self.interval.0),
            ce_threshold: self.ce_threshold.map(|Time(ns)| tick(ns)),
            mtu_bytes,
            ecn: self.ecn,
        }
    }

    /// The delays as `tc` shows them.
    pub(crate) fn told(&self) -> String {
        let mut text = format!("target {}", Said(self.target));
        if let Some(threshold) = self.ce_threshold {
            text += &format!(" ce_threshold {}", Said(threshold));
        }
        text + &format!(" interval {}", Said(self.interval))
    }

    /// Refuses delays that the law cannot go by.
    pub(crate) fn check_delays(&self, kind: &'static str) -> Result<(), Error> {
        let Time(interval) = self.interval;
        within(kind, "interval (ns)", interval, 2_000, 100_000_000_000, "2us to 100s")?;
        within(kind, "target (ns)", self.target.0, 1_024, interval, "1.024us to the interval")
    }
}

impl Plan for CodelShape {
    fn handle(&self) -> Option<ClassId> {
        self.handle
    }

    fn limit_packets(&self) -> u64 {
        u64::from(self.limit)
    }

    fn reuse(&self) -> Reuse {
        Reuse::InOrder
    }

    fn check(&self, _: &mut Names) -> Result<(), Error> {
        self.check_delays("codel")
    }

    fn build(&self, mtu_bytes: u32) -> Result<Kind, Error> {
        Ok(Kind::Codel(Box::new(Codel::new(self.limit, self.law(mtu_bytes), self.told()))))
    }
}

#[cfg(test)]
mod tests {
    use crate::units::Time;
    use crate::{CodelShape, Packet, Shape, testing::Bench};

    const MS: u64 = 1_000_000;

    fn codel(ecn: bool, threshold_ms: Option<u64>) -> Bench {
        let ce_threshold = threshold_ms.map(|ms| Time(ms * MS));
        let shape = CodelShape { limit: 500, ecn, ce_threshold, ..CodelShape::default() };
        Bench::new(Shape::Codel(shape))
    }

    fn fill(bench: &mut Bench, handles: std::ops::Range<u64>, ecn_capable: bool) {
        for handle in handles {
            let packet = Packet { ecn_capable, ..Packet::new(handle, 1000, 0) };
            bench.offer_packet(0, packet);
        }
    }

    // The script of ns-3's CoDel tests: 20 packets of 1000 bytes at time 0, taken at 10, 210, 210
    // and 420 ms.

    #[test]
    fn twenty_packets_are_dropped_as_published() {
        let mut bench = codel(false, None);
        fill(&mut bench, 0..20, false);
        assert_eq!(bench.take_one(10 * MS), Some(0));
        assert!(bench.dropped.is_empty(), "above target, but not for an interval yet");
        assert_eq!(bench.take_one(210 * MS), Some(2));
        assert_eq!(bench.dropped_handles(), [1], "an interval above target: one drop");
        assert_eq!(bench.take_one(210 * MS), Some(3), "not yet time for the next drop");
        // Due at 310, then by Newton's first estimates of 1 / sqrt(2) and 1 / sqrt(3), 0.5 and
        // 0.5625: at 360 and 416.
        let taken = bench.take_one(420 * MS).unwrap();
        let drops = bench.dropped.len() as u64;
        assert_eq!((drops, taken), (4, 7));
        assert_eq!(u64::from(bench.waiting()), 20 - 4 - drops);
    }

    #[test]
    fn packets_that_can_be_marked_are_marked_in_place_of_every_drop() {
        let mut bench = codel(true, None);
        fill(&mut bench, 0..20, true);
        for at in [10, 210, 210, 420] {
            assert!(bench.take_one(at * MS).is_some());
        }
        assert!(bench.dropped.is_empty());
        assert_eq!(bench.marked, [1, 3]);
        assert_eq!(bench.waiting(), 16);
    }

    #[test]
    fn with_ecn_those_that_cannot_be_marked_are_still_dropped() {
        let mut bench = codel(true, None);
        fill(&mut bench, 0..20, false);
        bench.take_one(10 * MS);
        bench.take_one(210 * MS);
        assert_eq!(bench.dropped_handles(), [1]);
    }

    #[test]
    fn the_threshold_marks_every_packet_that_waited_longer() {
        let mut bench = codel(true, Some(2));
        fill(&mut bench, 0..20, true);
        bench.take_one(MS);
        assert!(bench.marked.is_empty());
        bench.take_one(3 * MS);
        bench.take_one(10 * MS);
        assert_eq!(bench.marked, [1, 2]);
        let report = bench.report();
        assert_eq!(report.gauge_value("ce_mark"), Some(2));
        assert_eq!(report.gauge_value("ecn_mark"), Some(0));
    }

    #[test]
    fn nothing_is_dropped_while_no_more_than_one_packet_waits_behind() {
        let mut bench = codel(false, None);
        fill(&mut bench, 0..3, false);
        for (at, handle) in [(500, 0), (1000, 1), (1500, 2)] {
            assert_eq!(bench.take_one(at * MS), Some(handle));
        }
    }

    #[test]
    fn a_return_to_dropping_within_sixteen_intervals_goes_on_at_the_rate_it_had() {
        let mut bench = codel(false, None);
        let mut handle = 0;
        let mut time = 0;
        // Overload: two arrivals for each departure, every 10 ms; then a pause that empties the
        // queue, then again.
        let mut overload = |bench: &mut Bench, time: &mut u64, steps: u64| {
            for _ in 0..steps {
                *time += 10 * MS;
                bench.offer(*time, handle, 1000, 0);
                bench.offer(*time, handle + 1, 1000, 0);
                handle += 2;
                bench.take_one(*time);
            }
        };
        overload(&mut bench, &mut time, 200);
        let count = |bench: &Bench| bench.report().gauge_value("count").unwrap();
        let reached = count(&bench);
        assert!(reached > 8, "{reached}");
        bench.take_all(time + MS);
        assert_eq!(bench.report().gauge_value("dropping"), Some(0));
        overload(&mut bench, &mut time, 18);
        assert!(count(&bench) > 4, "resumed at {}", count(&bench));
        bench.take_all(time + MS);
        time += 5_000 * MS;
        overload(&mut bench, &mut time, 18);
        assert!(count(&bench) <= 3, "long forgotten, but began at {}", count(&bench));
    }
}
