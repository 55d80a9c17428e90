//! To a queue of a port, as 1.0 says it.

use super::{Action, Code, Kind, Output, SetQueue, standard};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::machine::Machine;
use crate::port::{self, MAX_PORT, PortNumber};
use crate::version::Version;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Enqueue {
    /// The port.
    pub port: PortNumber,
    /// Its queue.
    pub queue: u32,
}

impl Kind for Enqueue {
    const CODES: &'static [Code] = &[Code::Old(11)];

    fn decode(_: Code, body: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        let port = body.u16()?;
        body.skip(6)?;
        Ok(Self { port, queue: body.u32()? })
    }

    fn check(&self) -> Result<(), Fault> {
        match self.port {
            1..=MAX_PORT | port::IN_PORT | port::LOCAL => Ok(()),
            _ => Err(Fault::BadOutPort),
        }
    }

    fn encode(&self, version: Version, out: &mut Writer) {
        if version == Version::V10 {
            standard(11, out, |out| {
                out.u16(self.port);
                out.zeros(6);
                out.u32(self.queue);
            });
            return;
        }
        let set = SetQueue { queue: Some(self.queue) };
        for action in [Action::from(set), Output::to(self.port).into()] {
            action.encode(version, out);
        }
    }

    fn run(&self, machine: &mut dyn Machine) {
        let before = machine.queue(Some(self.queue));
        machine.output(self.port, 0);
        machine.queue(before);
    }
}
