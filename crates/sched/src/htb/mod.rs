//! The hierarchical token bucket: every class has a rate of its own and may borrow from its ancestors up to its ceil.
//!
//! ```text
//!   row of level 2   ──▶ [root can send] ─┐  its feeds: children that may borrow ─▶ … ─▶ leaf
//!   row of level 1   ──▶ [inner can send]─┤
//!   row of level 0   ──▶ leaf, leaf, leaf ┘  own rate first: level 0 before level 1 before level 2,
//!                                            within a level the lower priority number, within it round robin by quantum
//!   wait queue: classes that can't send or only borrow, by the time at which that changes
//! ```
//!
//! A packet is charged to its leaf and to every ancestor, so the sum below an ancestor never passes its ceil.
//! The algorithm and its terms are Linux's (sch_htb, M. Devera); the rings replace its sorted trees, a timing
//! wheel its event queues, and the depth has no limit.
//!
//! Time O(depth) a packet, and O(log64 classes) when a mode changes: two cache lines a class on the way up.
//! Space about 300 bytes a class, 200 more for an inner class, and each leaf's own discipline.

mod activity;
mod class;
mod feed;

pub(crate) use class::ClassSettings;

use crate::ClassId;
use crate::class_map::ClassMap;
use crate::discipline::{Accepted, Child, Discipline, Drained, Step};
use crate::fifo::{Fifo, Limit};
use crate::packet::Packet;
use crate::pool::{Backlog, Context, Pool, SlotId};
use crate::prefetch::prefetch;
use crate::report::{Counters, Report};
use crate::wheel::Wheel;
use class::Class;
use feed::Feeds;

const NIL: u32 = u32::MAX;

/// Priorities 0..=7, as in Linux.
pub(crate) const PRIORITIES: usize = 8;

/// What is only told, not worked with.
struct Label {
    id: ClassId,
    text: String,
}

/// The settings of the whole, checked: classes come breadth first, so that brothers stand side by side.
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
}

