//! What happens, told: who tells never waits.
//!
//! ```text
//!  tracing::warn!(…) ─▶ Receiver ─▶ Hub ─┬▶ limit: an event that repeats is held back, and counted
//!                                        ├▶ ring: the latest, for `volley events` and its followers
//!                                        └▶ queue ─▶ writer thread ─▶ stderr (text, JSON) or journald
//! ```
//! Crates tell by `tracing`'s macros alone; the program installs the hub. A full queue loses lines,
//! and tells how many. A field named `fault` is counted under its value, for metrics: so what went
//! wrong and was got over leaves an event and a counter in one line.

mod counts;
mod event;
mod heard;
mod hub;
mod install;
mod journal;
mod limit;
mod panics;
mod queue;
mod receiver;
mod ring;
mod sink;
mod text;
mod time;
mod writer;

pub use counts::Counts;
pub use event::{Event, Level};
pub use hub::{Hub, hub};
pub use install::install;
pub use panics::REQUEST;
pub use receiver::Receiver;
pub use ring::{Batch, Follower};
pub use sink::{Format, Sink};
pub use text::line;
