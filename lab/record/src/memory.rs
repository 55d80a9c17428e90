//! What memory a device held while it was measured.

use serde::{Deserialize, Serialize};

use crate::Subject;

/// Memory of a device's processes at a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct MemorySample {
    /// Seconds since the case began on this start.
    pub at_s: f64,
    /// Octets resident, huge pages included, of all its processes.
    pub bytes: u64,
}

/// Memory of a device in a case of one start: at its beginning, now and then, at its end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryRecord {
    /// What was measured.
    pub subject: Subject,
    /// Processes, at the end.
    pub processes: u64,
    /// The samples, in order of time.
    pub samples: Vec<MemorySample>,
}
