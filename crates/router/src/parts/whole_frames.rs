//! Whether frames of up to 64 KiB, as Linux hands them over, go through the router whole.
//!
//! They do unless something is done at some interface that is about single packets: a rate, a
//! queue, copies. Then all ports cut them as they come.

use crate::core::Core;
use crate::devices::Device;
use crate::part::Part;

/// See the module.
#[derive(Default)]
pub(crate) struct WholeFrames;

impl Part for WholeFrames {
    fn published(&mut self, core: &mut Core) {
        let rows = core.dataplane.interfaces();
        let single = rows.all().any(|row| row.needs_single_packets());
        for port in core.ports.values() {
            if let Some(Device::Dpdk(device)) = &port.device {
                device.keep_whole(!single);
            }
        }
    }
}
