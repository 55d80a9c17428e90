//! One tin: new flows before old ones as in FQ-CoDel, and old ones by start-time fair queueing
//! (Goyal, Vin, Cheng 1996), in which what a flow sends counts once for each busy flow of its host.
//!
//! ```text
//!   key ─▶ place ─▶ flow ─▶ [ · · · ] + CoDel + tag             source ─▶ host: busy flows n
//!                                                                     │
//!   new flows:  in turn, a quantum each, once                         ▼
//!   old flows:  the least tag first; a packet moves it on by length × n
//! ```
//! Deficit round robin, as Linux has it, would go round n times for a packet of a host with n busy
//! flows: whoever opens a thousand of them would have the worker do so. A flow is busy from its
//! first turn among the old ones on: sparse ones take nothing from the others of their host.

use super::hosts::{HostAt, Hosts};
use super::isolation::Isolation;
use super::places::Places;
use crate::codel_law::{CodelCounters, CodelSettings, CodelState, Head};
use crate::least_heap::LeastHeap;
use crate::packet::{DropReason, Offer};
use crate::pool::{Backlog, Context, Queue, SlotId};
use crate::report::Counters;
use crate::turns::Turns;

struct Flow {
    queue: Queue,
    codel: CodelState,
    /// Bytes that it may still send as a new one.
    left_bytes: u32,
    source: HostAt,
    destination: HostAt,
    listed: bool,
    busy: bool,
    /// The acknowledgement at its tail that a later one may stand for.
    last_ack: SlotId,
    acknowledged: u32,
}

impl Flow {
    fn idle() -> Self {
        Self {
            queue: Queue::EMPTY,
            codel: CodelState::NEW,
            left_bytes: 0,
            source: None,
            destination: None,
            listed: false,
            busy: false,
            last_ack: SlotId::NIL,
            acknowledged: 0,
        }
    }
}

/// See the module.
pub(super) struct Tin {
    isolation: Isolation,
    quantum_bytes: u32,
    codel: CodelSettings,
    places: Places,
    flows: Vec<Flow>,
    /// Bytes of each flow, apart: the search for the fattest reads nothing else.
    bytes: Vec<u32>,
    new_flows: Turns,
    /// By their tags.
    old_flows: LeastHeap,
    old_count: usize,
    /// The tag of the old flow that sent last.
    virtual_bytes: u64,
    sources: Hosts,
    destinations: Hosts,
    pub(super) backlog: Backlog,
    pub(super) counters: Counters,
    pub(super) law: CodelCounters,
    pub(super) over_limit: u64,
    pub(super) acks_dropped: u64,
    pub(super) shared_places: u64,
    pub(super) max_packet_bytes: u32,
}

/// What becomes of a packet that came.
pub(super) enum Taken {
    /// It waits, and is so much more.
    Queued(u32),
    /// It waits in the place of one that says less, which is `more` bytes shorter.
    InPlace { more: i64 },
}

impl Tin {
    pub(super) fn new(
        isolation: Isolation,
        flows: u32,
        quantum_bytes: u32,
        codel: CodelSettings,
    ) -> Self {
        let places = Places::new(flows as usize);
        let flows = places.len();
        let hosts = |wanted: bool| Hosts::new(if wanted { flows } else { 0 });
        Self {
            isolation,
            quantum_bytes,
            codel,
            flows: std::iter::repeat_with(Flow::idle).take(flows).collect(),
            bytes: vec![0; flows],
            new_flows: Turns::new(flows as u32),
            old_flows: LeastHeap::new(flows),
            old_count: 0,
            virtual_bytes: 0,
            sources: hosts(isolation.within_sources()),
            destinations: hosts(isolation.within_destinations()),
            places,
            backlog: Backlog::default(),
            counters: Counters::default(),
            law: CodelCounters::default(),
            over_limit: 0,
            acks_dropped: 0,
            shared_places: 0,
            max_packet_bytes: 0,
        }
    }

