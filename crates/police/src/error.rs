//! What can be wrong with an agreement, each with the value that was wrong.

use thiserror::Error;

/// Every error of this crate.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum PoliceError {
    /// Nothing would ever be earned.
    #[error("a rate of {bits} bits a second of a clock of {clock_hz} Hz: both must be above 0")]
    NoRate {
        /// The rate given.
        bits: u64,
        /// The clock given.
        clock_hz: u64,
    },
    /// No packet would ever fit.
    #[error("a burst of {bytes} bytes: expected 1 to {most}")]
    Burst {
        /// The burst given.
        bytes: u64,
        /// The most that a bucket may hold.
        most: u64,
    },
    /// RFC 2698 section 2: the peak rate is not below the committed one.
    #[error("a peak rate of {peak} bits a second below the committed {committed}")]
    Peak {
        /// The peak rate given.
        peak: u64,
        /// The committed rate given.
        committed: u64,
    },
}
