//! Forwarding tables, stand-alone: IPv4, IPv6, MAC, routes, neighbours, adjacencies.

pub mod ip6;
pub mod pages;
pub mod quiesce;

mod error;
mod forward;
mod prefix;
mod sync;

pub use error::FibError;
pub use forward::Forward;
pub use prefix::{Address, Ip4Prefix, Ip6Prefix, Prefix};
