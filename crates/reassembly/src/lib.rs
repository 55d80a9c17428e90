//! Fragmented packets put together again, and long ones cut: both families, stand-alone.
//!
//! ```text
//!  packet ─▶ Piece ─▶ Reassembly ┬▶ a whole packet
//!                                ├▶ held: at most so many datagrams, pieces of each, and bytes of all
//!                                └▶ late: its first piece, for the error to whoever sent it
//!  packet ─▶ cut ─▶ packets that fit
//! ```
//! For packets to the router itself, on the control thread: nothing here is fast, everything is
//! bounded. Time is what the caller says.

mod counters;
mod cut;
mod datagram;
mod piece;
mod table;
#[cfg(test)]
mod tests;

pub use counters::Counters;
pub use cut::cut;
pub use piece::{Fault, Key, Piece};
pub use table::{Late, Limits, Reassembly};
