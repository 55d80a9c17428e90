//! `memory`: packets that are there from the start.

use std::path::PathBuf;

use super::fields::FrameHex;
use super::kind::Kind;
use crate::config::declare::object;

object! {
    /// Packets in memory, replayed for ever
    pub struct Memory {
        /// Capture file to take the packets from
        pub source: Option<PathBuf> as "in.pcap" = None,
        /// Packets in hexadecimal, after those of `source`
        pub frames: Vec<FrameHex> as "02000000000102000000000288b5" = Vec::new(),
        /// Capture file to write sent packets to; without it they are freed
        pub record: Option<PathBuf> as "out.pcap" = None,
    }
}

impl Kind for Memory {
    fn claim(&self) -> Option<String> {
        self.record.as_ref().map(|path| format!("file {}", path.display()))
    }
}
