//! Packets that pass connection tracking, and begin again in a table.
//!
//! ```text
//!  ct ─▶ Track ─▶ Recirculate ┄ (what was frozen, and what tracking said) ┄▶ another translation
//!         └ goes on as if nobody had looked
//! ```
//! What is frozen is all that this translation knows beside the packet; who remembers gives it a
//! number, which decides in the next one in place of it.

use super::Translation;
use crate::key::Key;
use crate::snapshot::Snapshot;
use crate::steps::{Step, Verdict};
use crate::track::{BESIDE, Frozen, Rest, SAID, Track, Tracked, ct_state};
use openflow::action::Ct;
use openflow::action::ct::Zone;
use openflow::{Action, Field};
use std::sync::Arc;

/// How often a packet begins again: as often as in Open vSwitch's own datapath.
const MOST_TIMES: u8 = 6;
/// `ct`: the connection is remembered; against its direction, too.
const COMMIT: u16 = 1;
const FORCE: u16 = 2;

/// Whether a step makes of a packet what nobody can undo who does not know its connection, or what
/// was behind its labels.
pub(super) fn is_lasting(step: &Step) -> bool {
    match step {
        Step::Track(track) => track.nat.is_some(),
        Step::PushMpls { .. } | Step::PopMpls { .. } => true,
        _ => false,
    }
}

/// What a snapshot does with a packet that begins again, of a key that says so.
pub fn translate_again(snapshot: &Snapshot, key: &Key, frozen: &Frozen) -> Verdict {
    let mut it = Translation::new(snapshot, key.clone());
    it.resume(frozen);
    it.verdict()
}

impl Translation<'_> {
    /// From where it was frozen on.
    pub(super) fn resume(&mut self, frozen: &Frozen) {
        self.thaw(frozen);
        if frozen.rests.is_empty() {
            self.look_up(frozen.table, None);
        }
        for (at, rest) in frozen.rests.iter().enumerate() {
            (self.table, self.cookie) = (rest.table, rest.cookie);
            // As in Open vSwitch: what ends one ends those that it is inside of.
            let is_ended = self.run(&rest.actions);
            if let Some(next) = self.next.take() {
                self.look_up(next, None);
            }
            if let Some(stopped) = &mut self.stopped {
                stopped.extend_from_slice(&frozen.rests[at + 1..]);
            }
            if is_ended || self.is_over || self.stopped.is_some() {
                break;
            }
        }
        self.end_set();
        self.end_stopped();
    }

    pub(super) fn track_as(&mut self, ct: &Ct) {
        let zone = match ct.zone {
            Zone::Number(number) => number,
            Zone::Field(sub) => openflow::Machine::read(self, sub) as u16,
        };
        let mut it = Track {
            zone,
            commits: ct.flags & COMMIT != 0,
            forces: ct.flags & FORCE != 0,
            was: self.was_translated(zone),
            helper: ct.helper,
            ..Track::default()
        };
        for action in &ct.actions {
            match action {
                Action::Translate(translate) => it.nat = Some(translate.nat),
                Action::SetField(set) => it.set(set.field, set.value, set.mask),
                Action::MoveField(moved) if openflow::Machine::has(self, moved.from.field) => {
                    let value = openflow::Machine::read(self, moved.from);
                    it.set(moved.to.field, value << moved.to.offset, moved.to.mask());
                }
                _ => {}
            }
        }
        self.put(Step::Track(Arc::new(it)));
        if let Some(table) = ct.table {
            self.freeze(table, None, Vec::new());
        }
        // What tracking says is known in that table alone.
        openflow::Machine::untrack(self);
    }

    /// Bits of `ct_state` that say how it was translated, if that was in this zone.
    fn was_translated(&mut self, zone: u16) -> u8 {
        const BITS: u8 = ct_state::SNAT | ct_state::DNAT;
        self.see(Field::CtState, BITS.into());
        let was = self.key.get(Field::CtState) as u8 & BITS;
        if was == 0 {
            return 0;
        }
        self.see(Field::CtZone, Field::CtZone.ones());
        if self.key.get(Field::CtZone) == zone.into() { was } else { 0 }
    }

    /// What tracking said of the packet, which decides about all that comes.
    pub(super) fn tracked(&mut self) -> Tracked {
        SAID.into_iter().for_each(|field| self.see(field, field.ones()));
        self.key.tracked()
    }

    /// Has a copy begin again: with what tracking says, unless that is known.
    pub(super) fn freeze(&mut self, table: u8, tracked: Option<Tracked>, rests: Vec<Rest>) {
        if self.times >= MOST_TIMES {
            // That it was stopped keeps nothing else from being done.
            if rests.is_empty() {
                self.cut();
            }
            return;
        }
        self.forks();
        // What else is known of a tunnel its port decides, which always counts.
        self.sees_own();
        let mut key = self.key.clone();
        for field in [Field::InPort, Field::RecircId, Field::ConjId].into_iter().chain(SAID) {
            key.set(field, 0, field.ones());
        }
        let mut words = [0; BESIDE];
        words.copy_from_slice(&key.words[..BESIDE]);
        let frozen = Frozen {
            table,
            rests,
            tracked,
            times: self.times + 1,
            words,
            stack: self.stack.clone(),
            set: self.set.clone(),
            queue: self.queue,
        };
        self.put(Step::Recirculate(0, Arc::new(frozen)));
    }

    /// Goes on with what was frozen: the number that it has decides, and nothing of it does.
    fn thaw(&mut self, frozen: &Frozen) {
        self.written.words[..BESIDE].fill(u64::MAX);
        for field in [Field::InPort, Field::RecircId].into_iter().chain(SAID) {
            self.written.set(field, 0, field.ones());
        }
        (self.times, self.queue) = (frozen.times, None);
        (self.stack, self.set) = (frozen.stack.clone(), frozen.set.clone());
        openflow::Machine::queue(self, frozen.queue);
    }

    /// What was done since is a copy's: nobody can take it back.
    pub(super) fn fork(&mut self, start: usize) {
        let steps = self.steps.len() - start;
        self.steps.insert(start, Step::Fork(steps + 2));
        self.put(Step::End);
    }
}
