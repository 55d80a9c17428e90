//! How often each port lost its link.
//!
//! ```text
//!  a port's link goes ─▶ counted ─▶ shown;   the port goes ─▶ forgotten
//! ```

use crate::core::Core;
use crate::part::Part;
use control::config::objects::port::PortName;
use control::engine::ApplyError;
use std::collections::BTreeMap;

/// See the module.
#[derive(Default)]
pub(crate) struct LinkLosses {
    losses: BTreeMap<PortName, u64>,
}

impl Part for LinkLosses {
    fn link_down(&mut self, _: &mut Core, port: &PortName) {
        *self.losses.entry(port.clone()).or_insert(0) += 1;
    }

    fn close(&mut self, _: &mut Core, port: &PortName) -> Result<(), ApplyError> {
        self.losses.remove(port);
        Ok(())
    }
}

impl LinkLosses {
    /// Of every port that lost it once at least.
    pub(crate) fn show(&self) -> Vec<(String, u64)> {
        self.losses.iter().map(|(port, count)| (port.to_string(), *count)).collect()
    }
}
