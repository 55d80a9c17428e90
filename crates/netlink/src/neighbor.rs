//! Neighbours, and stations of bridges: requests, and what is told of them.
//!
//! ```text
//!  │ family │ 0 (3) │ index of the link (4) │ state (2) │ flags │ type │ attributes
//!  a station of a bridge    MAC, the bridge                             its port is the link
//!  a remote of a VXLAN link MAC (all zero: what is flooded), address    the other end
//!  a neighbour              address, MAC
//! ```

use crate::{Error, Kind, Message, Request, flag};
use std::net::IpAddr;

const ADDRESS: u16 = 1;
const MAC: u16 = 2;
const BRIDGE: u16 = 9;

const AF_UNSPEC: u8 = 0;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const AF_BRIDGE: u8 = 7;

/// A neighbour that does not answer: its MAC address is nobody's.
const FAILED: u16 = 0x20;
/// It is there without being asked for, and does not age.
const NO_ARP: u16 = 0x40;
const PERMANENT: u16 = 0x80;

/// About the link itself, as a VXLAN link has its remotes.
const OF_LINK: u8 = 0x02;
/// About the bridge that the link is in.
const OF_BRIDGE: u8 = 0x04;
/// Somebody else learned it: a routing protocol.
const LEARNED_ELSEWHERE: u8 = 0x10;
/// It does not move.
const STICKY: u8 = 0x40;
/// It is a router.
const ROUTER: u8 = 0x80;

/// Whom a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// A station of a bridge, behind the link.
    Station([u8; 6]),
    /// A station behind another end of the VXLAN link.
    Remote([u8; 6], IpAddr),
    /// Another end of the VXLAN link that frames to groups and unknown stations go to.
    Flood(IpAddr),
    /// A neighbour on the link; none: it does not answer.
    Neighbor(IpAddr, Option<[u8; 6]>),
}

/// Somebody comes, changes or goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeighborChange {
    /// The index of the link.
    pub link: u32,
    /// Whom it is about.
    pub about: About,
    /// It comes or changes; else it goes.
    pub is_new: bool,
    /// A routing protocol says so.
    pub is_learned_elsewhere: bool,
    /// It is a router.
    pub is_router: bool,
}

/// Reads a message about a neighbour or a station; none if it is about a group, or does not say
/// enough to go by.
pub fn read(message: &Message<'_>) -> Result<Option<NeighborChange>, Error> {
    let (fixed, attributes): (&[u8; 12], _) = message.parts("a neighbour")?;
    let [family, _, _, _, l0, l1, l2, l3, s0, s1, flags, _] = *fixed;
    let state = u16::from_ne_bytes([s0, s1]);
    let (mut address, mut mac, mut of_bridge) = (None, None, false);
    for attribute in attributes {
        let attribute = attribute?;
        match attribute.kind {
            ADDRESS => address = Some(attribute.address()?),
            MAC => mac = <[u8; 6]>::try_from(attribute.value).ok(),
            BRIDGE => of_bridge = true,
            _ => {}
        }
    }
    let is_group = |mac: [u8; 6]| mac[0] & 1 != 0;
    let about = match (family, mac, address) {
        (AF_BRIDGE, Some([0, 0, 0, 0, 0, 0]), Some(to)) => About::Flood(to),
        (AF_BRIDGE, Some(mac), _) if is_group(mac) => return Ok(None),
        (AF_BRIDGE, Some(mac), _) if of_bridge => About::Station(mac),
        (AF_BRIDGE, Some(mac), Some(to)) => About::Remote(mac, to),
        (AF_INET | AF_INET6, mac, Some(address)) if address.is_ipv4() == (family == AF_INET) => {
            About::Neighbor(address, mac.filter(|mac| !is_group(*mac) && state & FAILED == 0))
        }
        _ => return Ok(None),
    };
    Ok(Some(NeighborChange {
        link: u32::from_ne_bytes([l0, l1, l2, l3]),
        about,
        is_new: message.kind == Kind::NEW_NEIGHBOR,
        is_learned_elsewhere: flags & LEARNED_ELSEWHERE != 0,
        is_router: flags & ROUTER != 0,
    }))
}

fn header(family: u8, link: u32, state: u16, flags: u8) -> Vec<u8> {
    let mut header = vec![family, 0, 0, 0];
    header.extend(link.to_ne_bytes());
    header.extend(state.to_ne_bytes());
    header.extend([flags, 0]);
    header
}

fn new(header: &[u8]) -> Request {
    Request::new(Kind::NEW_NEIGHBOR, flag::CREATE | flag::REPLACE, header)
}

/// Puts a station behind a port of a bridge, for good: one that may move, or not.
pub fn add_station(port: u32, mac: [u8; 6], is_sticky: bool) -> Request {
    let sticky = if is_sticky { STICKY } else { 0 };
    new(&header(AF_BRIDGE, port, NO_ARP, OF_BRIDGE | sticky)).with(MAC, &mac)
}

