//! What a port is, as a configuration says it.

use std::fmt;
use std::path::{Path, PathBuf};

/// A kind of port and what that kind needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortSpec {
    /// A network card, by its address (`0000:01:00.0`), bound to vfio-pci or of a driver that
    /// needs no binding. The environment must have been started with `pci`.
    Pci {
        /// Domain, bus, device, function.
        address: String,
    },
    /// A Linux device through packet sockets. The kernel keeps seeing its packets, too.
    AfPacket {
        /// The device.
        device: String,
    },
    /// A Linux device through XDP sockets: the kernel no longer sees its packets.
    AfXdp {
        /// The device.
        device: String,
        /// The device's first queue that is taken.
        first_queue: u16,
        /// Copy packets even if the driver could do without.
        force_copy: bool,
    },
    /// A device that we make in Linux: the kernel is the other end.
    Tap {
        /// Its name.
        name: String,
    },
    /// Shared memory with another process (VPP, another Volley). A client waits for its server,
    /// and finds it again. (Both ends in one process: the server must be opened first.)
    Memif {
        /// Who listens.
        role: MemifRole,
        /// The socket both meet at.
        socket: PathBuf,
        /// Tells several links over one socket apart.
        id: u32,
        /// Packets a ring holds, as a power of two: 10 is 1024. The client's counts.
        ring_log2: u8,
        /// Bytes a buffer holds. The client's counts.
        buffer_bytes: u16,
    },
    /// The host's end of a virtual machine's network card.
    Vhost {
        /// The socket both meet at.
        socket: PathBuf,
        /// Connect to the socket instead of listening.
        client: bool,
    },
    /// The machine's end of the same, without a machine; or the kernel's vhost-net.
    VirtioUser {
        /// The vhost socket, or `/dev/vhost-net`.
        path: PathBuf,
        /// Listen at the socket for a host that connects. Opening waits until it does.
        server: bool,
    },
    /// Files of packets.
    Pcap {
        /// Received from.
        rx: Option<PathBuf>,
        /// Sent to.
        tx: Option<PathBuf>,
        /// Received again and again.
        repeat: bool,
    },
    /// Receives empty packets without end and sends into nothing: for measuring.
    Null {
        /// Length of the packets received.
        packet_bytes: u16,
    },
    /// Receives what it sends: for tests.
    Ring,
}

/// Who listens at a memif's socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemifRole {
    /// Makes the socket and waits. Called master by old versions.
    Server,
    /// Connects, and provides the memory.
    Client,
}

impl PortSpec {
    /// The kind as a configuration writes it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Pci { .. } => "pci",
            Self::AfPacket { .. } => "af_packet",
            Self::AfXdp { .. } => "af_xdp",
            Self::Tap { .. } => "tap",
            Self::Memif { .. } => "memif",
            Self::Vhost { .. } => "vhost",
            Self::VirtioUser { .. } => "virtio_user",
            Self::Pcap { .. } => "pcap",
            Self::Null { .. } => "null",
            Self::Ring => "ring",
        }
    }

    /// True if each queue is a pair: whoever has a transmit queue must also poll its other half,
    /// as the other end may put packets there.
    pub fn has_queue_pairs(&self) -> bool {
        use PortSpec::*;
        matches!(
            self,
            AfPacket { .. } | AfXdp { .. } | Tap { .. } | Vhost { .. } | VirtioUser { .. }
        )
    }

    /// True if Linux may hand over frames whose checksums were left to a card.
    pub(crate) fn leaves_out_checksums(&self) -> bool {
        matches!(self, Self::AfPacket { .. } | Self::AfXdp { .. })
    }

    /// The socket at which the port will listen.
    pub(crate) fn listens_at(&self) -> Option<&Path> {
        match self {
            Self::Memif { role: MemifRole::Server, socket, .. }
            | Self::Vhost { socket, client: false }
            | Self::VirtioUser { path: socket, server: true } => Some(socket),
            _ => None,
        }
    }

    /// The socket that the port connects to again and again.
    pub(crate) fn connects_to(&self) -> Option<&Path> {
        match self {
            Self::Memif { role: MemifRole::Client, socket, .. } => Some(socket),
            _ => None,
        }
    }

    /// The Linux device behind the port, if there is one.
    pub fn device(&self) -> Option<&str> {
        match self {
            Self::AfPacket { device } | Self::AfXdp { device, .. } | Self::Tap { name: device } => {
                Some(device)
            }
            _ => None,
        }
    }
}

impl fmt::Display for PortSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind();
        match self {
            Self::Pci { address } => write!(f, "{kind} {address}"),
            Self::AfPacket { device } | Self::AfXdp { device, .. } | Self::Tap { name: device } => {
                write!(f, "{kind} {device}")
            }
            Self::Memif { socket, id, .. } => write!(f, "{kind} {} id {id}", socket.display()),
            Self::Vhost { socket: path, .. } | Self::VirtioUser { path, .. } => {
                write!(f, "{kind} {}", path.display())
            }
            Self::Pcap { rx, tx, .. } => {
                f.write_str(kind)?;
                for (way, path) in [("from", rx), ("to", tx)] {
                    if let Some(path) = path {
                        write!(f, " {way} {}", path.display())?;
                    }
                }
                Ok(())
            }
            Self::Null { .. } | Self::Ring => f.write_str(kind),
        }
    }
}
