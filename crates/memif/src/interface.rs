//! What an interface is: what is wanted of it, its queues, how it is.

use crate::control::{MAX_RINGS, SECRET_BYTES};
use crate::queue::{InEnd, Line, OutEnd};
use crate::shape::Shape;
use crate::zero_copy::SharedBuffers;
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
#[derive(Clone)]
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
    /// Bytes of a slot's buffer. The client's counts, where it copies.
    pub buffer_bytes: u16,
    /// Receive queues.
    pub rx_queues: u16,
    /// Transmit queues.
    pub tx_queues: u16,
    /// Of a client: packets are not copied, but lie in these buffers, which the peer sees.
    pub zero_copy: Option<SharedBuffers>,
}

impl Settings {
    /// How a client's memory is to be laid out.
    pub(crate) fn shape(&self) -> Shape {
        let buffer_bytes = if self.zero_copy.is_some() { 0 } else { self.buffer_bytes };
        Shape {
            to_server: self.tx_queues.min(MAX_RINGS),
            to_client: self.rx_queues.min(MAX_RINGS),
            ring_log2: self.ring_log2,
            buffer_bytes,
        }
    }
}

/// What all hold of an interface.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) rx: Vec<Arc<Line<InEnd>>>,
    pub(crate) tx: Vec<Arc<Line<OutEnd>>>,
    pub(crate) up: AtomicBool,
    pub(crate) refused: AtomicU64,
    pub(crate) lies: AtomicU64,
}
