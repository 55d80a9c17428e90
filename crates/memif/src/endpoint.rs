//! One interface: what is wanted of it, its queues, its state.
//!
//! ```text
//!  open ─▶ stopped ◀─ start, stop ─▶ started: connected or not ─▶ drop: nothing is left of it
//! ```
//! A server listens from `open` on; a client tries again and again while it is started. Neither
//! takes a call to be connected again: the service sees to it.

use crate::control::{MAX_RING_LOG2, MAX_RINGS, SECRET_BYTES};
use crate::queue::{Line, Receiver, Sender};
use crate::receive::Incoming;
use crate::service;
use crate::shape::Shape;
use crate::transmit::Outgoing;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Who listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Makes the socket and waits.
    Server,
    /// Connects, and provides the memory.
    Client,
}

/// What is wanted of an interface.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Who listens.
    pub role: Role,
    /// The socket both meet at.
    pub socket: PathBuf,
    /// Tells several interfaces at one socket apart.
    pub id: u32,
    /// What both must know; zeroes: nothing.
    pub secret: [u8; SECRET_BYTES],
    /// Packets a ring holds, as a power of two. The client's counts.
    pub ring_log2: u8,
    /// Bytes of a slot's buffer. The client's counts.
    pub buffer_bytes: u16,
    /// Receive queues.
    pub rx_queues: u16,
    /// Transmit queues.
    pub tx_queues: u16,
}

/// What all hold of an interface.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) rx: Vec<Arc<Line<Incoming>>>,
    pub(crate) tx: Vec<Arc<Line<Outgoing>>>,
    pub(crate) up: AtomicBool,
    pub(crate) refused: AtomicU64,
    pub(crate) lies: AtomicU64,
}

/// What a queue did, or all of them, since the interface was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets received, or buffers to send by, that cannot be: the other side's fault.
    pub wrong: u64,
    /// Packets not sent as they do not fit.
    pub errors: u64,
    /// Bursts for which there was no buffer.
    pub no_buffers: u64,
}

/// An open interface.
pub struct Endpoint {
    number: u64,
    shared: Arc<Shared>,
}

impl Endpoint {
    /// Opens it, stopped. A server's socket is there afterwards.
    pub fn open(settings: Settings) -> io::Result<Self> {
        let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what.to_owned());
        let shape = Shape {
            to_server: settings.rx_queues.max(settings.tx_queues),
            to_client: settings.rx_queues.max(settings.tx_queues),
            ring_log2: settings.ring_log2,
            buffer_bytes: settings.buffer_bytes,
        };
        if settings.ring_log2 > MAX_RING_LOG2 || settings.rx_queues.min(settings.tx_queues) == 0 {
            return Err(wrong("rings of at most 2^14 packets, at least one each way"));
        }
        if settings.role == Role::Client && !shape.is_possible() {
            return Err(wrong("more memory than a memif can have: fewer queues, smaller rings"));
        }
        let queues = |count: u16| 0..count.min(MAX_RINGS);
        let shared = Arc::new(Shared {
            rx: queues(settings.rx_queues).map(|_| Arc::default()).collect(),
            tx: queues(settings.tx_queues).map(|_| Arc::default()).collect(),
            settings,
            up: AtomicBool::new(false),
            refused: AtomicU64::new(0),
            lies: AtomicU64::new(0),
        });
        let number = service::the()?.open(&shared)?;
        Ok(Self { number, shared })
    }

    /// Lets it be connected.
    pub fn start(&self) {
        service::wants(self.number, true);
    }

    /// Ends its connection, and has none.
    pub fn stop(&self) {
        service::wants(self.number, false);
    }

    /// Whether packets can flow.
    pub fn is_up(&self) -> bool {
        self.shared.up.load(Ordering::Acquire)
    }

    /// A receive queue; none where there is no such, or somebody has it.
    pub fn receiver(&self, number: u16) -> Option<Receiver> {
        Receiver::take(self.shared.rx.get(usize::from(number))?)
    }

    /// A transmit queue; none where there is no such, or somebody has it.
    pub fn sender(&self, number: u16) -> Option<Sender> {
        Sender::take(self.shared.tx.get(usize::from(number))?)
    }

    /// What each receive queue did.
    pub fn received(&self) -> impl Iterator<Item = Counters> + '_ {
        self.shared.rx.iter().map(|line| read(&line.counts))
    }

    /// What each transmit queue did.
    pub fn sent(&self) -> impl Iterator<Item = Counters> + '_ {
        self.shared.tx.iter().map(|line| read(&line.counts))
    }

    /// Peers that were turned away for what they said before packets flowed.
    pub fn refused(&self) -> u64 {
        self.shared.refused.load(Ordering::Relaxed)
    }

    /// Connections that ended as a ring said what cannot be.
    pub fn lies(&self) -> u64 {
        self.shared.lies.load(Ordering::Relaxed)
    }
}

pub(crate) fn read(counts: &crate::queue::Counts) -> Counters {
    Counters {
        packets: counts.packets.load(Ordering::Relaxed),
        bytes: counts.bytes.load(Ordering::Relaxed),
        wrong: counts.wrong.load(Ordering::Relaxed),
        errors: counts.errors.load(Ordering::Relaxed),
        no_buffers: counts.no_buffers.load(Ordering::Relaxed),
    }
}

impl core::ops::AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
        self.wrong += other.wrong;
        self.errors += other.errors;
        self.no_buffers += other.no_buffers;
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        service::close(self.number);
    }
}