pub(crate) struct Htb {
    classes: Vec<Class>,
    labels: Vec<Label>,
    feeds: Feeds,
    /// First row of feeds: one a level and priority.
    rows: u32,
    /// The priorities in which each level has something to send.
    row_masks: Vec<u8>,
    /// What each class may still send in its turn, a level.
    deficits: Vec<i32>,
    /// For each class the time at which its mode changes.
    waiting: Wheel,
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

impl Htb {
    pub(crate) fn new(settings: HtbSettings) -> Self {
        let mut classes: Vec<Class> = Vec::with_capacity(settings.classes.len());
        let mut labels = Vec::with_capacity(settings.classes.len());
        for (class, parent) in settings.classes {
            classes.push(Class::new(&class, parent.map_or(NIL, |parent| parent as u32)));
            labels.push(Label { id: class.id, text: class.text });
        }
        for at in (0..classes.len()).rev() {
            let (parent, level) = (classes[at].parent, classes[at].level);
            if let Some(parent) = classes.get_mut(parent as usize) {
                parent.level = parent.level.max(level + 1);
            }
        }
        let mut feeds = Feeds::default();
        for (at, child) in settings.leaves {
            classes[at].child = Some(child);
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
        let levels = classes.iter().map(|class| class.level as usize + 1).max().unwrap_or(1);
        Self {
            rows: feeds.add(levels * PRIORITIES, 0, classes.len() as u32),
            row_masks: vec![0; levels],
            deficits: vec![0; classes.len() * levels],
            waiting: Wheel::new(classes.len()),
            due: Vec::with_capacity(classes.len()),
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

    /// Serves the leaf whose turn it is in one row; none only if its leaves turn out empty.
    #[inline(always)]
    fn serve<T: Copy>(
        &mut self,
        cx: &mut Context<'_, T>,
        level: usize,
        priority: usize,
    ) -> Option<SlotId> {
        let row = self.row(level, priority);
        while let Some(at) = self.turn(row, priority) {
            let class = &mut self.classes[at as usize];
            let (parent, quantum) = (class.parent, class.quantum_bytes);
            let Some(child) = &mut class.child else { return None };
            let step = child.dequeue(cx);
            let emptied = child.is_empty();
            let Step::Packet(id) = step else {
                // An AQM dropped all that was left; the leaf is out of the rings until a packet comes.
                self.deactivate(at);
                continue;
            };
            let length_bytes = cx.length_bytes(id);
            let deficit = &mut self.deficits[at as usize * self.row_masks.len() + level];
            *deficit -= length_bytes as i32;
            if *deficit < 0 {
                *deficit += quantum;
                let feed = if level == 0 { row } else { self.feed_below(parent, priority) };
                self.feeds.advance(feed);
            }
            if emptied {
                self.deactivate(at);
            }
            self.charge(at, level, length_bytes, cx.now_ns);
            return Some(id);
        }
        None
    }

    /// The leaf whose turn it is at a row: down the feeds, and one up and on wherever a round has ended.
    #[inline(always)]
    fn turn(&mut self, row: u32, priority: usize) -> Option<u32> {
        let mut feed = row;
        let mut depth = 0;
        let mut above = NIL;
        loop {
            match self.feeds.current(feed) {
                Some(at) if self.classes[at as usize].level == 0 => return Some(at),
                Some(at) => {
                    above = at;
                    depth += 1;
                    feed = self.feed_below(at, priority);
                }
                None => {
                    self.feeds.rewind(feed);
                    if depth == 0 {
                        self.feeds.current(feed)?;
                        continue;
                    }
                    depth -= 1;
                    above = self.classes[above as usize].parent;
                    feed = if depth == 0 { row } else { self.feed_below(above, priority) };
                    self.feeds.advance(feed);
                }
            }
        }
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
        let accepted = child.enqueue(cx, id, class);
        if leaf.active == 0 && !child.is_empty() {
            self.activate(at);
        }
        self.counters.dropped += u64::from(!accepted);
        accepted
    }

    #[inline(always)]
    fn dequeue<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Step {
        if let Step::Packet(id) = self.direct.dequeue(cx) {
            return Step::Packet(id);
        }
        self.run_due(cx.now_ns);
        for level in 0..self.row_masks.len() {
            let mut mask = self.row_masks[level];
            while mask != 0 {
                let priority = mask.trailing_zeros() as usize;
                mask &= mask - 1;
                if let Some(id) = self.serve(cx, level, priority) {
                    return Step::Packet(id);
                }
            }
        }
        if self.active_leaves == 0 {
            return Step::Empty;
        }
        self.counters.overlimits += 1;
        self.waiting.soonest().map_or(Step::Empty, Step::Wait)
    }

    #[inline]
    fn foresee<T: Copy>(&self, _: &Pool<T>, packets: &[Packet<T>]) {
        for packet in packets {
            let at = self.map.find(packet.class).or(self.default);
            if let Some(at) = at {
                prefetch(&self.classes, at as usize);
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
        for at in 0..self.classes.len() {
            if self.classes[at].level == 0 && self.classes[at].active != 0 {
                self.deactivate(at as u32);
            }
            if let Some(child) = &mut self.classes[at].child {
                child.drain(cx, self.labels[at].id, out);
            }
        }
    }

    fn report(&self) -> Report {
        let direct = self.direct.report().counters;
        let mut counters = self.counters;
        let tops = self.classes.iter().filter(|class| class.parent == NIL).map(Class::counters);
        for Counters { sent_packets, sent_bytes, .. } in tops.chain([direct]) {
            counters.sent_packets += sent_packets;
            counters.sent_bytes += sent_bytes;
        }
        let mut report = Report::new("htb", self.text.clone(), counters, self.backlog())
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
        let Label { id, text } = &self.labels[at as usize];
        let [borrowed, lended, _] = class.sent_by;
        let mut report = Report::new("class", text.clone(), class.counters(), Backlog::default())
            .gauge("lended", lended)
            .gauge("borrowed", borrowed)
            .signed_gauge("tokens_ns", class.tokens / crate::rate::TICKS_PER_NS)
            .signed_gauge("ctokens_ns", class.ctokens / crate::rate::TICKS_PER_NS);
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
