//! Reports: raw lines in, one self-contained page out. The same lines give the same page, always.
//!
//! ```text
//! raw.jsonl ─▶ Results ─┬▶ figures ─▶ svg ─┬▶ report.html
//!                       ├▶ tables ─────────┘
//!                       ├▶ results.csv, quantities.csv, checks.csv
//!                       ├▶ metrics.txt  (OpenMetrics)
//!                       └▶ index.sqlite
//! ```

pub mod checks;
pub mod csv;
pub mod figures;
pub mod html;
pub mod index;
pub mod openmetrics;
pub mod quantities;
pub mod record;
pub mod summary;
pub mod svg;
pub(crate) mod words;

pub use record::{Recorder, Results};
