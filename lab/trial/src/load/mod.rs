//! What is sent to a device: frames that its function forwards, what must come out for them, and
//! the entries of its tables.

pub mod added;
pub mod entries;
pub mod frames;
pub mod leases;
pub mod shape;
mod tunnels;
