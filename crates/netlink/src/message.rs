//! Messages: read one after the other, or written as a request.
//!
//! ```text
//!  │ length (4), these 16 bytes included │ type (2) │ flags (2) │ sequence (4) │ port (4) │ body │
//! ```

use crate::{Attributes, Error, attribute};

const HEADER: usize = 16;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind(pub u16);

impl Kind {
    /// Whether a request was carried out.
    pub const ERROR: Self = Self(2);
    /// All of what was asked for is told.
    pub const DONE: Self = Self(3);
    /// A link comes or changes.
    pub const NEW_LINK: Self = Self(16);
    /// A link goes.
    pub const DEL_LINK: Self = Self(17);
    /// A link changes.
    pub const SET_LINK: Self = Self(19);
    /// Asks for a socket, and tells of one; a number of its own protocol, NETLINK_SOCK_DIAG.
    pub const SOCKET: Self = Self(20);
    /// Asks for a link.
    pub const GET_LINK: Self = Self(18);
    /// An address comes.
    pub const NEW_ADDRESS: Self = Self(20);
    /// An address goes.
    pub const DEL_ADDRESS: Self = Self(21);
    /// A route comes or changes.
    pub const NEW_ROUTE: Self = Self(24);
    /// A route goes.
    pub const DEL_ROUTE: Self = Self(25);
    /// A neighbour, or a station of a bridge, comes or changes.
    pub const NEW_NEIGHBOR: Self = Self(28);
    /// A neighbour, or a station of a bridge, goes.
    pub const DEL_NEIGHBOR: Self = Self(29);
    /// Asks for neighbours, or stations.
    pub const GET_NEIGHBOR: Self = Self(30);
    /// A next hop, or a group of them, comes or changes.
    pub const NEW_NEXT_HOP: Self = Self(104);
    /// A next hop, or a group of them, goes.
    pub const DEL_NEXT_HOP: Self = Self(105);
}

/// Flags of requests.
pub mod flag {
    /// It is a request.
    pub const REQUEST: u16 = 0x001;
    /// Its outcome is to be told.
    pub const ACK: u16 = 0x004;
    /// What is there is replaced.
    pub const REPLACE: u16 = 0x100;
    /// What is there already is an error.
    pub const EXCLUSIVE: u16 = 0x200;
    /// All that there are, not one.
    pub const DUMP: u16 = 0x300;
    /// What is not there is made.
    pub const CREATE: u16 = 0x400;
}

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// What it is.
    pub kind: Kind,
    /// Its flags.
    pub flags: u16,
    /// The number of the request that it answers.
    pub sequence: u32,
    /// What follows its header.
    pub body: &'a [u8],
}

impl<'a> Message<'a> {
    /// The fixed part of its body, of so many bytes, and the attributes behind it.
    pub fn parts<const N: usize>(
        &self,
        what: &'static str,
    ) -> Result<(&'a [u8; N], Attributes<'a>), Error> {
        let short = Error::Short { what, needed: N, have: self.body.len() };
        let (fixed, rest) = self.body.split_first_chunk::<N>().ok_or(short)?;
        Ok((fixed, Attributes::new(rest)))
    }
}

/// Messages one after the other; ends behind the first bad one.
#[derive(Clone, Debug)]
pub struct Messages<'a> {
    rest: &'a [u8],
}

impl<'a> Messages<'a> {
    /// Those that these bytes hold.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }
}

impl<'a> Iterator for Messages<'a> {
    type Item = Result<Message<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = std::mem::take(&mut self.rest);
        if rest.is_empty() {
            return None;
        }
        const WHAT: &str = "a netlink message";
        let Some((header, _)) = rest.split_first_chunk::<HEADER>() else {
            return Some(Err(Error::Short { what: WHAT, needed: HEADER, have: rest.len() }));
        };
        let [l0, l1, l2, l3, k0, k1, f0, f1, s0, s1, s2, s3, ..] = *header;
        let length = u32::from_ne_bytes([l0, l1, l2, l3]) as usize;
        let Some(body) = rest.get(HEADER..length) else {
            return Some(Err(Error::Length { what: WHAT, found: length, have: rest.len() }));
        };
        self.rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        let kind = Kind(u16::from_ne_bytes([k0, k1]));
        let (flags, sequence) =
            (u16::from_ne_bytes([f0, f1]), u32::from_ne_bytes([s0, s1, s2, s3]));
        Some(Ok(Message { kind, flags, sequence, body }))
    }
}

