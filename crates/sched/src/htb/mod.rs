//! The hierarchical token bucket: every class has a rate of its own and may borrow from its
//! ancestors up to its ceil.
//!
//! ```text
//!   row of level 2   ──▶ [root can send] ─┐  its feeds: children that may borrow ─▶ … ─▶ leaf
//!   row of level 1   ──▶ [inner can send]─┘
//!   rights (level 0) ──▶ leaf, leaf, leaf    own rate first: level 0 before level 1 before level 2,
//!                                            within a level the lower priority number, within it round robin by quantum
//!   calendar: buckets that owe, by the time at which they are paid: then their classes are judged again
//! ```
//!
//! A packet is charged to its leaf and to every ancestor, so the sum below an ancestor never passes
//! its ceil. On a fast link, where a burst is asked for, a leaf sends in one visit what the link
//! takes in a microsecond, and that is charged at once: a ceil is passed by one visit at most,
//! where it is by one packet else. The algorithm and its terms are Linux's (sch_htb, M. Devera);
//! queues and rings replace its sorted trees, a calendar its event queues, buckets are times, and
//! there may be up to 255 levels, not eight. On a busy link a class comes by its right up to a day
//! of the calendar late, 256 ns; where nothing else may be sent, to the nanosecond.
//!
//! Time O(depth) a packet, and O(log64 classes) where a leaf comes or leaves: two cache lines a
//! class on the way up. Space about 350 bytes a class, as much again for an inner class, and each
//! leaf's own discipline.

mod activity;
mod book;
mod bucket;
mod claims;
mod class;
mod clock;
mod deficits;
mod feed;
mod kept;
mod lend;
mod part;
mod plan;
mod rights;

pub(crate) use class::ClassSettings;
pub(crate) use part::Part;

pub use plan::{HtbClass, HtbShape};

use crate::ClassId;
use crate::calendar::Calendar;
use crate::child::Child;
use crate::class_map::ClassMap;
use crate::discipline::{Accepted, Discipline, Drained, Step, visit_for_one};
use crate::fifo::{Fifo, Limit};
use crate::packet::Packet;
use crate::pool::{Backlog, Context, Pool, SlotId};
use crate::prefetch::{prefetch, prefetch_one};
use crate::report::{Counters, Report};
use class::{Class, Mode, NIL, Rings};
use clock::Clock;
use deficits::{DeepDeficits, spend};
use feed::Feeds;
use rights::Rights;

/// Priorities 0..=7, as in Linux.
pub(crate) const PRIORITIES: usize = 8;

/// Rows are the first feeds: of each level above the leaves' one a priority.
const ROWS_A_WORD: usize = u64::BITS as usize;

/// What is only told, not worked with.
struct Label {
    id: ClassId,
    text: String,
    overlimits: u64,
}

/// The settings of the whole, checked: classes come breadth first, so that brothers stand side by
/// side.
pub(crate) struct HtbSettings {
    pub(crate) handle: ClassId,
    pub(crate) text: String,
    pub(crate) direct_packets: u32,
    pub(crate) classes: Vec<(ClassSettings, Option<usize>)>,
    /// The discipline of each class that has no children, by the class's place in `classes`.
    pub(crate) leaves: Vec<(usize, Child)>,
    pub(crate) map: ClassMap,
    /// The leaf of packets of no known class; without one they pass the shaper by, as in Linux.
    pub(crate) default: Option<u32>,
    /// What a leaf may send in one visit, its last packet beside: 0 for one packet.
    pub(crate) visit_bytes: u32,
}

pub(crate) struct Htb {
    classes: Vec<Class>,
    labels: Vec<Label>,
    feeds: Feeds,
    rights: Rights,
    /// The rows that have something to send, a bit each.
    rows_held: Vec<u64>,
    levels: usize,
    visit_bytes: u32,
    deep_deficits: DeepDeficits,
    clock: Clock,
    /// For the buckets of each class the time at which they are paid.
    waiting: Calendar,
    /// Those whose time has come, while they are dealt with.
    due: Vec<u32>,
    active_leaves: u32,
    direct: Fifo,
    map: ClassMap,
    default: Option<u32>,
    handle: ClassId,
    text: String,
    /// But for what was sent, which the classes count.
    counters: Counters,
}

