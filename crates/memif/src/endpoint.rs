//! One interface, as its user holds it: its queues, its state.
//!
//! ```text
//!  open ─▶ stopped ◀─ start, stop ─▶ started: connected or not ─▶ drop: nothing is left of it
//! ```
//! A server listens from `open` on; a client tries again and again while it is started. Neither
//! takes a call to be connected again: the service sees to it.

use crate::control::{MAX_RING_LOG2, MAX_RINGS};
use crate::counts::Counters;
use crate::interface::{Role, Settings, Shared};
use crate::queue::{Line, Receiver, Sender};
use crate::service;
use crate::shape::Shape;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// An open interface.
pub struct Endpoint {
    number: u64,
    shared: Arc<Shared>,
}

impl Endpoint {
    /// Opens it, stopped. A server's socket is there afterwards.
    pub fn open(settings: Settings) -> io::Result<Self> {
        let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what.to_owned());
        let most = settings.rx_queues.max(settings.tx_queues);
        let shape = Shape { to_server: most, to_client: most, ..settings.shape() };
        if settings.ring_log2 > MAX_RING_LOG2 || settings.rx_queues.min(settings.tx_queues) == 0 {
            return Err(wrong("rings of at most 2^14 packets, at least one each way"));
        }
        match settings.role {
            Role::Server if settings.zero_copy.is_some() => {
                return Err(wrong(
                    "a memif's server has no memory to share: zero copy is a client's",
                ));
            }
            Role::Client if shape.buffer_bytes == 0 && settings.zero_copy.is_none() => {
                return Err(wrong("slots without buffers"));
            }
            Role::Server | Role::Client => {}
        }
        if settings.role == Role::Client && !shape.is_possible() {
            return Err(wrong("more memory than a memif can have: fewer queues, smaller rings"));
        }
        let queues = |count: u16| 0..count.min(MAX_RINGS);
        let shared = Arc::new(Shared {
            rx: queues(settings.rx_queues).map(|_| Arc::new(Line::waking())).collect(),
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
        self.shared.rx.iter().map(|line| line.counts.told())
    }

    /// What each transmit queue did.
    pub fn sent(&self) -> impl Iterator<Item = Counters> + '_ {
        self.shared.tx.iter().map(|line| line.counts.told())
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

impl Drop for Endpoint {
    fn drop(&mut self) {
        service::close(self.number);
    }
}
