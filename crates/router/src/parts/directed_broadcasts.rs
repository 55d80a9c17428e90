//! Ports that let packets to all hosts of their networks leave by them (RFC 2644: by option alone).

use crate::core::Core;
use crate::interfaces::OpenPort;
use crate::part::Part;
use control::config::objects::port::PortName;
use nodes::ip::DirectedBroadcasts;
use nodes::tables::Interface;

/// See the module.
#[derive(Default)]
pub(crate) struct Broadcasting;

impl Part for Broadcasting {
    fn row(&self, _: &Core, _: &PortName, port: &OpenPort, row: &mut Interface) {
        row.put(port.config.directed_broadcasts.then_some(DirectedBroadcasts));
    }
}
