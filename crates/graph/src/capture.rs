//! Copies of the packets that take an exit.

use std::sync::mpsc::SyncSender;

/// What to copy.
#[derive(Clone)]
pub struct CaptureRequest {
    /// Slot of the node.
    pub slot: usize,
    /// Number of its exit; every exit if none is given.
    pub exit: Option<u8>,
    /// At most this many bytes of each packet.
    pub snap_bytes: usize,
    /// Where the copies go. A full channel loses copies, never packets.
    pub into: SyncSender<Captured>,
}

/// One copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// TSC when it was made.
    pub tsc: u64,
    /// Interface it came in by.
    pub rx: u16,
    /// The frame's length, of which `bytes` may be a part.
    pub length: usize,
    /// The frame from its first byte.
    pub bytes: Vec<u8>,
}
