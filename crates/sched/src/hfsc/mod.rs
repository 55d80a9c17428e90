//! The hierarchical fair service curve (Stoica, Zhang, Ng 1997): delay and rate set apart, by
//! curves of two pieces.
//!
//! ```text
//!   dequeue ─▶ is any leaf eligible (e <= now)?
//!                yes ─▶ real time: of those the least deadline d           its curve is kept, whatever the sharing
//!                no  ─▶ link share: from the root down, the child of the least virtual time whose fit time has come
//!                       none fits ─▶ Wait until the soonest e or fit time
//! ```
//!
//! A leaf's packets leave by their deadlines, late by no more than one largest packet at the link's
//! rate, as long as the real-time curves together fit the link. On a fast link, where a burst is
//! asked for, a leaf sends in one visit what the link takes in a microsecond, and others are late
//! by as much more. The algorithm is as Linux's sch_hfsc has it; calendars and heaps replace its
//! three kinds of sorted trees, two of which it searches from end to end.
//!
//! Time O(log of those eligible + depth) a packet, a cache line a step. Space 256 bytes a class,
//! about 75 more in calendars and heaps, 1.1 KiB where it has two children or more, 48 for a curve
//! of two pieces, and what the leaves' own disciplines take.

mod brothers;
mod class;
mod deadlines;
mod furthest;
mod plan;
mod sharing;

pub(crate) use class::ClassSettings;

pub use plan::{HfscClass, HfscShape};

use crate::ClassId;
use crate::child::Child;
use crate::class_map::ClassMap;
use crate::curve::Curve;
use crate::discipline::{Accepted, Discipline, Drained, Peek, Step, visit_for_one};
use crate::packet::{DropReason, Packet};
use crate::pool::{Backlog, Context, Pool, SlotId};
use crate::prefetch::{prefetch, prefetch_one};
use crate::report::{Counters, Report};
use crate::units::Rate;
use brothers::Brothers;
use class::{Class, IDLE, Inner};
use deadlines::Deadlines;

/// The place of the class that stands above all the configured ones.
const ROOT: u32 = 0;

/// What is only told, not worked with.
struct Label {
    id: ClassId,
    text: String,
}

/// The settings of the whole, checked: classes come breadth first, so that brothers stand side by
/// side.
pub(crate) struct HfscSettings {
    pub(crate) handle: ClassId,
    pub(crate) text: String,
    pub(crate) classes: Vec<(ClassSettings, Option<usize>)>,
    /// The discipline of each class that has no children, by the class's place in `classes`.
    pub(crate) leaves: Vec<(usize, Child)>,
    pub(crate) map: ClassMap,
    pub(crate) default: Option<u32>,
    /// What a leaf may send in one visit, its last packet beside.
    pub(crate) visit_bytes: u32,
}

/// The children of a class, while they are counted.
#[derive(Clone, Default)]
struct Family {
    first: Option<u32>,
    count: u32,
    fastest: Rate,
}

impl Family {
    /// Adds a class; tells its number among its brothers.
    fn add(&mut self, at: u32, link_share: Option<Curve>) -> u32 {
        self.first.get_or_insert(at);
        self.count += 1;
        self.fastest = self.fastest.max(link_share.map_or(Rate(0), Curve::fastest));
        self.count - 1
    }

    fn inner(&self) -> Option<Inner> {
        let first = self.first?;
        Some(Inner::new(first, Brothers::new(self.count as usize, self.fastest)))
    }
}

pub(crate) struct Hfsc {
    /// The root, then the configured classes.
    classes: Vec<Class>,
    labels: Vec<Label>,
    deadlines: Deadlines,
    visit_bytes: u32,
    active_leaves: u32,
    map: ClassMap,
    default: Option<u32>,
    handle: ClassId,
    text: String,
    counters: Counters,
}

impl Hfsc {
    pub(crate) fn new(settings: HfscSettings) -> Self {
        let root = ClassSettings {
            id: settings.handle,
            real_time: None,
            link_share: None,
            upper_limit: None,
            text: String::new(),
        };
        let mut classes = vec![Class::new(&root)];
        let mut labels = vec![Label { id: root.id, text: root.text }];
        let mut families = vec![Family::default(); settings.classes.len() + 1];
        for (settings, parent) in settings.classes {
            labels.push(Label { id: settings.id, text: settings.text.clone() });
            let mut class = Class::new(&settings);
            class.parent = parent.map_or(ROOT, |parent| parent as u32 + 1);
            let family = &mut families[class.parent as usize];
            class.place = family.add(classes.len() as u32, settings.link_share);
            classes.push(class);
        }
        for (class, family) in classes.iter_mut().zip(&families) {
            class.inner = family.inner().map(Box::new);
        }
        for (at, child) in settings.leaves {
            classes[at + 1].child = Some(child);
        }
        Self {
            deadlines: Deadlines::new(classes.len()),
            visit_bytes: settings.visit_bytes,
            classes,
            labels,
            active_leaves: 0,
            map: settings.map,
            default: settings.default,
            handle: settings.handle,
            text: settings.text,
            counters: Counters::default(),
        }
    }

