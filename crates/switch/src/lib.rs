//! The control side of a flow switch: what controllers say is done to the tables of a bridge, and
//! answered.
//!
//! ```text
//!  bytes ─▶ Bridge::hear(connection, message) ─▶ tables changed ─▶ Snapshot for workers
//!                                             └▶ answers, errors     └ packets to send
//!  clock ─▶ Bridge::expire ─▶ flows that are gone, told to who wants to know
//!           a table is full ─▶ evict ─▶ the same
//! ```
//! Nothing here opens a socket, waits, or knows a device: who calls has them ([`World`]), and says
//! what time it is. A bridge is one thread's at a time; workers see snapshots alone.
#![forbid(unsafe_code)]

mod answer;
mod bridge;
mod bundles;
mod check;
mod connection;
mod evict;
mod expire;
mod flows;
mod groups;
mod meters;
mod monitors;
mod paused;
mod ports;
mod stats;
mod taught;
#[cfg(test)]
mod testing;
mod told;
mod vacancy;

pub use bridge::{Bridge, MOST_FLOWS, TableSettings, World};
pub use connection::{Connection, Event};
pub use monitors::Change;
pub use ports::Port;

#[cfg(test)]
mod tests;
