//! What the ends say to each other, as pure state machines: no sockets, no memory.
//!
//! ```text
//!  server                                  client
//!    Hello ───────────────────────────────▶  what I can take
//!  ◀───────────────────────────────── Init   which interface
//!    Ack ─────────────────────────────────▶
//!  ◀──────────────────── AddRegion + memfd   one after another, each acknowledged
//!  ◀─────────────────── AddRing  + eventfd
//!  ◀────────────────────────────── Connect
//!    Connected ───────────────────────────▶  packets flow
//!  ◀─ Disconnect ─▶                          or the socket is closed
//! ```
//! A server believes nothing: each message must be one that may come now, with a descriptor exactly
//! if it needs one, and name what lies inside of what was named before.

mod client;
mod message;
mod server;

pub use client::{Carries, Client, ClientStep, Wish};
pub use message::{
    AddRegion, AddRing, Disconnect, Hello, Init, MESSAGE_BYTES, Malformed, Message, NAME_BYTES,
    Name, SECRET_BYTES, VERSION, shown, text,
};
pub use server::{Described, RegionOffer, RingOffer, Server, ServerStep};

/// Most regions that a client may have.
pub const MAX_REGIONS: u16 = 256;
/// Most bytes of all of them: a peer's memory is charged to whoever touches it first.
pub const MAX_SHARED_BYTES: u64 = 1 << 30;
/// Most rings each way.
pub const MAX_RINGS: u16 = 256;
/// Largest ring.
pub const MAX_RING_LOG2: u8 = 14;
/// Bytes of a ring in front of its descriptors.
pub const RING_HEADER_BYTES: u64 = 128;
/// Bytes of a descriptor.
pub const DESCRIPTOR_BYTES: u64 = 16;

/// Bytes of a ring.
pub const fn ring_bytes(ring_log2: u8) -> u64 {
    RING_HEADER_BYTES + (DESCRIPTOR_BYTES << ring_log2)
}

/// Why a peer is turned away.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Bytes that say nothing.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// A message that may not come now.
    #[error("a message out of turn")]
    OutOfTurn,
    /// Another version.
    #[error("Incompatible memif version")]
    Version,
    /// IP packets in place of frames.
    #[error("Only ethernet mode supported")]
    Mode,
    /// Nobody has that number.
    #[error("ID not found")]
    Id,
    /// Somebody is there already.
    #[error("Already connected")]
    Taken,
    /// The secrets differ.
    #[error("Incorrect secret")]
    Secret,
    /// A message that needs a descriptor came without.
    #[error("Missing file descriptor")]
    NoDescriptor,
    /// A message brought a descriptor, or several, that it should not.
    #[error("a file descriptor too many")]
    ExtraDescriptor,
    /// Not the next number, too many, empty, or too large.
    #[error("Invalid region {0}")]
    Region(u16),
    /// Not the next number, too many, too large, or not inside its region.
    #[error("Invalid ring {0}")]
    Ring(u16),
    /// Both directions need one.
    #[error("no ring")]
    NoRing,
    /// It took too long.
    #[error("no answer in time")]
    Late,
    /// What it shares is no memory that we may use.
    #[error("unusable memory: {0}")]
    Memory(String),
    /// Its words do not get through, or ours.
    #[error("the socket: {0}")]
    Socket(String),
    /// It asked for the end.
    #[error("it left: {0}")]
    Left(String),
    /// What a ring says cannot be.
    #[error("a ring says what cannot be")]
    Lie,
    /// We do not want any more.
    #[error("interface is stopped")]
    Stopped,
}
