//! What could not be measured, and why.

use serde::{Deserialize, Serialize};

use crate::Subject;

/// Something that could not be measured, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureRecord {
    /// What should have been measured.
    pub subject: Subject,
    /// Whether the device cannot do it at all; else something went wrong.
    pub refused: bool,
    /// What the device, or the lab, said of it.
    pub reason: String,
}
