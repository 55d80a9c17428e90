//! Models: formulas fitted to measurements, ours printed beside the source's.
//!
//! ```text
//! points ─▶ fit ─▶ parameters, R², residuals, error on points held out
//!            └──▶ the same of the source's formula, unfitted
//! ```
//! The formulas are those that the source theses fit to their own measurements; `reference` has
//! their tables, so that every formula can be tried without a device.

pub mod cache;
pub mod clock;
pub mod fit;
pub mod latency;
pub mod linear;
pub mod lookup;
pub mod points;
pub mod reference;
pub mod workers;

pub use fit::{Fit, Quality};
