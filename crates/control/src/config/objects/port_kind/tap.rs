//! `tap`: a Linux device that we make.

use super::fields::DeviceName;
use super::kind::Kind;
use crate::config::declare::object;

object! {
    /// A kernel device that we make
    pub struct Tap {
        /// Name it gets in the kernel
        pub device: DeviceName as "volley0",
        /// Whether frames of up to 64 KiB, which Linux need not cut then, pass whole; off, it cuts
        /// them
        pub peer_offloads: bool = true,
    }
}

impl Kind for Tap {
    fn claim(&self) -> Option<String> {
        Some(self.device.claim())
    }

    fn peer_offloads(&self) -> bool {
        self.peer_offloads
    }
}
