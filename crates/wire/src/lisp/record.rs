//! What is known of a network of endpoints: its locators (RFC 9301, 5.4).
//!
//! ```text
//! ┌───────────────────────────────────────────────────────────────┐
//! │                        TTL, in minutes                        │
//! ├───────────────┬───────────────┬─────┬─┬───────────────────────┤
//! │   locators    │    length     │ act │A│       reserved        │
//! ├───────┬───────┴───────────────┼─────┴─┴───────────────────────┤
//! │       │        version        │       address, of the EID …   │
//! ├───────┴───────┬───────────────┼───────────────┬───────────────┤
//! │   priority    │    weight     │  of groups    │  of groups    │ ┐
//! ├───────────────┴─────────┬─┬─┬─┼───────────────┴───────────────┤ │ a locator
//! │                         │L│p│R│    address, of the locator …  │ ┘
//! └─────────────────────────┴─┴─┴─┴───────────────────────────────┘
//! ```

use std::net::IpAddr;

use super::cursor::Cursor;
use super::{Address, Eid};
use crate::Error;

const WHAT: &str = "LISP map record";

/// Lifetimes.
pub mod ttl {
    /// As long as the receiver wants.
    pub const ANY: u32 = u32::MAX;
}

/// What is to be done with packets to a network that has no locators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// 0: nothing is said.
    None,
    /// 1: they are forwarded as if there were no LISP.
    Native,
    /// 2: somebody is to be asked again.
    Ask,
    /// 3, 4, 5: they are dropped.
    Drop,
}

impl Action {
    fn of(code: u8) -> Self {
        match code {
            1 => Self::Native,
            2 => Self::Ask,
            3..=5 => Self::Drop,
            _ => Self::None,
        }
    }

    fn code(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Native => 1,
            Self::Ask => 2,
            Self::Drop => 3,
        }
    }
}

/// A locator of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Locator {
    /// Where the network is reached; none of a kind that is not known here.
    pub address: Option<IpAddr>,
    /// The lowest is taken; 255: not to be used.
    pub priority: u8,
    /// Share of the flows among those of one priority.
    pub weight: u8,
    /// It is one of the sender's own.
    pub is_local: bool,
    /// It is the one that is asked whether it is reachable.
    pub is_probed: bool,
    /// The sender reaches it.
    pub is_reachable: bool,
}

/// Priority of a locator that is not to be used.
const UNUSED: u8 = 255;

impl Locator {
    /// One that is reachable and the sender's.
    pub fn new(address: IpAddr, priority: u8, weight: u8) -> Self {
        let address = Some(address);
        Self { address, priority, weight, is_local: true, is_probed: false, is_reachable: true }
    }

    /// Whether packets may be sent to it, and where.
    pub fn usable(&self) -> Option<IpAddr> {
        self.address.filter(|_| self.priority != UNUSED && self.is_reachable)
    }

    fn read(cursor: &mut Cursor<'_>) -> Result<Self, Error> {
        let (priority, weight) = (cursor.u8(WHAT)?, cursor.u8(WHAT)?);
        let (_of_groups, flags) = (cursor.u16(WHAT)?, cursor.u16(WHAT)?);
        let address = Address::read(cursor)?.ip();
        let (is_local, is_probed) = (flags & 4 != 0, flags & 2 != 0);
        Ok(Self { address, priority, weight, is_local, is_probed, is_reachable: flags & 1 != 0 })
    }

    fn write(&self, out: &mut Vec<u8>) {
        let flags = [(4, self.is_local), (2, self.is_probed), (1, self.is_reachable)];
        let flags = flags.into_iter().filter(|(_, on)| *on).map(|(bit, _)| bit).sum();
        // Of groups: priority 255, none.
        out.extend([self.priority, self.weight, UNUSED, 0, 0, flags]);
        self.address.map_or(Address::None, |address| Address::Ip(0, address)).write(out);
    }
}

/// A record as it stands in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// How long it may be kept, in minutes; [`ttl::ANY`].
    pub ttl_minutes: u32,
    /// The network; none of a kind that is not known here.
    pub eid: Option<Eid>,
    /// What is to be done where there are no locators.
    pub action: Action,
    /// It comes from the site itself.
    pub is_authoritative: bool,
    locators: Cursor<'a>,
    count: u8,
}

impl<'a> Record<'a> {
    pub(super) fn read(cursor: &mut Cursor<'a>) -> Result<Self, Error> {
        let ttl_minutes = cursor.u32(WHAT)?;
        let (count, length, flags) = (cursor.u8(WHAT)?, cursor.u8(WHAT)?, cursor.u16(WHAT)?);
        let _version = cursor.u16(WHAT)?;
        let eid = match Address::read(cursor)? {
            Address::Ip(instance, address) => {
                let longest = if address.is_ipv4() { "at most 32" } else { "at most 128" };
                let eid = Eid::new(instance, address, length);
                Some(eid.ok_or(Error::field("LISP network length", length, longest))?)
            }
            Address::None | Address::Unknown => None,
        };
        let locators = *cursor;
        for _ in 0..count {
            Locator::read(cursor)?;
        }
        let action = Action::of((flags >> 13) as u8);
        let is_authoritative = flags & 0x1000 != 0;
        Ok(Self { ttl_minutes, eid, action, is_authoritative, locators, count })
    }

    /// Its locators, in the order of the message.
    pub fn locators(&self) -> impl Iterator<Item = Locator> + use<'a> {
        let mut rest = self.locators;
        (0..self.count).map_while(move |_| Locator::read(&mut rest).ok())
    }

    /// The record by itself, if its network is of a kind that is known here.
    pub fn to_owned(&self) -> Option<MapRecord> {
        let (ttl_minutes, action) = (self.ttl_minutes, self.action);
        let is_authoritative = self.is_authoritative;
        let locators = self.locators().collect();
        Some(MapRecord { ttl_minutes, eid: self.eid?, action, is_authoritative, locators })
    }
}

/// The records of a message, all of which were read once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Records<'a> {
    rest: Cursor<'a>,
    left: u8,
}

impl<'a> Records<'a> {
    /// Reads over `count` records.
    pub(super) fn read(cursor: &mut Cursor<'a>, count: u8) -> Result<Self, Error> {
        let records = Self { rest: *cursor, left: count };
        for _ in 0..count {
            Record::read(cursor)?;
        }
        Ok(records)
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        self.left = self.left.checked_sub(1)?;
        Record::read(&mut self.rest).ok()
    }
}

/// A record by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapRecord {
    /// How long it may be kept, in minutes; [`ttl::ANY`].
    pub ttl_minutes: u32,
    /// The network.
    pub eid: Eid,
    /// What is to be done where there are no locators.
    pub action: Action,
    /// It comes from the site itself.
    pub is_authoritative: bool,
    /// Where it is reached.
    pub locators: Vec<Locator>,
}

impl MapRecord {
    /// Puts it behind what is written of a message.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let count = self.locators.len().min(usize::from(u8::MAX));
        out.extend(self.ttl_minutes.to_be_bytes());
        out.extend([count as u8, self.eid.length()]);
        let flags = u16::from(self.action.code()) << 13 | u16::from(self.is_authoritative) << 12;
        out.extend(flags.to_be_bytes());
        out.extend([0, 0]);
        Address::Ip(self.eid.instance(), self.eid.address()).write(out);
        self.locators[..count].iter().for_each(|locator| locator.write(out));
    }
}
