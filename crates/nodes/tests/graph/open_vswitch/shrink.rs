//! The smallest case that still differs.

use super::case::Case;
use openflow::Match;
use openflow::action::{Action, Program};

/// Smaller cases, boldest first.
pub(crate) fn smaller(case: &Case) -> Vec<Case> {
    let mut found = Vec::new();
    let mut with = |change: &dyn Fn(&mut Case)| {
        let mut it = case.clone();
        change(&mut it);
        found.push(it);
    };
    if case.packets.len() > 1 {
        for at in 0..case.packets.len() {
            with(&|it| {
                it.packets.remove(at);
                for (number, (_, packet)) in (0u16..).zip(&mut it.packets) {
                    let end = packet.len() - 2;
                    packet[end..].copy_from_slice(&number.to_be_bytes());
                }
            });
        }
    }
    for at in 0..case.flows.len() {
        with(&|it| drop(it.flows.remove(at)));
    }
    for at in 0..case.groups.len() {
        with(&|it| drop(it.groups.remove(at)));
    }
    for (at, flow) in case.flows.iter().enumerate() {
        for program in programs(&flow.program) {
            with(&|it| it.flows[at].program = program.clone());
        }
        for left in 0..flow.matching.fields().len() {
            let fields = flow.matching.fields().iter().enumerate().filter(|(at, _)| *at != left);
            let mut matching = Match::any();
            fields.for_each(|(_, (field, value, mask))| matching.set(*field, *value, *mask));
            with(&|it| it.flows[at].matching = matching.clone());
        }
    }
    for (at, group) in case.groups.iter().enumerate() {
        for (number, bucket) in group.2.iter().enumerate() {
            for actions in programs(&bucket.actions) {
                with(&|it| it.groups[at].2[number].actions = actions.clone());
            }
        }
    }
    found
}

/// The same with one action less, or with an action that has others in it with one of those less.
fn programs(program: &Program) -> Vec<Program> {
    let mut found = Vec::new();
    for (at, action) in program.iter().enumerate() {
        let mut less = program.clone();
        less.remove(at);
        found.push(less);
        let inside = match action {
            Action::CloneActions(it) => programs(&it.actions),
            Action::WriteActions(it) => programs(&it.actions),
            Action::Ct(it) => programs(&it.actions),
            _ => continue,
        };
        for actions in inside {
            let mut less = program.clone();
            match &mut less[at] {
                Action::CloneActions(it) => it.actions = actions,
                Action::WriteActions(it) => it.actions = actions,
                Action::Ct(it) => it.actions = actions,
                _ => {}
            }
            found.push(less);
        }
    }
    found
}
