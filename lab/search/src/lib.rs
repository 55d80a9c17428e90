//! Searches, statistics, models, and devices that are simulated to try them on.
//!
//! ```text
//! search ──next trial──▶ (a device, real or of sim) ──outcome──▶ history ──▶ search
//! series of numbers ─▶ stats ─▶ intervals, comparisons, verdicts        points ─▶ model ─▶ a curve
//! ```
//! All of it is a function of its input and of a seed. Nothing here knows a link, a device or a
//! page.

#[cfg(test)]
mod contributing;
pub mod model;
pub mod random;
pub mod search;
pub mod sim;
pub mod stats;

pub use lab_record::Error;
