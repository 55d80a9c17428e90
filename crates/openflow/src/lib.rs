//! OpenFlow as bytes: what controllers say to a switch and what it answers, of versions 1.0, 1.3,
//! 1.4 and 1.5, with the extensions that Open vSwitch's tools use.
//!
//! ```text
//!  bytes ─▶ Message::decode ─▶ FlowMod, GroupMod, Multipart, … ─ Match (fields with masks)
//!                                                               └ Action, each a file of its own
//!  bytes ◀─ reply, multipart parts, errors with type and code ◀─ what the switch has to say
//! ```
//! Nothing here opens a socket or keeps a table. An action knows its bytes and what it does, the
//! latter in terms of a [`Machine`] that the switch gives it. Bytes of the other side are believed
//! nowhere: what is wrong with them is a [`Fault`], which OpenFlow has a number for.
#![forbid(unsafe_code)]

pub mod action;
mod bytes;
mod fault;
mod field;
mod machine;
mod matching;
mod matching10;
pub mod message;
pub mod port;
mod version;
mod words;

pub use action::Action;
pub use bytes::{Reader, Writer};
pub use fault::Fault;
pub use field::{Field, Header, Needs, Sub};
pub use machine::{Machine, Nat};
pub use matching::Match;
pub use message::{Header as MessageHeader, Request};
pub use port::{MAX_PORT, PortNumber};
pub use version::{Version, Versions};
pub use words::{Actions, PortWord, Value};

/// Nicira's number as an experimenter: Open vSwitch's extensions have it.
pub const NICIRA: u32 = 0x0000_2320;
/// The Open Networking Foundation's: extensions that later versions took in.
pub const ONF: u32 = 0x4f4e_4600;