    /// Flows that are new, and old.
    pub(super) fn listed(&self) -> [usize; 2] {
        [self.new_flows.len(), self.old_count]
    }

    /// Takes a packet in; with `filters_acks` in the place of an acknowledgement that it makes
    /// needless.
    pub(super) fn enqueue<T: Copy>(
        &mut self,
        cx: &mut Context<'_, T>,
        id: SlotId,
        filters_acks: bool,
    ) -> Taken {
        let slot = cx.pool.get(id);
        let (length_bytes, flow_hash) = (slot.length_bytes, slot.flow_hash);
        let Offer { hosts, pure_ack } = cx.offer;
        let Self { places, flows, .. } = self;
        let place = places.find(self.isolation.key(flow_hash, hosts), |at| flows[at].listed);
        self.shared_places += u64::from(place.shared);
        let flow = &mut flows[place.at];
        if !flow.listed {
            flow.listed = true;
            flow.left_bytes = self.quantum_bytes;
            if self.isolation.within_sources() {
                flow.source = self.sources.join(hosts.source);
            }
            if self.isolation.within_destinations() {
                flow.destination = self.destinations.join(hosts.destination);
            }
            self.new_flows.push(place.at as u32);
        }
        let ack = pure_ack.filter(|_| filters_acks);
        if let Some(number) = ack
            && !flow.last_ack.is_nil()
            && is_later(number, flow.acknowledged)
            && cx.pool.get(flow.last_ack).flow_hash == flow_hash
        {
            let before = flow.last_ack;
            flow.acknowledged = number;
            cx.pool.swap_packets(before, id);
            let more = i64::from(length_bytes) - i64::from(cx.length_bytes(id));
            self.bytes[place.at] = self.bytes[place.at].wrapping_add_signed(more as i32);
            self.backlog.bytes = self.backlog.bytes.wrapping_add_signed(more);
            self.acks_dropped += 1;
            cx.drop_packet(id, DropReason::Acknowledged);
            return Taken::InPlace { more };
        }
        flow.queue.push(cx.pool, id);
        (flow.last_ack, flow.acknowledged) = match ack {
            Some(number) => (id, number),
            None => (SlotId::NIL, 0),
        };
        self.bytes[place.at] += length_bytes;
        self.backlog.add(length_bytes);
        Taken::Queued(length_bytes)
    }

    /// The packet whose turn it is; none where CoDel dropped all that waited.
    #[inline]
    pub(super) fn dequeue<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Option<SlotId> {
        loop {
            let new = self.new_flows.front();
            if let Some(at) = new.filter(|&at| self.flows[at as usize].left_bytes == 0) {
                self.new_flows.pop();
                self.grow_old(at);
                continue;
            }
            let (at, tag) = match new {
                Some(at) => (at, None),
                None => self.old_flows.least().map(|(at, tag)| (at, Some(tag)))?,
            };
            let next = self.next_of(at as usize, cx);
            match (next, tag) {
                (Some((_, length_bytes)), None) => {
                    let left = &mut self.flows[at as usize].left_bytes;
                    *left = left.saturating_sub(length_bytes);
                }
                (Some((_, length_bytes)), Some(tag)) => {
                    self.virtual_bytes = tag;
                    let counts = u64::from(length_bytes) * u64::from(self.sharers(at as usize));
                    self.old_flows.replace_least(tag + counts);
                }
                (None, None) => {
                    self.new_flows.pop();
                    if self.old_count != 0 {
                        // Once through the old ones, or a flow that empties and comes again would
                        // starve them.
                        self.grow_old(at);
                    } else {
                        self.let_go(at as usize);
                    }
                }
                (None, Some(_)) => {
                    self.old_flows.remove_least();
                    self.old_count -= 1;
                    self.let_go(at as usize);
                }
            }
            if let Some((id, length_bytes)) = next {
                self.max_packet_bytes = self.max_packet_bytes.max(length_bytes);
                self.counters.sent(length_bytes);
                return Some(id);
            }
        }
    }

