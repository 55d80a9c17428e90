//! FQ-CoDel (RFC 8290): a CoDel queue for each flow, new flows before old, deficit round robin
//! within each list.
//!
//! ```text
//!   hash ─▶ flow ─▶ [ · · · ] + CoDel state + deficit
//!
//!   new flows:  f9 ─▶ f2                  served first; deficit used up, or emptied once ──▶ tail of the old
//!   old flows:  f5 ─▶ f1 ─▶ f7            deficit used up ──▶ tail; emptied ──▶ off the list
//! ```
//!
//! Time O(1), about five cache lines, asked for some packets ahead; when full, one pass over the
//! flows' byte counts (4 bytes each) for up to 64 drops from the head of the fattest. Space 64 + 4
//! + 8 bytes a flow.

use crate::codel::{CodelShape, ecn};
use crate::codel_law::{CodelCounters, CodelSettings, CodelState, Head};
use crate::discipline::{Accepted, Discipline, Drained, Step};
use crate::kind::Kind;
use crate::names::Names;
use crate::packet::Packet;
use crate::plan::Plan;
use crate::pool::{Backlog, Context, Pool, Queue, SlotId};
use crate::prefetch::prefetch;
use crate::report::{Counters, Report};
use crate::said::Said;
use crate::settings::settings;
use crate::turns::Turns;
use crate::units::{Size, Time};
use crate::{ClassId, Error, hash};

/// Up to so many busy flows, all of their state stays in the near caches.
const FEW_FLOWS: usize = 256;
/// With more, so does not even what their packets take.
const MANY_FLOWS: usize = 8192;

/// The settings, checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FqCodelSettings {
    pub(crate) limit: u32,
    pub(crate) flows: u32,
    pub(crate) quantum_bytes: u32,
    pub(crate) memory_limit_bytes: u64,
    pub(crate) drop_batch: u32,
    pub(crate) codel: CodelSettings,
}

/// All of a flow in one cache line.
#[repr(align(64))]
struct Flow {
    queue: Queue,
    codel: CodelState,
    deficit: i32,
    listed: bool,
}

pub(crate) struct FqCodel {
    settings: FqCodelSettings,
    flows: Vec<Flow>,
    /// Bytes of each flow, apart from the flows: the search for the fattest reads nothing else.
    bytes: Vec<u32>,
    new_flows: Turns,
    old_flows: Turns,
    backlog: Backlog,
    law: CodelCounters,
    over_limit: u64,
    over_memory: u64,
    new_flow_count: u64,
    max_packet_bytes: u32,
    counters: Counters,
    told: String,
}

impl FqCodel {
    /// `told` is what its flows are set to, as `tc` shows it.
    pub(crate) fn new(settings: FqCodelSettings, told: String) -> Self {
        let (queue, codel) = (Queue::EMPTY, CodelState::NEW);
        let flow = || Flow { queue, codel, deficit: 0, listed: false };
        Self {
            settings,
            flows: std::iter::repeat_with(flow).take(settings.flows as usize).collect(),
            bytes: vec![0; settings.flows as usize],
            new_flows: Turns::new(settings.flows),
            old_flows: Turns::new(settings.flows),
            backlog: Backlog::default(),
            law: CodelCounters::default(),
            over_limit: 0,
            over_memory: 0,
            new_flow_count: 0,
            max_packet_bytes: 0,
            counters: Counters::default(),
            told,
        }
    }

    #[inline]
    fn busy_flows(&self) -> usize {
        self.new_flows.len() + self.old_flows.len()
    }

    /// Asks for a flow whose turn comes soon, and for the packet of one whose turn comes sooner.
    #[inline]
    fn foresee_turns<T: Copy>(&self, pool: &Pool<T>) {
        if self.busy_flows() <= FEW_FLOWS {
            return;
        }
        let list = if self.new_flows.len() > 6 { &self.new_flows } else { &self.old_flows };
        let soon = list.at(6) as usize;
        prefetch(&self.flows, soon);
        prefetch(&self.bytes, soon);
        pool.prefetch(self.flows[list.at(3) as usize].queue.head);
    }

    /// Drops from the head of the fattest flow, up to half its bytes or a batch of packets. Tells
    /// if `arrival` went too.
    #[cold]
    fn drop_from_fattest<T: Copy>(&mut self, cx: &mut Context<'_, T>, arrival: SlotId) -> bool {
        let mut fattest = 0;
        let mut most = 0;
        for (index, &bytes) in self.bytes.iter().enumerate() {
            if bytes > most {
                (fattest, most) = (index, bytes);
            }
        }
        let flow = &mut self.flows[fattest];
        let mut arrival_dropped = false;
        let batch = self.settings.drop_batch.max(1);
        let dropped = flow.queue.drop_half(cx, most, batch, |id| arrival_dropped |= id == arrival);
        self.backlog.lose(dropped);
        // CoDel is told, so that it signals this flow the harder.
        flow.codel.count = flow.codel.count.wrapping_add(dropped.packets);
        self.bytes[fattest] -= dropped.bytes as u32;
        self.over_limit += u64::from(dropped.packets);
        arrival_dropped
    }
}

