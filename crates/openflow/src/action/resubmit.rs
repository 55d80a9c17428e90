//! Looks up again, as if the packet had come in by another port, and goes on.

use super::{Code, Kind, nicira};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::machine::Machine;
use crate::port::{self, PortNumber};
use crate::version::Version;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Resubmit {
    /// As if by this port; none: by its own.
    pub port: Option<PortNumber>,
    /// In this table; none: in the current one.
    pub table: Option<u8>,
}

impl Kind for Resubmit {
    const CODES: &'static [Code] = &[Code::Nicira(1), Code::Nicira(14)];

    fn decode(code: Code, body: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        let (in_port, table) = (body.u16()?, body.u8()?);
        let table = (code == Code::Nicira(14) && table != u8::MAX).then_some(table);
        Ok(Self { port: (in_port != port::IN_PORT).then_some(in_port), table })
    }

    fn encode(&self, _: Version, out: &mut Writer) {
        nicira(if self.table.is_some() { 14 } else { 1 }, out, |out| {
            out.u16(self.port.unwrap_or(port::IN_PORT));
            out.u8(self.table.unwrap_or(0));
        });
    }

    fn run(&self, machine: &mut dyn Machine) {
        machine.resubmit(self.table, self.port);
    }
}
