//! Labels of MPLS: pushed, popped, and their time to live.

use super::{Code, Kind, nicira, standard};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::field::Field;
use crate::machine::Machine;
use crate::version::Version;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mpls {
    /// A label of this kind in front.
    Push(u16),
    /// The first label away; what is behind the last one is of this kind.
    Pop(u16),
    /// This long to live.
    SetTtl(u8),
    /// One to live less.
    DecTtl,
}

impl Kind for Mpls {
    const CODES: &'static [Code] = &[
        Code::New(15),
        Code::New(16),
        Code::New(19),
        Code::New(20),
        Code::Nicira(23),
        Code::Nicira(24),
        Code::Nicira(25),
        Code::Nicira(26),
    ];

    fn decode(code: Code, body: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        match code {
            Code::New(19) | Code::Nicira(23) => Ok(Self::Push(body.u16()?)),
            Code::New(20) | Code::Nicira(24) => Ok(Self::Pop(body.u16()?)),
            Code::New(15) | Code::Nicira(25) => Ok(Self::SetTtl(body.u8()?)),
            _ => Ok(Self::DecTtl),
        }
    }

    fn check(&self) -> Result<(), Fault> {
        match self {
            Self::Push(ethertype) if !matches!(ethertype, 0x8847 | 0x8848) => {
                Err(Fault::BadArgument)
            }
            _ => Ok(()),
        }
    }

    fn encode(&self, version: Version, out: &mut Writer) {
        let (new, old) = match self {
            Self::Push(_) => (19, 23),
            Self::Pop(_) => (20, 24),
            Self::SetTtl(_) => (15, 25),
            Self::DecTtl => (16, 26),
        };
        let body = |out: &mut Writer| match *self {
            Self::Push(ethertype) | Self::Pop(ethertype) => out.u16(ethertype),
            Self::SetTtl(ttl) => out.u8(ttl),
            Self::DecTtl => out.zeros(4),
        };
        match version {
            Version::V10 => nicira(old, out, body),
            _ => standard(new, out, body),
        }
    }

    fn run(&self, machine: &mut dyn Machine) {
        match *self {
            Self::Push(ethertype) => machine.push_mpls(ethertype),
            Self::Pop(ethertype) => machine.pop_mpls(ethertype),
            Self::SetTtl(ttl) => machine.write(Field::MplsTtl, ttl.into(), 0xff),
            Self::DecTtl => {
                if !machine.dec_mpls_ttl() {
                    machine.exit();
                }
            }
        }
    }
}