/// Takes a station away from a port of a bridge.
pub fn remove_station(port: u32, mac: [u8; 6]) -> Request {
    Request::new(Kind::DEL_NEIGHBOR, 0, &header(AF_BRIDGE, port, 0, OF_BRIDGE)).with(MAC, &mac)
}

/// Takes a station away from another end of a VXLAN link; all zero: has it flooded to no more.
pub fn remove_remote(link: u32, mac: [u8; 6], to: IpAddr) -> Request {
    let request = Request::new(Kind::DEL_NEIGHBOR, 0, &header(AF_BRIDGE, link, 0, OF_LINK));
    request.with(MAC, &mac).with(ADDRESS, &octets(to))
}

/// Says who has an address on a link, for good.
pub fn add(link: u32, address: IpAddr, mac: [u8; 6], is_router: bool) -> Request {
    let flags = if is_router { ROUTER } else { 0 };
    let request = new(&header(family_of(address), link, PERMANENT, flags));
    request.with(ADDRESS, &octets(address)).with(MAC, &mac)
}

/// Nobody has an address on a link any more.
pub fn remove(link: u32, address: IpAddr) -> Request {
    let header = header(family_of(address), link, 0, 0);
    Request::new(Kind::DEL_NEIGHBOR, 0, &header).with(ADDRESS, &octets(address))
}

/// Asks for all stations of all bridges.
pub fn all_stations() -> Request {
    Request::new(Kind::GET_NEIGHBOR, flag::DUMP, &header(AF_BRIDGE, 0, 0, 0))
}

/// Asks for all neighbours.
pub fn all() -> Request {
    Request::new(Kind::GET_NEIGHBOR, flag::DUMP, &header(AF_UNSPEC, 0, 0, 0))
}

fn family_of(address: IpAddr) -> u8 {
    if address.is_ipv4() { AF_INET } else { AF_INET6 }
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Messages;
    use proptest::prelude::*;

    const STATION: [u8; 6] = [6, 0, 0, 0, 0, 1];
    const ZERO: [u8; 6] = [0; 6];

    fn told(request: Request) -> Option<NeighborChange> {
        read(&Messages::new(&request.finish(1)).next().unwrap().unwrap()).unwrap()
    }

    fn of_bridge(mac: [u8; 6]) -> Request {
        new(&header(AF_BRIDGE, 4, NO_ARP, LEARNED_ELSEWHERE)).with(MAC, &mac)
    }

    #[test]
    fn stations_remotes_and_neighbors_are_told_apart() {
        let about = |request| told(request).map(|change| (change.link, change.about));
        let to: IpAddr = "192.0.2.9".parse().unwrap();
        let station = of_bridge(STATION).with(BRIDGE, &[3, 0, 0, 0]);
        assert_eq!(about(station), Some((4, About::Station(STATION))));
        let remote = |mac| of_bridge(mac).with(ADDRESS, &octets(to));
        assert_eq!(about(remote(STATION)), Some((4, About::Remote(STATION, to))));
        assert_eq!(about(remote(ZERO)), Some((4, About::Flood(to))));
        assert_eq!(about(of_bridge([0x33; 6])), None);
        assert_eq!(about(of_bridge(STATION)), None);
        let neighbor = |state: u16| {
            let new = new(&header(AF_INET, 7, state, ROUTER)).with(ADDRESS, &octets(to));
            new.with(MAC, &STATION)
        };
        assert_eq!(about(neighbor(NO_ARP)), Some((7, About::Neighbor(to, Some(STATION)))));
        assert_eq!(about(neighbor(FAILED)), Some((7, About::Neighbor(to, None))));
        assert!(told(neighbor(NO_ARP)).unwrap().is_router);
        let other = new(&header(AF_INET6, 7, NO_ARP, 0)).with(ADDRESS, &octets(to));
        assert_eq!(about(other), None);
    }

    #[test]
    fn what_we_ask_for_is_told_as_ours() {
        let station = told(add_station(5, STATION, false).with(BRIDGE, &[3, 0, 0, 0])).unwrap();
        assert_eq!((station.link, station.about), (5, About::Station(STATION)));
        assert!(station.is_new && !station.is_learned_elsewhere);
        let gone = told(remove_remote(5, STATION, "2001:db8::1".parse().unwrap())).unwrap();
        assert!(!gone.is_new && matches!(gone.about, About::Remote(STATION, IpAddr::V6(_))));
        let address = "2001:db8::7".parse().unwrap();
        let router = told(add(3, address, STATION, true)).unwrap();
        assert_eq!(router.about, About::Neighbor(address, Some(STATION)));
        assert!(router.is_router && router.is_new);
        assert!(!told(remove(3, address)).unwrap().is_new);
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            for kind in [Kind::NEW_NEIGHBOR, Kind::DEL_NEIGHBOR] {
                let message = Message { kind, flags: 0, sequence: 0, body: &bytes };
                let _told = read(&message);
            }
        }
    }
}
