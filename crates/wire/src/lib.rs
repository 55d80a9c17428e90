//! Packet header formats, one file a protocol, zero-copy; the checksum; a crafter of test packets.
//!
//! ```text
//! frame bytes ─▶ Header::new (one length check) ─▶ accessors: host order, no further checks
//!             ─▶ parse        (all checks)       ─▶ header + options + payload, or a typed Error
//! ```
//!
//! A view borrows the bytes: `Header` reads and `HeaderMut` writes. Both stand over a fixed-size
//! array, so an accessor compiles to one load and one byte swap. Addresses are plain `u32` and
//! `u128` in host order; `std::net` types and [`MacAddr`] are for people.
#![forbid(unsafe_code)]

mod error;
mod mac_addr;
#[macro_use]
mod view;

pub mod arp;
pub mod checksum;
pub mod choice;
pub mod craft;
pub mod cut;
pub mod describe;
pub mod ethernet;
pub mod geneve;
pub mod gre;
pub mod gtp_u;
pub mod icmp4;
pub mod icmp6;
pub mod igmp;
pub mod ip;
pub mod ipv4;
pub mod ipv6;
pub mod lacp;
pub mod lisp;
pub mod listeners;
pub mod mld;
pub mod nd;
pub mod options;
pub mod pcap;
pub mod tcp;
pub mod udp;
pub mod vlan;
pub mod vxlan;

pub use error::Error;
pub use mac_addr::MacAddr;
