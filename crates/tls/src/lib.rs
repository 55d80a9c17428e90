//! TLS (RFC 8446, and 1.2 by RFC 5246) as Open vSwitch's programs speak it: each end shows a
//! certificate that one authority has signed.
//!
//! ```text
//!  files ─▶ Keys ─▶ one end of a connection ─▶ Link ─┬─ a thread that reads
//!                                                    └─ a thread that writes
//! ```
#![forbid(unsafe_code)]

mod keys;
mod link;
mod signed;

pub use keys::{Fault, Keys};
pub use link::Link;

#[cfg(test)]
mod testing;
