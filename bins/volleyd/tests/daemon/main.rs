//! The daemon as a process.
#![expect(
    clippy::unwrap_used,
    reason = "all of it is test; clippy only knows of #[test] functions"
)]

mod router;
mod stalled_reader;
mod supervised;
