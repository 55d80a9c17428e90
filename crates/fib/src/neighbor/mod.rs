//! Neighbours: which MAC an address on a link has (ARP, RFC 826; ND, RFC 4861), as a pure state
//! machine over the caller's clock. It sends nothing and holds no packets: it says what to do.
//!
//! ```text
//!             need                     learned
//!   (none) --------> INCOMPLETE ------------------> REACHABLE <------------+
//!     ^               | 3 tries     its answer       | shortly before      | its answer
//!     | not pinned    v   unanswered                 v its end, if in use  |
//!     +----------- FAILED <------------------------ PROBING ---------------+
//!     |               |      3 probes unanswered     ^ in use: looked for every 5 s
//!     |               |                              |
//!     |               |        STALE ----------------+   heard, but not in answer to us
//!     |               +--> INCOMPLETE again after a pause that doubles, if pinned or needed
//!     +--- REACHABLE, STALE: idle for a lifetime
//!
//!   STATIC: set by the operator; never asks, never ages, never changes by what is heard
//! ```
//!
//! In use is what routes lead over and what packets left for: workers note that in the adjacency,
//! and the machine asks for it when it is time to decide, or every [`NeighborConfig::delay_ns`]
//! where a MAC was never confirmed (RFC 4861 section 7.3: STALE, DELAY, PROBE; there is no layer
//! above that could confirm it meanwhile). Packets leave in every state that has a MAC, and probes
//! go to that MAC alone: nobody else on the link is asked about a neighbour that is there.
//!
//! What finds no buffer was not asked: it counts as no try, and follows as soon as there is one
//! ([`Neighbors::no_buffer`]), so that a moment without any costs nobody a pause.
//!
//! Each interface and family has a share of the table and of the requests (`shares.rs`), so that a
//! scan of one link leaves others theirs; who does not answer gives way first.
//!
//! Thread rules: owned by the control thread. Cost: a hash and a timer-tree step an event.

mod hold;
mod machine;
mod rate;
mod shares;

#[cfg(test)]
mod machine_tests;
#[cfg(test)]
mod share_tests;

use std::net::IpAddr;

use crate::adjacency::AdjacencyId;

pub use hold::HoldQueue;
pub use machine::Neighbors;

/// A MAC address as bytes on the wire.
pub type Mac = [u8; 6];

/// Whose MAC is meant: an address on an interface's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NeighborKey {
    /// The interface.
    pub interface: u16,
    /// The address.
    pub address: IpAddr,
}

impl NeighborKey {
    /// Whose share of the table it is in.
    pub fn share(&self) -> ShareKey {
        ShareKey { interface: self.interface, is_ip6: self.address.is_ipv6() }
    }
}

/// Who has a share of the table: the neighbours of one interface and family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShareKey {
    /// The interface.
    pub interface: u16,
    /// IPv6; else IPv4.
    pub is_ip6: bool,
}

impl ShareKey {
    /// The neighbour of an address in it.
    pub fn key(&self, address: IpAddr) -> NeighborKey {
        NeighborKey { interface: self.interface, address }
    }
}

/// What there is of a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShareView {
    /// Whose.
    pub share: ShareKey,
    /// Its neighbours.
    pub neighbors: usize,
    /// The most that it may have.
    pub most: usize,
    /// Those of them that did not answer, or not yet, and that no route needs.
    pub unresolved: usize,
    /// The most such.
    pub most_unresolved: usize,
    /// Those that gave way to others.
    pub evicted: u64,
    /// Those that had no place.
    pub refused: u64,
    /// Requests that found no buffer.
    pub no_buffer: u64,
}

/// How a MAC was heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// An answer to our question: an ARP reply, a solicited neighbour advertisement.
    Reply,
    /// Its own question to one of our addresses, which names its MAC.
    Request,
    /// An announcement that nobody asked for.
    Gratuitous,
}

/// Why a neighbour is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A route leads to it: keep it resolved until [`Neighbors::release`].
    Route,
    /// A packet waits for it: resolve it now, forget it when it falls silent.
    Packet,
}

