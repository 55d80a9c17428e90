//! Measuring: searches, statistics, models, trials, reports.

pub mod error;
pub mod random;
pub mod search;
pub mod sim;
pub mod stats;

pub use error::Error;
