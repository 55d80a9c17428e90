//! Access lists.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An access list, with what it decided. A rule that a change leaves as it is goes on counting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Acl {
    /// Its name.
    pub name: String,
    /// The ports that hold what they receive to it.
    pub ports_in: Vec<String>,
    /// The ports that hold what they send to it.
    pub ports_out: Vec<String>,
    /// What becomes of packets that no rule fits: `permit` or `deny`.
    pub default: String,
    /// Its rules; the first that fits decides.
    pub rules: Vec<AclRule>,
    /// Packets that no rule fitted.
    pub other_packets: u64,
    /// Their bytes.
    pub other_bytes: u64,
    /// Bytes that workers' tables of it take.
    pub memory_bytes: usize,
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AclRule {
    /// The rule as it is configured.
    pub rule: String,
    /// Packets that it decided about.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}
