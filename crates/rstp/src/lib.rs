//! The rapid spanning tree protocol, stand-alone: which ports of a bridge forward, so that there is
//! one way between any two stations (IEEE 802.1D-2004 clause 17).
//!
//! ```text
//!  messages ─▶ Bridge::receive ─┐                       ┌─▶ Action::Send      a message
//!  links ────▶ Bridge::set_port ┼─▶ machines, until ────┼─▶ Action::Flush     stations are forgotten
//!  time ─────▶ Bridge::turn ────┘   none moves any more └─▶ Bridge::port      role and state of each port
//! ```
//! Nothing here sends or waits: what is to be sent is given back, and who calls says what time it
//! is, in nanoseconds. Neighbours that speak the old protocol (802.1D-1998) are spoken to in it.
//! Memory is bounded by the number of ports.
#![forbid(unsafe_code)]

mod bpdu;
mod bridge;
mod machines;
mod port;
mod roles;
mod vector;

pub use bpdu::{Bpdu, Configuration, FRAME_LEN, GROUP, Kind, Malformed, Said};
pub use bridge::{Action, Bridge, Settings};
pub use port::{Port, PortSettings, Role, State, path_cost};
pub use vector::{BridgeId, Times, Vector};

/// A second, in nanoseconds.
const SECOND: u64 = 1_000_000_000;
/// Between two messages of a bridge, in seconds (802.1D-2004 table 17-1).
const HELLO_S: u8 = 2;
/// How long a neighbour is given to show which protocol it speaks, in seconds.
const MIGRATE_S: u8 = 3;