impl Discipline for FqCodel {
    #[inline(always)]
    fn enqueue<T: Copy>(&mut self, cx: &mut Context<'_, T>, id: SlotId, _: ClassId) -> Accepted {
        let slot = cx.pool.get(id);
        let length_bytes = slot.length_bytes;
        let index = hash::bucket(slot.flow_hash, self.settings.flows);
        let flow = &mut self.flows[index as usize];
        flow.queue.push(cx.pool, id);
        self.bytes[index as usize] += length_bytes;
        self.backlog.add(length_bytes);
        if !flow.listed {
            flow.listed = true;
            flow.deficit = self.settings.quantum_bytes as i32;
            self.new_flows.push(index);
            self.new_flow_count += 1;
        }
        let over_memory = self.backlog.bytes > self.settings.memory_limit_bytes;
        if self.backlog.packets <= self.settings.limit && !over_memory {
            return true;
        }
        self.over_memory += u64::from(over_memory);
        !self.drop_from_fattest(cx, id)
    }

    #[inline(always)]
    fn dequeue<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Step {
        loop {
            let from_new = self.new_flows.front().is_some();
            let list = if from_new { &mut self.new_flows } else { &mut self.old_flows };
            let Some(index) = list.front() else { return Step::Empty };
            let flow = &mut self.flows[index as usize];
            if flow.deficit <= 0 {
                flow.deficit += self.settings.quantum_bytes as i32;
                list.pop();
                self.old_flows.push(index);
                self.foresee_turns(cx.pool);
                continue;
            }
            let Self { bytes, backlog, law, settings, .. } = self;
            let Flow { queue, codel, .. } = flow;
            let next = codel.next(&settings.codel, law, cx, |cx| {
                let (id, slot) = queue.pop_slot(cx.pool)?;
                let (length_bytes, arrived_ns) = (slot.length_bytes, slot.note);
                bytes[index as usize] -= length_bytes;
                backlog.remove(length_bytes);
                Some((id, Head { arrived_ns, backlog_bytes: backlog.bytes }))
            });
            if let Some(id) = next {
                let length_bytes = cx.length_bytes(id);
                flow.deficit -= length_bytes as i32;
                self.max_packet_bytes = self.max_packet_bytes.max(length_bytes);
                self.counters.sent(length_bytes);
                return Step::Packet(id);
            }
            list.pop();
            if from_new && self.old_flows.front().is_some() {
                // Once through the old ones, or a flow that empties and comes again would starve
                // them.
                self.old_flows.push(index);
            } else {
                flow.listed = false;
            }
            self.foresee_turns(cx.pool);
        }
    }

