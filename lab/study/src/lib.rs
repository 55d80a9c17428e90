//! Studies: what a source measured, as data; campaigns that measure it again; one report of both.
//!
//! ```text
//! studies/NAME.toml ─▶ Study ─┬─▶ a scenario for each run ─▶ volley-lab run ─▶ OUT/runs/ID/raw.jsonl
//!                             │                                                      │
//!                             └─▶ tables, figures, models ◀── cells, curves ◀────────┘
//!                                        └─▶ OUT/report.html, OUT/cells.csv
//! ```
//! A number of the source has one of ours beside it, with its interval, or the reason why not:
//! there is no third. Nothing here starts anything.

pub mod cell;
pub mod curve;
pub mod folder;
pub mod known;
pub mod model;
pub mod page;
pub mod scenario;
pub mod study;
pub mod table;
pub mod what;

pub use lab_record::Error;
