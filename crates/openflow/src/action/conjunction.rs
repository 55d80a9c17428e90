//! One of several conditions that hold together: with a packet that has one of each, the flow that
//! matches `conj_id` is meant.

use super::{Code, Kind, nicira};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::machine::Machine;
use crate::version::Version;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Conjunction {
    /// Which conjunction.
    pub id: u32,
    /// Which of its conditions, from 0.
    pub clause: u8,
    /// How many it has.
    pub clauses: u8,
}

impl Kind for Conjunction {
    const CODES: &'static [Code] = &[Code::Nicira(34)];

    fn decode(_: Code, body: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        let (clause, clauses) = (body.u8()?, body.u8()?);
        Ok(Self { id: body.u32()?, clause, clauses })
    }

    fn check(&self) -> Result<(), Fault> {
        let is_there = (2..=64).contains(&self.clauses) && self.clause < self.clauses;
        if is_there { Ok(()) } else { Err(Fault::BadConjunction) }
    }

    fn encode(&self, _: Version, out: &mut Writer) {
        nicira(34, out, |out| {
            out.u8(self.clause);
            out.u8(self.clauses);
            out.u32(self.id);
        });
    }

    /// Nothing by itself: tables look at it.
    fn run(&self, _: &mut dyn Machine) {}
}
