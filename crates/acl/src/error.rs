//! What can be wrong with a list, each with the value that was wrong.

use thiserror::Error;

/// Every error of this crate.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum AclError {
    /// A range that ends before it begins.
    #[error("ports {first} to {last}: the first is above the last")]
    Ports {
        /// The first given.
        first: u16,
        /// The last given.
        last: u16,
    },
    /// More rules than a verdict can name.
    #[error("{count} rules, and a list has {most} at most")]
    TooMany {
        /// How many there are.
        count: usize,
        /// How many there may be.
        most: usize,
    },
    /// The rules alone take more than they may.
    #[error("{rules} rules take {bytes} bytes at least, and the list may take {most}")]
    Memory {
        /// How many there are.
        rules: usize,
        /// What they take without anything to find them by.
        bytes: usize,
        /// What they may take.
        most: usize,
    },
}