    /// A leaf became busy, with a packet of this length at its head.
    fn activate(&mut self, leaf: u32, now_ns: u64, head_bytes: u32) {
        self.active_leaves += 1;
        let class = &mut self.classes[leaf as usize];
        class.head_bytes = head_bytes;
        self.deadlines.join(leaf, class, now_ns);
        self.join_sharing(leaf, now_ns);
    }

    /// Accounts for packets of a leaf that left, and for what then stands at its head.
    #[inline(always)]
    fn account(&mut self, leaf: u32, sent: Departure, head: Option<u32>) {
        let class = &mut self.classes[leaf as usize];
        let expected_bytes = class.head_bytes;
        class.head_bytes = head.unwrap_or(IDLE);
        if sent.by_deadline {
            self.deadlines.served(leaf, class, sent.bytes, expected_bytes, sent.now_ns);
        }
        self.share_out(leaf, sent, head.is_none());
        self.active_leaves -= u32::from(head.is_none());
    }

    /// The leaf to send from, and whether a deadline chose it.
    #[inline(always)]
    fn choose(&mut self, now_ns: u64) -> Option<(u32, bool)> {
        if let Some(leaf) = self.deadlines.least(&mut self.classes, now_ns) {
            return Some((leaf, true));
        }
        if let Some(leaf) = self.least_virtual_time(now_ns) {
            return Some((leaf, false));
        }
        self.deadlines.least_today(&mut self.classes, now_ns).map(|leaf| (leaf, true))
    }

    /// Asks for the packet of the leaf whose turn comes after this one's by virtual time, and for
    /// the class of the one after that.
    #[inline(always)]
    fn foresee_turns<T: Copy>(&self, leaf: u32, pool: &Pool<T>) {
        let class = &self.classes[leaf as usize];
        let above = self.classes.get(class.parent as usize);
        let Some(inner) = above.and_then(|above| above.inner.as_ref()) else { return };
        let Some(next) = inner.brothers.after(class.place) else { return };
        if let Some(after) = inner.brothers.after(next) {
            prefetch(&self.classes, (inner.first_child + after) as usize);
        }
        let next = &self.classes[(inner.first_child + next) as usize];
        if let Some(Child::Fifo(fifo)) = &next.child {
            fifo.prefetch_head(pool);
        }
    }

    /// The soonest time at which `choose` would find one.
    fn soonest(&self) -> Option<u64> {
        let eligible = self.deadlines.soonest(&self.classes);
        let fits = self.classes[ROOT as usize].inner.as_ref().and_then(|all| all.brothers.fit_ns());
        match (eligible, fits) {
            (Some(eligible), Some(fits)) => Some(eligible.min(fits)),
            (one, other) => one.or(other),
        }
    }

    /// The leaf of a packet, by its place among the classes.
    fn leaf_of(&self, class: ClassId) -> Option<u32> {
        self.map.find(class).or(self.default).map(|at| at + 1)
    }
}

/// The length at the head of a leaf, if it has a packet.
#[inline(always)]
fn head_of<T: Copy>(child: &mut Child, cx: &mut Context<'_, T>) -> Option<u32> {
    if child.is_empty() {
        return None;
    }
    match child.peek(cx) {
        Peek::Length(length_bytes) => Some(length_bytes),
        Peek::Wait(_) | Peek::Empty => None,
    }
}

/// Packets of a leaf that left, as the curves see them.
#[derive(Clone, Copy)]
pub(super) struct Departure {
    now_ns: u64,
    bytes: u32,
    packets: u32,
    by_deadline: bool,
}

impl Discipline for Hfsc {
    #[inline(always)]
    fn enqueue<T: Copy>(
        &mut self,
        cx: &mut Context<'_, T>,
        id: SlotId,
        class: ClassId,
    ) -> Accepted {
        let leaf = self.leaf_of(class);
        let child = leaf.and_then(|leaf| self.classes[leaf as usize].child.as_mut());
        let (Some(leaf), Some(child)) = (leaf, child) else {
            self.counters.dropped += 1;
            cx.drop_packet(id, DropReason::NoClass);
            return false;
        };
        let was_empty = child.is_empty();
        let accepted = child.enqueue(cx, id, class);
        self.counters.dropped += u64::from(!accepted);
        // The head is fixed now: what a child drops later can no longer change the deadline that it
        // was given.
        if was_empty && let Some(head_bytes) = head_of(child, cx) {
            self.activate(leaf, cx.now_ns, head_bytes);
        }
        accepted
    }

