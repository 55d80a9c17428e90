//! The one word of an entry that packets change.
//!
//! ```text
//!  63       48 47          40 39         36 35       32 31                0
//!  generation │ flags, kind  │ more flags │ TCP state │ expires, seconds  │
//! ```
//! The generation goes up whenever an entry gets another connection: who found the old one changes
//! nothing of the new one.

use crate::help::Helper;
use crate::tcp::TcpState;

/// Which side of a connection a packet comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Direction {
    /// The one that began it.
    Original = 0,
    /// The other.
    Reply = 1,
}

impl Direction {
    /// The other one.
    #[inline]
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Original => Self::Reply,
            Self::Reply => Self::Original,
        }
    }
}

/// An end of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Who sends it.
    Source,
    /// Whom it goes to.
    Destination,
}

/// What an entry is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// Nobody's.
    Free = 0,
    /// A connection.
    Connection = 1,
    /// An endpoint inside and the one that stands for it outside.
    Endpoint = 2,
    /// The pieces of a packet.
    Pieces = 3,
}

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status(pub(crate) u64);

const KIND: u64 = 3 << 40;
const ANSWERED: u64 = 1 << 42;
const ASSURED: u64 = 1 << 43;
const BY_REPLY: u64 = 1 << 44;
const TRANSLATED: u64 = 1 << 45;
const OF_DESTINATION: u64 = 1 << 46;
const TCP: u64 = 0xf << 32;
const HELPER: u64 = 3 << 36;
const RELATED: u64 = 1 << 38;
const LABELLED: u64 = 1 << 47;

impl Status {
    /// Nobody's.
    pub(crate) const fn free(generation: u16) -> Self {
        Self((generation as u64) << 48)
    }

    /// A new one.
    pub(crate) fn new(kind: Kind, tcp: TcpState, generation: u16) -> Self {
        Self(u64::from(generation) << 48 | (kind as u64) << 40 | (tcp as u64) << 32)
    }

    /// What it is.
    #[inline]
    pub fn kind(self) -> Kind {
        match (self.0 & KIND) >> 40 {
            1 => Kind::Connection,
            2 => Kind::Endpoint,
            3 => Kind::Pieces,
            _ => Kind::Free,
        }
    }

    #[inline]
    pub(crate) fn is_free(self) -> bool {
        self.0 & KIND == 0
    }

    #[inline]
    pub(crate) fn generation(self) -> u16 {
        (self.0 >> 48) as u16
    }

    /// Where it stands, of TCP.
    #[inline]
    pub fn tcp(self) -> TcpState {
        TcpState::of((self.0 >> 32) as u8)
    }

    /// The second at which it ends if nothing comes.
    #[inline]
    pub fn expires_s(self) -> u32 {
        self.0 as u32
    }

    /// Whether it has ended for want of packets.
    #[inline]
    pub(crate) fn is_over(self, now_s: u32) -> bool {
        self.expires_s() <= now_s
    }

    /// Whether the other side has been heard.
    #[inline]
    pub fn is_answered(self) -> bool {
        self.0 & ANSWERED != 0
    }

    /// Whether it is kept when there is no room for others: both sides have shown that they want
    /// it.
    #[inline]
    pub fn is_assured(self) -> bool {
        self.0 & ASSURED != 0
    }

    /// Whether addresses or ports are not the same on both sides.
    #[inline]
    pub fn is_translated(self) -> bool {
        self.0 & TRANSLATED != 0
    }

    /// Whether it brings other connections, and of which protocol it is then.
    #[inline]
    pub fn helper(self) -> Option<Helper> {
        match (self.0 & HELPER) >> 36 {
            1 => Some(Helper::Ftp),
            2 => Some(Helper::Tftp),
            _ => None,
        }
    }

    /// Whether another brought it.
    #[inline]
    pub fn is_related(self) -> bool {
        self.0 & RELATED != 0
    }

    /// Whether it was given a label.
    #[inline]
    pub(crate) fn is_labelled(self) -> bool {
        self.0 & LABELLED != 0
    }

    #[must_use]
    pub(crate) fn labelled(self) -> Self {
        Self(self.0 | LABELLED)
    }

    #[must_use]
    pub(crate) fn helped(self, helper: Option<Helper>) -> Self {
        Self(self.0 & !HELPER | helper.map_or(0, |it| (it as u64) << 36))
    }

    #[must_use]
    pub(crate) fn related(self) -> Self {
        Self(self.0 | RELATED)
    }

    /// Which end of packets of a direction is another on the other side, of a translated one.
    #[inline]
    pub fn translated_end(self, direction: Direction) -> End {
        // Who sends it is whom its answers go to.
        match (self.0 & OF_DESTINATION != 0, direction) {
            (false, Direction::Original) | (true, Direction::Reply) => End::Source,
            (true, Direction::Original) | (false, Direction::Reply) => End::Destination,
        }
    }

    /// Who closes it, or began to.
    #[inline]
    pub(crate) fn closed_by(self) -> Direction {
        match self.0 & BY_REPLY {
            0 => Direction::Original,
            _ => Direction::Reply,
        }
    }

    #[inline]
    #[must_use]
    pub(crate) fn until(self, second: u32) -> Self {
        Self(self.0 & !0xffff_ffff | u64::from(second))
    }

    #[inline]
    #[must_use]
    pub(crate) fn with_tcp(self, state: TcpState, by: Direction) -> Self {
        let by = if by == Direction::Reply { BY_REPLY } else { 0 };
        Self(self.0 & !(TCP | BY_REPLY) | (state as u64) << 32 | by)
    }

    #[inline]
    #[must_use]
    pub(crate) fn answered(self) -> Self {
        Self(self.0 | ANSWERED)
    }

    #[inline]
    #[must_use]
    pub(crate) fn assured(self) -> Self {
        Self(self.0 | ASSURED)
    }

    #[must_use]
    pub(crate) fn translated(self, end: End) -> Self {
        let end = if end == End::Destination { OF_DESTINATION } else { 0 };
        Self(self.0 | TRANSLATED | end)
    }
}
