//! What goes in and what comes out: packets as opaque handles, verdicts, and the next packet or the
//! time to wait for it.
//!
//! ```text
//!   enqueue(now, Packet) ──▶ Verdict::Queued | Dropped        drops(Dropped) for every packet that leaves unsent
//!   dequeue(now)         ──▶ Next::Packet(Sent) | Wait(until_ns) | Empty
//! ```

use crate::ClassId;

/// A packet as a scheduler sees it: a handle that it never looks into, and the few facts that it
/// decides by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<T> {
    /// The caller's own name for the packet: a pointer, an index.
    pub handle: T,
    /// Length on the link, from the Ethernet header to the end of the payload.
    pub length_bytes: u32,
    /// Hash of the flow: equal for the packets of one flow. Any distribution will do, it is mixed
    /// again.
    pub flow_hash: u32,
    /// The class that a filter chose, or [`ClassId::NONE`].
    pub class: ClassId,
    /// The priority 0..=15 that priority maps are indexed by.
    pub priority: u8,
    /// Whether congestion may be signalled by a mark in place of a drop (RFC 3168).
    pub ecn_capable: bool,
    /// The code point of differentiated services (RFC 2474).
    pub code_point: u8,
    /// What is told only to schedulers that ask for it.
    pub offer: Offer,
}

/// What some schedulers ask of a packet beside: it is looked at when the packet is offered, and not
/// kept with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Offer {
    /// Whom it is from and to.
    pub hosts: Hosts,
    /// The number that a segment of TCP acknowledges, if it does nothing else.
    pub pure_ack: Option<u32>,
}

/// Whom a packet is from and to, hashed: equal for the packets of one host. 0 where nobody told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hosts {
    /// The sender.
    pub source: u32,
    /// The receiver.
    pub destination: u32,
}

impl<T> Packet<T> {
    /// A packet of one flow, of no class, of priority 0, not ECN-capable.
    pub fn new(handle: T, length_bytes: u32, flow_hash: u32) -> Self {
        Self {
            handle,
            length_bytes,
            flow_hash,
            class: ClassId::NONE,
            priority: 0,
            ecn_capable: false,
            code_point: 0,
            offer: Offer::default(),
        }
    }

    /// The same of another handle.
    #[inline]
    pub fn of<U>(self, handle: U) -> Packet<U> {
        let Self {
            length_bytes, flow_hash, class, priority, ecn_capable, code_point, offer, ..
        } = self;
        Packet { handle, length_bytes, flow_hash, class, priority, ecn_capable, code_point, offer }
    }

    /// The same packet, put into `class` by a filter.
    pub fn in_class(mut self, class: ClassId) -> Self {
        self.class = class;
        self
    }
}

/// A packet that is to be sent now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent<T> {
    /// The caller's handle.
    pub handle: T,
    /// Its length, as it was given.
    pub length_bytes: u32,
    /// The packet is ECN-capable and is to be marked Congestion Experienced before it is sent.
    pub mark: bool,
}

/// A packet that is not to be sent; the caller frees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dropped<T> {
    /// The caller's handle.
    pub handle: T,
    /// Its length, as it was given.
    pub length_bytes: u32,
    /// What it was dropped for.
    pub reason: DropReason,
}

/// Why a packet was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DropReason {
    /// Its queue was full and it came last.
    QueueFull,
    /// The discipline was full and the packet stood in the longest queue.
    LongestQueue,
    /// CoDel: it had waited too long, for too long a time.
    Delay,
    /// No filter named a class for it and there is no default class.
    NoClass,
    /// It is longer than a token bucket can ever hold tokens for.
    TooLong,
    /// A later acknowledgement of the same flow says as much.
    Acknowledged,
    /// The scheduler's pool of packets was used up.
    PoolExhausted,
}

impl DropReason {
    /// The reason as a metric label.
    pub fn label(self) -> &'static str {
        match self {
            Self::QueueFull => "queue-full",
            Self::LongestQueue => "longest-queue",
            Self::Delay => "delay",
            Self::NoClass => "no-class",
            Self::TooLong => "too-long",
            Self::Acknowledged => "acknowledged",
            Self::PoolExhausted => "pool-exhausted",
        }
    }
}

/// Where dropped packets go: each one, exactly once.
pub type Drops<'a, T> = &'a mut dyn FnMut(Dropped<T>);

/// What became of the packet that was offered. Others may have been dropped to make room for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is queued.
    Queued,
    /// It was dropped, and reported to the caller's `drops` like every other.
    Dropped,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next<T> {
    /// Send this packet.
    Packet(Sent<T>),
    /// Packets are queued, and none may be sent before this time (unless another arrives).
    Wait(u64),
    /// Nothing is queued.
    Empty,
}

/// How a burst ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Burst {
    /// At its limit: more may be sent now.
    More,
    /// No more may be sent before this time (unless another packet arrives).
    Wait(u64),
    /// Nothing more is queued.
    Empty,
}