    #[inline(always)]
    fn dequeue<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Step {
        visit_for_one(self, cx)
    }

    #[inline(always)]
    fn visit<T: Copy>(
        &mut self,
        cx: &mut Context<'_, T>,
        mut out: impl FnMut(&mut Context<'_, T>, SlotId) -> bool,
    ) -> Option<Step> {
        if self.active_leaves == 0 {
            return Some(Step::Empty);
        }
        let Some((leaf, by_deadline)) = self.choose(cx.now_ns) else {
            self.counters.overlimits += 1;
            let until_ns = self.soonest().unwrap_or(u64::MAX);
            return Some(Step::Wait(until_ns.max(cx.now_ns + 1)));
        };
        if !by_deadline {
            self.foresee_turns(leaf, cx.pool);
        }
        let Some(child) = &mut self.classes[leaf as usize].child else { return Some(Step::Empty) };
        let Some((id, length_bytes)) = child.take(cx) else { return Some(Step::Empty) };
        let (mut bytes, mut packets, mut has_room) = (length_bytes, 1, out(cx, id));
        let mut head = head_of(child, cx);
        while has_room
            && bytes < self.visit_bytes
            && head.is_some()
            && let Some((id, length_bytes)) = child.take(cx)
        {
            (bytes, packets, has_room) = (bytes + length_bytes, packets + 1, out(cx, id));
            head = head_of(child, cx);
        }
        let now_ns = cx.now_ns;
        self.account(leaf, Departure { now_ns, bytes, packets, by_deadline }, head);
        self.counters.sent_packets += u64::from(packets);
        self.counters.sent_bytes += u64::from(bytes);
        None
    }

    #[inline]
    fn foresee<T: Copy>(&self, _: &Pool<T>, packets: &[Packet<T>]) {
        for packet in packets {
            let leaf = self.leaf_of(packet.class);
            if let Some(class) = leaf.and_then(|leaf| self.classes.get(leaf as usize)) {
                prefetch_one(&class.child);
            }
        }
    }

    fn backlog(&self) -> Backlog {
        let mut sum = Backlog::default();
        for child in self.classes.iter().filter_map(|class| class.child.as_ref()) {
            let one = child.backlog();
            sum.packets += one.packets;
            sum.bytes += one.bytes;
        }
        sum
    }

    fn drain<T: Copy>(&mut self, cx: &mut Context<'_, T>, _: ClassId, out: Drained<'_>) {
        for leaf in 0..self.classes.len() as u32 {
            let Some(child) = &mut self.classes[leaf as usize].child else { continue };
            if child.is_empty() {
                continue;
            }
            child.drain(cx, self.labels[leaf as usize].id, out);
            let now_ns = cx.now_ns;
            let nothing = Departure { now_ns, bytes: 0, packets: 0, by_deadline: false };
            self.deadlines.leave(leaf);
            self.account(leaf, nothing, None);
        }
    }

    /// Its classes have no buckets: a class that begins has its curve's first slope, always.
    fn spend(&mut self, now_ns: u64) {
        let leaves = self.classes.iter_mut().filter_map(|class| class.child.as_mut());
        leaves.for_each(|leaf| leaf.spend(now_ns));
    }

    fn report(&self) -> Report {
        let mut report = Report::new("hfsc", self.text.clone(), self.counters, self.backlog());
        report.id = self.handle;
        report.children = self.reports_below(ROOT);
        report
    }
}

impl Hfsc {
    fn reports_below(&self, parent: u32) -> Vec<Report> {
        let children = self.classes.iter().zip(0..).filter(|(class, _)| class.parent == parent);
        children.map(|(class, at)| self.class_report(class, at)).collect()
    }

    fn class_report(&self, class: &Class, at: u32) -> Report {
        let by_deadline = class.real_time.as_ref().map_or(0, |real_time| real_time.served_bytes);
        let Label { id, text } = &self.labels[at as usize];
        let (sent_packets, sent_bytes) = (class.sent_packets, class.total_bytes);
        let counters = Counters { sent_packets, sent_bytes, ..Counters::default() };
        let mut report = Report::new("class", text.clone(), counters, Backlog::default())
            .gauge("period", class.period)
            .gauge("work_bytes", class.total_bytes)
            .gauge("rtwork_bytes", by_deadline);
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
