//! Whether a flow can be what it says.

use crate::bridge::Bridge;
use openflow::action::Stack;
use openflow::{Action, Fault, Field, Match, Needs};

impl Bridge {
    /// Looks at what a flow does: whether its packets have what is changed, and whether all that it
    /// leads to is there.
    pub(crate) fn check(
        &self,
        table: u8,
        matching: &Match,
        actions: &[Action],
    ) -> Result<(), Fault> {
        let is_conjunction = |action: &&Action| matches!(action, Action::Conjunction(_));
        let conjunctions = actions.iter().filter(is_conjunction).count();
        let notes = actions.iter().filter(|it| matches!(it, Action::Note(_))).count();
        if conjunctions > 0 && conjunctions + notes != actions.len() {
            return Err(Fault::BadConjunction);
        }
        let mut kind = Some(matching.clone());
        actions.iter().try_for_each(|action| self.check_one(table, &mut kind, action))
    }

    /// The same of actions for packets of which nobody says what they are: what they have not is
    /// not changed.
    pub(crate) fn check_of_any(&self, actions: &[Action]) -> Result<(), Fault> {
        actions.iter().try_for_each(|action| self.check_one(0, &mut None, action))
    }

    /// Looks at one; `kind` is what is known of the packets, if that is all there is to know.
    fn check_one(&self, table: u8, kind: &mut Option<Match>, action: &Action) -> Result<(), Fault> {
        let has = |field: Field, kind: &Option<Match>| {
            let Some(kind) = kind else { return Ok(()) };
            let is_there = kind.meets(field.needs()) || is_loosely_there(field, kind);
            if is_there { Ok(()) } else { Err(Fault::MatchInconsistent) }
        };
        match action {
            Action::SetField(it) => can_be_set(it.field).and_then(|()| has(it.field, kind)),
            Action::MoveField(it) => can_be_set(it.to.field)
                .and_then(|()| has(it.from.field, kind))
                .and_then(|()| has(it.to.field, kind)),
            Action::Stack(Stack::Pop(it)) => {
                can_be_set(it.field).and_then(|()| has(it.field, kind))
            }
            Action::Stack(Stack::Push(it)) => has(it.field, kind),
            Action::OutputReg(it) => has(it.from.field, kind),
            Action::PushVlan(_) | Action::SetVlan(_) => {
                kind.iter_mut().for_each(|kind| kind.set(Field::VlanTci, 0x1000, 0x1000));
                Ok(())
            }
            Action::PopVlan(_) => {
                kind.iter_mut().for_each(|kind| kind.set(Field::VlanTci, 0, 0x1000));
                Ok(())
            }
            Action::DecTtl(_) => has(Field::IpTtl, kind),
            // No scheduler's queue has a number yet.
            Action::Enqueue(_) => Err(Fault::BadQueue),
            Action::SetQueue(it) if it.queue.is_some() => Err(Fault::BadQueue),
            Action::SetTunnel(_) => Err(Fault::BadSetType),
            Action::Group(it) if !self.snapshot.groups.contains_key(&it.group) => {
                Err(Fault::BadOutGroup)
            }
            Action::Meter(it) if !self.snapshot.meters.contains_key(&it.meter) => {
                Err(Fault::InvalidMeter)
            }
            Action::GotoTable(it) if it.table <= table || it.table > LAST_TABLE => {
                Err(Fault::BadInstructionTable)
            }
            Action::Resubmit(it) if it.table.is_some_and(|it| it > LAST_TABLE) => {
                Err(Fault::BadTableId)
            }
            Action::Learn(it) if it.table > LAST_TABLE || it.flags & 2 != 0 => {
                Err(Fault::BadArgument)
            }
            Action::Learn(it) if it.fin_idle != 0 || it.fin_hard != 0 => Err(Fault::BadArgument),
            Action::CloneActions(it) => {
                let mut kind = kind.clone();
                it.actions.iter().try_for_each(|action| self.check_one(table, &mut kind, action))
            }
            Action::WriteActions(it) => {
                let mut kind = kind.clone();
                it.actions.iter().try_for_each(|action| self.check_one(table, &mut kind, action))
            }
            // What is not done here is refused, not forgotten.
            Action::Ct(_) | Action::Translate(_) | Action::Mpls(_) | Action::FinTimeout(_) => {
                Err(Fault::BadActionType)
            }
            _ => Ok(()),
        }
    }
}

/// What tunnels and connection tracking have: nothing that packets here leave with.
fn can_be_set(field: Field) -> Result<(), Fault> {
    let is_beyond = matches!(
        field,
        Field::TunId
            | Field::TunSrc
            | Field::TunDst
            | Field::TunIp6Src
            | Field::TunIp6Dst
            | Field::TunFlags
            | Field::TunGbpId
            | Field::TunGbpFlags
            | Field::CtMark
            | Field::CtLabel
            | Field::MplsLabel
            | Field::MplsTc
            | Field::MplsTtl
    );
    if is_beyond { Err(Fault::BadSetType) } else { Ok(()) }
}

/// Whether an action may set a field.
pub(crate) fn is_set(field: Field) -> bool {
    !field.is_fixed() && can_be_set(field).is_ok()
}

/// The last table there is.
pub(crate) const LAST_TABLE: u8 = 253;

/// Fields of tags in packets that may have one.
fn is_loosely_there(field: Field, kind: &Match) -> bool {
    field == Field::VlanTci || field == Field::VlanVid && kind.meets(Needs::Tag)
}
