//! Flows that controllers watch.
//!
//! ```text
//!  monitor ─▶ the flows there are          flow_mod, learn, timeouts ─▶ Event::Flow ─▶ an update
//! ```
//! Where nobody watches, nothing is kept of what becomes of flows.

use crate::bridge::Bridge;
use crate::connection::{Connection, Event};
use crate::flows::{Wanted, leads_to_group, sends_to};
use crate::stats::stats_of;
use flow::Flow;
use openflow::message::{
    FlowChange, MonitorCommand, MonitorRequest, Multipart, flow_updates, put_flow_update,
    put_own_update, put_pause, watch,
};
use openflow::{Fault, Version, port};
use std::sync::Arc;

/// Monitors of a connection, at most.
const MOST: usize = 1024;

/// What becomes of a flow.
#[derive(Clone, Debug)]
pub struct Change {
    pub(crate) flow: Arc<Flow>,
    /// What was there before it.
    pub(crate) old: Option<Arc<Flow>>,
    pub(crate) change: FlowChange,
    /// Whose message made it: the connection, and the number of the message.
    pub(crate) by: Option<(u64, u32)>,
}

/// Some flows that a connection watches.
#[derive(Debug)]
pub(crate) struct Monitor {
    wanted: MonitorRequest,
    /// Tells the bridge that there is one.
    _watched: Arc<()>,
}

impl Monitor {
    fn takes(&self, flow: &Flow) -> bool {
        let it = &self.wanted;
        it.table.is_none_or(|table| table == flow.table)
            && (it.out_port == port::NONE || sends_to(&flow.program, it.out_port))
            && it.out_group.is_none_or(|group| leads_to_group(&flow.program, group))
            && flow.matching.is_within(&it.matching)
    }
}

impl Bridge {
    /// Tells who watches what became of a flow.
    pub(crate) fn changes(&mut self, change: FlowChange, flow: &Arc<Flow>, old: Option<Arc<Flow>>) {
        if Arc::strong_count(&self.watched) > 1 {
            let by = self.speaker;
            let change = Change { flow: Arc::clone(flow), old, change, by };
            self.events.push(Event::Flow(Arc::new(change)));
        }
    }

    /// Begins, changes or ends a monitor: the flows that it begins with.
    pub(crate) fn monitor(
        &self,
        connection: &mut Connection,
        wanted: &MonitorRequest,
        (version, xid): (Version, u32),
        now_ns: u64,
    ) -> Result<Vec<Vec<u8>>, Fault> {
        let is_there = connection.monitors.contains_key(&wanted.id);
        match wanted.command {
            MonitorCommand::Add if is_there => return Err(Fault::MonitorExists),
            MonitorCommand::Add if connection.monitors.len() >= MOST => {
                return Err(Fault::NotPermitted);
            }
            MonitorCommand::Modify | MonitorCommand::Delete if !is_there => {
                return Err(Fault::MonitorUnknown);
            }
            MonitorCommand::Delete => drop(connection.monitors.remove(&wanted.id)),
            MonitorCommand::Add | MonitorCommand::Modify => {
                let it = Monitor { wanted: wanted.clone(), _watched: Arc::clone(&self.watched) };
                connection.monitors.insert(wanted.id, it);
            }
        }
        let mut answer = flow_updates(version, xid);
        if wanted.command != MonitorCommand::Delete && wanted.flags & watch::INITIAL != 0 {
            let found = self.wanted(&Wanted {
                table: wanted.table,
                matching: &wanted.matching,
                strict: None,
                out_port: wanted.out_port,
                out_group: wanted.out_group,
                cookie: 0,
                cookie_mask: 0,
            });
            let has_actions = wanted.flags & watch::ACTIONS != 0;
            for flow in found {
                answer.entry(|version, out| {
                    let stats = stats_of(&flow, now_ns);
                    put_flow_update(FlowChange::Initial, &stats, has_actions, version, out);
                });
            }
        }
        Ok(answer.finish())
    }
}

