//! The routing table of one VRF: every route of every source, and which of them forward.
//!
//! ```text
//!   sources            per prefix, best first            to the forwarding table
//!   connected ─┐      ┌──────────────────────────┐
//!   static    ─┼─add─▶│ static  via 10.0.0.1     │─resolve─▶ Change { prefix, paths }
//!   bgp, ospf ─┘      │ ebgp    via 192.0.2.9    │   │
//!                     └──────────────────────────┘   │ what 10.0.0.1 itself resolves to, through
//!                        falls back when the         ▼ other routes, is remembered per next hop
//!                        best cannot resolve       hops: 10.0.0.1 ▶ paths, and who uses it
//! ```
//!
//! Thread rules: owned by the control thread. Every call appends the minimal [`Change`]s to the
//! caller's list: a prefix appears once, and only if what it forwards to differs. Of many routes
//! over one next hop, only the next hop is resolved anew (as BGP next-hop tracking does). A call
//! looks at its own prefixes and some thousands more; what depends on them beyond that forwards as
//! before until [`Rib::settle_more`] comes to it.

mod hops;
mod interfaces;
mod journal;
mod pending;
mod resolve;
mod route;
mod shared;
mod table;

#[cfg(test)]
mod table_tests;

pub use journal::Told;
pub use resolve::MAX_PATHS;
pub use route::{NextHop, Path, Protocol, Resolved, Route, Source, Target};
pub use shared::SharedId;
pub use table::{Change, Rib, RouteView, SourceCount};
