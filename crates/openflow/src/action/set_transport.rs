//! A port of TCP, UDP or SCTP, whichever the packet is, as 1.0 sets it.

use super::{Code, Kind, SetField, standard};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::field::Field;
use crate::machine::Machine;
use crate::version::Version;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SetTransport {
    /// The source port; else the destination port.
    pub is_source: bool,
    /// What it becomes.
    pub port: u16,
}

impl SetTransport {
    fn fields(self) -> [Field; 5] {
        match self.is_source {
            true => {
                [Field::TcpSrc, Field::UdpSrc, Field::SctpSrc, Field::Icmp4Type, Field::Icmp6Type]
            }
            false => {
                [Field::TcpDst, Field::UdpDst, Field::SctpDst, Field::Icmp4Code, Field::Icmp6Code]
            }
        }
    }
}

impl Kind for SetTransport {
    const CODES: &'static [Code] = &[Code::Old(9), Code::Old(10)];

    fn decode(code: Code, body: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        Ok(Self { is_source: code == Code::Old(9), port: body.u16()? })
    }

    fn encode(&self, version: Version, out: &mut Writer) {
        match version {
            Version::V10 => {
                standard(if self.is_source { 9 } else { 10 }, out, |out| out.u16(self.port));
            }
            _ => SetField::whole(self.fields()[0], self.port.into()).encode(version, out),
        }
    }

    fn run(&self, machine: &mut dyn Machine) {
        for field in self.fields() {
            machine.write(field, u128::from(self.port) & field.ones(), field.ones());
        }
    }
}
