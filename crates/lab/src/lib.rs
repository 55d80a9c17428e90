//! Measuring: searches, statistics, models, receivers, scenarios, reports.
//!
//! ```text
//!  scenario ──▶ cases ──▶ ┌───────── a trial: the one impure part ─────────┐
//!                         │ arrivals ▶ test_frame ▶ (device) ▶ receive     │   or sim, in tests
//!  search ──next trial──▶ └────────────────────────────────────────────────┘
//!    ▲                                      │ outcome
//!    └──────────── history ◀────────────────┤
//!                                           ▼
//!              stats, model ◀── report::record (raw.jsonl) ──▶ report
//! ```
//!
//! The lab never links the router: ours is one device under test among others. All but `clock`,
//! `traffic` and `trial` is a function of its input and of a seed, and is tried on simulated devices whose truth is
//! known; these two are tried on links in memory, by a clock that can be stepped.

pub mod arrivals;
pub mod clock;
pub mod error;
pub mod model;
pub mod random;
pub mod receive;
pub mod report;
pub mod scenario;
pub mod search;
pub mod sim;
pub mod stats;
pub mod test_frame;
pub mod traffic;
pub mod trial;
pub mod yang;

pub use error::Error;
