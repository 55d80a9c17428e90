//! `ring`: what is sent comes back, for tests.

use crate::Error;
use crate::arguments::Arguments;
use crate::device::{Device, Shape};
use crate::kind::Kind;
use std::fmt;

/// Receives what it sends: for tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring;

impl Kind for Ring {
    fn name(&self) -> &'static str {
        "ring"
    }

    fn device(&self, _: Shape) -> Result<Device, Error> {
        Ok(Device::of_driver("net_ring", Arguments::default()))
    }
}

impl fmt::Display for Ring {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}
