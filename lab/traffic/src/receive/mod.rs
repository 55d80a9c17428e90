//! What the receiver makes of the packets that come back, each of them, in bounded memory.
//!
//! ```text
//! frame ─▶ test_frame ─▶ sequence   lost, duplicate, reordered, told apart exactly
//!              └───────▶ histogram  latency of every packet, 1 % error
//!                        jitter, delay_variation
//!                        rate_windows   throughput at 1, 10, 100, 1000 ms
//! ```

pub mod delay_variation;
pub mod jitter;
pub mod rate_windows;
pub mod sequence;

pub use lab_record::Histogram;
pub use sequence::SequenceTracker;
