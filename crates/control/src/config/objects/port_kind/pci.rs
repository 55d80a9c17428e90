//! `pci`: a network card that the router has for itself.

use super::fields::PciAddress;
use super::kind::Kind;
use crate::config::declare::object;

object! {
    /// A network card bound to a user-space driver
    pub struct Pci {
        /// Its place on the bus
        pub address: PciAddress as "0000:03:00.0",
    }
}

impl Kind for Pci {
    fn claim(&self) -> Option<String> {
        Some(format!("PCI device {}", self.address.as_str()))
    }
}
