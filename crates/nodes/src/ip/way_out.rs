//! Where packets leave that a route forwards.

use crate::tables::Kind;
use fib::Forward;
use fib::adjacency::{AdjacencyId, AdjacencyTable};

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
