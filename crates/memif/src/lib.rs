//! Shared memory with another process (memif 2.0), in which no byte of the other side is believed.
//!
//! ```text
//!  endpoint   one interface as its user holds it: opened, started, stopped, closed; interface: what it is; counts: what it did
//!  service    one thread for all: who listens, who connects, who says what; session: one connection
//!  control    what is said, as pure state machines; socket: how it goes over
//!  region     memory that both sides have, and that neither can take away; shape: how ours is laid out
//!  ring       a ring in it; receive, transmit: packets out of and into rings, copied
//!  zero_copy  the same of a client that lends its buffers out, and hands packets over as they lie
//!  probe      one ring without a peer, for tests and fuzzers
//!  queue      what a worker holds: follows connections as they come and go; bell, signal: wake who does not poll
//! ```
//! What the other side may write at any time:
//!
//! | it writes | what becomes of it |
//! |---|---|
//! | any message, any descriptor, or stops in the middle | the connection ends; another may come |
//! | a descriptor of a packet that lies not inside a region | counted (`wrong`), the packet is dropped |
//! | packets that are empty, too long, without end | counted (`wrong`), dropped |
//! | a ring's head or tail that cannot be | the connection ends, counted (`lies`) |
//! | anything, while we read | each word is read once, what was checked is what is used |
//! | a shorter memory | cannot be: its size is sealed, or the memory refused |
//! | an eventfd that is full | nobody waits; it is signalled by the kernel, not written |
//!
//! Nothing of it touches memory that is not shared with that peer. Where nothing is copied
//! (`zero_copy`), a peer can besides change packets while they are worked at.
// Memory that others write is read through pointers: `region`, `ring` and `socket` are the wall.
#![allow(unsafe_code)]

pub mod bell;
pub mod control;
mod counts;
mod endpoint;
mod interface;
pub mod probe;
mod queue;
mod receive;
mod region;
mod ring;
mod service;
mod session;
mod shape;
pub mod signal;
pub mod socket;
mod transmit;
mod zero_copy;

pub use counts::Counters;
pub use endpoint::Endpoint;
pub use interface::{Role, Settings};
pub use queue::{Receiver, Sender};
pub use region::{Region, RegionError};
pub use shape::{Direction, Shape};
pub use zero_copy::{SharedBuffers, WeakSharedBuffers};
