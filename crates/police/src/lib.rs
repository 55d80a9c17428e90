//! Policers: token buckets that say of each packet whether it keeps to what was agreed.
//!
//! ```text
//!  time ─▶ Rate ─▶ Moment ──┐
//!  bytes, Colour before ────┴▶ Limits ─▶ Colour: green, yellow or red      ─▶ ColourCounters
//!                              of octets, of packets: a Policer each
//! ```
//! One policer is shared by all workers and locks nobody: its buckets are single words that change
//! by compare-and-swap, so the sum of what the workers let through keeps the agreement, whichever
//! of them a flow comes to. Shares for each worker would be wrong whenever flows are spread
//! unevenly, and one flow alone always is.
//!
//! Nothing is rounded twice: a bucket remembers up to which byte of all that its rate ever earned
//! it has spent.

mod bucket;
mod colour;
mod counters;
mod error;
mod limits;
mod policer;
mod rate;
#[cfg(test)]
mod tests;

pub use colour::Colour;
pub use counters::ColourCounters;
pub use error::PoliceError;
pub use limits::{Limits, Moments, PacketAgreement};
pub use policer::{Agreement, Held, Moment, Policer};
pub use rate::Rate;
