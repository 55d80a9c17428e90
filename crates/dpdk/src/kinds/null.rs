//! `null`: packets without end, for measuring.

use crate::Error;
use crate::arguments::Arguments;
use crate::device::{Device, Shape};
use crate::driver::Driver;
use crate::eth_dev::EthDev;
use crate::kind::Kind;
use std::fmt;

/// Receives empty packets without end and sends into nothing: for measuring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Null {
    /// Length of the packets received.
    pub packet_bytes: u16,
}

impl Kind for Null {
    fn name(&self) -> &'static str {
        "null"
    }

    fn driver(&self, _: Shape) -> Result<Box<dyn Driver>, Error> {
        let arguments = Arguments::default().with("size", self.packet_bytes);
        Ok(EthDev::of(Device::of_driver("net_null", arguments)))
    }
}

impl fmt::Display for Null {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}
