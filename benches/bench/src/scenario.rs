//! One scenario: what is forwarded, and our aim.

use crate::rig::{Rig, RigError};
use packet::VECTOR;

pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// Most that we want to need.
    pub(crate) aim: f64,
    pub(crate) make: Box<dyn Fn() -> Result<Rig, RigError>>,
    /// The same with two workers, where that is measured.
    pub(crate) make_for_two: Option<Box<dyn Fn() -> Result<Rig, RigError>>>,
    /// The same as commands of VPP's, where it is measured beside us: `pg0` brings the packets, and
    /// they leave by `pg1` and others.
    pub(crate) vpp: Option<Box<dyn Fn() -> String>>,
    /// Packets that VPP's source brings at once. How many ours brings the scenario's rig says.
    pub(crate) vpp_vector: usize,
}

impl Scenario {
    pub(crate) fn new(
        name: &'static str,
        aim: f64,
        make: impl Fn() -> Result<Rig, RigError> + 'static,
    ) -> Self {
        Self { name, aim, make: Box::new(make), make_for_two: None, vpp: None, vpp_vector: VECTOR }
    }

    /// One that is measured with one worker and with two.
    pub(crate) fn scaled(
        name: &'static str,
        aim: f64,
        make: impl Fn(usize) -> Result<Rig, RigError> + Copy + 'static,
    ) -> Self {
        let make_for_two = Some(Box::new(move || make(2)) as Box<dyn Fn() -> _>);
        Self { make_for_two, ..Self::new(name, aim, move || make(1)) }
    }

    /// One whose packets VPP gets so many at once.
    pub(crate) fn vpp_in_vectors_of(self, vpp_vector: usize) -> Self {
        Self { vpp_vector, ..self }
    }

    /// One that VPP does as well, by these commands.
    pub(crate) fn beside_vpp(self, commands: impl Fn() -> String + 'static) -> Self {
        Self { vpp: Some(Box::new(commands)), ..self }
    }
}
