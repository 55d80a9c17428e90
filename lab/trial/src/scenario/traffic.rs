//! What a scenario sends.

use lab_traffic::arrivals::Process;
use serde::{Deserialize, Serialize};
use toml::Spanned;

/// How addresses vary over packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Addresses {
    /// One destination.
    #[default]
    Fixed,
    /// Counting up through the table.
    Increment,
    /// Seeded random over the table: every lookup is a surprise to the cache.
    Random,
    /// Every entry once before any twice.
    Permutation,
}

/// What the frames say they carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ethertype {
    /// UDP over IPv4.
    #[default]
    Udp4,
    /// UDP over IPv6.
    Udp6,
    /// An ethertype that no device knows (0x88b5, for local experiments).
    Unknown,
}

/// The traffic of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Traffic {
    /// Frame size in octets with checksum, where no axis varies it.
    pub frame_bytes: Spanned<u16>,
    /// A mix of sizes instead (RFC 6985).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imix: Option<Spanned<String>>,
    /// What the frames carry; each is measured.
    pub ethertype: Vec<Ethertype>,
    /// How destinations vary.
    pub destinations: Addresses,
    /// Flows at once, where no axis varies them.
    pub flows: Spanned<u64>,
    /// How packets follow each other.
    pub arrivals: Process,
    /// Whether both directions carry traffic.
    pub both_directions: bool,
}

impl Default for Traffic {
    fn default() -> Self {
        Self {
            frame_bytes: Spanned::new(0..0, 64),
            imix: None,
            ethertype: vec![Ethertype::Udp4],
            destinations: Addresses::Fixed,
            flows: Spanned::new(0..0, 1),
            arrivals: Process::Constant,
            both_directions: false,
        }
    }
}
