//! FPM: FRR's zebra connects and tells the routes that it chose.
//!
//! ```text
//!  zebra ── frames ─▶ session ── messages ─▶ learned ── updates, in slices, bounded ─▶ control thread
//!                                            (who is stale after a new session, who shares a next hop)
//! ```
//! A full queue keeps the session's thread waiting, TCP keeps zebra waiting, and no worker notices.

mod learned;
mod session;

pub use learned::{Leads, Learned, Update};
pub use session::{Fpm, FpmOptions, FpmState};
