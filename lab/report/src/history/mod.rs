//! Results kept by commit and host: what a campaign found once can be held against it later.
//!
//! ```text
//! results folder ─▶ Store::add ─▶ entries/ID/{raw.jsonl, entry.json}     never changed afterwards
//!                                       │
//!              ┌────────────────────────┼──────────────────────────┐
//!        baseline ─▶ held, reference   lines ─▶ series ─▶ changes   dashboard: a folder of pages
//! ```
//! A line is what may be compared: entries of one scenario, of like hosts, measured alike. Its
//! numbers are series in order of commits, cut where they changed.

mod chart;
pub mod dashboard;
mod entry;
mod findings;
mod held;
mod line;
mod lists;
mod number;
mod page;
mod series;
mod store;
mod style;

pub use entry::{Commit, Entry};
pub use findings::{Happened, changes, finding};
pub use held::{Held, hold};
pub use line::{Line, lines};
pub use number::{Number, numbers};
pub use series::{Change, Point, Series};
pub use store::{Added, Store};
