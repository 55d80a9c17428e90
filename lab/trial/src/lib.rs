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

pub mod scenario;
pub mod trial;
pub mod yang;

pub use lab_record::Error;
