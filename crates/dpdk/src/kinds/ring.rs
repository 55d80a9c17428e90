//! `ring`: what is sent comes back, for tests.

use crate::Error;
use crate::arguments::Arguments;
use crate::device::{Device, Shape};
use crate::driver::Driver;
use crate::eth_dev::EthDev;
use crate::kind::Kind;
use std::fmt;

/// Receives what it sends, frames in several buffers as from a card: for tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring;

impl Kind for Ring {
    fn name(&self) -> &'static str {
        "ring"
    }

    fn driver(&self, _: Shape) -> Result<Box<dyn Driver>, Error> {
        Ok(EthDev::of_card(Device::of_driver("net_ring", Arguments::default()), u16::MAX))
    }
}

impl fmt::Display for Ring {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}
