//! Flows that make room for others where their table is full (OpenFlow 1.4, 6.5, eviction).
//!
//! ```text
//!  flows with a timeout ─▶ groups of equal values ─▶ the largest ─▶ the least important of it
//!                                                                └▶ the one that ends soonest
//! ```
//! That is kept in order while flows come and go, so that no choice looks at all of them: a few
//! steps of a tree each, and only in tables that evict. Packets move the ends of flows that are to
//! be idle, which nobody tells: what is noted is never too late, and whoever is first is looked at
//! again before it goes.

use crate::bridge::Bridge;
use crate::expire::end_ns;
use crate::flows::gone;
use flow::Flow;
use openflow::Sub;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// First ones that are looked at again for one choice. Beyond, who is first by what is noted goes:
/// all of these had packets since it was noted.
const MOST_LOOKS: usize = 64;

/// What flows of a group have in common.
type Name = Arc<[u128]>;
/// Importance, and end as it is noted; and which flow it is.
type Place = (u16, u64, usize);
/// How many a group has, and who would go of it. Importance and end are the other way round: of
/// groups of one size the last is the one of whom somebody goes.
type Rank = (usize, Reverse<(u16, u64)>, Name);

/// The flows of a table that may go, in the order in which they do.
#[derive(Debug)]
pub(crate) struct Order {
    /// What makes groups.
    subs: Vec<Sub>,
    groups: HashMap<Name, BTreeMap<Place, Arc<Flow>>>,
    /// Of each group: somebody of the last one goes.
    ranks: BTreeSet<Rank>,
    /// What is noted of each flow's end.
    ends: HashMap<usize, u64>,
}

/// Which flow it is, as long as it is held.
fn which(flow: &Arc<Flow>) -> usize {
    Arc::as_ptr(flow) as usize
}

impl Order {
    fn new(subs: Vec<Sub>) -> Self {
        let (groups, ranks, ends) = Default::default();
        Self { subs, groups, ranks, ends }
    }

    /// Takes note of a flow; one without an end never goes.
    pub(crate) fn add(&mut self, flow: &Arc<Flow>) {
        let Some(end) = end_ns(flow) else { return };
        let (place, name) = ((flow.importance, end, which(flow)), flow.values(&self.subs));
        self.ends.insert(which(flow), end);
        self.change(&name, |group| {
            group.insert(place, Arc::clone(flow));
        });
    }

    /// Forgets a flow.
    pub(crate) fn remove(&mut self, flow: &Arc<Flow>) {
        let Some(end) = self.ends.remove(&which(flow)) else { return };
        let (place, name) = ((flow.importance, end, which(flow)), flow.values(&self.subs));
        self.change(&name, |group| {
            group.remove(&place);
        });
    }

    /// The one that goes next.
    fn choose(&mut self) -> Option<Arc<Flow>> {
        for _ in 0..MOST_LOOKS {
            let (flow, noted) = self.first()?;
            if end_ns(&flow) == Some(noted) {
                return Some(flow);
            }
            self.remove(&flow);
            self.add(&flow);
        }
        self.first().map(|(flow, _)| flow)
    }

    /// The first by what is noted, and that.
    fn first(&self) -> Option<(Arc<Flow>, u64)> {
        let (.., name) = self.ranks.last()?;
        let ((_, noted, _), flow) = self.groups.get(name)?.first_key_value()?;
        Some((Arc::clone(flow), *noted))
    }

    fn change(&mut self, name: &Name, change: impl FnOnce(&mut BTreeMap<Place, Arc<Flow>>)) {
        let group = self.groups.entry(Arc::clone(name)).or_default();
        let rank = |group: &BTreeMap<Place, Arc<Flow>>| {
            let ((importance, end, _), _) = group.first_key_value()?;
            Some((group.len(), Reverse((*importance, *end)), Arc::clone(name)))
        };
        if let Some(rank) = rank(group) {
            self.ranks.remove(&rank);
        }
        change(group);
        match rank(group) {
            Some(rank) => drop(self.ranks.insert(rank)),
            None => drop(self.groups.remove(name)),
        }
    }
}

impl Bridge {
    /// Whether flows of a table make room: by what is said of it, or as a controller has it.
    pub(crate) fn evicts(&self, table: u8) -> bool {
        self.evicting.contains(&table)
            || self.said_of_tables.get(&table).is_some_and(|it| it.evicts)
    }

    /// Has the order of each table be what is wanted of it; `all` anew, whatever there was.
    pub(crate) fn order_tables(&mut self, all: bool) {
        let wanted: Vec<u8> =
            (0..=crate::check::LAST_TABLE).filter(|it| self.evicts(*it)).collect();
        self.orders.retain(|table, _| wanted.contains(table));
        for table in wanted {
            let said = self.said_of_tables.get(&table);
            let subs = said.map(|it| it.groups.clone()).unwrap_or_default();
            let had = self.orders.get(&table);
            if !all && had.is_some_and(|had| had.subs == subs) {
                continue;
            }
            let mut order = Order::new(subs);
            if let Some(table) = self.snapshot.tables.get(&table) {
                table.flows.each(|flow| order.add(flow));
            }
            self.orders.insert(table, order);
        }
    }

    /// A flow came in place of another, or went.
    pub(crate) fn order(&mut self, table: u8, old: Option<&Arc<Flow>>, new: Option<&Arc<Flow>>) {
        self.look_at_vacancy(table);
        if let Some(order) = self.orders.get_mut(&table) {
            old.into_iter().for_each(|flow| order.remove(flow));
            new.into_iter().for_each(|flow| order.add(flow));
        }
    }

    /// Takes a flow out of a table that is full; false where none may go.
    pub(crate) fn make_room(&mut self, table: u8, now_ns: u64) -> bool {
        let Some(flow) = self.orders.get_mut(&table).and_then(Order::choose) else { return false };
        self.remove(&flow, gone::EVICTED, now_ns);
        true
    }

    /// Has tables that evict have no more flows than they may, as far as some may go.
    pub(crate) fn make_all_room(&mut self, now_ns: u64) {
        let tables: Vec<u8> = self.orders.keys().copied().collect();
        for table in tables {
            while self.in_table(table) > self.most_of(table) && self.make_room(table, now_ns) {}
        }
    }
}

#[cfg(test)]
#[path = "evict_tests.rs"]
mod tests;
