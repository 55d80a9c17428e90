//! A client whose packets are not copied: the server takes them out of our buffers, and puts them
//! there.
//!
//! ```text
//!  buffers   packets in memory that the server maps; their headers are ours alone
//!  receive   slots hold empty buffers ─▶ the server fills one ─▶ it goes on as a packet, and the slot gets another
//!  transmit  a packet is put into a slot ─▶ the server has read it ─▶ its buffer is free again
//! ```
//! Of what the server writes into a ring, lengths alone are looked at, as without this. What it may
//! do besides is read and change *bytes* of packets while we work at them, also of those that other
//! such interfaces received: it is trusted as much as the router itself.

mod buffers;
mod receive;
mod transmit;

pub use buffers::{SharedBuffers, WeakSharedBuffers};
pub(crate) use receive::Lending;
pub(crate) use transmit::Handing;

/// The region of the buffers, behind that of the rings.
pub(crate) const REGION: u16 = 1;
