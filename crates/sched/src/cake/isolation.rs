//! What `cake` is fair between: flows, hosts, or flows within hosts.

use serde::{Deserialize, Serialize};

use crate::packet::Hosts;
use crate::word::words;

words! {
    /// What has a queue of its own, and among whom queues share.
    pub enum Isolation: "isolation" {
        /// One queue for all.
        Flowblind = "flowblind",
        /// A queue for each source.
        Srchost = "srchost",
        /// A queue for each destination.
        Dsthost = "dsthost",
        /// A queue for each pair of hosts.
        Hosts = "hosts",
        /// A queue for each flow, and nothing else.
        Flows = "flows",
        /// Flows share what their source has: sources get the same.
        DualSrchost = "dual-srchost",
        /// Flows share what their destination has: destinations get the same.
        DualDsthost = "dual-dsthost",
        /// Flows share what their source or their destination has, whichever has more flows.
        #[default]
        TripleIsolate = "triple-isolate",
    }
}

impl Isolation {
    /// What is equal for packets of one queue.
    #[inline]
    pub(super) fn key(self, flow_hash: u32, hosts: Hosts) -> u32 {
        match self {
            Self::Flowblind => 0,
            Self::Srchost => hosts.source,
            Self::Dsthost => hosts.destination,
            Self::Hosts => hosts.source.rotate_left(16) ^ hosts.destination,
            Self::Flows | Self::DualSrchost | Self::DualDsthost | Self::TripleIsolate => flow_hash,
        }
    }

    /// Whether flows share what their source has.
    pub(super) fn within_sources(self) -> bool {
        matches!(self, Self::DualSrchost | Self::TripleIsolate)
    }

    /// Whether flows share what their destination has.
    pub(super) fn within_destinations(self) -> bool {
        matches!(self, Self::DualDsthost | Self::TripleIsolate)
    }

    /// Whether it has to be told whom packets are from and to.
    pub(super) fn asks_for_hosts(self) -> bool {
        !matches!(self, Self::Flowblind | Self::Flows)
    }
}
