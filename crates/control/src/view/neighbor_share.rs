//! Which places neighbours have in their table, by port and family.

use super::answer::*;

/// A port's share of the table of neighbours, of one family.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NeighborShare {
    /// The port.
    pub port: String,
    /// `ip4` or `ip6`.
    pub family: String,
    /// Neighbours that it has.
    pub neighbors: u64,
    /// The most that it may have; those of routes and of the configuration always have room.
    pub most: u64,
    /// Neighbours that did not answer, or not yet, and that no route needs.
    pub unresolved: u64,
    /// The most such: above, the oldest give way.
    pub most_unresolved: u64,
    /// Neighbours that gave way to others: they had not answered, or nobody sent to them.
    pub evicted: u64,
    /// Neighbours that had no place.
    pub refused: u64,
    /// Questions about neighbours that found no buffer, as the pool was empty: they count as none
    /// that were asked, and follow soon.
    pub no_buffer: u64,
}

impl View for NeighborShare {
    view!("show neighbor-shares", "/v1/neighbor-shares", All => Vec<Self>,
        "Places of neighbours by port and family, and who had none");
    counters!("evicted", "refused", "no_buffer");
    const METRICS: Option<Metrics<Self>> = Some((All, |shares, out| {
        out.of(shares, |share| [("port", &share.port[..]), ("family", &share.family)])
            .gauge("neighbors", "Neighbours.", |share| share.neighbors)
            .gauge("neighbors_unresolved", "Neighbours without an answer.", |share| {
                share.unresolved
            })
            .counter("neighbors_evicted", "Neighbours that gave way to others.", |share| {
                share.evicted
            })
            .counter("neighbors_refused", "Neighbours without a place.", |share| share.refused)
            .counter(
                "neighbors_no_buffer",
                "Questions about neighbours without a buffer.",
                |share| share.no_buffer,
            );
    }));

    fn table(shares: &Vec<Self>) -> Table {
        table!(shares, share => {
            "port": share.port, "family": share.family, "neighbours": share.neighbors,
            "most": share.most, "unresolved": share.unresolved,
            "most unresolved": share.most_unresolved, "evicted": share.evicted,
            "refused": share.refused, "no buffer": share.no_buffer,
        })
    }
}
