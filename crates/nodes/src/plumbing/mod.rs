//! What nodes stand on: the tables they read, the counters they write, the ways to the control
//! thread and back.
//!
//! ```text
//!  control thread ── Published tables ──▶ workers        interfaces (and fib's tables)
//!                 ── mailbox ──────────▶ one worker      queues of ports that come and go
//!                 ── shape letters ────▶ one worker      schedulers of shaped ports
//!                 ◀─ slow path ───────── workers         packets and news, bounded
//!                 ◀─ counters ────────── workers         read at any time
//! ```

mod classify;
mod counters;
mod interfaces;
mod ip4_stamps;
mod mailbox;
mod own_ip4;
mod rate_limit;
mod setup;
mod shaping;
mod slow_path;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod topology;

pub use classify::{Classifier, mark_congestion};
pub use counters::{DropCounters, InterfaceCounters, MOST_INTERFACES, WorkerCounters, is_outbound};
pub use interfaces::{Interface, InterfaceId, Interfaces, Mode};
pub use ip4_stamps::{OptionsFound, Stamp, blank_options, stamp_options};
pub use mailbox::{Mailbox, RxAttachment, TxAttachment};
pub use own_ip4::{OWN_TTL, OwnIp4, sum_ip4_header};
pub use rate_limit::RateLimit;
pub use setup::{IcmpLimits, Kind, Setup, Shared};
pub use shaping::{
    HandOver, Leftover, Outcome, PacketScheduler, ShapeLetter, ShapeLetters, Shaper,
};
pub use slow_path::{
    ArpNews, Injected, Injector, SlowPath, SlowPathEvents, SlowPathNews, slow_path,
};