/// Whose turn it is, at which level, and in which feed: none for those by right.
struct Turn {
    leaf: u32,
    level: usize,
    feed: u32,
}

/// Leaves have no rows.
fn level_of(row: usize) -> usize {
    row / PRIORITIES + 1
}

impl Htb {
    pub(crate) fn new(settings: HtbSettings) -> Self {
        let mut classes: Vec<Class> = Vec::with_capacity(settings.classes.len());
        let mut labels = Vec::with_capacity(settings.classes.len());
        for (class, parent) in settings.classes {
            classes.push(Class::new(&class, parent.map_or(NIL, |parent| parent as u32)));
            labels.push(Label { id: class.id, text: class.text, overlimits: 0 });
        }
        for at in (0..classes.len()).rev() {
            let (parent, level) = (classes[at].parent, classes[at].level);
            if let Some(parent) = classes.get_mut(parent as usize) {
                parent.level = parent.level.max(level + 1);
            }
        }
        for (at, child) in settings.leaves {
            classes[at].child = Some(child);
        }
        let levels = classes.iter().map(|class| class.level as usize + 1).max().unwrap_or(1);
        let mut feeds = Feeds::default();
        let rows = (levels - 1) * PRIORITIES;
        feeds.add(rows, 0, classes.len() as u32);
        let mut rights = [0; PRIORITIES];
        for class in classes.iter().filter(|class| class.level == 0) {
            rights[usize::from(class.priority)] += 1;
        }
        let mut first_children = vec![(NIL, 0u32); classes.len()];
        for (at, class) in (0..).zip(&classes) {
            if let Some((first, count)) = first_children.get_mut(class.parent as usize) {
                *first = at.min(*first);
                *count += 1;
            }
        }
        for (class, &(first, count)) in classes.iter_mut().zip(&first_children) {
            if count > 0 {
                class.below = feeds.add(PRIORITIES, first, count);
            }
        }
        for at in 0..classes.len() {
            let feed = classes.get(classes[at].parent as usize).map_or(NIL, |parent| parent.below);
            classes[at].rings =
                Rings { row: u32::from(classes[at].level.max(1) - 1) * PRIORITIES as u32, feed };
        }
        Self {
            rows_held: vec![0; rows.div_ceil(ROWS_A_WORD)],
            levels,
            rights: Rights::new(rights),
            visit_bytes: settings.visit_bytes,
            deep_deficits: DeepDeficits::new(classes.len(), levels),
            clock: Clock::default(),
            waiting: Calendar::new(2 * classes.len()),
            due: Vec::with_capacity(2 * classes.len()),
            active_leaves: 0,
            direct: Fifo::new(Limit::of_packets(settings.direct_packets)),
            map: settings.map,
            default: settings.default,
            handle: settings.handle,
            text: settings.text,
            counters: Counters::default(),
            classes,
            labels,
            feeds,
        }
    }