/// What an answer says of the request with this number: nothing yet, that it was carried out, or
/// the number of the error.
pub fn outcome(answer: &[u8], sequence: u32) -> Result<Option<Result<(), i32>>, Error> {
    for message in Messages::new(answer) {
        let message = message?;
        if message.kind == Kind::ERROR && message.sequence == sequence {
            let (code, _) = message.parts::<4>("an answer")?;
            let code = i32::from_ne_bytes(*code);
            return Ok(Some(if code == 0 { Ok(()) } else { Err(code.saturating_neg()) }));
        }
        if message.kind == Kind::DONE && message.sequence == sequence {
            return Ok(Some(Ok(())));
        }
    }
    Ok(None)
}

/// A request in the making.
#[derive(Clone, Debug)]
pub struct Request {
    bytes: Vec<u8>,
}

impl Request {
    /// One whose outcome is to be told, without a body.
    pub fn new(kind: Kind, flags: u16, fixed: &[u8]) -> Self {
        let mut bytes = vec![0; 4];
        bytes.extend(kind.0.to_ne_bytes());
        bytes.extend((flags | flag::REQUEST | flag::ACK).to_ne_bytes());
        bytes.extend([0; 8]);
        bytes.extend(fixed);
        Self { bytes }
    }

    /// With an attribute more.
    #[must_use]
    pub fn with(mut self, kind: u16, value: &[u8]) -> Self {
        attribute::write(&mut self.bytes, kind, value);
        self
    }

    /// As bytes, with its number.
    pub fn finish(mut self, sequence: u32) -> Vec<u8> {
        let length = self.bytes.len() as u32;
        self.bytes[..4].copy_from_slice(&length.to_ne_bytes());
        self.bytes[8..12].copy_from_slice(&sequence.to_ne_bytes());
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_a_message() {
        let bytes = Request::new(Kind::GET_LINK, flag::CREATE, &[7; 16]).with(3, b"p1\0").finish(9);
        let mut all = Messages::new(&bytes);
        let message = all.next().unwrap().unwrap();
        assert_eq!((message.kind, message.flags, message.sequence), (Kind::GET_LINK, 0x405, 9));
        let (fixed, mut attributes) = message.parts::<16>("a link").unwrap();
        assert_eq!((fixed, attributes.next().unwrap().unwrap().value), (&[7; 16], &b"p1\0"[..]));
        assert_eq!(all.next(), None);
    }

    #[test]
    fn an_answer_tells_the_outcome_of_its_request() {
        let answer = |code: i32| Request::new(Kind::ERROR, 0, &code.to_ne_bytes()).finish(5);
        assert_eq!(outcome(&answer(0), 5), Ok(Some(Ok(()))));
        assert_eq!(outcome(&answer(-17), 5), Ok(Some(Err(17))));
        assert_eq!(outcome(&answer(0), 6), Ok(None));
        let all_told = Request::new(Kind::DONE, 0, &[0; 4]).finish(5);
        assert_eq!(outcome(&all_told, 5), Ok(Some(Ok(()))));
    }

    #[test]
    fn lengths_that_lie_end_the_list() {
        let mut bytes = Request::new(Kind::GET_LINK, 0, &[]).finish(1);
        for length in [15, 17] {
            bytes[0] = length;
            let wrong = Error::Length { what: "a netlink message", found: length.into(), have: 16 };
            assert_eq!(Messages::new(&bytes).next(), Some(Err(wrong)));
        }
    }
}
