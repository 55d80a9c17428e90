//! Who has which IPv4 address in a bridge, so that questions need not be flooded.
//!
//! ```text
//!  configuration ───────────────┐
//!  ARP that passes a bridge ────┴▶ control thread ── published whole, now and then ──▶ l2_arp
//! ```
//! Bounded by the control thread. Bytes: some 24 an entry, and as much again while a new table stands
//! beside the old one.

use crate::plumbing::BridgeId;
use std::collections::HashMap;

/// Addresses of stations, by bridge.
#[derive(Clone, Debug, Default)]
pub struct Bindings(HashMap<(BridgeId, u32), [u8; 6]>);

impl Bindings {
    /// The MAC address of whoever has `address`.
    pub fn get(&self, bridge: BridgeId, address: u32) -> Option<[u8; 6]> {
        self.0.get(&(bridge, address)).copied()
    }
}

impl FromIterator<((BridgeId, u32), [u8; 6])> for Bindings {
    fn from_iter<I: IntoIterator<Item = ((BridgeId, u32), [u8; 6])>>(bindings: I) -> Self {
        Self(bindings.into_iter().collect())
    }
}
