//! How much ICMP workers may send.

use crate::core::Core;
use crate::part::{Makes, Part};
use control::config::change::Replaced;
use control::config::objects::icmp::Icmp;
use control::engine::ApplyError;
use std::sync::atomic::Ordering;

/// See the module.
#[derive(Default)]
pub(crate) struct IcmpRates;

impl Part for IcmpRates {}

impl Makes<Replaced<Icmp>> for IcmpRates {
    fn make(&mut self, core: &mut Core, change: &Replaced<Icmp>) -> Result<(), ApplyError> {
        let limits = &core.dataplane.icmp;
        limits.errors_per_second.store(change.new.errors_pps, Ordering::Relaxed);
        limits.echoes_per_second.store(echoes_pps(&change.new), Ordering::Relaxed);
        limits.echoes_broadcasts.store(change.new.echo_broadcasts, Ordering::Relaxed);
        Ok(())
    }
}

/// Echo replies a second: none where they are switched off.
pub(crate) fn echoes_pps(icmp: &Icmp) -> u32 {
    if icmp.echo { icmp.echo_pps } else { 0 }
}
