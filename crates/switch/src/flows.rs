//! Flows added, changed and removed.

use crate::bridge::{Bridge, MOST_FLOWS};
use crate::check::{LAST_TABLE, tracks};
use crate::connection::Event;
use flow::Flow;
use openflow::action::{Output, Program};
use openflow::message::{Command, FlowChange, FlowMod, flag};
use openflow::{Action, Fault, Match, PortNumber, Version, port};
use std::sync::Arc;

/// Why a flow went.
pub(crate) mod gone {
    pub(crate) const IDLE: u8 = 0;
    pub(crate) const HARD: u8 = 1;
    pub(crate) const DELETED: u8 = 2;
    pub(crate) const GROUP_DELETED: u8 = 3;
    pub(crate) const METER_DELETED: u8 = 4;
    pub(crate) const EVICTED: u8 = 5;
}

/// Which flows are meant.
pub(crate) struct Wanted<'a> {
    pub(crate) table: Option<u8>,
    pub(crate) matching: &'a Match,
    /// Exactly this priority and match.
    pub(crate) strict: Option<u16>,
    pub(crate) out_port: PortNumber,
    pub(crate) out_group: Option<u32>,
    pub(crate) cookie: u64,
    pub(crate) cookie_mask: u64,
}

impl Wanted<'_> {
    fn takes(&self, flow: &Flow) -> bool {
        (flow.cookie ^ self.cookie) & self.cookie_mask == 0
            && (self.out_port == port::NONE || sends_to(&flow.program, self.out_port))
            && self.out_group.is_none_or(|group| leads_to_group(&flow.program, group))
            && match self.strict {
                Some(priority) => flow.priority == priority && flow.matching == *self.matching,
                None => flow.matching.is_within(self.matching),
            }
    }
}

/// What an ordinary bridge does.
pub(crate) fn usual_flow(now_ns: u64) -> Flow {
    let mut flow = Flow::new(0, 0, Match::any(), vec![Output::to(port::NORMAL).into()]);
    (flow.created_ns, flow.modified_ns) = (now_ns, now_ns);
    flow
}

/// Whether actions send to a port.
pub(crate) fn sends_to(actions: &[Action], wanted: PortNumber) -> bool {
    actions.iter().any(|action| match action {
        Action::Output(it) => it.port == wanted,
        Action::Enqueue(it) => it.port == wanted,
        Action::Controller(_) => wanted == port::CONTROLLER,
        Action::WriteActions(it) => sends_to(&it.actions, wanted),
        Action::CloneActions(it) => sends_to(&it.actions, wanted),
        _ => false,
    })
}

/// Whether actions lead to a group.
pub(crate) fn leads_to_group(actions: &[Action], wanted: u32) -> bool {
    actions.iter().any(|action| match action {
        Action::Group(it) => it.group == wanted,
        Action::WriteActions(it) => leads_to_group(&it.actions, wanted),
        Action::CloneActions(it) => leads_to_group(&it.actions, wanted),
        _ => false,
    })
}

impl Bridge {
    /// The flow of a bridge that nobody has told anything.
    pub(crate) fn add_usual_flow(&mut self, now_ns: u64) {
        let (flow, had) = self.put(usual_flow(now_ns), now_ns);
        self.changes(FlowChange::Added, &flow, had);
    }

    /// The flows that are meant.
    pub(crate) fn wanted(&self, wanted: &Wanted<'_>) -> Vec<Arc<Flow>> {
        let mut found = Vec::new();
        for (number, table) in &self.snapshot.tables {
            if wanted.table.is_some_and(|only| only != *number) {
                continue;
            }
            match wanted.strict {
                Some(priority) => {
                    let flow = table.flows.get(wanted.matching, priority);
                    found.extend(flow.filter(|flow| wanted.takes(flow)).cloned());
                }
                None => table.flows.each(|flow| {
                    if wanted.takes(flow) {
                        found.push(Arc::clone(flow));
                    }
                }),
            }
        }
        found
    }

    /// Does what a message says about flows.
    pub(crate) fn mod_flows(
        &mut self,
        wanted: FlowMod,
        version: Version,
        now_ns: u64,
    ) -> Result<(), Fault> {
        if wanted.buffer != u32::MAX {
            return Err(Fault::BufferUnknown);
        }
        let is_add = wanted.command == Command::Add;
        if wanted.table.is_some_and(|table| table > LAST_TABLE) {
            return Err(if is_add { Fault::BadFlowTable } else { Fault::BadTableId });
        }
        if is_add && wanted.table.is_none() && version > Version::V10 {
            return Err(Fault::BadFlowTable);
        }
        let is_deletion = matches!(wanted.command, Command::Delete | Command::DeleteStrict);
        let table = wanted.table.unwrap_or(0);
        if !is_deletion {
            self.check(table, &wanted.matching, &wanted.program, version)?;
        }
        if is_add {
            return self.add(wanted, table, version, now_ns);
        }
        let is_strict = matches!(wanted.command, Command::ModifyStrict | Command::DeleteStrict);
        let found = self.wanted(&Wanted {
            table: wanted.table,
            matching: &wanted.matching,
            strict: is_strict.then_some(wanted.priority),
            out_port: wanted.out_port,
            out_group: wanted.out_group,
            cookie: wanted.wanted_cookie,
            cookie_mask: wanted.cookie_mask,
        });
        if is_deletion {
            found.iter().for_each(|flow| self.remove(flow, gone::DELETED, now_ns));
            return Ok(());
        }
        // 1.0 adds what it finds nothing of.
        if found.is_empty() && version == Version::V10 && wanted.cookie_mask == 0 {
            return self.add(wanted, table, version, now_ns);
        }
        for flow in found {
            self.modify(&flow, &wanted, version, now_ns);
        }
        Ok(())
    }

