//! To a port.

use super::{Code, Kind, standard};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::machine::Machine;
use crate::port::{self, MAX_PORT, PortNumber};
use crate::version::Version;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Output {
    /// The port, real or reserved.
    pub port: PortNumber,
    /// Bytes of the packet that controllers get.
    pub max_len: u16,
}

impl Output {
    /// To a port that is no controller.
    pub fn to(port: PortNumber) -> Self {
        Self { port, max_len: 0 }
    }
}

impl Kind for Output {
    const CODES: &'static [Code] = &[Code::Old(0), Code::New(0)];

    fn decode(code: Code, body: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        let port = match code {
            Code::Old(_) => body.u16()?,
            _ => port::from_32(body.u32()?).ok_or(Fault::BadOutPort)?,
        };
        let max_len = body.u16()?;
        let max_len = if port == port::CONTROLLER { max_len } else { 0 };
        Ok(Self { port, max_len })
    }

    fn check(&self) -> Result<(), Fault> {
        let is_reserved = (port::IN_PORT..=port::LOCAL).contains(&self.port);
        let is_real = (1..=MAX_PORT).contains(&self.port);
        if is_reserved || is_real { Ok(()) } else { Err(Fault::BadOutPort) }
    }

    fn encode(&self, version: Version, out: &mut Writer) {
        standard(0, out, |out| {
            match version {
                Version::V10 => out.u16(self.port),
                _ => out.u32(port::to_32(self.port)),
            }
            out.u16(self.max_len);
            if version > Version::V10 {
                out.zeros(6);
            }
        });
    }

    fn run(&self, machine: &mut dyn Machine) {
        machine.output(self.port, self.max_len);
    }
}
