//! Labels of MPLS: pushed, popped, and what the outermost says.

use super::{Code, Kind, SetField, nicira, standard};
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
    /// The label becomes this. From 1.2 on it is a field that is set.
    SetLabel(u32),
    /// The traffic class does. From 1.2 on it is a field, too.
    SetTc(u8),
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
        Code::Nicira(30),
        Code::Nicira(31),
    ];

    fn decode(code: Code, body: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        match code {
            Code::New(19) | Code::Nicira(23) => Ok(Self::Push(body.u16()?)),
            Code::New(20) | Code::Nicira(24) => Ok(Self::Pop(body.u16()?)),
            Code::Nicira(30) => {
                body.skip(2)?;
                Ok(Self::SetLabel(body.u32()?))
            }
            Code::Nicira(31) => Ok(Self::SetTc(body.u8()?)),
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
            Self::SetLabel(_) | Self::SetTc(_) if version > Version::V10 => {
                return self.as_field().encode(version, out);
            }
            Self::SetLabel(_) => (0, 30),
            Self::SetTc(_) => (0, 31),
            Self::SetTtl(_) => (15, 25),
            Self::DecTtl => (16, 26),
        };
        let body = |out: &mut Writer| match *self {
            Self::Push(ethertype) | Self::Pop(ethertype) => out.u16(ethertype),
            Self::SetLabel(label) => {
                out.u16(0);
                out.u32(label);
            }
            Self::SetTc(it) | Self::SetTtl(it) => out.u8(it),
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
            Self::SetLabel(_) | Self::SetTc(_) | Self::SetTtl(_) => self.as_field().run(machine),
            Self::DecTtl => {
                if !machine.dec_mpls_ttl() {
                    machine.end_list();
                }
            }
        }
    }
}

impl Mpls {
    /// The field that it sets; one that nobody can where it sets none.
    fn as_field(self) -> SetField {
        let (field, value) = match self {
            Self::SetLabel(label) => (Field::MplsLabel, label.into()),
            Self::SetTc(class) => (Field::MplsTc, class.into()),
            Self::SetTtl(ttl) => (Field::MplsTtl, ttl.into()),
            Self::Push(_) | Self::Pop(_) | Self::DecTtl => (Field::MplsBos, 0),
        };
        // What is too long loses its upper bits.
        SetField::whole(field, value & field.ones())
    }
}
