//! Statistics: intervals, comparisons, and what is wrong with a series before anything is said of
//! it.
//!
//! ```text
//! restarts ─▶ summary, bootstrap                 how sure is a number
//! blocks   ─▶ paired ─ wilcoxon                  is B different from A
//! a series ─▶ warm-up, drift, modes, groups      is it one population at all
//! times    ─▶ spikes ─ period ─ attribution      what disturbs it, how regularly, who is to blame
//! ```

pub mod attribution;
pub mod blocks;
pub mod bootstrap;
pub mod bracketed;
pub mod drift;
pub mod groups;
pub mod ks;
pub mod minimise;
pub mod modes;
pub mod paired;
pub mod period;
pub mod shift;
pub mod special;
pub mod spikes;
pub mod summary;
pub mod verdict;
pub mod warmup;
pub mod wilcoxon;

pub use summary::{Interval, Summary};
