//! Packets to ourselves that come in pieces.

use super::answer::*;

/// What is held of packets in pieces, and what became of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Reassembly {
    /// Datagrams of which pieces are missing.
    pub datagrams: u64,
    /// Bytes that they take.
    pub bytes: u64,
    /// Pieces that came.
    pub pieces: u64,
    /// Datagrams put together.
    pub whole: u64,
    /// Of them, echo requests longer than their link, answered in pieces.
    pub answered: u64,
    /// Pieces dropped: they had come before.
    pub duplicates: u64,
    /// Pieces dropped: they contradict others, or their datagram was given up.
    pub overlapping: u64,
    /// Datagrams dropped: longer than packets are.
    pub too_long: u64,
    /// Datagrams dropped: in more pieces than are held of one.
    pub too_many_pieces: u64,
    /// Datagrams dropped to make room for younger ones.
    pub evicted: u64,
    /// Datagrams dropped: the others of their pieces did not come in time.
    pub timed_out: u64,
    /// Datagrams dropped: longer than buffers and no echo requests, or more of those than are
    /// answered.
    pub undeliverable: u64,
}

impl Reassembly {
    /// All counters by their names.
    fn counters(&self) -> [(&'static str, u64); 10] {
        [
            ("pieces", self.pieces),
            ("whole", self.whole),
            ("answered", self.answered),
            ("duplicates", self.duplicates),
            ("overlapping", self.overlapping),
            ("too-long", self.too_long),
            ("too-many-pieces", self.too_many_pieces),
            ("evicted", self.evicted),
            ("timed-out", self.timed_out),
            ("undeliverable", self.undeliverable),
        ]
    }
}

impl View for Reassembly {
    view!("show reassembly", "/v1/reassembly", All => Self,
        "Packets to the router itself that come in pieces");
    counters!(
        "pieces",
        "whole",
        "answered",
        "duplicates",
        "overlapping",
        "too_long",
        "too_many_pieces",
        "evicted",
        "timed_out",
        "undeliverable"
    );
    const METRICS: Option<Metrics<Self>> = Some((All, |reassembly, out| {
        out.of(reassembly.counters(), |(outcome, _)| [("outcome", *outcome)]).counter(
            "reassembly_outcomes",
            "Pieces of packets to ourselves, and what became of them.",
            |(_, count)| *count,
        );
        out.one(reassembly).gauge(
            "reassembly_held_bytes",
            "Bytes held of packets of which pieces are missing.",
            |reassembly| reassembly.bytes,
        );
    }));

    fn table(reassembly: &Self) -> Table {
        let held = [("held", reassembly.datagrams), ("held-bytes", reassembly.bytes)];
        table!(held.into_iter().chain(reassembly.counters()), (what, count) => {
            "what": what, "count": count,
        })
    }
}
