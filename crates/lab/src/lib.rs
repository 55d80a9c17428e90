//! Measuring: searches, statistics, models, trials, reports.

pub mod error;
pub mod random;
pub mod search;
pub mod sim;

pub use error::Error;
