//! The kernel beside us: an interface of the kernel's for each of ours that wants one, its twin.
//!
//! ```text
//!  control thread ── add, set, remove ──▶ Twins ── netlink: MAC, MTU, addresses, carrier ──▶ kernel
//!  workers ── packets for us ──▶ (thread) ── write ──▶ twin ── ssh, BGP, OSPF, ping, tcpdump
//!  worker  ◀── frames to send ── (thread) ◀── read ─── twin ◀─┘
//!  control thread ◀── routes ──── (thread) ◀── FPM ──── FRR's zebra
//! ```
//! A [`mailbox`] is how EVPN's routing daemons tell us of stations, and we them.
//! The threads are there when they are needed, and rest while nothing comes.

mod error;
pub mod fpm;
pub mod mailbox;
mod namespace;
mod rtnetlink;
mod tap;
mod twin;
mod twins;
mod vrf;
mod waker;

pub use error::KernelError;
pub use namespace::Namespace;
pub use twin::{TwinState, TwinTraffic};
pub use twins::Twins;
pub use vrf::{VrfLink, VrfOptions};
pub use waker::Waker;
