//! `memif`: shared memory with another process.
//!
//! What DPDK's driver of it gets wrong is put right by `unmap` and `interrupts`.

use crate::arguments::{Arguments, check_range};
use crate::device::{Device, Shape};
use crate::kind::{AddressOf, Attendant, Kind, Opened};
use crate::{Error, interrupts, unmap};
use std::fmt;
use std::path::{Path, PathBuf};

/// Shared memory with another process (VPP, another Volley). A client waits for its server, and
/// finds it again. (Both ends in one process: the server must be opened first.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memif {
    /// Who listens.
    pub role: MemifRole,
    /// The socket both meet at.
    pub socket: PathBuf,
    /// Tells several links over one socket apart.
    pub id: u32,
    /// Packets a ring holds, as a power of two: 10 is 1024. The client's counts.
    pub ring_log2: u8,
    /// Bytes a buffer holds. The client's counts.
    pub buffer_bytes: u16,
}

/// Who listens at a memif's socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemifRole {
    /// Makes the socket and waits. Called master by old versions.
    Server,
    /// Connects, and provides the memory.
    Client,
}

impl Memif {
    /// With rings and buffers of the usual size.
    pub fn usual(role: MemifRole, socket: PathBuf, id: u32) -> Self {
        Self { role, socket, id, ring_log2: 10, buffer_bytes: 2048 }
    }
}

impl Kind for Memif {
    fn name(&self) -> &'static str {
        "memif"
    }

    fn device(&self, _: Shape) -> Result<Device, Error> {
        check_range("memif ring_log2", u32::from(self.ring_log2), 1, 14)?;
        let role = match self.role {
            MemifRole::Server => "server",
            MemifRole::Client => "client",
        };
        let arguments = Arguments::default()
            .with("role", role)
            .socket("socket", &self.socket)?
            .with("socket-abstract", "no")
            .with("id", self.id)
            .with("rsize", self.ring_log2)
            .with("bsize", self.buffer_bytes);
        Ok(Device::of_driver("net_memif", arguments))
    }

    fn listens_at(&self) -> Option<&Path> {
        (self.role == MemifRole::Server).then_some(&self.socket)
    }

    fn shares_socket(&self) -> bool {
        true
    }

    fn connects_to(&self) -> Option<&Path> {
        (self.role == MemifRole::Client).then_some(&self.socket)
    }

    fn attendant(&self) -> Box<dyn Attendant> {
        Box::new(Memory)
    }

    fn address_is_of(&self) -> AddressOf {
        AddressOf::PortThatBringsAll
    }
}

impl fmt::Display for Memif {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} id {}", self.socket.display(), self.id)
    }
}

/// The memory that an open port shares.
struct Memory;

impl Attendant for Memory {
    fn opened(&mut self, port: &Opened<'_>) {
        unmap::guard(port.rx.iter().chain(port.tx));
    }

    fn settle(&self) {
        interrupts::settle();
    }
}
