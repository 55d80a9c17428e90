//! LISP's control plane, stand-alone: who is asked, told and believed about where endpoints are
//! (RFC 9301), as state machines over virtual time.
//!
//! ```text
//!  an endpoint is wanted ─▶ Asker ─▶ question ─▶ … ─▶ answer, its nonce known ─▶ MapCache
//!  our own networks ─▶ Registrar ─▶ each map server, each minute ◀─ notices
//!  sites ─▶ MapServer ─▶ notices, answers, questions handed on
//!  locators ─▶ Prober ─▶ which of them answer
//! ```
//! Nothing here sends or waits: what is to be sent is given back, and who calls says what time it
//! is, in nanoseconds. Owned by the control thread. All memory is bounded by what the caller
//! allows.
#![forbid(unsafe_code)]

mod ask;
mod auth;
mod cache;
mod nonce;
mod probe;
mod register;
mod server;

pub use ask::{Asker, Question};
pub use auth::Key;
pub use cache::{Entry, Learned, MapCache, Origin};
pub use nonce::Nonces;
pub use probe::{Probe, Prober};
pub use register::{Heard, Registered, Registrar};
pub use server::{MapServer, Outcome, Refusal, Shown, Site, Verdict};

/// A second, in nanoseconds.
const SECOND: u64 = 1_000_000_000;
/// A minute.
const MINUTE: u64 = 60 * SECOND;
