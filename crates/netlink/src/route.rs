//! Routes, as zebra tells them.
//!
//! ```text
//!  │ family │ destination length │ source length │ tos │ table │ protocol │ scope │ type │ flags (4) │
//!  then attributes: destination, gateway, link, several ways, number of a next hop, table …
//!  a way:  │ length (2) │ flags │ weight - 1 │ index of the link (4) │ attributes: gateway │
//! ```

use crate::attribute::address_of;
use crate::next_hop::{Hop, MOST_MEMBERS};
use crate::{Attribute, Attributes, Error, Kind, Message};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const DESTINATION: u16 = 1;
const LINK: u16 = 4;
const GATEWAY: u16 = 5;
const WAYS: u16 = 9;
const TABLE: u16 = 15;
const VIA: u16 = 18;
const NEXT_HOP_ID: u16 = 30;

const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;

const UNICAST: u8 = 1;
const BLACKHOLE: u8 = 6;
const UNREACHABLE: u8 = 7;
const PROHIBIT: u8 = 8;

/// Who made a route, if it is the kernel: those of its interfaces' addresses.
pub const BY_KERNEL: u8 = 2;

/// What a route is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RouteKey {
    /// The number of its table.
    pub table: u32,
    /// The network's first address.
    pub address: IpAddr,
    /// The length of its prefix.
    pub length: u8,
}

/// Where a route leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// These ways, with their weights.
    Ways(Vec<(Hop, u16)>),
    /// Where the next hop of this number leads.
    NextHop(u32),
    /// Nowhere, silently.
    Blackhole,
    /// Nowhere; the sender is told.
    Unreachable,
    /// Nowhere; the sender is told that it is forbidden.
    Prohibit,
}

/// A route comes, changes or goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteChange {
    /// Which.
    pub key: RouteKey,
    /// Who made it, as the kernel numbers protocols.
    pub protocol: u8,
    /// Where it leads from now on.
    pub target: Option<Target>,
}

/// Reads a message about a route; none if it is of a kind that no router forwards by (local,
/// multicast, and others).
pub fn read(message: &Message<'_>) -> Result<Option<RouteChange>, Error> {
    const WHAT: &str = "a route";
    let (fixed, attributes) = message.parts::<12>(WHAT)?;
    let [family, length, _, _, table, protocol, _, kind, ..] = *fixed;
    let (longest, any): (u8, IpAddr) = match family {
        AF_INET => (32, Ipv4Addr::UNSPECIFIED.into()),
        AF_INET6 => (128, Ipv6Addr::UNSPECIFIED.into()),
        found => {
            let (what, expected) = ("the family of a route", "2 or 10");
            return Err(Error::Field { what, found: found.into(), expected });
        }
    };
    let mut key = RouteKey { table: table.into(), address: any, length };
    let (mut hop, mut ways, mut id) = (Hop { gateway: None, link: None }, Vec::new(), None);
    for attribute in attributes {
        let attribute = attribute?;
        match attribute.kind {
            DESTINATION => key.address = attribute.address()?,
            LINK => hop.link = Some(attribute.number()?),
            GATEWAY => hop.gateway = Some(attribute.address()?),
            VIA => hop.gateway = Some(via(&attribute)?),
            WAYS => ways = read_ways(attribute.value)?,
            TABLE => key.table = attribute.number()?,
            NEXT_HOP_ID => id = Some(attribute.number()?),
            _ => {}
        }
    }
    if length > longest || key.address.is_ipv4() != any.is_ipv4() {
        let (what, expected) = ("the prefix length of a route", "one that its family has");
        return Err(Error::Field { what, found: length.into(), expected });
    }
    if message.kind == Kind::DEL_ROUTE {
        return Ok(Some(RouteChange { key, protocol, target: None }));
    }
    let target = match (kind, id) {
        (UNICAST, Some(id)) => Target::NextHop(id),
        (UNICAST, None) if !ways.is_empty() => Target::Ways(ways),
        (UNICAST, None) if hop.gateway.is_some() || hop.link.is_some() => {
            Target::Ways(vec![(hop, 1)])
        }
        (UNICAST, None) => {
            return Err(Error::Missing { what: WHAT, missing: "gateway, link or next hop" });
        }
        (BLACKHOLE, _) => Target::Blackhole,
        (UNREACHABLE, _) => Target::Unreachable,
        (PROHIBIT, _) => Target::Prohibit,
        _ => return Ok(None),
    };
    Ok(Some(RouteChange { key, protocol, target: Some(target) }))
}

/// A gateway of any family: its number stands in front of it.
fn via(attribute: &Attribute<'_>) -> Result<IpAddr, Error> {
    address_of(attribute.value.get(2..).unwrap_or_default())
}

