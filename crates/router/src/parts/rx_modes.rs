//! Ports whose packets workers wait for otherwise than adaptively.

use crate::core::Core;
use crate::interfaces::OpenPort;
use crate::part::Part;
use control::config::objects::port::{PortName, RxMode};
use nodes::port::RxMode as Waits;
use nodes::tables::Interface;

/// See the module.
#[derive(Default)]
pub(crate) struct RxModes;

impl Part for RxModes {
    fn row(&self, _: &Core, _: &PortName, port: &OpenPort, row: &mut Interface) {
        row.put(match port.config.rx_mode {
            RxMode::Adaptive => None,
            RxMode::Polling => Some(Waits::Polling),
            RxMode::Interrupt => Some(Waits::Interrupt),
        });
    }
}