    /// Visits the leaf whose turn it is; false if nobody may send. `out` gets its packets, and says
    /// whether it has room for more.
    #[inline(always)]
    fn visit_next<T: Copy>(
        &mut self,
        cx: &mut Context<'_, T>,
        mut out: impl FnMut(&mut Context<'_, T>, SlotId) -> bool,
    ) -> bool {
        while let Some(Turn { leaf, level, feed }) = self.next() {
            if level == 0 {
                self.foresee_turns(cx.pool);
            }
            let class = &mut self.classes[leaf as usize];
            debug_assert_eq!(class.mode == Mode::CanSend, level == 0, "served as its mode allows");
            let Some(child) = class.child.as_mut() else { return false };
            let Some((id, length_bytes)) = child.take(cx) else {
                // An AQM dropped all that was left; the leaf is nowhere until a packet comes.
                self.settle(leaf, level == 0, false, true);
                continue;
            };
            let (mut bytes, mut packets, mut has_room) = (length_bytes, 1, out(cx, id));
            let deficit = self.deep_deficits.of(&mut class.deficits, leaf, level);
            // It ends with its turn at the latest: so turns are what they are packet by packet.
            while has_room
                && bytes < self.visit_bytes
                && bytes as i32 <= *deficit
                && let Some((id, length_bytes)) = child.take(cx)
            {
                (bytes, packets, has_room) = (bytes + length_bytes, packets + 1, out(cx, id));
            }
            let is_over = spend(deficit, bytes, class.quantum_bytes);
            let (parent, emptied) = (class.parent, child.is_empty());
            class.charge(level as u8, bytes, packets, self.clock.now);
            if level != 0 {
                self.feeds.advance(feed, is_over);
            }
            self.settle(leaf, level == 0, is_over, emptied);
            self.charge(parent, level as u8, (bytes, packets));
            return true;
        }
        false
    }

    /// Asks for the packet of the leaf whose turn comes next by right, and for the class of the one
    /// after it.
    #[inline(always)]
    fn foresee_turns<T: Copy>(&self, pool: &Pool<T>) {
        let [next, after] = self.rights.next_two();
        prefetch(&self.classes, after as usize);
        if let Some(Child::Fifo(fifo)) = &self.classes[next as usize].child {
            fifo.prefetch_head(pool);
        }
    }

    /// Whose turn it is: those by right come first, then the rows of the lowest level that can
    /// lend.
    #[inline(always)]
    fn next(&mut self) -> Option<Turn> {
        if let Some(leaf) = self.rights.first() {
            return Some(Turn { leaf, level: 0, feed: NIL });
        }
        for word in 0..self.rows_held.len() {
            let mut rows = self.rows_held[word];
            while rows != 0 {
                let row = word * ROWS_A_WORD + rows.trailing_zeros() as usize;
                rows &= rows - 1;
                if let Some((feed, leaf)) = self.turn(row) {
                    return Some(Turn { leaf, level: level_of(row), feed });
                }
            }
        }
        None
    }

    /// The leaf whose turn it is at a row, and the feed that it stands in: down the feeds, and one
    /// up and on wherever a round has ended.
    #[inline(always)]
    fn turn(&mut self, row: usize) -> Option<(u32, u32)> {
        let (mut feed, mut above) = (row as u32, NIL);
        loop {
            match self.feeds.current(feed) {
                Some(at) => {
                    let class = &self.classes[at as usize];
                    if class.level == 0 {
                        return Some((feed, at));
                    }
                    above = at;
                    feed = class.below + (row % PRIORITIES) as u32;
                }
                None => {
                    self.feeds.rewind(feed);
                    if let Some(higher) = self.feed_of(above, row) {
                        (feed, above) = higher;
                        self.feeds.advance(feed, true);
                    } else {
                        self.feeds.current(feed)?;
                    }
                }
            }
        }
    }

    /// The feed that an inner class stands in below a row, and the class that this is below.
    fn feed_of(&self, class: u32, row: usize) -> Option<(u32, u32)> {
        let class = self.classes.get(class as usize)?;
        if usize::from(class.level) == level_of(row) {
            return Some((row as u32, NIL));
        }
        let below = self.classes.get(class.parent as usize)?.below;
        Some((below + (row % PRIORITIES) as u32, class.parent))
    }
}

impl Discipline for Htb {
    #[inline(always)]
    fn enqueue<T: Copy>(
        &mut self,
        cx: &mut Context<'_, T>,
        id: SlotId,
        class: ClassId,
    ) -> Accepted {
        let at = self.map.find(class).or(self.default);
        let Some((at, leaf)) = at.map(|at| (at, &mut self.classes[at as usize])) else {
            return self.direct.enqueue(cx, id, class);
        };
        let Some(child) = &mut leaf.child else { return self.direct.enqueue(cx, id, class) };
        let was_empty = child.is_empty();
        let accepted = child.enqueue(cx, id, class);
        // In this order: of most leaves no more than the line of their packets is touched.
        if was_empty && leaf.active == 0 && !child.is_empty() {
            self.activate(at);
        }
        self.counters.dropped += u64::from(!accepted);
        accepted
    }

    #[inline(always)]
    fn dequeue<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Step {
        visit_for_one(self, cx)
    }

