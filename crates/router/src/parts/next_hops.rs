//! Whether packets are counted by next hop.

use crate::core::Core;
use crate::part::{Makes, Part};
use control::config::change::Replaced;
use control::config::objects::next_hops::NextHops;
use control::engine::ApplyError;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// See the module.
#[derive(Default)]
pub(crate) struct NextHopCounting;

impl Part for NextHopCounting {
    /// Next hops that neighbours made, not routes.
    fn turn(&mut self, core: &mut Core, _: Instant) -> bool {
        core.begin_next_hops();
        false
    }
}

impl Makes<Replaced<NextHops>> for NextHopCounting {
    fn make(&mut self, core: &mut Core, change: &Replaced<NextHops>) -> Result<(), ApplyError> {
        core.dataplane.counts_next_hops.store(change.new.counters, Ordering::Relaxed);
        Ok(())
    }
}
