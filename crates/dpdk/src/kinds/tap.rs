//! `tap`: a device that we make in Linux.

use crate::Error;
use crate::arguments::Arguments;
use crate::device::{Device, Shape};
use crate::kind::{AddressOf, Kind};
use crate::privilege::Right;
use std::fmt;

/// A device that we make in Linux: the kernel is the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tap {
    /// Its name.
    pub name: String,
}

impl Kind for Tap {
    fn name(&self) -> &'static str {
        "tap"
    }

    fn device(&self, _: Shape) -> Result<Device, Error> {
        let arguments = Arguments::default().device("iface", &self.name)?;
        Ok(Device::of_driver("net_tap", arguments))
    }

    fn rights(&self) -> &'static [Right] {
        &[Right::NetAdmin]
    }

    fn linux_device(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn makes_device(&self) -> bool {
        true
    }

    fn has_queue_pairs(&self) -> bool {
        true
    }

    fn address_is_of(&self) -> AddressOf {
        AddressOf::Kernel
    }
}

impl fmt::Display for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
