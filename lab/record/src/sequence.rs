//! Loss, duplicates and reordering of one stream, counted.

use serde::{Deserialize, Serialize};

/// What a tracker counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequenceCounts {
    /// Packets received, all of them.
    pub received: u64,
    /// Different numbers received.
    pub unique: u64,
    /// Packets whose number had come before.
    pub duplicates: u64,
    /// Packets overtaken by a later one (Type-P-Reordered).
    pub reordered: u64,
    /// Largest reordering extent.
    pub largest_extent: u64,
    /// Numbers sent that did not come.
    pub lost: u64,
    /// Runs of consecutive lost numbers, by length: 1, 2, 3-4, 5-8, … each bucket twice as wide.
    pub loss_runs: Vec<u64>,
    /// Longest run of lost numbers.
    pub longest_loss_run: u64,
    /// The last number lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_lost: Option<u64>,
    /// Packets too old to judge; the rest is exact only if this is 0.
    pub beyond_window: u64,
    /// Packets with a number that was never sent.
    pub never_sent: u64,
}

impl SequenceCounts {
    /// Whether every packet could be judged.
    pub fn is_exact(&self) -> bool {
        self.beyond_window == 0
    }
}
