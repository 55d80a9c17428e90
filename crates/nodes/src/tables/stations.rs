//! The stations of all bridges: one table that every worker reads and writes, and its clock.

use fib::mac::MacTable;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The MAC table with the ticks that its ages are counted in.
#[derive(Clone)]
pub struct Stations {
    /// Who is where. The port of an entry is the number of an interface.
    pub table: Arc<MacTable>,
    now: Arc<AtomicU32>,
}

impl Stations {
    /// A table at tick 0.
    pub fn new(table: MacTable) -> Self {
        Self { table: Arc::new(table), now: Arc::default() }
    }

    /// The tick it is.
    #[inline]
    pub fn now(&self) -> u32 {
        self.now.load(Ordering::Relaxed)
    }

    /// For the control thread: it is `tick` now. A tick is a second.
    pub fn set_now(&self, tick: u32) {
        self.now.store(tick, Ordering::Relaxed);
    }
}
