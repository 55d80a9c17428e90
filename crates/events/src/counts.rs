//! How many events there were: the counters of `/metrics`.

use crate::Level;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Names of faults that are counted apart; more would be a fault of ours.
const FAULTS: usize = 256;

/// Counters of what was told since the start.
#[derive(Debug, Default)]
pub struct Counts {
    levels: [AtomicU64; 5],
    suppressed: AtomicU64,
    lost: AtomicU64,
    faults: Mutex<BTreeMap<String, u64>>,
}

impl Counts {
    pub(crate) fn told(&self, level: Level) {
        self.levels[level as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn suppressed(&self) {
        self.suppressed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn lost(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn fault(&self, name: &str) {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = faults.get_mut(name) {
            *count += 1;
        } else if faults.len() < FAULTS {
            faults.insert(name.to_owned(), 1);
        }
    }

    /// Events of a level, those that were held back included.
    pub fn events(&self, level: Level) -> u64 {
        self.levels[level as usize].load(Ordering::Relaxed)
    }

    /// Events that repeated too fast: neither in the ring nor in the log.
    pub fn suppressed_events(&self) -> u64 {
        self.suppressed.load(Ordering::Relaxed)
    }

    /// Lines that the log lost: whoever reads it was too slow.
    pub fn lost_lines(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// What went wrong and was got over, by name.
    pub fn faults(&self) -> BTreeMap<String, u64> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
