//! What a scheduler is to be: a value that reads from and writes to TOML or JSON, refused with the
//! reason if it is nonsense.
//!
//! ```text
//!   text, tc lines ─▶ Config ─▶ check ─▶ build ─▶ Box<dyn Scheduler<T>>
//!                       root: Shape ─ classes ─ leaf: Shape ─ …         filters: to which class a packet goes
//! ```

use serde::{Deserialize, Serialize};

use crate::filter::Filter;
use crate::plan::{Asks, Shape};
use crate::units::{Rate, Size};

/// A whole scheduler: its tree, its filters, its bounds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The discipline at the root.
    pub root: Shape,
    /// Which packets go to which class: the first that fits decides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<Filter>,
    /// The largest packet on the link, Ethernet header included: default quanta, bursts and CoDel's
    /// floor follow it.
    #[serde(default = "default_mtu")]
    pub mtu_bytes: u32,
    /// The link's rate: with it, promises that the link itself cannot keep are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_rate: Option<Rate>,
    /// The most packets that may wait in the whole tree; by default the sum of the leaves' limits,
    /// no more than 131072.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool_packets: Option<u32>,
    /// The most memory that the scheduler may reserve.
    #[serde(default = "default_memory_limit")]
    pub memory_limit: Size,
}

fn default_mtu() -> u32 {
    1514
}

fn default_memory_limit() -> Size {
    Size(512 << 20)
}

impl Config {
    /// What it asks of packets.
    pub fn asks(&self) -> Asks {
        self.root.asks()
    }

    /// Whether every worker is to have a part of it: [`build_for`](crate::build_for()).
    pub fn is_for_all_workers(&self) -> bool {
        self.root.plan().all_workers()
    }

    /// That discipline with the default bounds and no filters.
    pub fn of(root: Shape) -> Self {
        Self {
            root,
            filters: Vec::new(),
            mtu_bytes: default_mtu(),
            link_rate: None,
            pool_packets: None,
            memory_limit: default_memory_limit(),
        }
    }
}
