//! Netlink messages as bytes: what is asked of the kernel, and what FRR's zebra tells by FPM.
//!
//! ```text
//!  FPM frame   │ version 1 │ type 1 │ length (2) │ messages …            network byte order
//!  message     │ length (4) │ type (2) │ flags (2) │ sequence (4) │ port (4) │ body …
//!  body        │ fixed part of its type │ attributes …
//!  attribute   │ length (2) │ type (2) │ value … │ padding to 4 │        machine's byte order
//! ```
//! RFC 3549 describes netlink. No sockets here: `kernel` has those.
#![forbid(unsafe_code)]

mod attribute;
pub mod bridge;
mod error;
pub mod fpm;
pub mod link;
mod message;
pub mod neighbor;
pub mod next_hop;
pub mod route;
pub mod socket;
pub mod vrf;

pub use attribute::{Attribute, Attributes};
pub use error::Error;
pub use message::{Kind, Message, Messages, Request, flag, outcome};
