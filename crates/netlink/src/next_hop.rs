//! Next hops that routes share by their numbers, and groups of them.
//!
//! ```text
//!  │ family │ scope │ protocol │ 0 │ flags (4) │ attributes: number, group, gateway, link … │
//!  group:  │ number (4) │ weight - 1 │ 0 (3) │ … one after the other
//! ```

use crate::{Attribute, Error, Kind, Message};
use std::net::IpAddr;

const ID: u16 = 1;
const GROUP: u16 = 2;
const BLACKHOLE: u16 = 4;
const LINK: u16 = 5;
const GATEWAY: u16 = 6;

/// Members of a group, at most: more than any router shares flows among.
pub const MOST_MEMBERS: usize = 512;

/// One way to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hop {
    /// The next router; none: the destination itself is on the link.
    pub gateway: Option<IpAddr>,
    /// The index of the link.
    pub link: Option<u32>,
}

/// What a number stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextHop {
    /// One way.
    One(Hop),
    /// Nowhere.
    Blackhole,
    /// Others, by number, with their weights.
    Group(Vec<(u32, u16)>),
}

/// A number gets a meaning, or loses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextHopChange {
    /// The number.
    pub id: u32,
    /// Its meaning from now on.
    pub meaning: Option<NextHop>,
}

/// Reads a message about a next hop.
pub fn read(message: &Message<'_>) -> Result<NextHopChange, Error> {
    const WHAT: &str = "a next hop";
    let (_, attributes) = message.parts::<8>(WHAT)?;
    let (mut id, mut group, mut blackhole) = (None, None, false);
    let mut hop = Hop { gateway: None, link: None };
    for attribute in attributes {
        let attribute = attribute?;
        match attribute.kind {
            ID => id = Some(attribute.number()?),
            GROUP => group = Some(read_group(&attribute)?),
            BLACKHOLE => blackhole = true,
            LINK => hop.link = Some(attribute.number()?),
            GATEWAY => hop.gateway = Some(attribute.address()?),
            _ => {}
        }
    }
    let id = id.ok_or(Error::Missing { what: WHAT, missing: "number" })?;
    if message.kind == Kind::DEL_NEXT_HOP {
        return Ok(NextHopChange { id, meaning: None });
    }
    let meaning = match group {
        Some(members) => NextHop::Group(members),
        None if blackhole => NextHop::Blackhole,
        None if hop.gateway.is_none() && hop.link.is_none() => {
            return Err(Error::Missing { what: WHAT, missing: "gateway, link or group" });
        }
        None => NextHop::One(hop),
    };
    Ok(NextHopChange { id, meaning: Some(meaning) })
}

fn read_group(attribute: &Attribute<'_>) -> Result<Vec<(u32, u16)>, Error> {
    let (members, rest) = attribute.value.as_chunks::<8>();
    if members.is_empty() || members.len() > MOST_MEMBERS || !rest.is_empty() {
        return Err(Error::Field {
            what: "the length of a group of next hops",
            found: attribute.value.len() as u64,
            expected: "a multiple of 8, from 8 to 4096",
        });
    }
    let member = |&[a, b, c, d, weight, ..]: &[u8; 8]| {
        (u32::from_ne_bytes([a, b, c, d]), u16::from(weight) + 1)
    };
    Ok(members.iter().map(member).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Messages, Request};

    fn told(request: Request) -> Result<NextHopChange, Error> {
        read(&Messages::new(&request.finish(1)).next().unwrap().unwrap())
    }

    fn new(id: u32) -> Request {
        Request::new(Kind::NEW_NEXT_HOP, 0, &[0; 8]).with(ID, &id.to_ne_bytes())
    }

    #[test]
    fn a_number_stands_for_a_way_a_group_or_nothing() {
        let meaning = |request| told(request).unwrap().meaning.unwrap();
        let way = new(7).with(GATEWAY, &[10, 0, 0, 1]).with(LINK, &3_u32.to_ne_bytes());
        let gateway = "10.0.0.1".parse().ok();
        assert_eq!(meaning(way), NextHop::One(Hop { gateway, link: Some(3) }));
        assert_eq!(meaning(new(7).with(BLACKHOLE, &[])), NextHop::Blackhole);
        let group = [[7, 0, 0, 0, 0, 0, 0, 0], [8, 0, 0, 0, 2, 0, 0, 0]].concat();
        let expected = [7, 8].map(|id: u8| u32::from_ne_bytes([id, 0, 0, 0]));
        assert_eq!(
            meaning(new(9).with(GROUP, &group)),
            NextHop::Group(vec![(expected[0], 1), (expected[1], 3)])
        );
        let gone = Request::new(Kind::DEL_NEXT_HOP, 0, &[0; 8]).with(ID, &7_u32.to_ne_bytes());
        assert_eq!(told(gone), Ok(NextHopChange { id: 7, meaning: None }));
    }

    #[test]
    fn what_says_too_little_or_too_much_is_told() {
        let missing = |missing| Err(Error::Missing { what: "a next hop", missing });
        assert_eq!(told(Request::new(Kind::NEW_NEXT_HOP, 0, &[0; 8])), missing("number"));
        assert_eq!(told(new(1)), missing("gateway, link or group"));
        for length in [0, 7, 9, 8 * (MOST_MEMBERS + 1)] {
            let wrong = told(new(1).with(GROUP, &vec![0; length]));
            assert!(matches!(wrong, Err(Error::Field { .. })), "{length}");
        }
    }
}
