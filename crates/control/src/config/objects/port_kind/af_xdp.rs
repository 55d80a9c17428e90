//! `af_xdp`: a Linux device through XDP sockets.

use super::fields::DeviceName;
use super::kind::Kind;
use crate::config::declare::object;

object! {
    /// A kernel device through an XDP socket
    pub struct AfXdp {
        /// Name in the kernel
        pub device: DeviceName as "veth1",
        /// Whether the other end may be a Linux host that leaves checksums and cutting to a card;
        /// off is cheaper
        pub peer_offloads: bool = true,
    }
}

impl Kind for AfXdp {
    fn claim(&self) -> Option<String> {
        Some(self.device.claim())
    }

    fn peer_offloads(&self) -> bool {
        self.peer_offloads
    }

    /// Entries of a fill ring: what the kernel receives into.
    fn buffers_a_queue(&self) -> u32 {
        2_048
    }
}
