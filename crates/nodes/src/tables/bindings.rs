//! Who has which IP address in a bridge, so that questions need not be flooded.
//!
//! ```text
//!  configuration ──────────────────┐
//!  ARP and ND that pass a bridge ──┴▶ control thread ── published whole, now and then ──▶ l2_arp, l2_nd
//! ```
//! Bounded by the control thread. Bytes: some 40 an entry, and as much again while a new table
//! stands beside the old one.

use crate::tables::BridgeId;
use std::collections::HashMap;
use std::net::IpAddr;

/// Addresses of stations, by bridge.
#[derive(Clone, Debug, Default)]
pub struct Bindings(HashMap<(BridgeId, IpAddr), Bound>);

/// Who has an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound {
    /// The station's MAC address.
    pub mac: [u8; 6],
    /// Of an IPv6 address, what the station said of itself: [`wire::nd::flag`]'s router and
    /// override.
    pub flags: u8,
    /// Configured, not heard: it is answered for wherever its station is, and what is heard does
    /// not change it.
    pub is_fixed: bool,
}

impl Bindings {
    /// Whoever has `address`.
    pub fn get(&self, bridge: BridgeId, address: IpAddr) -> Option<Bound> {
        self.0.get(&(bridge, address)).copied()
    }
}

impl FromIterator<((BridgeId, IpAddr), Bound)> for Bindings {
    fn from_iter<I: IntoIterator<Item = ((BridgeId, IpAddr), Bound)>>(bindings: I) -> Self {
        Self(bindings.into_iter().collect())
    }
}