    /// The next packet of a flow that CoDel lets pass, and its length.
    #[inline]
    fn next_of<T: Copy>(&mut self, at: usize, cx: &mut Context<'_, T>) -> Option<(SlotId, u32)> {
        let Self { flows, bytes, backlog, law, codel: settings, .. } = self;
        let Flow { queue, codel, last_ack, .. } = &mut flows[at];
        let id = codel.next(settings, law, cx, |cx| {
            let (id, slot) = queue.pop_slot(cx.pool)?;
            let (length_bytes, arrived_ns) = (slot.length_bytes, slot.note);
            if id == *last_ack {
                *last_ack = SlotId::NIL;
            }
            bytes[at] -= length_bytes;
            backlog.remove(length_bytes);
            Some((id, Head { arrived_ns, backlog_bytes: backlog.bytes }))
        })?;
        Some((id, cx.length_bytes(id)))
    }

    /// A new flow becomes an old one, behind those that wait for their turn.
    fn grow_old(&mut self, at: u32) {
        if self.old_count == 0 {
            self.virtual_bytes = 0;
        }
        self.old_count += 1;
        self.old_flows.set(at, self.virtual_bytes + u64::from(self.quantum_bytes));
    }

    /// Among how many flows what its host has is shared; from now on it is one of them.
    fn sharers(&mut self, at: usize) -> u32 {
        let flow = &mut self.flows[at];
        if !flow.busy {
            flow.busy = true;
            self.sources.get_busy(flow.source);
            self.destinations.get_busy(flow.destination);
        }
        self.sources.sharers(flow.source).max(self.destinations.sharers(flow.destination))
    }

    /// The flow has nothing more, and its place is free.
    fn let_go(&mut self, at: usize) {
        let flow = &mut self.flows[at];
        if std::mem::take(&mut flow.busy) {
            self.sources.rest(flow.source);
            self.destinations.rest(flow.destination);
        }
        self.sources.leave(flow.source.take());
        self.destinations.leave(flow.destination.take());
        flow.listed = false;
        flow.codel = CodelState::NEW;
    }

    /// Bytes of the fattest flow, and its place.
    pub(super) fn fattest(&self) -> (u32, usize) {
        let all = self.bytes.iter().enumerate();
        all.map(|(at, &bytes)| (bytes, at)).max().unwrap_or_default()
    }

    /// Drops from the head of a flow, up to half its bytes or so many packets. Tells how much went,
    /// and if `arrival` did.
    pub(super) fn drop_from<T: Copy>(
        &mut self,
        at: usize,
        most_packets: u32,
        cx: &mut Context<'_, T>,
        arrival: SlotId,
    ) -> (Backlog, bool) {
        let Flow { queue, codel, last_ack, .. } = &mut self.flows[at];
        let mut arrival_dropped = false;
        let dropped = queue.drop_half(cx, self.bytes[at], most_packets, |id| {
            arrival_dropped |= id == arrival;
            if id == *last_ack {
                *last_ack = SlotId::NIL;
            }
        });
        self.backlog.lose(dropped);
        // CoDel is told, so that it signals this flow the harder.
        codel.count = codel.count.wrapping_add(dropped.packets);
        self.bytes[at] -= dropped.bytes as u32;
        self.over_limit += u64::from(dropped.packets);
        (dropped, arrival_dropped)
    }

    /// Gives out all that waits.
    pub(super) fn drain<T: Copy>(&mut self, cx: &mut Context<'_, T>, mut out: impl FnMut(SlotId)) {
        for flow in &mut self.flows {
            while let Some(id) = flow.queue.pop(cx.pool) {
                out(id);
            }
            flow.last_ack = SlotId::NIL;
        }
        self.bytes.fill(0);
        self.backlog = Backlog::default();
    }
}

/// Whether a sequence number is later than another (RFC 9293 section 3.4).
fn is_later(number: u32, than: u32) -> bool {
    number.wrapping_sub(than) as i32 > 0
}
