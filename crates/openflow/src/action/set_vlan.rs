//! Number or priority of the VLAN, as 1.0 sets them: in a new tag where there is none.

use super::{Code, Kind, SetField, standard};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::field::Field;
use crate::machine::Machine;
use crate::version::Version;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SetVlan {
    /// The number.
    Vid(u16),
    /// The priority.
    Pcp(u8),
}

impl Kind for SetVlan {
    const CODES: &'static [Code] = &[Code::Old(1), Code::Old(2)];

    fn decode(code: Code, body: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        match code {
            Code::Old(1) => Ok(Self::Vid(body.u16()?)),
            _ => Ok(Self::Pcp(body.u8()?)),
        }
    }

    fn check(&self) -> Result<(), Fault> {
        match self {
            Self::Vid(0..=0xfff) | Self::Pcp(0..=7) => Ok(()),
            _ => Err(Fault::BadArgument),
        }
    }

    fn encode(&self, version: Version, out: &mut Writer) {
        match (*self, version) {
            (Self::Vid(vid), Version::V10) => standard(1, out, |out| out.u16(vid)),
            (Self::Pcp(pcp), Version::V10) => standard(2, out, |out| out.u8(pcp)),
            (Self::Vid(vid), _) => {
                SetField::whole(Field::VlanVid, u128::from(vid) | 0x1000).encode(version, out);
            }
            (Self::Pcp(pcp), _) => SetField::whole(Field::VlanPcp, pcp.into()).encode(version, out),
        }
    }

    fn run(&self, machine: &mut dyn Machine) {
        // With the bit that says that there is a tag: where there is none it is put in front.
        let (tci, bits) = match *self {
            Self::Vid(vid) => (u128::from(vid), 0xfff),
            Self::Pcp(pcp) => (u128::from(pcp) << 13, 0xe000),
        };
        machine.write(Field::VlanTci, 0x1000 | tci, 0x1000 | bits);
    }
}
