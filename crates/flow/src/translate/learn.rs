//! Flows that packets teach, and that end with connections.

use super::Translation;
use crate::place::has_field;
use crate::steps::{Step, Told};
use openflow::action::{FinTimeout, Learn, Output, Program, SetField, learn};
use openflow::message::{Command, FlowMod};
use openflow::{Field, Machine, Match, PortNumber};
use std::sync::Arc;

/// FIN and RST.
const ENDS: u128 = 1 | 4;

impl Translation<'_> {
    pub(super) fn learn_from(&mut self, learn: &Learn) {
        let mut matching = Match::any();
        let mut program = Program::new();
        if learn.fin_idle != 0 || learn.fin_hard != 0 {
            program.push(FinTimeout { idle: learn.fin_idle, hard: learn.fin_hard }.into());
        }
        for spec in &learn.specs {
            let value = match spec.from {
                learn::From::Value(value) => value,
                learn::From::Packet(sub) => self.read(sub),
            };
            match spec.to {
                learn::To::Match(sub) => matching.set(sub.field, value << sub.offset, sub.mask()),
                learn::To::Load(sub) => {
                    let (field, mask) = (sub.field, sub.mask());
                    let value = value << sub.offset;
                    program.push(SetField { field, value, mask, is_load: true }.into());
                }
                learn::To::Output => {
                    if let Ok(number) = PortNumber::try_from(value) {
                        program.push(Output::to(number).into());
                    }
                }
            }
        }
        // How many there are decides for as long as tables stay as they are.
        let table = self.snapshot.tables.get(&learn.table);
        let is_known = || table.is_some_and(|it| it.flows.get(&matching, learn.priority).is_some());
        let has_room = || self.snapshot.learned(learn.table, learn.cookie) < learn.limit as usize;
        let learns = learn.limit == 0 || is_known() || has_room();
        if let Some(sub) = learn.result {
            self.write(sub.field, u128::from(learns) << sub.offset, sub.mask());
        }
        if !learns {
            return;
        }
        let mut added = FlowMod::add(learn.table, learn.priority, matching, program);
        added.command = Command::ModifyStrict;
        (added.idle, added.hard, added.cookie) = (learn.idle, learn.hard, learn.cookie);
        added.flags = learn.flags & 1;
        self.put(Step::Tell(Arc::new(Told::Learned(added, learn.limit))));
    }

    /// Has the flow at hand end sooner, if the packet ends a connection.
    pub(super) fn end_flow(&mut self, idle: u16, hard: u16) {
        self.see(Field::IpProto, Field::IpProto.ones());
        if !has_field(&self.key, Field::TcpFlags) {
            return;
        }
        self.see(Field::TcpFlags, ENDS);
        let Some(flow) = &self.flow else { return };
        if self.key.get(Field::TcpFlags) & ENDS != 0 {
            let flow = (flow.table, flow.priority, flow.matching.clone());
            self.put(Step::Tell(Arc::new(Told::Ended { flow, idle, hard })));
        }
    }
}
