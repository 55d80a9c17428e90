//! One worker's part of a tree that several serve: the packets that come to it, in leaves of its
//! own, sent as far as the [`Book`] has lent.
//!
//! ```text
//!   enqueue ─▶ leaf ─ wants more than it may send ─▶ wanting ─▶ the book, once for a lease
//!                └── credit left ─▶ ready: first in, first out ─▶ dequeue         emptied: what is left goes back
//! ```
//! A worker has, or has asked for, two pieces of a class at most: so much may go beyond what the
//! class's bucket holds, for each worker, and the packet that overdraws the last of it. While that
//! lasts nothing is written that another worker reads.

mod report;

use super::book::{Ask, Book};
use super::class::NIL;
use super::lend::Lease;
use super::{Htb, HtbSettings};
use crate::ClassId;
use crate::child::Child;
use crate::class_map::ClassMap;
use crate::discipline::{Accepted, Discipline, Drained, Step};
use crate::fifo::{Fifo, Limit};
use crate::pool::{Backlog, Context, SlotId};
use crate::rate::Link;
use crate::report::{Counters, Report};
use std::collections::VecDeque;
use std::sync::Arc;

/// What a worker has of a class.
#[derive(Default)]
struct Leaf {
    /// Its packets; none where a class has others below it.
    child: Option<Child>,
    /// Bytes that may go; what the last packet took too much is owed.
    credit: i64,
    /// Bytes that the book was asked for and has not lent yet.
    asked: i64,
    /// What the book lends at a time.
    piece: i64,
    /// The level of the class whose tokens the credit is.
    level: u8,
    is_ready: bool,
    is_wanting: bool,
}

impl Leaf {
    /// It has less to come than it should.
    fn is_short(&self) -> bool {
        self.credit + self.asked < self.piece
    }
}

/// Where a class stands and how it is told.
struct Place {
    id: ClassId,
    text: String,
    parent: u32,
    level: u8,
}

/// See the module.
pub(crate) struct Part {
    book: Arc<Book>,
    worker: usize,
    link: Link,
    levels: usize,
    leaves: Vec<Leaf>,
    places: Vec<Place>,
    /// What each class sent by the tokens of each level.
    sent: Vec<Counters>,
    /// Those with credit and packets, in the order in which the book lent.
    ready: VecDeque<u32>,
    wanting: Vec<u32>,
    returned: Vec<Lease>,
    asks: Vec<Ask>,
    lent: Vec<Lease>,
    /// Until then the book has nothing for what was asked.
    look_ns: u64,
    direct: Fifo,
    map: ClassMap,
    default: Option<u32>,
    handle: ClassId,
    text: String,
    counters: Counters,
}

impl Part {
    /// The part of a worker of that number. All parts have the same settings, and the tree of the
    /// book, too.
    pub(super) fn new(book: &Arc<Book>, worker: usize, settings: HtbSettings, link: Link) -> Self {
        let count = settings.classes.len();
        let mut leaves: Vec<Leaf> = Vec::with_capacity(count);
        let mut places: Vec<Place> = Vec::with_capacity(count);
        for (class, parent) in settings.classes {
            leaves.push(Leaf { piece: class.piece_bytes.into(), ..Leaf::default() });
            let parent = parent.map_or(NIL, |parent| parent as u32);
            places.push(Place { id: class.id, text: class.text, parent, level: 0 });
        }
        let mut levels = 1;
        {
            let mut accounts = book.open();
            let Htb { classes, levels: all, .. } = accounts.tree();
            levels = levels.max(*all);
            for (place, class) in places.iter_mut().zip(classes) {
                place.level = class.level;
            }
        }
        for (at, child) in settings.leaves {
            leaves[at].child = Some(child);
        }
        Self {
            book: Arc::clone(book),
            worker,
            link,
            levels,
            leaves,
            places,
            sent: vec![Counters::default(); count * levels],
            ready: VecDeque::with_capacity(count),
            wanting: Vec::with_capacity(count),
            returned: Vec::with_capacity(count),
            asks: Vec::with_capacity(count),
            lent: Vec::with_capacity(3 * count),
            look_ns: 0,
            direct: Fifo::new(Limit::of_packets(settings.direct_packets)),
            map: settings.map,
            default: settings.default,
            handle: settings.handle,
            text: settings.text,
            counters: Counters::default(),
        }
    }

    /// A packet of a class that has credit.
    fn serve<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Option<SlotId> {
        while let Some(&at) = self.ready.front() {
            let leaf = &mut self.leaves[at as usize];
            let taken = leaf.child.as_mut().and_then(|child| child.take(cx));
            if let Some((_, length_bytes)) = taken {
                leaf.credit -= self.link.bytes(length_bytes) as i64;
                self.sent[at as usize * self.levels + usize::from(leaf.level)].sent(length_bytes);
            }
            let is_empty = leaf.child.as_ref().is_none_or(Child::is_empty);
            if is_empty || leaf.credit <= 0 {
                self.ready.pop_front();
                leaf.is_ready = false;
            }
            if is_empty && leaf.credit > 0 {
                self.returned.push(leaf.give_up(at));
            }
            if !is_empty && !leaf.is_wanting && leaf.is_short() {
                leaf.is_wanting = true;
                self.wanting.push(at);
            }
            if let Some((id, _)) = taken {
                return Some(id);
            }
        }
        None
    }