fn read_ways(mut rest: &[u8]) -> Result<Vec<(Hop, u16)>, Error> {
    const HEADER: usize = 8;
    const WHAT: &str = "a way of a route";
    let mut ways = Vec::new();
    while !rest.is_empty() {
        let have = rest.len();
        let short = Error::Short { what: WHAT, needed: HEADER, have };
        let &[a, b, _, weight, l0, l1, l2, l3] = rest.first_chunk().ok_or(short)?;
        let length = usize::from(u16::from_ne_bytes([a, b]));
        let wrong = Error::Length { what: WHAT, found: length, have };
        let inside = rest.get(HEADER..length).ok_or(wrong)?;
        let mut hop = Hop { gateway: None, link: Some(u32::from_ne_bytes([l0, l1, l2, l3])) };
        for attribute in Attributes::new(inside) {
            let attribute = attribute?;
            match attribute.kind {
                GATEWAY => hop.gateway = Some(attribute.address()?),
                VIA => hop.gateway = Some(via(&attribute)?),
                _ => {}
            }
        }
        ways.push((hop, u16::from(weight) + 1));
        if ways.len() > MOST_MEMBERS {
            let (what, expected) = ("the number of a route's ways", "512 or fewer");
            return Err(Error::Field { what, found: ways.len() as u64, expected });
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(ways)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Messages, Request, attribute};
    use proptest::prelude::*;

    fn route(kind: Kind, family: u8, length: u8, of: u8) -> Request {
        Request::new(kind, 0, &[family, length, 0, 0, 254, 186, 0, of, 0, 0, 0, 0])
    }

    fn told(request: Request) -> Result<Option<RouteChange>, Error> {
        read(&Messages::new(&request.finish(1)).next().unwrap().unwrap())
    }

    fn target(request: Request) -> Option<Target> {
        told(request.with(DESTINATION, &[10, 1, 0, 0])).unwrap().unwrap().target
    }

    fn hop(gateway: &str, link: u32) -> Hop {
        Hop { gateway: gateway.parse().ok(), link: Some(link) }
    }

    #[test]
    fn a_route_has_a_way_ways_a_number_or_none() {
        let new = |of| route(Kind::NEW_ROUTE, AF_INET, 16, of);
        let one = new(UNICAST).with(GATEWAY, &[10, 0, 0, 1]).with(LINK, &3_u32.to_ne_bytes());
        assert_eq!(target(one), Some(Target::Ways(vec![(hop("10.0.0.1", 3), 1)])));
        let mut ways = Vec::new();
        for (last, weight) in [(1_u8, 0_u8), (2, 4)] {
            ways.extend(16_u16.to_ne_bytes());
            ways.extend([0, weight]);
            ways.extend(u32::from(last).to_ne_bytes());
            attribute::write(&mut ways, GATEWAY, &[10, 0, 0, last]);
        }
        let expected = vec![(hop("10.0.0.1", 1), 1), (hop("10.0.0.2", 2), 5)];
        assert_eq!(target(new(UNICAST).with(WAYS, &ways)), Some(Target::Ways(expected)));
        let numbered = new(UNICAST).with(NEXT_HOP_ID, &9_u32.to_ne_bytes());
        assert_eq!(target(numbered), Some(Target::NextHop(9)));
        assert_eq!(target(new(BLACKHOLE)), Some(Target::Blackhole));
        assert_eq!(told(new(2)), Ok(None));
        assert_eq!(target(route(Kind::DEL_ROUTE, AF_INET, 16, 0)), None);
    }

    #[test]
    fn a_gateway_may_be_of_the_other_family() {
        let via = [&[10, 0][..], &[0xfe, 0x80], &[0; 13], &[1]].concat();
        let new = route(Kind::NEW_ROUTE, AF_INET, 16, UNICAST).with(VIA, &via);
        let new = new.with(LINK, &3_u32.to_ne_bytes());
        assert_eq!(target(new), Some(Target::Ways(vec![(hop("fe80::1", 3), 1)])));
    }

    #[test]
    fn the_default_route_names_no_destination_and_a_big_table_has_an_attribute() {
        let new =
            route(Kind::NEW_ROUTE, AF_INET6, 0, BLACKHOLE).with(TABLE, &1000_u32.to_ne_bytes());
        let key = told(new).unwrap().unwrap().key;
        assert_eq!(key, RouteKey { table: 1000, address: "::".parse().unwrap(), length: 0 });
    }

    #[test]
    fn what_cannot_be_a_route_is_told() {
        let wrong = |request| told(request).unwrap_err().to_string();
        let new = |family, length| route(Kind::NEW_ROUTE, family, length, UNICAST);
        assert_eq!(wrong(new(7, 0)), "the family of a route is 7: expected 2 or 10");
        assert_eq!(wrong(new(2, 16)), "a route has no gateway, link or next hop");
        let expected = "the prefix length of a route is 33: expected one that its family has";
        assert_eq!(wrong(new(2, 33)), expected);
        let odd = new(2, 16).with(WAYS, &[4, 0, 0, 0, 0, 0, 0, 0]);
        assert!(wrong(odd).starts_with("a way of a route says that it has 4 bytes"));
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_readers_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            for kind in [Kind::NEW_ROUTE, Kind::DEL_ROUTE, Kind::NEW_NEXT_HOP] {
                let message = Message { kind, flags: 0, sequence: 0, body: &bytes };
                let _told = read(&message);
                let _told = crate::next_hop::read(&message);
            }
        }
    }
}
