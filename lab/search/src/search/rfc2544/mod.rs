//! The tests of RFC 2544, section 26: throughput, latency, frame loss rate, back-to-back frames,
//! recovery, reset.
//!
//! ```text
//! throughput 26.1 ──its load──▶ latency 26.2
//! frame loss rate 26.3   100 %, 90 %, 80 % … of the link until two in a row lose nothing
//! back-to-back 26.4      the longest burst at full rate that loses nothing
//! recovery 26.5          until the last loss after an overload        reset 26.6   until the first packet after a restart
//! ```

mod back_to_back;
mod frame_loss;
mod latency;
mod recovery;
mod reset;
mod throughput;

pub use back_to_back::{BackToBack, BackToBackAnswer};
pub use frame_loss::{FrameLoss, FrameLossAnswer};
pub use latency::{LatencyAnswer, LatencyTest};
pub use recovery::{Recovery, RecoveryAnswer};
pub use reset::{Reset, ResetAnswer};
pub use throughput::{Throughput, ThroughputAnswer};
