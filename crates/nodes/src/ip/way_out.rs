//! Where packets leave that a route forwards.

use crate::tables::Kind;
use fib::Forward;
use fib::adjacency::{AdjacencyId, AdjacencyTable};
use std::net::IpAddr;

/// The interface that packets leave by, as far as one next hop tells: a group has several.
#[inline]
pub fn leaves_by(to: Forward, adjacencies: &AdjacencyTable) -> Option<u16> {
    if to.kind() == Kind::Rewrite as u8 {
        adjacencies.entry(AdjacencyId(to.id())).map(|entry| entry.fields().interface())
    } else if to.kind() == Kind::Glean as u8 {
        Some(to.id() as u16)
    } else {
        None
    }
}

/// True if packets to `address` go to the address itself, on the link of this interface: `to`
/// is what the routes say of it.
pub fn is_on_link(
    to: Forward,
    address: IpAddr,
    interface: u16,
    adjacencies: &AdjacencyTable,
) -> bool {
    if to.kind() == Kind::Rewrite as u8 {
        let entry = adjacencies.entry(AdjacencyId(to.id()));
        entry.is_some_and(|it| it.fields().interface() == interface && it.next_hop() == address)
    } else {
        to.kind() == Kind::Glean as u8 && to.id() == u32::from(interface)
    }
}