    #[inline]
    fn foresee<T: Copy>(&self, pool: &Pool<T>, packets: &[Packet<T>]) {
        if self.busy_flows() <= FEW_FLOWS {
            return;
        }
        let bucket = |packet: &Packet<T>| hash::bucket(packet.flow_hash, self.settings.flows);
        let flows = || packets.iter().map(|packet| bucket(packet) as usize);
        for flow in flows() {
            prefetch(&self.flows, flow);
            prefetch(&self.bytes, flow);
        }
        if self.busy_flows() > MANY_FLOWS {
            for flow in flows() {
                self.flows[flow].queue.prefetch_tail(pool);
            }
        }
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn own_backlog(&mut self) -> Option<&mut Backlog> {
        Some(&mut self.backlog)
    }

    fn busy_flows(&self) -> u32 {
        Self::busy_flows(self) as u32
    }

    fn drain<T: Copy>(&mut self, cx: &mut Context<'_, T>, class: ClassId, out: Drained<'_>) {
        for (flow, bytes) in self.flows.iter_mut().zip(&mut self.bytes) {
            while let Some(id) = flow.queue.pop(cx.pool) {
                out(class, id);
            }
            *bytes = 0;
        }
        self.backlog = Backlog::default();
    }

    fn report(&self) -> Report {
        let set = &self.settings;
        let settings = format!(
            "limit {}p flows {} quantum {} {} memory_limit {}{} drop_batch {}",
            set.limit,
            set.flows,
            set.quantum_bytes,
            self.told,
            Said(Size(set.memory_limit_bytes)),
            ecn(set.codel.ecn),
            set.drop_batch,
        );
        let counters = Counters {
            dropped: self.law.dropped + self.over_limit,
            marked: self.law.marked + self.law.marked_threshold,
            ..self.counters
        };
        Report::new("fq_codel", settings, counters, self.backlog)
            .gauge("maxpacket", u64::from(self.max_packet_bytes))
            .gauge("drop_overlimit", self.over_limit)
            .gauge("drop_overmemory", self.over_memory)
            .gauge("new_flow_count", self.new_flow_count)
            .gauge("ecn_mark", self.law.marked)
            .gauge("ce_mark", self.law.marked_threshold)
            .gauge("new_flows_len", self.new_flows.len() as u64)
            .gauge("old_flows_len", self.old_flows.len() as u64)
    }
}

settings! {
    /// What `fq_codel` can be set to.
    pub struct FqCodelShape: "fq_codel" {
        /// Its name, as in `1:`; one is found if not given.
        handle: maybe ClassId, its_name();
        /// The most packets that wait.
        limit: usual u32 = 10_240, within(1, 1 << 24, "1 to 2^24");
        /// Queues that flows are hashed into.
        flows: usual u32 = 1024, within(1, 65_536, "1 to 65536");
        /// What a flow may send in its turn; the MTU if not given.
        quantum: maybe Size, within(1, 1 << 20, "1 byte to 1 MiB");
        /// The delay that is acceptable for long.
        target: usual Time = Time(5_000_000);
        /// How long it may be exceeded: about the longest round trip.
        interval: usual Time = Time(100_000_000);
        /// Mark packets that can be marked; else drop.
        ecn: usual bool = true, tc_off("noecn");
        /// Mark every such packet that waited longer than this.
        ce_threshold: maybe Time;
        /// The most bytes that wait.
        memory_limit: usual Size = Size(32 << 20), within(1, 1 << 32, "1 byte to 4 GiB");
        /// The most packets dropped at a time when it is full.
        drop_batch: usual u32 = 64, within(1, 1024, "1 to 1024");
    }
}

impl FqCodelShape {
    /// One flow's delays.
    fn of_a_flow(&self) -> CodelShape {
        CodelShape {
            handle: None,
            limit: self.limit,
            target: self.target,
            interval: self.interval,
            ecn: self.ecn,
            ce_threshold: self.ce_threshold,
        }
    }
}

impl Plan for FqCodelShape {
    fn handle(&self) -> Option<ClassId> {
        self.handle
    }

    fn limit_packets(&self) -> u64 {
        u64::from(self.limit)
    }

    fn state_bytes(&self) -> u64 {
        84 * u64::from(self.flows)
    }

    fn check(&self, _: &mut Names) -> Result<(), Error> {
        self.of_a_flow().check_delays("fq_codel")
    }

