//! VRFs (virtual routing and forwarding) as workers see them: tables of their own for each.
//!
//! ```text
//!  packet ─ rx ─▶ interface ─ vrf ─▶ Vrfs ─┬─ 0 default ─▶ IPv4 table, IPv6 table
//!                                          ├─ 1 red ─────▶ IPv4 table, IPv6 table
//!                                          └─ 2 (gone)
//! ```
//! The control thread publishes the list whole when a VRF comes or goes; routes are written into
//! the tables in place. Equal addresses in two VRFs are two addresses.

use crate::tables::Interfaces;
use fib::ip4::Ip4Table;
use fib::ip6::Ip6Table;
use std::sync::Arc;

/// Number of a VRF.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct VrfId(pub u16);

impl VrfId {
    /// The one that is always there, and that interfaces are in which name none.
    pub const DEFAULT: Self = Self(0);
}

/// What packets of one VRF are forwarded by.
#[derive(Clone)]
pub struct VrfTables {
    /// IPv4 routes.
    pub ip4: Arc<Ip4Table>,
    /// IPv6 routes, those of link-local addresses not: these are told apart by interface.
    pub ip6: Arc<Ip6Table>,
}

/// All VRFs.
#[derive(Clone)]
pub struct Vrfs {
    default: VrfTables,
    /// By number, from 1 on; a VRF that is gone leaves a gap.
    others: Vec<Option<VrfTables>>,
}

impl Vrfs {
    /// The default one alone.
    pub fn new(default: VrfTables) -> Self {
        Self { default, others: Vec::new() }
    }

    /// The list with another entry `id`; the default one stays as it is.
    #[must_use]
    pub fn with(&self, id: VrfId, tables: Option<VrfTables>) -> Self {
        let mut all = self.clone();
        if let Some(index) = usize::from(id.0).checked_sub(1) {
            if all.others.len() <= index {
                all.others.resize(index + 1, None);
            }
            all.others[index] = tables;
            let used = all.others.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
            all.others.truncate(used);
        }
        all
    }

    /// The default VRF's tables, if there is no other.
    #[inline]
    pub fn only(&self) -> Option<&VrfTables> {
        self.others.is_empty().then_some(&self.default)
    }

    /// The tables of a VRF, if it is there.
    #[inline]
    pub fn get(&self, id: VrfId) -> Option<&VrfTables> {
        match usize::from(id.0).checked_sub(1) {
            None => Some(&self.default),
            Some(index) => self.others.get(index)?.as_ref(),
        }
    }

    /// The tables of all VRFs but the default one.
    pub fn others(&self) -> impl Iterator<Item = &VrfTables> {
        self.others.iter().flatten()
    }

    /// The tables for packets that come in by an interface.
    #[inline]
    pub fn of(&self, interfaces: &Interfaces, interface: u16) -> Option<&VrfTables> {
        match self.only() {
            Some(default) => Some(default),
            None => self.get(interfaces.vrf(interface)),
        }
    }
}