impl Connection {
    /// Ends a monitor.
    pub(crate) fn cancel_monitor(&mut self, id: u32) -> Result<(), Fault> {
        self.monitors.remove(&id).map(drop).ok_or(Fault::MonitorUnknown)
    }

    /// What monitors that watch a change ask for, all together; nothing where none does.
    pub(crate) fn watches(&self, it: &Change) -> u16 {
        let wanted = match it.change {
            FlowChange::Initial | FlowChange::Added => watch::ADDED,
            FlowChange::Removed(_) => watch::REMOVED,
            FlowChange::Modified => watch::MODIFIED,
        };
        let takes = |monitor: &&Monitor| {
            let flags = monitor.wanted.flags;
            flags & wanted != 0
                && (monitor.takes(&it.flow)
                    || it.old.as_ref().is_some_and(|old| monitor.takes(old)))
        };
        self.monitors.values().filter(takes).fold(0, |all, monitor| all | monitor.wanted.flags)
    }

    /// Takes note of a change, if one of its monitors watches it.
    pub(crate) fn follow(&mut self, it: &Arc<Change>) {
        let flags = self.watches(it);
        match it.by {
            _ if flags == 0 || !self.is_told_now(it) => {}
            Some((number, xid)) if number == self.number && flags & watch::OWN == 0 => {
                // Once for all that a message changed.
                if !matches!(self.owed.back(), Some(Event::Own(had)) if *had == xid) {
                    self.owed.push_back(Event::Own(xid));
                }
            }
            _ => self.owed.push_back(Event::Flow(Arc::clone(it))),
        }
    }

