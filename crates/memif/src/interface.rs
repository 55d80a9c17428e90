//! What an interface is: what is wanted of it, its queues, how it is.

use crate::control::SECRET_BYTES;
use crate::queue::Line;
use crate::receive::Incoming;
use crate::transmit::Outgoing;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

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
