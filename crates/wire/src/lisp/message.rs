//! Messages of the control plane, told apart by their first four bits (RFC 9301, 5.1).

use super::{Encapsulated, Registration, Reply, Request};
use crate::Error;

/// What a message is.
pub mod kind {
    /// Where is a network?
    pub const REQUEST: u8 = 1;
    /// There.
    pub const REPLY: u8 = 2;
    /// A site's networks, told to a map server.
    pub const REGISTER: u8 = 3;
    /// A map server heard, or tells of a change.
    pub const NOTIFY: u8 = 4;
    /// The change was heard.
    pub const NOTIFY_ACK: u8 = 5;
    /// Another message, in a packet.
    pub const ENCAPSULATED: u8 = 8;
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// Where is a network?
    Request(Request<'a>),
    /// There.
    Reply(Reply<'a>),
    /// A site's networks, or what is said of them: `head.kind` tells.
    Registration(Registration<'a>),
    /// Another message, in a packet.
    Encapsulated(Encapsulated<'a>),
}

impl<'a> Message<'a> {
    /// Checks all of a message: what was read once is read again without fault.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let first = *bytes.first().ok_or(Error::short("LISP message", 1, 0))?;
        match first >> 4 {
            kind::REQUEST => Request::parse(bytes).map(Self::Request),
            kind::REPLY => Reply::parse(bytes).map(Self::Reply),
            kind::REGISTER | kind::NOTIFY | kind::NOTIFY_ACK => {
                Registration::parse(bytes).map(Self::Registration)
            }
            kind::ENCAPSULATED => Encapsulated::parse(bytes).map(Self::Encapsulated),
            other => Err(Error::field("kind of LISP message", other, "1 to 5, or 8")),
        }
    }
}

#[cfg(test)]
mod tests;
