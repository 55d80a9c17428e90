//! `pci`: a network card that DPDK has for itself.

use crate::Error;
use crate::arguments::refuse;
use crate::device::{Device, Shape};
use crate::driver::Driver;
use crate::eth_dev::EthDev;
use crate::kind::{Kind, MtuOf};
use std::fmt;
use std::path::Path;

/// A network card, by its address (`0000:01:00.0`), bound to vfio-pci or of a driver that needs no
/// binding. The environment must have been started with `pci`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pci {
    /// Domain, bus, device, function.
    pub address: String,
}

impl Kind for Pci {
    fn name(&self) -> &'static str {
        "pci"
    }

    fn driver(&self, _: Shape) -> Result<Box<dyn Driver>, Error> {
        check_address(&self.address)?;
        let most_queues = if has_one_queue(&self.address) { 1 } else { u16::MAX };
        Ok(EthDev::of_card(Device::on_bus("pci", self.address.clone()), most_queues))
    }

    /// Ports of the processor, by which old virtio cards are spoken to.
    fn calls(&self) -> &'static [&'static str] {
        &["iopl", "ioperm"]
    }

    fn mtu_is_of(&self) -> MtuOf {
        MtuOf::Driver
    }

    fn tells_addresses(&self) -> bool {
        true
    }

    fn is_card(&self) -> bool {
        true
    }
}

impl fmt::Display for Pci {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.address)
    }
}

/// Intel's 82540, 82545 and 82546, by their numbers. DPDK's driver says that they have two queues,
/// as later cards have: what is handed to the second one never leaves.
const ONE_QUEUE: [&str; 6] = ["0x100e", "0x100f", "0x1010", "0x1011", "0x1012", "0x101d"];

fn has_one_queue(address: &str) -> bool {
    let folder = Path::new("/sys/bus/pci/devices").join(address);
    // Of a card that is not there DPDK tells more.
    let read = |name| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    read("vendor").trim() == "0x8086" && ONE_QUEUE.contains(&read("device").trim())
}

fn check_address(text: &str) -> Result<(), Error> {
    let pattern = "0000:01:00.0";
    let fits = |(c, like): (char, char)| match like {
        ':' | '.' => c == like,
        _ => c.is_ascii_hexdigit(),
    };
    match text.len() == pattern.len() && text.chars().zip(pattern.chars()).all(fits) {
        true => Ok(()),
        false => Err(refuse("PCI address", text, &format!("one looks like {pattern}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pci_address_has_four_parts_in_hex() {
        assert!(check_address("0000:0a:1f.7").is_ok());
        for wrong in ["01:00.0", "0000:01:00", "0000.01.00.0", "0000:01:00.0,x=1", "000g:01:00.0"] {
            assert!(check_address(wrong).is_err(), "{wrong}");
        }
    }
}
