//! What a collector is told of packets: by flows (IPFIX, NetFlow), or each packet's first octets
//! (sFlow).
//!
//! ```text
//!  a packet's first octets ─▶ Packet::read ─▶ Tally ─▶ Cache ─▶ flows that ended ─▶ Records ─▶ datagrams   IPFIX, NetFlow
//!                          └───────────────▶ Tally ─────────────────────────────▶ Samples ─▶ datagrams   sFlow
//!                                            of a worker, emptied by who tells
//! ```
//! No sockets, no clock, no threads: time is told.
#![forbid(unsafe_code)]

mod cache;
mod domains;
mod flow;
mod netflow5;
mod out;
mod records;
mod sflow;
mod tally;
mod templates;

pub use cache::{Cache, End, Ended, Flow, Times};
pub use domains::Domains;
pub use flow::{Hosts, Key, Packet, Place};
pub use records::{Protocol, Records};
pub use sflow::{Begins, Counters, Samples, Seen};
pub use tally::{Counted, Sampled, Tally};

/// Octets of a datagram at most, so that it needs no pieces: 1500 less headers of IPv6 and UDP, and
/// of a tunnel.
pub const MOST_BYTES: usize = 1400;

/// When it is: for collectors, and since the exporter began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Now {
    /// Since 1970.
    pub unix_ms: u64,
    /// Since the exporter began.
    pub uptime_ms: u64,
}