    fn build(&self, mtu_bytes: u32) -> Result<Kind, Error> {
        let settings = FqCodelSettings {
            limit: self.limit,
            flows: self.flows,
            quantum_bytes: self.quantum.map_or(mtu_bytes, |quantum| quantum.0 as u32),
            memory_limit_bytes: self.memory_limit.0,
            drop_batch: self.drop_batch,
            codel: self.of_a_flow().law(mtu_bytes),
        };
        Ok(Kind::FqCodel(Box::new(FqCodel::new(settings, self.of_a_flow().told()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codel_law::tick;
    use crate::packet::Packet;
    use crate::pool::{Pool, Reuse};
    use crate::{Shape, testing::Bench};

    /// The discipline with its inside open, as the published scripts look at it.
    struct Open {
        fq: FqCodel,
        pool: Pool<u64>,
        drops: usize,
    }

    impl Open {
        fn new(quantum_bytes: u32, limit: u32) -> Self {
            let codel = CodelSettings {
                target: tick(5_000_000),
                interval: tick(100_000_000),
                ce_threshold: None,
                mtu_bytes: 1514,
                ecn: true,
            };
            let (flows, memory_limit_bytes, drop_batch) = (1024, 32 << 20, 64);
            let settings = FqCodelSettings {
                limit,
                flows,
                quantum_bytes,
                memory_limit_bytes,
                drop_batch,
                codel,
            };
            Self {
                fq: FqCodel::new(settings, String::new()),
                pool: Pool::new(100, Reuse::Soonest),
                drops: 0,
            }
        }

        fn index(flow: u32) -> usize {
            hash::bucket(flow, 1024) as usize
        }

        fn offer(&mut self, flow: u32, length_bytes: u32) {
            let id = self.pool.take(&Packet::new(0, length_bytes, flow), 0).unwrap();
            let mut drop = |_| self.drops += 1;
            let mut cx = Context {
                now_ns: 0,
                pool: &mut self.pool,
                drops: &mut drop,
                offer: Default::default(),
            };
            self.fq.enqueue(&mut cx, id, ClassId::NONE);
        }

        fn take(&mut self) -> Option<u32> {
            let mut cx = Context {
                now_ns: 0,
                pool: &mut self.pool,
                drops: &mut |_| {},
                offer: Default::default(),
            };
            let Step::Packet(id) = self.fq.dequeue(&mut cx) else { return None };
            let flow = self.pool.get(id).flow_hash;
            self.pool.free(id);
            Some(flow)
        }

        fn packets(&self, flow: u32) -> u32 {
            self.fq.bytes[Self::index(flow)] / 120
        }

        fn deficit(&self, flow: u32) -> i32 {
            self.fq.flows[Self::index(flow)].deficit
        }

        fn is_new(&self, flow: u32) -> bool {
            self.on(&self.fq.new_flows, flow)
        }

        fn is_old(&self, flow: u32) -> bool {
            self.on(&self.fq.old_flows, flow)
        }

        fn on(&self, list: &Turns, flow: u32) -> bool {
            (0..list.len()).any(|turn| list.at(turn) as usize == Self::index(flow))
        }
    }

    #[test]
    fn deficits_and_lists_go_as_published() {
        // ns-3's script: quantum 90, packets of 120 bytes, flows 1 and 2.
        let mut open = Open::new(90, 10_240);
        open.offer(1, 120);
        assert_eq!((open.deficit(1), open.is_new(1)), (90, true));
        assert_eq!(open.take(), Some(1));
        assert_eq!(open.deficit(1), -30);
        open.offer(1, 120);
        open.offer(1, 120);
        open.offer(2, 120);
        open.offer(2, 120);
        assert!(open.is_new(1) && open.is_new(2));
        assert_eq!(open.take(), Some(2), "flow 1 has a debt");
        assert_eq!((open.deficit(1), open.deficit(2)), (60, -30));
        assert!(open.is_old(1) && open.is_new(2));
        assert_eq!(open.take(), Some(1));
        assert_eq!((open.deficit(1), open.deficit(2)), (-60, 60));
        assert!(open.is_old(1) && open.is_old(2));
        assert_eq!(open.take(), Some(2));
        assert_eq!((open.deficit(1), open.deficit(2)), (30, -60));
        assert_eq!(open.take(), Some(1));
        assert_eq!((open.deficit(1), open.deficit(2)), (-90, 30));
        assert_eq!(open.take(), None);
        assert_eq!((open.deficit(1), open.deficit(2)), (90, 30));
        assert!(!open.fq.flows.iter().any(|flow| flow.listed));
    }

    #[test]
    fn overflow_takes_from_the_fattest_flow_as_published() {
        // ns-3's script: limit 4; three packets of one flow, two of another; then two more of the
        // other.
        let mut open = Open::new(1500, 4);
        for flow in [1, 1, 1, 2] {
            open.offer(flow, 120);
        }
        assert_eq!(open.drops, 0);
        open.offer(2, 120);
        assert_eq!((open.packets(1), open.packets(2), open.drops), (1, 2, 2), "half of 360 is 2");
        open.offer(2, 120);
        assert_eq!((open.packets(1), open.packets(2)), (1, 3));
        open.offer(2, 120);
        assert_eq!((open.packets(1), open.packets(2), open.drops), (1, 2, 4));
    }

    #[test]
    fn a_new_flow_goes_before_old_ones_once() {
        let mut bench = Bench::new(Shape::fq_codel());
        for handle in 0..4 {
            bench.offer(0, handle, 1514, 1);
        }
        assert_eq!(bench.take_one(0), Some(0));
        assert_eq!(bench.take_one(0), Some(1));
        bench.offer(0, 10, 100, 2);
        assert_eq!(bench.take_one(0), Some(10));
        assert_eq!(bench.take_one(0), Some(2));
    }

    #[test]
    fn memory_is_bounded_by_bytes_too() {
        let mut shape = Shape::fq_codel();
        if let Shape::FqCodel(settings) = &mut shape {
            settings.memory_limit = Size(10_000);
        }
        let mut bench = Bench::new(shape);
        for handle in 0..100 {
            bench.offer(0, handle, 1000, handle as u32 % 5);
        }
        assert!(bench.report().backlog.bytes <= 10_000);
        assert!(bench.report().gauge_value("drop_overmemory") > Some(0));
    }

    #[test]
    fn a_flow_is_one_cache_line() {
        assert!(size_of::<Flow>() <= 64);
    }
}
