//! The whole scheduler: a tree of disciplines over one pool of packets, behind the public trait.
//!
//! ```text
//!   enqueue ─▶ slot from the pool ─▶ discipline tree            dequeue ─▶ given back? those first
//!                                                                         else the tree's choice, its slot freed
//! ```

use crate::discipline::{Discipline, Step};
use crate::given_back::GivenBack;
use crate::handles::Handles;
use crate::packet::{Burst, DropReason, Dropped, Drops, Next, Offer, Packet, Sent, Verdict};
use crate::pool::{Backlog, Context, Pool, Reuse};
use crate::report::Report;
use crate::{ClassId, Scheduler};

/// Packets of a burst whose memory is asked for together: as much as the first cache holds beside
/// all else.
const FORESEEN: usize = 32;

pub(crate) struct Root<T, D> {
    pool: Pool<T>,
    given_back: GivenBack<T>,
    pool_exhausted: u64,
    discipline: D,
    /// What its disciplines are called.
    handles: Handles,
}

impl<T: Copy, D> Root<T, D> {
    pub(crate) fn new(pool_packets: u32, reuse: Reuse, discipline: D, handles: Handles) -> Self {
        Self {
            pool: Pool::new(pool_packets, reuse),
            given_back: GivenBack::new(),
            pool_exhausted: 0,
            discipline,
            handles,
        }
    }
}

impl<T: Copy, D: Discipline> Root<T, D> {
    #[inline(always)]
    fn at_work<'a>(&'a mut self, now_ns: u64, drops: Drops<'a, T>) -> AtWork<'a, T, D> {
        let Self { pool, pool_exhausted, discipline, .. } = self;
        let cx = Context { now_ns, pool, drops, offer: Offer::default() };
        AtWork { discipline, cx, pool_exhausted }
    }
}

/// The tree and what it works with: written down once for all packets of a burst.
struct AtWork<'a, T, D> {
    discipline: &'a mut D,
    cx: Context<'a, T>,
    pool_exhausted: &'a mut u64,
}

impl<T: Copy, D: Discipline> AtWork<'_, T, D> {
    /// A packet into the tree: in line, for one and for each of a burst.
    #[inline(always)]
    fn offer(&mut self, arrived_ns: u64, packet: &Packet<T>) -> Verdict {
        let Some(id) = self.cx.pool.take(packet, arrived_ns) else {
            return self.refuse(packet);
        };
        self.cx.offer = packet.offer;
        match self.discipline.enqueue(&mut self.cx, id, packet.class) {
            true => Verdict::Queued,
            false => Verdict::Dropped,
        }
    }

    /// The tree's choice.
    #[inline(always)]
    fn choose(&mut self) -> Next<T> {
        match self.discipline.dequeue(&mut self.cx) {
            Step::Packet(id) => Next::Packet(self.cx.pool.free(id)),
            Step::Wait(until_ns) => Next::Wait(until_ns),
            Step::Empty => Next::Empty,
        }
    }

    #[cold]
    fn refuse(&mut self, packet: &Packet<T>) -> Verdict {
        *self.pool_exhausted += 1;
        (self.cx.drops)(Dropped {
            handle: packet.handle,
            length_bytes: packet.length_bytes,
            reason: DropReason::PoolExhausted,
        });
        Verdict::Dropped
    }
}

impl<T: Copy + Send, D: Discipline + Send> Scheduler<T> for Root<T, D> {
    fn enqueue(&mut self, now_ns: u64, packet: Packet<T>, drops: Drops<'_, T>) -> Verdict {
        self.at_work(now_ns, drops).offer(now_ns, &packet)
    }

    fn enqueue_burst(&mut self, now_ns: u64, packets: &[Packet<T>], drops: Drops<'_, T>) {
        let mut work = self.at_work(now_ns, drops);
        for some in packets.chunks(FORESEEN) {
            work.discipline.foresee(work.cx.pool, some);
            for packet in some {
                let _: Verdict = work.offer(now_ns, packet);
            }
        }
    }

    fn adopt(
        &mut self,
        now_ns: u64,
        arrived_ns: u64,
        packet: Packet<T>,
        drops: Drops<'_, T>,
    ) -> Verdict {
        self.at_work(now_ns, drops).offer(arrived_ns, &packet)
    }

    fn dequeue(&mut self, now_ns: u64, drops: Drops<'_, T>) -> Next<T> {
        match self.given_back.take() {
            Some(sent) => Next::Packet(sent),
            None => self.at_work(now_ns, drops).choose(),
        }
    }

    fn waiting_packets(&self) -> u32 {
        self.pool.packets() + self.given_back.len()
    }

    fn dequeue_burst(
        &mut self,
        now_ns: u64,
        limit: usize,
        out: &mut Vec<Sent<T>>,
        drops: Drops<'_, T>,
    ) -> Burst {
        out.reserve(limit);
        let full = out.len() + limit;
        self.given_back.take_into(out, full);
        let AtWork { discipline, mut cx, .. } = self.at_work(now_ns, drops);
        while out.len() < full {
            let other = discipline.visit(&mut cx, |cx, id| {
                out.push(cx.pool.free(id));
                out.len() < full
            });
            match other {
                None | Some(Step::Packet(_)) => {}
                Some(Step::Wait(until_ns)) => return Burst::Wait(until_ns),
                Some(Step::Empty) => return Burst::Empty,
            }
        }
        Burst::More
    }

    fn give_back(&mut self, sent: Sent<T>) -> Result<(), Sent<T>> {
        self.given_back.put(sent)
    }

    #[inline]
    fn take_given_back(&mut self) -> Option<Sent<T>> {
        self.given_back.take()
    }

    fn backlog(&self) -> Backlog {
        self.given_back.backlog(self.discipline.backlog())
    }

    fn spend(&mut self, now_ns: u64) {
        self.discipline.spend(now_ns);
    }

    fn drain(&mut self, now_ns: u64, out: &mut dyn FnMut(u64, Packet<T>)) {
        let mut places = Vec::with_capacity(self.pool.packets() as usize);
        let drops: Drops<'_, T> = &mut |_| {};
        let offer = Offer::default();
        let mut cx = Context { now_ns, pool: &mut self.pool, drops, offer };
        self.discipline.drain(&mut cx, ClassId::NONE, &mut |class, id| places.push((class, id)));
        for (class, id) in places {
            let slot = self.pool.get(id);
            let packet = Packet {
                handle: slot.handle,
                length_bytes: slot.length_bytes,
                flow_hash: slot.flow_hash,
                class,
                priority: slot.priority,
                ecn_capable: slot.ecn_capable,
                code_point: slot.code_point,
                offer,
            };
            out(slot.note, packet);
            self.pool.free(id);
        }
    }

    fn report(&self) -> Report {
        let mut report = self.discipline.report();
        self.handles.name(&mut report);
        report.counters.dropped += self.pool_exhausted;
        report.backlog = self.discipline.backlog();
        self.given_back.add_to(&mut report);
        report
    }
}
