//! FQ-CoDel (RFC 8290): a CoDel queue for each flow, new flows before old, deficit round robin within each list.
//!
//! ```text
//!   hash ─▶ flow ─▶ [ · · · ] + CoDel state + deficit
//!
//!   new flows:  f9 ─▶ f2                  served first; deficit used up, or emptied once ──▶ tail of the old
//!   old flows:  f5 ─▶ f1 ─▶ f7            deficit used up ──▶ tail; emptied ──▶ off the list
//! ```
//!
//! Time O(1), about five cache lines; when full, one pass over the flows' byte counts (4 bytes each) for up to 64 drops
//! from the head of the fattest. Space 64 + 4 bytes a flow.

use crate::ClassId;
use crate::codel::describe;
use crate::codel_law::{CodelCounters, CodelSettings, CodelState};
use crate::discipline::{Accepted, Discipline, Drained, Step};
use crate::hash;
use crate::packet::DropReason;
use crate::pool::{Backlog, Context, Queue, SlotId};
use crate::report::{Counters, Report};
use crate::units::Size;

const NIL: u32 = u32::MAX;

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

struct Flow {
    queue: Queue,
    codel: CodelState,
    deficit: i32,
    /// The flow after it on its list.
    next: u32,
    listed: bool,
}

/// A list of flows: taken at the head, put at the tail.
#[derive(Clone, Copy)]
struct FlowList {
    head: u32,
    tail: u32,
}

impl FlowList {
    const EMPTY: FlowList = FlowList { head: NIL, tail: NIL };

    #[inline]
    fn push(&mut self, flows: &mut [Flow], index: u32) {
        flows[index as usize].next = NIL;
        match self.head {
            NIL => self.head = index,
            _ => flows[self.tail as usize].next = index,
        }
        self.tail = index;
    }

    #[inline]
    fn pop(&mut self, flows: &[Flow]) {
        self.head = flows[self.head as usize].next;
    }

    fn count(&self, flows: &[Flow]) -> u64 {
        let mut count = 0;
        let mut index = self.head;
        while index != NIL {
            count += 1;
            index = flows[index as usize].next;
        }
        count
    }
}

pub(crate) struct FqCodel {
    settings: FqCodelSettings,
    flows: Vec<Flow>,
    /// Bytes of each flow, apart from the flows: the search for the fattest reads nothing else.
    bytes: Vec<u32>,
    new_flows: FlowList,
    old_flows: FlowList,
    backlog: Backlog,
    law: CodelCounters,
    over_limit: u64,
    over_memory: u64,
    new_flow_count: u64,
    max_packet_bytes: u32,
    counters: Counters,
}

impl FqCodel {
    pub(crate) fn new(settings: FqCodelSettings) -> Self {
        let flow = || Flow {
            queue: Queue::EMPTY,
            codel: CodelState::NEW,
            deficit: 0,
            next: NIL,
            listed: false,
        };
        Self {
            settings,
            flows: std::iter::repeat_with(flow).take(settings.flows as usize).collect(),
            bytes: vec![0; settings.flows as usize],
            new_flows: FlowList::EMPTY,
            old_flows: FlowList::EMPTY,
            backlog: Backlog::default(),
            law: CodelCounters::default(),
            over_limit: 0,
            over_memory: 0,
            new_flow_count: 0,
            max_packet_bytes: 0,
            counters: Counters::default(),
        }
    }

    /// Drops from the head of the fattest flow, up to half its bytes or a batch of packets. Tells if `arrival` went too.
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
        let mut dropped_bytes = 0;
        let mut dropped = 0;
        let mut arrival_dropped = false;
        while dropped < self.settings.drop_batch.max(1)
            && (dropped == 0 || dropped_bytes < most / 2)
        {
            let Some(id) = flow.queue.pop(cx.pool) else { break };
            let length_bytes = cx.length_bytes(id);
            dropped_bytes += length_bytes;
            dropped += 1;
            arrival_dropped |= id == arrival;
            self.backlog.remove(length_bytes);
            cx.drop_packet(id, DropReason::LongestQueue);
        }
        // CoDel is told, so that it signals this flow the harder.
        flow.codel.count = flow.codel.count.wrapping_add(dropped);
        self.bytes[fattest] -= dropped_bytes;
        self.over_limit += u64::from(dropped);
        arrival_dropped
    }
}

impl Discipline for FqCodel {
    #[inline]
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
            self.new_flows.push(&mut self.flows, index);
            self.new_flow_count += 1;
        }
        let over_memory = self.backlog.bytes > self.settings.memory_limit_bytes;
        if self.backlog.packets <= self.settings.limit && !over_memory {
            return true;
        }
        self.over_memory += u64::from(over_memory);
        !self.drop_from_fattest(cx, id)
    }

    #[inline]
    fn dequeue<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Step {
        loop {
            let from_new = self.new_flows.head != NIL;
            let index = if from_new { self.new_flows.head } else { self.old_flows.head };
            if index == NIL {
                return Step::Empty;
            }
            let list = if from_new { &mut self.new_flows } else { &mut self.old_flows };
            let flow = &mut self.flows[index as usize];
            if flow.deficit <= 0 {
                flow.deficit += self.settings.quantum_bytes as i32;
                list.pop(&self.flows);
                self.old_flows.push(&mut self.flows, index);
                continue;
            }
            let Self { bytes, backlog, law, settings, .. } = self;
            let Flow { queue, codel, .. } = flow;
            let next = codel.next(&settings.codel, law, cx, |cx| {
                let id = queue.pop(cx.pool)?;
                let length_bytes = cx.length_bytes(id);
                bytes[index as usize] -= length_bytes;
                backlog.remove(length_bytes);
                Some((id, backlog.bytes))
            });
            if let Some(id) = next {
                let length_bytes = cx.length_bytes(id);
                flow.deficit -= length_bytes as i32;
                self.max_packet_bytes = self.max_packet_bytes.max(length_bytes);
                self.counters.sent(length_bytes);
                return Step::Packet(id);
            }
            list.pop(&self.flows);
            if from_new && self.old_flows.head != NIL {
                // Once through the old ones, or a flow that empties and comes again would starve them.
                self.old_flows.push(&mut self.flows, index);
            } else {
                self.flows[index as usize].listed = false;
            }
        }
    }

    fn backlog(&self) -> Backlog {
        self.backlog
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
            "limit {}p flows {} quantum {} {} memory_limit {} drop_batch {}",
            set.limit,
            set.flows,
            set.quantum_bytes,
            describe(&set.codel),
            Size(set.memory_limit_bytes),
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
            .gauge("new_flows_len", self.new_flows.count(&self.flows))
            .gauge("old_flows_len", self.old_flows.count(&self.flows))
    }
}
