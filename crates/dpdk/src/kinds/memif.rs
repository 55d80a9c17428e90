//! `memif`: shared memory with another process. Its driver is ours (crate `memif`): DPDK's believes
//! what the other side writes.

use super::counted::{self, Queue};
use crate::arguments::{check_range, refuse};
use crate::device::Shape;
use crate::driver::{Driver, Failed, Queues, Sink, Source};
use crate::kind::{AddressOf, Kind};
use crate::link::Link;
use crate::stats::PortStats;
use crate::{Error, PortFacts, PortOptions, shared_pool};
use ::memif::{Counters, Endpoint, Role, Settings};
use std::fmt;
use std::path::{Path, PathBuf};

/// Shared memory with another process (VPP, another Volley). A client waits for its server, and
/// finds it again.
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
    /// Of a client: packets are not copied into memory of the link's own and out of it. They lie in
    /// buffers that all peers of such ports see, and can change at any time.
    pub zero_copy: bool,
}

/// Who listens at a memif's socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemifRole {
    /// Makes the socket and waits. Called master by old versions.
    Server,
    /// Connects, and provides the memory.
    Client,
}

/// Most bytes of a Unix socket's path.
const SOCKET_PATH_BYTES: usize = 107;
/// What memory tells of its speed, as DPDK's driver does.
const SPEED_MBPS: u32 = 10_000;

impl Memif {
    /// With rings and buffers of the usual size.
    pub fn usual(role: MemifRole, socket: PathBuf, id: u32) -> Self {
        Self { role, socket, id, ring_log2: 10, buffer_bytes: 2048, zero_copy: false }
    }
}

