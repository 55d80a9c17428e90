//! Measuring: searches, statistics, models, trials, reports.

pub mod arrivals;
pub mod error;
pub mod model;
pub mod random;
pub mod receive;
pub mod scenario;
pub mod search;
pub mod sim;
pub mod stats;
pub mod test_frame;

pub use error::Error;
