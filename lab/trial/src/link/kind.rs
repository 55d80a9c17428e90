//! The kinds of links, and what differs for whoever chooses one.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;

/// A kind of link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkKind {
    /// A pair of kernel devices, by packet sockets.
    Veth,
    /// The same, by XDP sockets.
    VethXdp,
    /// A kernel device whose other end the lab holds itself.
    Tap,
    /// Shared memory between processes.
    Memif,
    /// The shared memory of virtual machines.
    Vhost,
    /// Capture files, which have no time.
    Pcap,
    /// Network cards.
    Pci,
}

impl LinkKind {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Veth, Self::VethXdp, Self::Tap, Self::Memif, Self::Vhost, Self::Pcap, Self::Pci];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Veth => "veth",
            Self::VethXdp => "veth-xdp",
            Self::Tap => "tap",
            Self::Memif => "memif",
            Self::Vhost => "vhost",
            Self::Pcap => "pcap",
            Self::Pci => "pci",
        }
    }

    /// Whether the kernel has a device at the device's end.
    pub fn is_kernel(self) -> bool {
        matches!(self, Self::Veth | Self::VethXdp | Self::Tap)
    }

    /// Whether two devices can have theirs at a time: their ends have no names in the kernel.
    pub fn is_shared_memory(self) -> bool {
        matches!(self, Self::Memif | Self::Vhost)
    }

    /// Whether the lab can have both ends of one, with no device in between.
    pub fn has_two_ends(self) -> bool {
        !matches!(self, Self::Pcap | Self::Pci)
    }

    /// An iteration of the generator longer than this is a stall: a call into the kernel with a
    /// burst takes its time, shared memory does not.
    pub fn stall_ns(self) -> u64 {
        if self.is_kernel() { 300_000 } else { 5_000 }
    }
}

impl fmt::Display for LinkKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for LinkKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let allowed = "veth, veth-xdp, tap, memif, vhost, pcap or pci";
        let refuse =
            || Error::Text { what: "kind of link", text: text.to_owned(), allowed: allowed.into() };
        Self::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(refuse)
    }
}
