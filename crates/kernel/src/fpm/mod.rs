//! FPM: FRR's zebra connects and tells the routes that it chose.
//!
//! ```text
//!  zebra ─ admission ─▶ session ── messages ─▶ learned ── updates, in slices, bounded ─▶ control thread
//!          (whose is it?)                     (what is stale after a new session, who shares a next hop)
//! ```
//! A full queue keeps the session's thread waiting, TCP keeps zebra waiting, and no worker notices.

mod admission;
mod learned;
mod numbers;
mod session;

pub use admission::Network;
pub use learned::{Leads, Learned, Update};
pub use session::{Fpm, FpmOptions, FpmState, Recalled};