    fn modify(&mut self, flow: &Arc<Flow>, wanted: &FlowMod, version: Version, now_ns: u64) {
        let mut changed = Flow::clone(flow);
        changed.program = wanted.program.clone();
        changed.modified_ns = now_ns;
        let sets_cookie =
            version == Version::V10 || wanted.cookie_mask == 0 && wanted.cookie != u64::MAX;
        if sets_cookie && version == Version::V10 && wanted.cookie != u64::MAX {
            changed.cookie = wanted.cookie;
        }
        if wanted.flags & flag::RESET_COUNTS != 0 {
            changed.counters = Arc::default();
        }
        self.replace(flow, changed, now_ns);
    }

    /// Puts a flow in place of another, of which something is another then.
    pub(crate) fn replace(&mut self, had: &Arc<Flow>, flow: Flow, now_ns: u64) {
        let (flow, _) = self.put(flow, now_ns);
        if flow.program != had.program || flow.cookie != had.cookie {
            self.changes(FlowChange::Modified, &flow, Some(Arc::clone(had)));
        }
    }

    pub(crate) fn add(
        &mut self,
        wanted: FlowMod,
        table: u8,
        version: Version,
        now_ns: u64,
    ) -> Result<(), Fault> {
        let FlowMod { priority, matching, program, .. } = wanted;
        if wanted.flags & flag::CHECK_OVERLAP != 0 && self.overlaps(table, &matching, priority) {
            return Err(Fault::Overlap);
        }
        let others = self.snapshot.tables.get(&table).map(|it| &it.flows);
        let mut flow = Flow::beside(others, table, priority, matching, program);
        let had = others.and_then(|it| it.get_alike(&flow)).cloned();
        let is_full = self.flows >= MOST_FLOWS || self.in_table(table) >= self.most_of(table);
        if had.is_none() && is_full && !self.make_room(table, now_ns) {
            return Err(Fault::TableFull);
        }
        (flow.cookie, flow.idle, flow.hard) = (wanted.cookie, wanted.idle, wanted.hard);
        flow.flags = wanted.flags & !(flag::CHECK_OVERLAP | flag::RESET_COUNTS);
        flow.importance = wanted.importance;
        (flow.created_ns, flow.modified_ns) = (now_ns, now_ns);
        let keeps = version > Version::V10 && wanted.flags & flag::RESET_COUNTS == 0;
        if let Some(had) = had.filter(|_| keeps) {
            flow.counters = Arc::clone(&had.counters);
        }
        let (flow, had) = self.put(flow, now_ns);
        self.changes(FlowChange::Added, &flow, had);
        Ok(())
    }

    fn overlaps(&self, table: u8, matching: &Match, priority: u16) -> bool {
        let mut found = false;
        if let Some(table) = self.snapshot.tables.get(&table) {
            table.flows.each(|flow| {
                found |= flow.priority == priority && flow.matching.overlaps(matching);
            });
        }
        found
    }

    /// Puts a flow in, in place of the one of its match and priority: itself, and that one.
    pub(crate) fn put(&mut self, flow: Flow, now_ns: u64) -> (Arc<Flow>, Option<Arc<Flow>>) {
        self.snapshot.tracks |= tracks(&flow.program);
        let is_timed = |flow: &Flow| usize::from(flow.idle != 0 || flow.hard != 0);
        self.timed += is_timed(&flow);
        let (flow, had) = self.snapshot.table_mut(flow.table).flows.put(flow);
        self.timed -= had.as_deref().map_or(0, is_timed);
        self.flows += usize::from(had.is_none());
        self.is_changed = true;
        self.order(flow.table, had.as_ref(), Some(&flow));
        self.teachers_change(had.as_ref(), Some(&flow), now_ns);
        (flow, had)
    }

    /// Takes a flow out, and tells who wants to know.
    pub(crate) fn remove(&mut self, flow: &Arc<Flow>, reason: u8, now_ns: u64) {
        let table = self.snapshot.table_mut(flow.table);
        if !table.flows.remove(flow) {
            return;
        }
        self.flows -= 1;
        self.timed -= usize::from(flow.idle != 0 || flow.hard != 0);
        self.is_changed = true;
        self.order(flow.table, Some(flow), None);
        if flow.flags & flag::SEND_REMOVED != 0 {
            self.events.push(Event::FlowRemoved(Arc::clone(flow), now_ns, reason));
        }
        self.changes(FlowChange::Removed(reason), flow, None);
        self.teachers_change(Some(flow), None, now_ns);
    }

    /// Takes all flows out whose actions are such.
    pub(crate) fn remove_all(&mut self, reason: u8, now_ns: u64, are: impl Fn(&Program) -> bool) {
        let mut found = Vec::new();
        self.each_flow(|flow| {
            if are(&flow.program) {
                found.push(Arc::clone(flow));
            }
        });
        found.iter().for_each(|flow| self.remove(flow, reason, now_ns));
    }
}
