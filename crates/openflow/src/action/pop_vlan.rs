//! The first VLAN tag away.

use super::{Code, Kind, standard};
use crate::bytes::{Reader, Writer};
use crate::fault::Fault;
use crate::machine::Machine;
use crate::version::Version;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PopVlan;

impl Kind for PopVlan {
    const CODES: &'static [Code] = &[Code::Old(3), Code::New(18)];

    fn decode(_: Code, _: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        Ok(Self)
    }

    fn encode(&self, version: Version, out: &mut Writer) {
        let number = if version == Version::V10 { 3 } else { 18 };
        standard(number, out, |out| out.resize(out.len() + 4, 0));
    }

    fn run(&self, machine: &mut dyn Machine) {
        machine.pop_vlan();
    }
}
