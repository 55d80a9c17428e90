//! Where is a network (Map-Request), and the answer (Map-Reply): RFC 9301, 5.2 and 5.4.
//!
//! ```text
//! ┌───────┬─┬─┬─┬─┬─┬─┬───────────────┬─┬─┬─────────┬───────────────┐
//! │   1   │A│M│P│S│p│s│               │L│D│ askers  │    records    │  askers: one less than there are
//! ├───────┴─┴─┴─┴─┴─┴─┴───────────────┴─┴─┴─────────┴───────────────┤
//! │                            nonce (64)                           │
//! ├─────────────────────────────────────────────────────────────────┤
//! │ address: the endpoint for which is asked │ addresses: who asks … │
//! ├───────────────┬───────────────┬─────────────────────────────────┤
//! │   reserved    │    length     │   address, of the network …     │ a record
//! └───────────────┴───────────────┴─────────────────────────────────┘
//!
//! ┌───────┬─┬─┬─┬───────────────────────────────────┬───────────────┐
//! │   2   │P│E│S│             reserved              │    records    │  nonce (64), records
//! └───────┴─┴─┴─┴───────────────────────────────────┴───────────────┘
//! ```

use std::net::IpAddr;

use super::cursor::Cursor;
use super::message::kind;
use super::{Address, Eid, MapRecord, Records};
use crate::Error;

const WHAT: &str = "LISP map request";
/// P, of both: a probe of a locator.
const PROBE: u8 = 0x02;
const REPLY_PROBE: u8 = 0x08;
/// S: the receiver is asked to ask.
const SOLICITS: u8 = 0x01;
/// M: a record of who asks is at the end.
const HAS_RECORD: u8 = 0x04;
/// s, in the second octet: the question follows a solicitation.
const SOLICITED: u8 = 0x40;

/// What a request says beside its lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestHead {
    /// Comes back with the answer.
    pub nonce: u64,
    /// It asks whether a locator is reachable.
    pub is_probe: bool,
    /// It asks the receiver to ask.
    pub solicits: bool,
    /// It was asked for so.
    pub is_solicited: bool,
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// What it says beside its lists.
    pub head: RequestHead,
    /// The endpoint whose packet it is asked for.
    pub source: Address,
    askers: Cursor<'a>,
    count: u8,
    networks: Cursor<'a>,
    records: u8,
}

impl<'a> Request<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut cursor = Cursor(bytes);
        let [first, second, third, records] = cursor.u32(WHAT)?.to_be_bytes();
        let head = RequestHead {
            nonce: cursor.u64(WHAT)?,
            is_probe: first & PROBE != 0,
            solicits: first & SOLICITS != 0,
            is_solicited: second & SOLICITED != 0,
        };
        let source = Address::read(&mut cursor)?;
        let (askers, count) = (cursor, (third & 0x1f) + 1);
        for _ in 0..count {
            Address::read(&mut cursor)?;
        }
        let networks = cursor;
        for _ in 0..records {
            read_network(&mut cursor)?;
        }
        if first & HAS_RECORD != 0 {
            // What nobody asked for teaches nothing: read over.
            Records::read(&mut cursor, 1)?;
        }
        Ok(Self { head, source, askers, count, networks, records })
    }

    /// Who asks: the locators that the answer may go to, in the order of the message.
    pub fn askers(&self) -> impl Iterator<Item = IpAddr> + use<'a> {
        let mut rest = self.askers;
        let read = (0..self.count).map_while(move |_| Address::read(&mut rest).ok());
        read.filter_map(Address::ip)
    }

    /// The networks that it asks for.
    pub fn networks(&self) -> impl Iterator<Item = Eid> + use<'a> {
        let mut rest = self.networks;
        let read = (0..self.records).map_while(move |_| read_network(&mut rest).ok());
        read.flatten()
    }
}

fn read_network(cursor: &mut Cursor<'_>) -> Result<Option<Eid>, Error> {
    let (_reserved, length) = (cursor.u8(WHAT)?, cursor.u8(WHAT)?);
    match Address::read(cursor)? {
        Address::Ip(instance, address) => {
            let eid = Eid::new(instance, address, length);
            eid.map(Some).ok_or(Error::field("LISP network length", length, "that of the family"))
        }
        Address::None | Address::Unknown => Ok(None),
    }
}

impl RequestHead {
    /// The octets of a request for a network; `askers` are 1 to 32.
    pub fn write(&self, source: Address, askers: &[IpAddr], network: Eid) -> Vec<u8> {
        let mut first = kind::REQUEST << 4;
        first |= if self.is_probe { PROBE } else { 0 } | if self.solicits { SOLICITS } else { 0 };
        let second = if self.is_solicited { SOLICITED } else { 0 };
        let askers = &askers[..askers.len().min(32)];
        let mut out = vec![first, second, askers.len().saturating_sub(1) as u8, 1];
        out.extend(self.nonce.to_be_bytes());
        source.write(&mut out);
        askers.iter().for_each(|asker| Address::Ip(0, *asker).write(&mut out));
        out.extend([0, network.length()]);
        Address::Ip(network.instance(), network.address()).write(&mut out);
        out
    }
}

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply<'a> {
    /// That of the question.
    pub nonce: u64,
    /// It answers a probe.
    pub is_probe: bool,
    /// What is known.
    pub records: Records<'a>,
}

impl<'a> Reply<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut cursor = Cursor(bytes);
        let [first, _, _, count] = cursor.u32("LISP map reply")?.to_be_bytes();
        let nonce = cursor.u64("LISP map reply")?;
        let records = Records::read(&mut cursor, count)?;
        Ok(Self { nonce, is_probe: first & REPLY_PROBE != 0, records })
    }
}

/// The octets of an answer; `records` are 255 at most.
pub fn reply(nonce: u64, is_probe: bool, records: &[MapRecord]) -> Vec<u8> {
    let records = &records[..records.len().min(usize::from(u8::MAX))];
    let first = kind::REPLY << 4 | if is_probe { REPLY_PROBE } else { 0 };
    let mut out = vec![first, 0, 0, records.len() as u8];
    out.extend(nonce.to_be_bytes());
    records.iter().for_each(|record| record.write(&mut out));
    out
}
