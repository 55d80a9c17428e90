//! Whether a tunnel's packet leaves, as far as its way tells.

use fib::adjacency::{AdjacencyId, AdjacencyTable};

/// Whether a packet of `length` octets leaves by an adjacency: it does not wait, and is not too
/// long.
pub(crate) fn takes(adjacencies: &AdjacencyTable, id: u32, length: usize) -> bool {
    adjacencies.entry(AdjacencyId(id)).is_some_and(|entry| {
        let fields = entry.fields();
        fields.is_complete() && length <= usize::from(fields.mtu())
    })
}
