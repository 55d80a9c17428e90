//! The kernel's links, with frames of up to 64 KiB kept whole: devices that Linux has, through
//! packet sockets, and taps, which are ours.
//!
//! ```text
//!  port      the sockets of one device: opened, started, stopped; counts: what they did
//!  socket    one of them and what it is told; ring: where the kernel puts what comes
//!  receive   out of the ring, and from the socket what is longer than a slot
//!  transmit  many packets a call
//!  alone     a device whose packets the kernel's own protocols do not get
//!  tap       a device whose other end are files of ours: a packet a call
//!  taking    what becomes of a frame, whichever way it came
//!  virtio    what Linux says of a frame's checksum and of how it is to be cut (virtio 1.3, 5.1.6)
//!  large     a large frame cut into buffers
//! ```
//! Measured before it was built, a relay between two veths in C (`docs/links.md` has the numbers):
//! a ring (TPACKET_V2) for frames that fit a slot, the socket's own queue for those that do not,
//! and `sendmmsg`. A ring of blocks (TPACKET_V3) hands its packets over when a block is full or a
//! millisecond is over; `recvmmsg` takes twice as long for small frames; a ring for sending
//! (PACKET_TX_RING) hands pages of it to the receiver and takes them back before that has read
//! them.
// Memory that the kernel writes, and calls of it.
#![allow(unsafe_code)]

mod alone;
mod counts;
mod large;
mod port;
mod receive;
mod ring;
mod socket;
pub mod taking;
pub mod tap;
mod transmit;
pub mod virtio;

pub use alone::Alone;
pub use counts::{Counters, Counts};
pub use large::{cut_into, cut_of, mark_of};
pub use port::{PacketPort, Shape};
pub use receive::Receiver;
pub use taking::Stamp;
pub use transmit::Sender;
