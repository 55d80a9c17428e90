//! Scenarios, and trials on real devices: what is measured, and the one part that starts things.
//!
//! ```text
//!  scenario ──▶ cases ──▶ ┌───────── a trial ─────────┐
//!                         │ traffic ▶ device ▶ traffic │
//!  search ──next trial──▶ └───────────────────────────┘
//!    ▲                                  │ outcome
//!    └──────────── history ◀────────────┴──▶ record (raw.jsonl)
//! ```
//!
//! The lab never links the router: ours is one device under test among others.

pub mod campaign;
pub mod check;
#[cfg(test)]
mod contributing;
pub mod cut;
pub mod dut;
pub mod endpoint;
pub mod host;
pub mod link;
pub mod load;
pub mod place;
pub mod plan;
pub mod scenario;
pub mod scenario_file;
pub mod testbed;
pub mod trial;
pub mod watch;
pub mod yang;

pub use lab_record::Error;