/// What the caller is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Ask who has the address.
    SendRequest {
        /// Whose MAC is wanted.
        key: NeighborKey,
        /// The MAC to ask, when only confirming; else everyone.
        to: Option<Mac>,
    },
    /// Packets can leave by this adjacency, to this MAC.
    Complete {
        /// The adjacency.
        adjacency: AdjacencyId,
        /// The MAC.
        mac: Mac,
    },
    /// Packets can leave by this adjacency no longer.
    Incomplete {
        /// The adjacency.
        adjacency: AdjacencyId,
    },
    /// Send the packets that were held for this neighbour.
    ReleaseHeld {
        /// The neighbour.
        key: NeighborKey,
    },
    /// Drop the packets that were held for this neighbour.
    DropHeld {
        /// The neighbour.
        key: NeighborKey,
        /// Why they cannot be sent.
        reason: DropReason,
    },
    /// The entry is gone: its adjacency, if it had one, may be freed once no route leads there.
    Forgotten {
        /// The neighbour.
        key: NeighborKey,
        /// The adjacency it had.
        adjacency: Option<AdjacencyId>,
    },
    /// Two MACs claim one address.
    Conflict {
        /// The address.
        key: NeighborKey,
        /// The MAC that holds it.
        held: Mac,
        /// The MAC that claims it.
        claimed: Mac,
    },
}

/// Why held packets are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// Nobody answered.
    Unanswered,
    /// The interface went down.
    InterfaceDown,
    /// The operator flushed or removed the neighbour.
    Flushed,
    /// It gave way to another neighbour.
    Evicted,
}

/// What state a neighbour is in, for display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeighborState {
    /// Asked for, not yet answered.
    Incomplete,
    /// It answered lately.
    Reachable,
    /// Its MAC was heard, not in answer to us: whether it hears us is not known.
    Stale,
    /// Its MAC is known and is being confirmed.
    Probing,
    /// It did not answer.
    Failed,
    /// Set by the operator.
    Static,
}

/// A neighbour as `show neighbors` lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeighborView {
    /// Its address, and the interface that it is behind.
    pub key: NeighborKey,
    /// Its state.
    pub state: NeighborState,
    /// Its MAC, if known.
    pub mac: Option<Mac>,
    /// Its adjacency, if it was needed yet.
    pub adjacency: Option<AdjacencyId>,
    /// When the MAC was last heard, on the caller's clock.
    pub heard_ns: u64,
}

/// Times and bounds of the machine.
#[derive(Clone, Copy, Debug)]
pub struct NeighborConfig {
    /// The most neighbours, static ones included, beyond those that each share has for itself.
    pub capacity: usize,
    /// The most neighbours of one interface and family that are not fixed.
    pub most_each: usize,
    /// The most of them without an answer.
    pub most_unresolved: usize,
    /// Places that every interface and family has for itself; said once, at the start.
    pub least_each: usize,
    /// Requests without an answer before a neighbour has failed.
    pub tries: u8,
    /// Between requests.
    pub retry_ns: u64,
    /// How long an answer is believed, and an idle neighbour kept.
    pub reachable_ns: u64,
    /// Between two looks whether a neighbour that never answered is in use.
    pub delay_ns: u64,
    /// Idle neighbours are kept, too, by asking them.
    pub keep: bool,
    /// The first pause after failing; it doubles up to [`NeighborConfig::longest_pause_ns`].
    pub pause_ns: u64,
    /// The longest pause after failing.
    pub longest_pause_ns: u64,
    /// A MAC that changes sooner than this after it was heard is a conflict.
    pub conflict_ns: u64,
    /// Requests a second, over all interfaces.
    pub requests_per_s: u32,
    /// Requests at once.
    pub request_burst: u32,
}

const SECOND_NS: u64 = 1_000_000_000;

impl Default for NeighborConfig {
    fn default() -> NeighborConfig {
        NeighborConfig {
            capacity: 65_536,
            most_each: 32_768,
            most_unresolved: 4_096,
            least_each: 16,
            tries: 3,
            retry_ns: SECOND_NS,
            reachable_ns: 1200 * SECOND_NS,
            delay_ns: 5 * SECOND_NS,
            keep: false,
            pause_ns: 5 * SECOND_NS,
            longest_pause_ns: 80 * SECOND_NS,
            conflict_ns: 10 * SECOND_NS,
            requests_per_s: 1000,
            request_burst: 200,
        }
    }
}
