//! Mirrors.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A mirror: copies of what ports carry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Mirror {
    /// Its name.
    pub name: String,
    /// The port that copies leave by.
    pub destination: String,
    /// Whose frames are copied.
    pub sources: Vec<MirrorSource>,
}

/// A port whose frames are copied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MirrorSource {
    /// Its name.
    pub port: String,
    /// Which of its frames: `rx`, `tx` or `both`.
    pub direction: String,
    /// Copies made of what it received.
    pub received: u64,
    /// Copies made of what it sent.
    pub sent: u64,
    /// Copies not made for want of a buffer.
    pub lost: u64,
}