impl Kind for Memif {
    fn name(&self) -> &'static str {
        "memif"
    }

    fn driver(&self, _: Shape) -> Result<Box<dyn Driver>, Error> {
        check_range("memif ring_log2", u32::from(self.ring_log2), 1, 14)?;
        if self.zero_copy && self.role == MemifRole::Server {
            return Err(refuse("zero_copy", "true", "a memif's server has no memory to share"));
        }
        if !(1..=SOCKET_PATH_BYTES).contains(&self.socket.as_os_str().len()) {
            let reason = "a socket's path has 1 to 107 bytes";
            return Err(refuse("path", &self.socket.to_string_lossy(), reason));
        }
        Ok(Box::new(SharedMemory { spec: self.clone(), endpoint: None, mac: [0; 6], mtu: 1500 }))
    }

    fn listens_at(&self) -> Option<&Path> {
        (self.role == MemifRole::Server).then_some(&self.socket)
    }

    fn shares_socket(&self) -> bool {
        true
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

/// The driver of one port.
struct SharedMemory {
    spec: Memif,
    /// From `configure` on.
    endpoint: Option<Endpoint>,
    mac: [u8; 6],
    mtu: u16,
}

impl SharedMemory {
    fn endpoint(&self) -> Result<&Endpoint, i32> {
        self.endpoint.as_ref().ok_or(-libc::ENODEV)
    }
}

impl Driver for SharedMemory {
    fn open(&mut self, options: &PortOptions) -> Result<PortFacts, i32> {
        self.mac = random_address();
        let Memif { role, socket, id, ring_log2, buffer_bytes, zero_copy } = self.spec.clone();
        let zero_copy = zero_copy.then(|| shared_pool::shared(&options.pool));
        let zero_copy = zero_copy.transpose().map_err(|error| {
            tracing::error!(fault = "no-shared-buffers", %error, "no buffers to share with a peer");
            -libc::ENOMEM
        })?;
        let endpoint = Endpoint::open(Settings {
            role: match role {
                MemifRole::Server => Role::Server,
                MemifRole::Client => Role::Client,
            },
            socket,
            id,
            secret: [0; 24],
            ring_log2,
            buffer_bytes,
            rx_queues: options.rx_queues.max(1),
            tx_queues: options.tx_queues.max(1),
            zero_copy,
        });
        let endpoint = endpoint.map_err(|error| -error.raw_os_error().unwrap_or(libc::EINVAL))?;
        self.endpoint = Some(endpoint);
        Ok(PortFacts {
            driver: "memif".to_owned(),
            max_rx_queues: ::memif::control::MAX_RINGS,
            max_tx_queues: ::memif::control::MAX_RINGS,
            max_mtu: u16::MAX,
            rss: false,
            if_index: 0,
            socket: 0,
        })
    }

    fn configure(&mut self, _: Queues, _: &PortOptions) -> Result<Queues, Failed> {
        let action = || "set up its queues".to_owned();
        let endpoint = self.endpoint().map_err(|code| Failed { action: action(), code })?;
        Ok(Queues { rx: endpoint.received().count() as u16, tx: endpoint.sent().count() as u16 })
    }

    fn start(&mut self) -> Result<(), i32> {
        self.endpoint()?.start();
        Ok(())
    }

    fn stop(&mut self) -> Result<(), i32> {
        self.endpoint()?.stop();
        Ok(())
    }

    fn close(&mut self) {
        self.endpoint = None;
    }

    fn source(&self, queue: u16) -> Option<Source> {
        Some(Source::Ours(Box::new(self.endpoint.as_ref()?.receiver(queue)?)))
    }

    fn sink(&self, queue: u16) -> Option<Sink> {
        Some(Sink::Ours(Box::new(self.endpoint.as_ref()?.sender(queue)?)))
    }

    fn link(&self) -> Result<Link, i32> {
        Ok(Link {
            up: self.endpoint()?.is_up(),
            speed_mbps: Some(SPEED_MBPS),
            full_duplex: true,
            ..Link::default()
        })
    }

    fn stats(&self) -> Result<PortStats, i32> {
        let endpoint = self.endpoint()?;
        let (received, sent) = (sum(endpoint.received()), sum(endpoint.sent()));
        Ok(PortStats {
            rx_packets: received.packets,
            rx_bytes: received.bytes,
            rx_missed: 0,
            rx_errors: received.wrong,
            rx_no_buffers: received.no_buffers,
            tx_packets: sent.packets,
            tx_bytes: sent.bytes,
            tx_errors: sent.errors,
        })
    }

    fn extended_stats(&self) -> Result<Vec<(String, u64)>, i32> {
        let (endpoint, all) = (self.endpoint()?, self.stats()?);
        let own = [
            ("tx_wrong_buffers", sum(endpoint.sent()).wrong),
            ("peers_refused", endpoint.refused()),
            ("peers_that_lied", endpoint.lies()),
        ];
        let queue = |it: Counters| Queue { packets: it.packets, bytes: it.bytes, wrong: it.wrong };
        let (received, sent) = (endpoint.received(), endpoint.sent());
        Ok(counted::named(&all, &own, received.map(queue), sent.map(queue)))
    }

    fn mac(&self) -> Result<[u8; 6], i32> {
        Ok(self.mac)
    }

    fn set_mac(&mut self, address: [u8; 6]) -> Result<(), i32> {
        self.mac = address;
        Ok(())
    }

    fn mtu(&self) -> Result<u16, i32> {
        Ok(self.mtu)
    }

    /// Memory carries whatever fits a buffer.
    fn set_mtu(&mut self, mtu: u16) -> Result<(), i32> {
        self.mtu = mtu;
        Ok(())
    }
}

impl fmt::Display for SharedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "memif,{}", self.spec)
    }
}

fn sum(queues: impl Iterator<Item = Counters>) -> Counters {
    queues.fold(Counters::default(), |mut sum, counters| {
        sum += counters;
        sum
    })
}

/// An address of nobody's: local, of one station.
fn random_address() -> [u8; 6] {
    let mut address = [0; 6];
    // SAFETY: so many bytes of ours. Without chance it is all zeroes but for the first, and works.
    unsafe { libc::getrandom(address.as_mut_ptr().cast(), address.len(), 0) };
    address[0] = (address[0] & !1) | 2;
    address
}
