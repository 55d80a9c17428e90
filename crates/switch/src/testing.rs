//! What tests of a bridge have in common.

use crate::World;
use flow::{Snapshot, Verdict};
use openflow::PortNumber;
use openflow::message::PortStats;

/// A world that knows of no port, and sends nothing.
pub(crate) struct Nothing;

impl World for Nothing {
    fn port_stats(&self, _: PortNumber) -> Option<PortStats> {
        None
    }

    fn send(&mut self, _: &[u8], _: PortNumber, _: &Verdict, _: &Snapshot) {}
}
