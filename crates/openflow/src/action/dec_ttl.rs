//! One to live less; who has none left goes to controllers.

use super::{Code, Kind, nicira, standard};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::machine::Machine;
use crate::version::Version;

/// See the module.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct DecTtl {
    /// Which controllers; none named: number 0.
    pub controllers: Vec<u16>,
}

impl Kind for DecTtl {
    const CODES: &'static [Code] = &[Code::New(24), Code::Nicira(18), Code::Nicira(21)];

    fn decode(code: Code, body: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        let mut controllers = Vec::new();
        if code == Code::Nicira(21) {
            let count = body.u16()?;
            body.skip(4)?;
            for _ in 0..count {
                controllers.push(body.u16()?);
            }
        }
        Ok(Self { controllers })
    }

    fn encode(&self, version: Version, out: &mut Writer) {
        match &self.controllers[..] {
            [] if version == Version::V10 => nicira(18, out, |out| out.zeros(6)),
            [] => standard(24, out, |out| out.zeros(4)),
            some => nicira(21, out, |out| {
                out.u16(some.len() as u16);
                out.zeros(4);
                some.iter().for_each(|controller| out.u16(*controller));
            }),
        }
    }

    fn run(&self, machine: &mut dyn Machine) {
        let controllers = if self.controllers.is_empty() { &[0][..] } else { &self.controllers };
        if !machine.dec_ttl(controllers) {
            machine.end_list();
        }
    }
}
