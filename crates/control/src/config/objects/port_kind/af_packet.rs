//! `af_packet`: a Linux device through packet sockets.

use super::fields::DeviceName;
use super::kind::Kind;
use crate::config::declare::object;

object! {
    /// A kernel device through a packet socket
    pub struct AfPacket {
        /// Name in the kernel
        pub device: DeviceName as "veth0",
        /// Whether frames of up to 64 KiB, which a Linux host at the other end leaves uncut, pass
        /// whole; off, they are cut as they come
        pub peer_offloads: bool = true,
        /// Whether Linux's own protocols get what comes, too; off, the port alone does, at less
        /// cost (Linux 6.6 and later)
        pub kernel_receives: bool = true,
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
