//! The queue of what is sent next, or that of the port again.

use super::{Code, Kind, nicira, standard};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::machine::Machine;
use crate::version::Version;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SetQueue {
    /// The queue; none: the port's own.
    pub queue: Option<u32>,
}

impl Kind for SetQueue {
    const CODES: &'static [Code] = &[Code::New(21), Code::Nicira(4), Code::Nicira(5)];

    fn decode(code: Code, body: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        match code {
            Code::Nicira(5) => return Ok(Self { queue: None }),
            Code::Nicira(_) => body.skip(2)?,
            _ => {}
        }
        Ok(Self { queue: Some(body.u32()?) })
    }

    fn encode(&self, version: Version, out: &mut Writer) {
        match self.queue {
            Some(queue) if version == Version::V10 => nicira(4, out, |out| {
                out.u16(0);
                out.u32(queue);
            }),
            Some(queue) => standard(21, out, |out| out.u32(queue)),
            None => nicira(5, out, |out| out.zeros(6)),
        }
    }

    fn run(&self, machine: &mut dyn Machine) {
        machine.queue(self.queue);
    }
}
