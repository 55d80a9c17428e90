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
//! The algorithm and its terms are Linux's (sch_htb, M. Devera); the rings replace its sorted trees, a tournament its
//! event queues, and the depth has no limit.
//!
//! Time O(depth + log classes) a packet: two cache lines a class on the way up, one a match when a mode changes.
//! Space about 300 bytes a class, 200 more for an inner class, and each leaf's own discipline.

mod activity;
mod class;
mod feed;

pub(crate) use class::ClassSettings;

use crate::ClassId;
use crate::class_map::ClassMap;
use crate::discipline::{Accepted, Child, Discipline, Drained, Step};
use crate::fifo::Fifo;
use crate::pool::{Backlog, Context, SlotId};
use crate::report::{Counters, Report};
use crate::tournament::Tournament;
use class::Class;
use feed::{Feeds, NIL};

/// Priorities 0..=7, as in Linux.
pub(crate) const PRIORITIES: usize = 8;

struct Leaf {
    child: Child,
    class: u32,
}

/// The settings of the whole, checked: classes come parents first.
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
    leaves: Vec<Leaf>,
    feeds: Feeds,
    /// First row of feeds: one a level and priority.
    rows: u32,
    /// The priorities in which each level has something to send.
    row_masks: Vec<u8>,
    /// What each leaf may still send in its turn, a level.
    deficits: Vec<i32>,
    waiting: Tournament,
    active_leaves: u32,
    direct: Fifo,
    map: ClassMap,
    default: Option<u32>,
    handle: ClassId,
    text: String,
    counters: Counters,
}

impl Htb {
    pub(crate) fn new(settings: HtbSettings) -> Self {
        let mut classes: Vec<Class> = Vec::with_capacity(settings.classes.len());
        for (class, parent) in settings.classes {
            let mut class = Class::new(class);
            class.parent = parent.map_or(NIL, |parent| parent as u32);
            classes.push(class);
        }
        for at in (0..classes.len()).rev() {
            let (parent, level) = (classes[at].parent, classes[at].level);
            if let Some(parent) = classes.get_mut(parent as usize) {
                parent.level = parent.level.max(level + 1);
            }
        }
        let mut feeds = Feeds::default();
        let mut leaves = Vec::with_capacity(settings.leaves.len());
        for (at, child) in settings.leaves {
            classes[at].below = leaves.len() as u32;
            leaves.push(Leaf { child, class: at as u32 });
        }
        for (at, class) in (0..).zip(&mut classes) {
            let inner = class.level > 0;
            class.links = feeds.add_links(at, if inner { PRIORITIES } else { 1 });
            if inner {
                class.below = feeds.add_feeds(PRIORITIES);
            }
        }
        let levels = classes.iter().map(|class| class.level as usize + 1).max().unwrap_or(1);
        Self {
            rows: feeds.add_feeds(levels * PRIORITIES),
            row_masks: vec![0; levels],
            deficits: vec![0; leaves.len() * levels],
            waiting: Tournament::new(classes.len()),
            active_leaves: 0,
            direct: Fifo::of_packets(settings.direct_packets),
            map: settings.map,
            default: settings.default,
            handle: settings.handle,
            text: settings.text,
            counters: Counters::default(),
            classes,
            leaves,
            feeds,
        }
    }

    /// Serves the leaf whose turn it is in one row; none only if its leaves turn out empty.
    fn serve<T: Copy>(
        &mut self,
        cx: &mut Context<'_, T>,
        level: usize,
        priority: usize,
    ) -> Option<SlotId> {
        let row = self.row(level, priority);
        while let Some(at) = self.turn(row, priority) {
            let class = &self.classes[at as usize];
            let (leaf, parent, quantum) = (class.below, class.parent, class.quantum_bytes);
            let child = &mut self.leaves[leaf as usize].child;
            let step = child.dequeue(cx);
            let emptied = child.is_empty();
            let Step::Packet(id) = step else {
                // An AQM dropped all that was left; the leaf is out of the rings until a packet comes.
                self.deactivate(at);
                continue;
            };
            let length_bytes = cx.length_bytes(id);
            let deficit = &mut self.deficits[leaf as usize * self.row_masks.len() + level];
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
            self.counters.sent(length_bytes);
            return Some(id);
        }
        None
    }

    /// The leaf whose turn it is at a row: down the feeds, and one up and on wherever a round has ended.
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
    #[inline]
    fn enqueue<T: Copy>(
        &mut self,
        cx: &mut Context<'_, T>,
        id: SlotId,
        class: ClassId,
    ) -> Accepted {
        let Some(leaf) = self.map.find(class).or(self.default) else {
            return self.direct.enqueue(cx, id, class);
        };
        let Leaf { child, class: at } = &mut self.leaves[leaf as usize];
        let accepted = child.enqueue(cx, id, class);
        self.counters.dropped += u64::from(!accepted);
        let at = *at;
        if self.classes[at as usize].active == 0 && !self.leaves[leaf as usize].child.is_empty() {
            self.activate(at);
        }
        accepted
    }

    #[inline]
    fn dequeue<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Step {
        if let Step::Packet(id) = self.direct.dequeue(cx) {
            self.counters.sent(cx.length_bytes(id));
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
        self.waiting.soonest().map_or(Step::Empty, |(_, at_ns)| Step::Wait(at_ns))
    }

    fn backlog(&self) -> Backlog {
        let mut sum = self.direct.backlog();
        for leaf in &self.leaves {
            let one = leaf.child.backlog();
            sum.packets += one.packets;
            sum.bytes += one.bytes;
        }
        sum
    }

    fn drain<T: Copy>(&mut self, cx: &mut Context<'_, T>, class: ClassId, out: Drained<'_>) {
        self.direct.drain(cx, class, out);
        for leaf in 0..self.leaves.len() {
            let at = self.leaves[leaf].class;
            if self.classes[at as usize].active != 0 {
                self.deactivate(at);
            }
            self.leaves[leaf].child.drain(cx, self.classes[at as usize].id, out);
        }
    }

    fn report(&self) -> Report {
        let mut report = Report::new("htb", self.text.clone(), self.counters, self.backlog())
            .gauge("direct_packets", self.direct.report().counters.sent_packets);
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
        let mut report =
            Report::new("class", class.text.clone(), class.counters, Backlog::default())
                .gauge("lended", class.lends)
                .gauge("borrowed", class.borrows)
                .signed_gauge("tokens_ns", class.tokens / crate::rate::TICKS_PER_NS)
                .signed_gauge("ctokens_ns", class.ctokens / crate::rate::TICKS_PER_NS);
        report.id = class.id;
        if class.level > 0 {
            report.children = self.reports_below(at);
        } else {
            report.children = vec![self.leaves[class.below as usize].child.report()];
        }
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
