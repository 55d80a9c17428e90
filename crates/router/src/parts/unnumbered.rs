//! Ports that borrow the IPv4 addresses of others.

use crate::core::Core;
use crate::interfaces::OpenPort;
use crate::part::Part;
use control::config::objects::port::PortName;
use nodes::tables::Interface;

/// See the module.
#[derive(Default)]
pub(crate) struct Unnumbered;

impl Part for Unnumbered {
    fn row(&self, core: &Core, _: &PortName, port: &OpenPort, row: &mut Interface) {
        row.ip4.extend(core.ports.lent_to(port));
    }
}
