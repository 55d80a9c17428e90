//! Flows that packets teach, and what becomes of them later.
//!
//! ```text
//!  learn ─▶ a flow, with a cookie        the last teacher of that cookie goes ─▶ they go, too
//!  FIN, RST ─▶ fin_timeout ─▶ the flow's timeouts become shorter
//! ```

use crate::bridge::Bridge;
use crate::flows::{Wanted, gone};
use flow::Flow;
use openflow::message::{Command, FlowMod};
use openflow::{Action, Match, Version, port};
use std::collections::BTreeMap;
use std::sync::Arc;

/// `learn`: what was learned goes with who taught it.
const DELETES_LEARNED: u16 = 2;

/// Tables and cookies of flows that go when nobody teaches them any more: how many teach each.
pub(crate) type Teachers = BTreeMap<(u8, u64), usize>;

/// What actions teach that is to go with them.
fn taught_by(actions: &[Action], found: &mut Vec<(u8, u64)>) {
    for action in actions {
        match action {
            Action::Learn(it) if it.flags & DELETES_LEARNED != 0 => {
                found.push((it.table, it.cookie));
            }
            Action::WriteActions(it) => taught_by(&it.actions, found),
            Action::CloneActions(it) => taught_by(&it.actions, found),
            _ => {}
        }
    }
}

impl Bridge {
    /// A flow came in place of another, or went: what nobody teaches any more goes.
    pub(crate) fn teachers_change(
        &mut self,
        old: Option<&Arc<Flow>>,
        new: Option<&Flow>,
        now_ns: u64,
    ) {
        let (mut came, mut went) = (Vec::new(), Vec::new());
        new.iter().for_each(|flow| taught_by(&flow.program, &mut came));
        old.iter().for_each(|flow| taught_by(&flow.program, &mut went));
        came.into_iter().for_each(|it| *self.teachers.entry(it).or_default() += 1);
        for it in went {
            let Some(count) = self.teachers.get_mut(&it) else { continue };
            *count -= 1;
            if *count == 0 {
                self.teachers.remove(&it);
                self.forget(it, now_ns);
            }
        }
    }

    /// Takes out the flows of a table that have a cookie.
    fn forget(&mut self, (table, cookie): (u8, u64), now_ns: u64) {
        let found = self.wanted(&Wanted {
            table: Some(table),
            matching: &Match::any(),
            strict: None,
            out_port: port::NONE,
            out_group: None,
            cookie,
            cookie_mask: u64::MAX,
        });
        found.iter().for_each(|flow| self.remove(flow, gone::DELETED, now_ns));
    }

    /// Adds what a packet taught, unless there are so many of its cookie already.
    pub fn learn(&mut self, wanted: &FlowMod, most: u32, now_ns: u64) {
        let table = wanted.table.unwrap_or(0);
        let found = self.snapshot.tables.get(&table);
        let found = found.and_then(|it| it.flows.get(&wanted.matching, wanted.priority));
        match found.cloned() {
            // It is known: heard of once more. Its timeouts stay, which may be shorter by now.
            Some(had) if had.program == wanted.program && had.hard == 0 => {
                had.counters.add(0, 0, now_ns);
            }
            Some(had) => {
                let mut changed = Flow::clone(&had);
                changed.program.clone_from(&wanted.program);
                (changed.cookie, changed.modified_ns) = (wanted.cookie, now_ns);
                self.replace(&had, changed, now_ns);
            }
            None if most != 0 && self.snapshot.learned(table, wanted.cookie) >= most as usize => {}
            None => {
                let flow = FlowMod { command: Command::Add, ..wanted.clone() };
                // A flow that cannot be is not learned; the flow that teaches was checked.
                _ = self.add(flow, table, Version::V13, now_ns);
            }
        }
    }