    /// Visits the leaf whose turn it is; what passes unshaped comes first.
    #[inline(always)]
    fn visit<T: Copy>(
        &mut self,
        cx: &mut Context<'_, T>,
        mut out: impl FnMut(&mut Context<'_, T>, SlotId) -> bool,
    ) -> Option<Step> {
        if let Some((id, _)) = self.direct.take(cx) {
            out(cx, id);
            return None;
        }
        self.run_due(cx.now_ns);
        loop {
            if self.visit_next(cx, &mut out) {
                return None;
            }
            if self.active_leaves == 0 {
                return Some(Step::Empty);
            }
            if !self.run_today() {
                self.counters.overlimits += 1;
                return Some(self.soonest().map_or(Step::Empty, Step::Wait));
            }
        }
    }

    #[inline]
    fn foresee<T: Copy>(&self, _: &Pool<T>, packets: &[Packet<T>]) {
        for packet in packets {
            let at = self.map.find(packet.class).or(self.default);
            if let Some(class) = at.and_then(|at| self.classes.get(at as usize)) {
                prefetch_one(&class.child);
            }
        }
    }

    fn backlog(&self) -> Backlog {
        let mut sum = self.direct.backlog();
        for child in self.classes.iter().filter_map(|class| class.child.as_ref()) {
            let one = child.backlog();
            sum.packets += one.packets;
            sum.bytes += one.bytes;
        }
        sum
    }

    fn drain<T: Copy>(&mut self, cx: &mut Context<'_, T>, class: ClassId, out: Drained<'_>) {
        self.direct.drain(cx, class, out);
        self.rights.clear();
        for at in 0..self.classes.len() {
            if self.classes[at].level == 0 && self.classes[at].active != 0 {
                self.deactivate(at as u32);
            }
            if let Some(child) = &mut self.classes[at].child {
                child.drain(cx, self.labels[at].id, out);
            }
        }
    }

    fn spend(&mut self, now_ns: u64) {
        self.run_due(now_ns);
        let now = self.clock.now;
        self.classes.iter_mut().for_each(|class| class.spend(now, now_ns));
    }

    fn report(&self) -> Report {
        let direct = self.direct.report().counters;
        let mut counters = self.counters;
        let tops = self.classes.iter().filter(|class| class.parent == NIL).map(Class::counters);
        for Counters { sent_packets, sent_bytes, .. } in tops.chain([direct]) {
            counters.sent_packets += sent_packets;
            counters.sent_bytes += sent_bytes;
        }
        let (passed, limit) = (direct.sent_packets, self.direct.limit_packets());
        let text = format!("{} direct_packets_stat {passed} direct_qlen {limit}", self.text);
        let mut report = Report::new("htb", text, counters, self.backlog())
            .gauge("direct_packets", direct.sent_packets);
        report.id = self.handle;
        report.children = self.reports_below(NIL);
        report
    }
}

impl Htb {
    fn reports_below(&self, parent: u32) -> Vec<Report> {
        let children = self.classes.iter().zip(0..).filter(|(class, _)| class.parent == parent);
        children.map(|(class, at)| self.class_report(class, at)).collect()
    }

    fn class_report(&self, class: &Class, at: u32) -> Report {
        let Label { id, text, overlimits } = &self.labels[at as usize];
        let [borrowed, lended, _] = class.sent_by;
        let (tokens, ctokens) = class.tokens(self.clock.now);
        let counters = Counters { overlimits: *overlimits, ..class.counters() };
        let mut report = Report::new("class", text.clone(), counters, Backlog::default())
            .gauge("lended", lended)
            .gauge("borrowed", borrowed)
            .signed_gauge("tokens_ns", tokens / crate::rate::TICKS_PER_NS)
            .signed_gauge("ctokens_ns", ctokens / crate::rate::TICKS_PER_NS);
        report.id = *id;
        report.children = match &class.child {
            Some(child) => vec![child.report()],
            None => self.reports_below(at),
        };
        for child in &report.children {
            report.backlog.packets += child.backlog.packets;
            report.backlog.bytes += child.backlog.bytes;
            report.counters.dropped += child.counters.dropped;
        }
        report
    }
}

#[cfg(test)]
mod tests;
