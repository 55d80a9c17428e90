//! What a translation writes down for somebody who asks, in the words of Open vSwitch's trace.

use super::{DEEPEST, MOST, Translation};
use crate::key::Key;
use crate::snapshot::{Fragments, Snapshot};
use crate::steps::{Step, Verdict};
use crate::track::Frozen;
use crate::trail::{Event, Looked, What};
use openflow::action::Stack;
use openflow::{Action, Actions, Field, PortNumber, Sub, Value};
use std::sync::Arc;

/// A translation with all that happened.
#[derive(Debug)]
pub struct Traced {
    /// What the packet comes to.
    pub verdict: Verdict,
    /// What happened, in order.
    pub events: Vec<Event>,
    /// The packet at the end.
    pub key: Key,
    /// The queue that was chosen last.
    pub queue: Option<u32>,
    /// Copies that begin again: what they are by then, and what they take along.
    pub forks: Vec<(Key, Arc<Frozen>)>,
}

/// What a snapshot does with a packet, and by which flows.
pub fn explain(snapshot: &Snapshot, key: &Key) -> (Verdict, Vec<Looked>) {
    let traced = trace(snapshot, key);
    let looked = traced.events.into_iter().filter_map(|event| match event.what {
        What::Table(looked) => Some(looked),
        _ => None,
    });
    (traced.verdict, looked.collect())
}

/// The same with all that happens.
pub fn trace(snapshot: &Snapshot, key: &Key) -> Traced {
    traced(snapshot, key, |it| {
        let is_piece = key.get(Field::IpFrag) != 0;
        if is_piece && snapshot.fragments == Fragments::Dropped {
            it.note(|| What::Pieces);
            return it.note(|| What::Nothing);
        }
        let in_port = key.get(Field::InPort) as PortNumber;
        match snapshot.ports.get(&in_port) {
            Some(port) if !port.receives => {
                it.note(|| What::Warning("the port is to receive nothing, dropping".to_owned()))
            }
            Some(_) => it.begin(),
            // A flow that somebody typed may come from nowhere.
            None => {
                it.look_up(0, None);
                it.end_set();
                it.end_stopped();
            }
        }
    })
}

/// The same of a packet that begins again.
pub fn trace_again(snapshot: &Snapshot, key: &Key, frozen: &Frozen) -> Traced {
    traced(snapshot, key, |it| {
        it.note(|| What::Thaw(frozen.table));
        if let Some(trail) = &mut it.trail {
            trail.level -= 1;
        }
        it.resume(frozen);
    })
}

fn traced(snapshot: &Snapshot, key: &Key, run: impl FnOnce(&mut Translation<'_>)) -> Traced {
    let mut it = Translation::new(snapshot, key.clone());
    it.trail = Some(Box::default());
    run(&mut it);
    let (key, queue, trail) = (it.key.clone(), it.queue, it.trail.take().unwrap_or_default());
    let verdict = it.verdict();
    let frozen = verdict.steps.iter().filter_map(|step| match step {
        Step::Recirculate(_, frozen) => Some(Arc::clone(frozen)),
        _ => None,
    });
    let forks = trail.forks.into_iter().zip(frozen).collect();
    Traced { verdict, events: trail.events, key, queue, forks }
}

impl Translation<'_> {
    /// Writes something down, if somebody asks.
    pub(super) fn note(&mut self, what: impl FnOnce() -> What) {
        if let Some(trail) = &mut self.trail {
            trail.put(what());
        }
    }

    /// How far in it is.
    pub(super) fn level(&self) -> usize {
        self.trail.as_ref().map_or(0, |trail| trail.level)
    }

    /// It is as far in as before.
    pub(super) fn back(&mut self, level: usize) {
        if let Some(trail) = &mut self.trail {
            trail.level = level;
        }
    }

    /// A copy begins again.
    pub(super) fn forks(&mut self) {
        let key = self.key.clone();
        if let Some(trail) = &mut self.trail {
            trail.forks.push(key);
        }
    }

    /// Flows lead to each other without an end.
    pub(super) fn is_lost(&mut self, looked_up: bool) {
        self.note(|| {
            What::Fault(match looked_up {
                true => format!("over {MOST} resubmit actions"),
                false => format!("over max translation depth {DEEPEST}"),
            })
        });
    }

    /// Before an action of a list is done.
    #[cold]
    pub(super) fn begins(&mut self, action: &Action) {
        let had = self.set.clone();
        self.note(|| What::Does(action.clone()));
        match action {
            Action::Output(it) => self.sends(it.port),
            Action::OutputReg(it) => {
                let number = (self.key.get(it.from.field) & it.from.mask()) >> it.from.offset;
                self.note(|| What::Note(format!("output port is {number}")));
                self.sends(number as PortNumber);
            }
            Action::Ct(it) if it.actions.is_empty() => self.note(|| What::Nothing),
            Action::Ct(it) => {
                for inside in &it.actions {
                    self.note(|| What::Does(inside.clone()));
                }
            }
            Action::Learn(_) => self.note(|| {
                What::Warning("suppressing side effects, so learn action ignored".to_owned())
            }),
            Action::Group(it) if !self.snapshot.groups.contains_key(&it.group) => {
                self.note(|| What::Warning(format!("output to nonexistent group {}", it.group)));
            }
            Action::WriteActions(_) if !had.is_empty() => {
                self.note(|| What::Note(format!("action set was: {}", Actions(&had))));
            }
            _ => {}
        }
    }

    /// After it was.
    #[cold]
    pub(super) fn ends(&mut self, action: &Action) {
        match action {
            Action::MoveField(it) => self.is_now(it.to),
            Action::Stack(Stack::Pop(sub)) => self.is_now(*sub),
            Action::WriteActions(_) => {
                let set = self.set.clone();
                self.note(|| What::Note(format!("action set is: {}", Actions(&set))));
            }
            Action::Ct(it) => {
                if let Some(table) = it.table {
                    self.note(|| What::Note(format!(
                        "A clone of the packet is forked to recirculate. The forked pipeline will be \
                         resumed at table {table}."
                    )));
                }
                self.note(|| {
                    What::Note(
                    "Sets the packet to an untracked state, and clears all the conntrack fields."
                        .to_owned(),
                )
                });
            }
            _ => {}
        }
    }

    fn is_now(&mut self, sub: Sub) {
        let value = (self.key.get(sub.field) & sub.mask()) >> sub.offset;
        let is_whole = u32::from(sub.bits) == sub.field.bits();
        self.note(|| {
            What::Note(match is_whole {
                true => format!("{sub} is now {}", Value(sub.field, value)),
                false => format!("{sub} is now 0x{value:x}"),
            })
        });
    }

    /// Why a packet does not leave by a real port.
    fn sends(&mut self, number: PortNumber) {
        if number > openflow::MAX_PORT && number != openflow::port::LOCAL {
            return;
        }
        let why = match self.snapshot.ports.get(&number) {
            _ if number == self.in_port() => "skipping output to input port",
            None => "Nonexistent output port",
            Some(port) if !port.sends => "OFPPC_NO_FWD set, or the port is down: skipping output",
            Some(_) => return,
        };
        self.note(|| What::Warning(why.to_owned()));
    }
}