    /// A connection of a flow's ends: its timeouts are these, at most.
    pub(crate) fn end_flow(
        &mut self,
        (table, priority, matching): (u8, u16, &Match),
        (idle, hard): (u16, u16),
        now_ns: u64,
    ) {
        let found = self.snapshot.tables.get(&table);
        let had = found.and_then(|it| it.flows.get(matching, priority)).cloned();
        let Some(had) = had else { return };
        let shorter = |had: u16, most: u16| match (had, most) {
            (had, 0) => had,
            (0, most) => most,
            _ => had.min(most),
        };
        let (idle, hard) = (shorter(had.idle, idle), shorter(had.hard, hard));
        if (idle, hard) != (had.idle, had.hard) {
            let mut changed = Flow::clone(&had);
            (changed.idle, changed.hard) = (idle, hard);
            self.put(changed, now_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Event;
    use flow::{Key, Step, Told, extract, translate};
    use openflow::action::{FinTimeout, Learn, Output, Program, learn};
    use openflow::{Field, Sub};

    const SECOND: u64 = 1_000_000_000;

    fn bridge() -> Bridge {
        let mut it = Bridge::new("br0", [2, 0, 0, 0, 0, 1], true, 0);
        for number in 1..4u16 {
            let (name, mac) = (format!("p{number}"), [2, 0, 0, 0, 1, number as u8]);
            it.set_port(number, Some(crate::Port::new(name, mac)), 0);
        }
        it
    }

    /// Stations are learned in table 1, with the cookie 7.
    fn teacher(flags: u16, limit: u32, result: Option<Sub>) -> Learn {
        let from = learn::From::Packet(Sub::whole(Field::EthSrc));
        let to = learn::To::Match(Sub::whole(Field::EthDst));
        let specs = vec![learn::Spec { from, to, bits: 48 }];
        let (idle, hard, fin_idle, fin_hard) = (60, 0, 5, 0);
        let (priority, cookie, table) = (9, 7, 1);
        Learn {
            idle,
            hard,
            priority,
            cookie,
            flags,
            table,
            fin_idle,
            fin_hard,
            limit,
            result,
            specs,
        }
    }

    fn told(bridge: &mut Bridge, command: Command, priority: u16, program: Program) {
        let tcp = Match::any().with(Field::EthType, 0x0800).with(Field::IpProto, 6);
        let it = FlowMod { command, ..FlowMod::add(0, priority, tcp, program) };
        bridge.mod_flows(it, Version::V13, 0).unwrap();
    }

    /// A segment of TCP from a station; what its tables come to is done, as far as it teaches.
    fn segment(bridge: &mut Bridge, station: u8, flags: u8) -> Vec<Step> {
        let mut frame = vec![2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, station, 8, 0, 0x45, 0, 0, 40];
        frame.extend([0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, 80, 0, 81]);
        frame.extend([0, 0, 0, 0, 0, 0, 0, 0, 0x50, flags, 0, 0, 0, 0, 0, 0]);
        let mut key = Key::default();
        extract(&frame, 1, &mut key);
        let verdict = translate(&bridge.snapshot(), &key);
        for step in &verdict.steps {
            if let Step::Tell(it) = step {
                bridge.told(it, &frame, 0);
            }
        }
        verdict.steps.to_vec()
    }

    fn count(bridge: &Bridge, table: u8) -> usize {
        let mut count = 0;
        bridge.each_flow(|flow| count += usize::from(flow.table == table));
        count
    }

    #[test]
    fn what_was_learned_goes_with_the_last_that_taught_it() {
        for flags in [2, 0] {
            let mut it = bridge();
            told(&mut it, Command::Add, 1, vec![teacher(flags, 0, None).into()]);
            told(&mut it, Command::Add, 2, vec![teacher(flags, 0, None).into()]);
            segment(&mut it, 1, 0x10);
            segment(&mut it, 2, 0x10);
            assert_eq!(count(&it, 1), 2);
            // One that is changed to teach nothing is as one that goes.
            told(&mut it, Command::ModifyStrict, 2, vec![]);
            assert_eq!(count(&it, 1), 2);
            told(&mut it, Command::DeleteStrict, 1, vec![]);
            assert_eq!(count(&it, 1), if flags == 2 { 0 } else { 2 });
        }
    }

    #[test]
    fn no_more_is_learned_than_the_limit_and_a_bit_says_so() {
        let mut it = bridge();
        let result = Sub { field: Field::Reg0, offset: 3, bits: 1 };
        let to = Sub { bits: 16, ..Sub::whole(Field::Reg0) };
        let out = openflow::action::OutputReg { from: to, max_len: 0 };
        told(&mut it, Command::Add, 1, vec![teacher(0, 1, Some(result)).into(), out.into()]);
        it.set_port(8, Some(crate::Port::clone(&port())), 0);
        assert!(matches!(*segment(&mut it, 1, 0x10), [Step::Tell(_), Step::Output(8)]));
        // It is known; the next finds no room, whoever of two came first.
        assert!(matches!(*segment(&mut it, 1, 0x10), [Step::Tell(_), Step::Output(8)]));
        assert_eq!((segment(&mut it, 2, 0x10), count(&it, 1)), (vec![], 1));
        let more = FlowMod { cookie: 7, ..FlowMod::add(1, 9, Match::any(), vec![]) };
        it.learn(&more, 1, 0);
        assert_eq!(count(&it, 1), 1);
        it.learn(&more, 2, 0);
        assert_eq!(count(&it, 1), 2);
    }

    fn port() -> crate::Port {
        let name = "p8".to_owned();
        crate::Port::new(name, [2; 6])
    }

    #[test]
    fn a_segment_that_ends_a_connection_shortens_the_timeouts_of_its_flow() {
        let mut it = bridge();
        let fin = FinTimeout { idle: 10, hard: 20 };
        told(&mut it, Command::Add, 1, vec![fin.into(), Output::to(2).into()]);
        let timeouts = |it: &Bridge| {
            let mut found = Vec::new();
            it.each_flow(|flow| found.push((flow.idle, flow.hard)));
            found
        };
        assert_eq!(segment(&mut it, 1, 0x10), [Step::Output(2)]);
        assert_eq!(timeouts(&it), [(0, 0)]);
        for ends in [0x11, 0x04] {
            let steps = segment(&mut it, 1, ends);
            assert!(matches!(&steps[0], Step::Tell(it) if matches!(**it, Told::Ended { .. })));
            assert_eq!(timeouts(&it), [(10, 20)]);
        }
        it.expire(9 * SECOND);
        assert_eq!(it.len(), 1);
        it.expire(10 * SECOND);
        assert!(it.is_empty());
        // What a flow was to have is no longer than it had.
        let had = FlowMod { idle: 3, ..FlowMod::add(0, 1, Match::any(), vec![fin.into()]) };
        assert!(it.mod_flows(had.clone(), Version::V13, 0).is_err());
        it.mod_flows(had, Version::V10, 0).unwrap();
        segment(&mut it, 1, 0x01);
        assert_eq!(timeouts(&it), [(3, 20)]);
    }

    #[test]
    fn what_is_learned_ends_as_the_teacher_says() {
        let mut it = bridge();
        told(&mut it, Command::Add, 1, vec![teacher(1, 0, None).into()]);
        segment(&mut it, 9, 0x10);
        let mut found = Vec::new();
        it.each_flow(|flow| found.push(Arc::clone(flow)));
        let flow = found.into_iter().find(|flow| flow.table == 1).unwrap();
        assert_eq!(flow.program, [FinTimeout { idle: 5, hard: 0 }.into()]);
        let of = (1, 9, &flow.matching);
        it.end_flow(of, (5, 0), SECOND);
        // Learned once more it does not get its time back.
        segment(&mut it, 9, 0x10);
        it.expire(6 * SECOND);
        let events = it.take_events();
        assert!(matches!(events.last(), Some(Event::FlowRemoved(gone, ..)) if gone.idle == 5));
    }
}