    /// Asks the book, and takes what it has lent; whether any class may send by now.
    fn look(&mut self, now_ns: u64) -> bool {
        let Some(mut accounts) = self.book.try_open() else {
            self.look_ns = now_ns;
            return false;
        };
        for at in self.wanting.drain(..) {
            let leaf = &mut self.leaves[at as usize];
            leaf.is_wanting = false;
            let Some(child) = &leaf.child else { continue };
            let waiting = self.link.of_backlog(child.backlog());
            let wanted = waiting.min(2 * leaf.piece) - leaf.credit - leaf.asked;
            if wanted > 0 {
                leaf.asked += wanted;
                let (bytes, flows) = (wanted as u32, child.busy_flows());
                self.asks.push(Ask { class: at, bytes, flows });
            }
        }
        let Self { worker, returned, asks, lent, .. } = self;
        self.look_ns = accounts.turn(*worker, now_ns, returned, asks, lent);
        for lease in self.lent.drain(..) {
            let leaf = &mut self.leaves[lease.class as usize];
            leaf.asked -= i64::from(lease.bytes);
            // Never more than was paid is given back to a class: where two paid, to the upper one.
            leaf.level = if leaf.credit > 0 { leaf.level.max(lease.level) } else { lease.level };
            leaf.credit += i64::from(lease.bytes);
            if leaf.credit <= 0 || leaf.is_ready {
                continue;
            }
            if leaf.child.as_ref().is_none_or(Child::is_empty) {
                let lease = leaf.give_up(lease.class);
                accounts.take_back(lease);
            } else {
                leaf.is_ready = true;
                self.ready.push_back(lease.class);
            }
        }
        !self.ready.is_empty()
    }
}

impl Leaf {
    /// Its credit, as a lease to give back.
    fn give_up(&mut self, class: u32) -> Lease {
        let bytes = std::mem::take(&mut self.credit) as u32;
        Lease { class, bytes, worker: 0, level: self.level }
    }
}

impl Discipline for Part {
    #[inline(always)]
    fn enqueue<T: Copy>(
        &mut self,
        cx: &mut Context<'_, T>,
        id: SlotId,
        class: ClassId,
    ) -> Accepted {
        let at = self.map.find(class).or(self.default);
        let Some((at, leaf)) = at.map(|at| (at, &mut self.leaves[at as usize])) else {
            return self.direct.enqueue(cx, id, class);
        };
        let Some(child) = &mut leaf.child else { return self.direct.enqueue(cx, id, class) };
        let accepted = child.enqueue(cx, id, class);
        if !child.is_empty() && !leaf.is_wanting && leaf.is_short() {
            leaf.is_wanting = true;
            self.wanting.push(at);
        }
        self.counters.dropped += u64::from(!accepted);
        accepted
    }

    #[inline(always)]
    fn dequeue<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Step {
        if let Some((id, _)) = self.direct.take(cx) {
            return Step::Packet(id);
        }
        loop {
            if let Some(id) = self.serve(cx) {
                return Step::Packet(id);
            }
            let waits = cx.pool.packets() != 0;
            if self.returned.is_empty() && (!waits || self.wanting.is_empty()) {
                if !waits {
                    return Step::Empty;
                }
                if cx.now_ns < self.look_ns {
                    return Step::Wait(self.look_ns);
                }
            }
            if !self.look(cx.now_ns) {
                if !waits {
                    return Step::Empty;
                }
                self.counters.overlimits += 1;
                return Step::Wait(self.look_ns);
            }
        }
    }

    fn backlog(&self) -> Backlog {
        let mut sum = self.direct.backlog();
        for child in self.leaves.iter().filter_map(|leaf| leaf.child.as_ref()) {
            let one = child.backlog();
            sum.packets += one.packets;
            sum.bytes += one.bytes;
        }
        sum
    }

    fn drain<T: Copy>(&mut self, cx: &mut Context<'_, T>, class: ClassId, out: Drained<'_>) {
        self.direct.drain(cx, class, out);
        self.ready.clear();
        for (at, (leaf, place)) in (0..).zip(self.leaves.iter_mut().zip(&self.places)) {
            if let Some(child) = &mut leaf.child {
                child.drain(cx, place.id, out);
            }
            leaf.is_ready = false;
            if leaf.credit > 0 {
                self.returned.push(leaf.give_up(at));
            }
        }
    }

    fn spend(&mut self, now_ns: u64) {
        self.book.open().spend(now_ns);
        for leaf in &mut self.leaves {
            leaf.credit = leaf.credit.min(0);
            if let Some(child) = &mut leaf.child {
                child.spend(now_ns);
            }
        }
    }

    fn report(&self) -> Report {
        self.told()
    }
}
