//! `af_packet`: a Linux device through packet sockets.

use super::fields::DeviceName;
use super::kind::Kind;
use crate::config::declare::object;

object! {
    /// A kernel device through a packet socket
    pub struct AfPacket {
        /// Name in the kernel
        pub device: DeviceName as "veth0",
        /// Whether the other end may be a Linux host that leaves checksums and cutting to a card;
        /// off is cheaper
        pub peer_offloads: bool = true,
    }
}

impl Kind for AfPacket {
    fn claim(&self) -> Option<String> {
        Some(self.device.claim())
    }

    fn peer_offloads(&self) -> bool {
        self.peer_offloads
    }
}
