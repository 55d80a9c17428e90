//! Reports: raw lines in, one self-contained page out. The same lines give the same page, always.
//!
//! ```text
//! raw.jsonl ─▶ Results ─┬▶ figures ─▶ svg ─┬▶ report.html
//!                       ├▶ tables ─────────┘
//!                       ├▶ results.csv, quantities.csv, latency.csv, checks.csv
//!                       ├▶ metrics.txt  (OpenMetrics)
//!                       ├▶ instance data of our YANG model
//!                       ├▶ index.sqlite
//!                       └▶ a history: entries by commit and host ─▶ a dashboard
//! ```

pub mod absences;
pub mod checks;
pub mod csv;
pub mod figures;
pub mod gate;
pub mod history;
pub mod html;
pub mod index;
pub mod memory;
pub mod method;
pub mod openmetrics;
pub mod quantities;
pub mod reference;
pub mod shards;
pub mod summary;
pub mod svg;
pub mod words;
pub mod yang;

pub use lab_record::{Error, Results};
