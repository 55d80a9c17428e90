//! `tap`: a Linux device that we make.

use super::fields::DeviceName;
use super::kind::Kind;
use crate::config::declare::object;

object! {
    /// A kernel device that we make
    pub struct Tap {
        /// Name it gets in the kernel
        pub device: DeviceName as "volley0",
    }
}

impl Kind for Tap {
    fn claim(&self) -> Option<String> {
        Some(self.device.claim())
    }

    /// Packets of a receive ring.
    fn buffers_a_queue(&self) -> u32 {
        1_024
    }
}
