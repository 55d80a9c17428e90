//! The routes that a port's addresses make, and the VRF that they stand in.

use crate::connected::{Connected, Specials};
use nodes::tables::VrfId;

/// What stands because of a port's addresses.
#[derive(Clone, Default)]
pub(crate) struct Standing {
    pub(crate) vrf: VrfId,
    pub(crate) ip4: Connected<u32>,
    pub(crate) ip6: Connected<u128>,
    /// Broadcast addresses of its networks.
    pub(crate) specials: Specials,
}

impl Standing {
    /// Nothing, in a VRF.
    pub(crate) fn nothing_in(vrf: VrfId) -> Self {
        Self { vrf, ..Self::default() }
    }
}
