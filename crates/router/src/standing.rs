//! The routes that ports' addresses make, the VRF that they stand in, and who makes each.
//!
//! ```text
//!  p0 ── 10.0.0.0/24, 10.0.0.1 ─┐      one route stands of those that several make: when its port
//!  p1 ── 10.0.0.0/24, 10.0.0.2 ─┘      leaves it, another's takes its place, found in one step
//! ```

use crate::connected::{Connected, Specials};
use crate::routing::Special;
use fib::Prefix;
use nodes::tables::VrfId;
use std::collections::BTreeMap;

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

/// What stands of all ports, by what it is of.
#[derive(Default)]
pub(crate) struct Makers {
    pub(crate) ip4: MakersOf<u32, fib::rib::Target>,
    pub(crate) ip6: MakersOf<u128, fib::rib::Target>,
    pub(crate) specials: MakersOf<u32, Special>,
}

impl Makers {
    /// What stands of the port whose number is `id` is `new` from now on.
    pub(crate) fn change(&mut self, id: u16, old: &Standing, new: &Standing) {
        self.ip4.change(id, (old.vrf, &old.ip4), (new.vrf, &new.ip4));
        self.ip6.change(id, (old.vrf, &old.ip6), (new.vrf, &new.ip6));
        self.specials.change(id, (old.vrf, &old.specials), (new.vrf, &new.specials));
    }
}

/// Where prefixes of one kind lead, by VRF, prefix and the number of the port that says so.
pub(crate) struct MakersOf<A, L>(BTreeMap<(VrfId, Prefix<A>, u16), L>);

impl<A, L> Default for MakersOf<A, L> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<A: Ord + Copy, L: Clone> MakersOf<A, L> {
    fn change(
        &mut self,
        id: u16,
        (old_vrf, old): (VrfId, &BTreeMap<Prefix<A>, L>),
        (new_vrf, new): (VrfId, &BTreeMap<Prefix<A>, L>),
    ) {
        for &prefix in old.keys() {
            self.0.remove(&(old_vrf, prefix, id));
        }
        self.0.extend(new.iter().map(|(&prefix, to)| ((new_vrf, prefix, id), to.clone())));
    }

    /// Where another port than `id` leads a prefix.
    pub(crate) fn another(&self, vrf: VrfId, prefix: Prefix<A>, id: u16) -> Option<L> {
        let mut makers = self.0.range((vrf, prefix, 0)..=(vrf, prefix, u16::MAX));
        makers.find(|((_, _, maker), _)| *maker != id).map(|(_, to)| to.clone())
    }
}
