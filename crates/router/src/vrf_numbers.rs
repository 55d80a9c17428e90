//! The numbers of VRFs. A name keeps its number for as long as the router runs. So a port or route
//! that names a VRF which is not there (while changes are made, or taken back) reaches no other
//! one.

use control::config::objects::vrf::{DEFAULT_NAME, VrfName};
use nodes::tables::VrfId;
use std::collections::BTreeMap;

/// The number of what is no VRF.
const NOWHERE: VrfId = VrfId(u16::MAX);

/// Numbers of all VRFs that there are or were.
#[derive(Default)]
pub(crate) struct VrfNumbers(BTreeMap<VrfName, VrfId>);

impl VrfNumbers {
    /// The VRF of what names this one, or none.
    pub(crate) fn of(&self, name: Option<&VrfName>) -> VrfId {
        name.map_or(VrfId::DEFAULT, |name| self.0.get(name).copied().unwrap_or(NOWHERE))
    }

    /// The number of a VRF, its first one if it had none; none if there are no more.
    pub(crate) fn take(&mut self, name: &VrfName) -> Option<VrfId> {
        if let Some(id) = self.0.get(name) {
            return Some(*id);
        }
        let next = u16::try_from(self.0.len() + 1).ok().map(VrfId).filter(|id| *id != NOWHERE)?;
        self.0.insert(name.clone(), next);
        Some(next)
    }

    /// What a VRF is called.
    pub(crate) fn name(&self, id: VrfId) -> &str {
        let named = self.0.iter().find(|(_, other)| **other == id);
        named.map_or(DEFAULT_NAME, |(name, _)| name.as_str())
    }

    /// Every number that was given away, that of the default VRF first.
    pub(crate) fn all(&self) -> impl Iterator<Item = VrfId> {
        std::iter::once(VrfId::DEFAULT).chain(self.0.values().copied())
    }
}
