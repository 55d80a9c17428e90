//! The forwarding half of the router, assembled: layout, tables, workers. It knows no device and
//! no configuration, so the daemon, the benchmarks and the tests all stand on it.
//!
//! ```text
//!  settings ─▶ Dataplane ┬ tables      interfaces (published), routes, adjacencies
//!                        ├ workers     a graph each, with mailboxes for queues
//!                        └ slow path   news out, packets in
//! ```

mod counters;
mod ports;
mod rehearsal;
mod shaping;
mod start;

pub use counters::{
    BridgedTotals, DropCount, InterfaceTotals, MirroredTotals, NodeTotals, TwinnedTotals,
};
pub use ports::PortQueues;
pub use rehearsal::{LONGEST_FRAME, Rehearsal, RehearsalError, Rehearsed, Stage};
pub use shaping::{ShapingError, Waiting};
pub use start::{Dataplane, DataplaneError, Settings, Threads};
