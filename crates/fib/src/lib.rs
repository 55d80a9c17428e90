//! Forwarding tables, stand-alone: IPv4, IPv6, MAC, routes, neighbours, adjacencies.

pub mod ecmp;
pub mod ip4;
pub mod ip6;
pub mod mac;
pub mod neighbor;
pub mod pages;
pub mod quiesce;
pub mod rib;
pub mod route_file;

pub mod adjacency;
mod error;
mod forward;
mod naive;
mod onlooker;
mod prefetch;
mod prefix;
mod sync;

#[cfg(test)]
mod quiesce_tests;
#[cfg(test)]
mod testing;

pub use error::FibError;
pub use forward::Forward;
pub use naive::Naive;
pub use onlooker::{Onlooker, only_looks};
pub use prefetch::prefetch;
pub use prefix::{Address, Ip4Prefix, Ip6Prefix, Prefix};
