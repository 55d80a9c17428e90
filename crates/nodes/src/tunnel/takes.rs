//! Whether a tunnel's packet leaves, as far as its way tells.

use fib::adjacency::{AdjacencyId, AdjacencyTable};
use packet::PacketView;

/// Whether a packet leaves by an adjacency; a large frame does where what it is cut into does.
pub(crate) fn takes_packet(adjacencies: &AdjacencyTable, packet: &PacketView<'_>) -> bool {
    let id = packet.adjacency();
    takes(adjacencies, id, packet.length())
        || adjacencies.entry(AdjacencyId(id)).is_some_and(|entry| {
            let fields = entry.fields();
            fields.is_complete() && packet.is_cut_to(fields.mtu().into())
        })
}

/// Whether a packet of `length` octets leaves by an adjacency: it does not wait, and is not too
/// long.
pub(crate) fn takes(adjacencies: &AdjacencyTable, id: u32, length: usize) -> bool {
    adjacencies.entry(AdjacencyId(id)).is_some_and(|entry| {
        let fields = entry.fields();
        fields.is_complete() && length <= usize::from(fields.mtu())
    })
}