    /// Writes a change behind others; false of what is none.
    pub(crate) fn put_change(&self, event: &Event, updates: &mut Multipart) -> bool {
        match event {
            Event::Flow(it) => {
                let has_actions = self.watches(it) & watch::ACTIONS != 0;
                let stats = stats_of(&it.flow, it.flow.modified_ns);
                updates.entry(|version, out| {
                    put_flow_update(it.change, &stats, has_actions, version, out);
                });
                true
            }
            Event::Own(xid) => {
                updates.entry(|version, out| put_own_update(*xid, version, out));
                true
            }
            Event::Pause { is_over } if updates.version() != Version::V10 => {
                updates.entry(|_, out| put_pause(*is_over, out));
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Port;
    use crate::testing::Nothing;
    use openflow::message::{Command, FlowMod, Kind, message};
    use openflow::{Field, Match};

    fn bridge() -> Bridge {
        let mut it = Bridge::new("br0", [2, 0, 0, 0, 0, 1], true, 0);
        for number in 1..3u16 {
            let name = format!("p{number}");
            it.set_port(number, Some(Port::new(name, [2; 6])), 0);
        }
        it
    }

    fn connect(bridge: &mut Bridge, version: Version) -> Connection {
        let number = version as u8;
        let mut it = Connection::new(true);
        let hello = [number, 0, 0, 16, 0, 0, 0, 1, 0, 1, 0, 8, 0, 0, 0, 1 << number];
        assert!(bridge.hear(&mut it, &hello, &mut Nothing, 0).is_empty());
        it
    }

    /// The bodies behind the header of a multipart message.
    fn say(bridge: &mut Bridge, connection: &mut Connection, message: &[u8]) -> Vec<Vec<u8>> {
        let answers = bridge.hear(connection, message, &mut Nothing, 0);
        answers.iter().map(|it| it[8..].to_vec()).collect()
    }

    fn told(bridge: &mut Bridge, connections: &mut [&mut Connection]) -> Vec<Vec<Vec<u8>>> {
        let events = bridge.take_events();
        let mut all = Vec::new();
        for connection in connections {
            events.iter().for_each(|event| connection.tell(event));
            all.push(connection.take_owed().iter().map(|it| it[8..].to_vec()).collect());
        }
        all
    }

    /// What Open vSwitch's tool asks for, in 1.0.
    fn watch_all(id: u8, flags: u8) -> Vec<u8> {
        let mut body = vec![0xff, 0xff, 0, 0, 0, 0, 0x23, 0x20, 0, 0, 0, 2, 0, 0, 0, 0];
        body.extend([0, 0, 0, id, 0, flags, 0xff, 0xff, 0, 0, 0xff, 0, 0, 0, 0, 0]);
        message(Version::V10, Kind::MultipartRequest, 5, &body)
    }

    fn mods(command: Command, port: u16, xid: u32) -> Vec<u8> {
        let matching = Match::any().with(Field::InPort, 1);
        let out = openflow::action::Output::to(port).into();
        let it = FlowMod { command, ..FlowMod::add(0, 6, matching, vec![out]) };
        let it = FlowMod { cookie: 7, idle: 9, ..it };
        it.encode(Version::V10, xid)
    }

    const HEAD: [u8; 16] = [0xff, 0xff, 0, 0, 0, 0, 0x23, 0x20, 0, 0, 0, 2, 0, 0, 0, 0];

    /// An update as Open vSwitch writes it.
    fn update(event: u8, reason: u8, port: u8) -> Vec<u8> {
        let mut it = HEAD.to_vec();
        it.extend([0, 40, 0, event, 0, reason, 0, 6, 0, 9, 0, 0, 0, 6, 0, 0]);
        it.extend([0, 0, 0, 0, 0, 0, 0, 7]);
        it.extend([0, 0, 0, 2, 0, 1, 0, 0]);
        it.extend([0, 0, 0, 8, 0, port, 0, 0]);
        it
    }

    #[test]
    fn who_watches_is_told_of_others_changes_whole_and_of_its_own_in_short() {
        let mut it = bridge();
        let mut one = connect(&mut it, Version::V10);
        let mut other = connect(&mut it, Version::V10);
        // Nobody watches: nothing is kept.
        say(&mut it, &mut one, &mods(Command::Add, 2, 9));
        assert!(it.take_events().iter().all(|event| !matches!(event, Event::Flow(_))));
        assert_eq!(say(&mut it, &mut one, &watch_all(1, 0x1f)), [update(0, 0, 2)]);
        assert_eq!(say(&mut it, &mut other, &watch_all(1, 0x1e)), [HEAD]);
        say(&mut it, &mut one, &mods(Command::ModifyStrict, 3, 10));
        let own = |xid: u8| [&HEAD[..], &[0, 8, 0, 3, 0, 0, 0, xid]].concat();
        let wanted = vec![vec![own(10)], vec![update(2, 0, 3)]];
        assert_eq!(told(&mut it, &mut [&mut one, &mut other]), wanted);
        // The same once more is no change; an addition in its place is one.
        say(&mut it, &mut one, &mods(Command::ModifyStrict, 3, 11));
        assert_eq!(told(&mut it, &mut [&mut other]), [Vec::<Vec<u8>>::new()]);
        say(&mut it, &mut one, &mods(Command::Add, 3, 12));
        assert_eq!(told(&mut it, &mut [&mut other]), [vec![update(0, 0, 3)]]);
        say(&mut it, &mut other, &mods(Command::DeleteStrict, 2, 13));
        let wanted = vec![vec![update(1, 2, 3)], vec![own(13)]];
        assert_eq!(told(&mut it, &mut [&mut one, &mut other]), wanted);
        // Timeouts are nobody's.
        say(&mut it, &mut one, &mods(Command::Add, 2, 14));
        told(&mut it, &mut [&mut one, &mut other]);
        it.expire(9_000_000_000);
        let both = vec![vec![update(1, 0, 2)]; 2];
        assert_eq!(told(&mut it, &mut [&mut one, &mut other]), both);
    }

    #[test]
    fn monitors_end_and_what_they_do_not_ask_for_is_not_told() {
        let mut it = bridge();
        let mut one = connect(&mut it, Version::V10);
        let mut other = connect(&mut it, Version::V10);
        // Flows that go, without what they did.
        assert_eq!(say(&mut it, &mut one, &watch_all(1, 0x04)), [HEAD]);
        say(&mut it, &mut other, &mods(Command::Add, 2, 9));
        assert_eq!(told(&mut it, &mut [&mut one]), [Vec::<Vec<u8>>::new()]);
        say(&mut it, &mut other, &mods(Command::Delete, 2, 9));
        let mut short = update(1, 2, 2);
        short.truncate(short.len() - 8);
        short[17] = 32;
        assert_eq!(told(&mut it, &mut [&mut one]), [[short]]);
        // The number is taken; then it ends, once.
        let error = |answers: Vec<Vec<u8>>| answers[0][..12].to_vec();
        let code = |code: u8| vec![0xb0, 0xc2, 0, 0, 0, 0, 0x23, 0x20, 0, 1, 2, code];
        assert_eq!(error(say(&mut it, &mut one, &watch_all(1, 0x1f))), code(5));
        let cancel = message(
            Version::V10,
            Kind::Experimenter,
            6,
            &[0, 0, 0x23, 0x20, 0, 0, 0, 21, 0, 0, 0, 1],
        );
        assert!(say(&mut it, &mut one, &cancel).is_empty());
        assert_eq!(error(say(&mut it, &mut one, &cancel)), code(7));
        say(&mut it, &mut other, &mods(Command::Add, 2, 9));
        assert!(it.take_events().iter().all(|event| !matches!(event, Event::Flow(_))));
    }

    #[test]
    fn the_standards_own_form_has_the_same() {
        let mut it = bridge();
        let mut one = connect(&mut it, Version::V14);
        let mut other = connect(&mut it, Version::V10);
        say(&mut it, &mut other, &mods(Command::Add, 2, 9));
        let request = |flags: u8, command: u8| {
            let mut body = vec![0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
            body.extend([0xff; 8]);
            body.extend([0, flags, 0xff, command, 0, 1, 0, 4, 0, 0, 0, 0]);
            message(Version::V14, Kind::MultipartRequest, 5, &body)
        };
        let head = [0, 16, 0, 0, 0, 0, 0, 0];
        let update = |event: u8, reason: u8| {
            let mut it = head.to_vec();
            it.extend([0, 40, 0, event, 0, reason, 0, 9, 0, 0, 0, 6, 0, 0, 0, 0]);
            it.extend([0, 0, 0, 0, 0, 0, 0, 7, 0, 1, 0, 12, 0x80, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0]);
            it
        };
        assert_eq!(say(&mut it, &mut one, &request(0x0f, 0)), [update(0, 0)]);
        say(&mut it, &mut other, &mods(Command::DeleteStrict, 2, 9));
        assert_eq!(told(&mut it, &mut [&mut one]), [[update(2, 2)]]);
        // Changed to be told of what comes, of its own changes whole, too.
        assert_eq!(say(&mut it, &mut one, &request(0x42, 1)), [head]);
        say(&mut it, &mut other, &mods(Command::Add, 2, 9));
        assert_eq!(told(&mut it, &mut [&mut one]), [[update(1, 0)]]);
        let matching = Match::any().with(Field::InPort, 1);
        let own = FlowMod { cookie: 7, idle: 9, ..FlowMod::add(0, 6, matching, vec![]) };
        say(&mut it, &mut one, &own.encode(Version::V14, 10));
        assert_eq!(told(&mut it, &mut [&mut one]), [[update(1, 0)]]);
        assert_eq!(say(&mut it, &mut one, &request(0x42, 2)), [head]);
        assert_eq!(Arc::strong_count(&it.watched), 1);
    }
}
