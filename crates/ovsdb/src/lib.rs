//! A client of Open vSwitch's database (RFC 7047).
//!
//! ```text
//!  socket ─▶ Frames ─▶ Message ─┬─▶ update: Rows, as the server has them
//!                               ├─▶ echo: answered
//!                               └─▶ answers to what was asked
//!  operations ─▶ transact ─▶ socket
//! ```
//! Nothing of a server is believed: what is too long, too deep or not of the form ends the session
//! with an error that says what it was.
#![forbid(unsafe_code)]

mod datum;
mod fault;
mod frames;
mod message;
mod rows;
mod session;
mod target;

pub use datum::{Atom, Datum};
pub use fault::Fault;
pub use frames::Frames;
pub use message::Message;
pub use rows::{Row, Rows};
pub use session::Session;
pub use target::Target;
pub use tls::Keys;
