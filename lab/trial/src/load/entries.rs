//! Addresses of the lab and its devices, and the entries of their tables.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use wire::MacAddr;

pub(super) const FIRST_ROUTE_4: u32 = 0x1000_0000;
pub(super) const FIRST_SOURCE: u32 = 0x3000_0000;
pub(super) const FIRST_ROUTE_6: u128 = 0x2a00 << 112;
pub(super) const FIRST_MAC: u64 = 0x0600_0000_0000;
/// Routes of /24 that fit; of more, each is a /28.
pub(crate) const WIDE_ROUTES: u64 = 1 << 20;

/// Where the routes of an access list's device lead: anywhere, so that the list alone decides.
pub const ANYWHERE: &str = "0.0.0.0/0";

/// A route by a next hop of the lab's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// `16.0.0.0/24`.
    pub prefix: String,
    /// The lab, behind the second link.
    pub via: IpAddr,
}

/// The lab's address on a link.
pub fn lab_address(six: bool, side: usize) -> IpAddr {
    address(six, side, 2)
}

/// The device's address on a link.
pub fn device_address(six: bool, side: usize) -> IpAddr {
    address(six, side, 1)
}

fn address(six: bool, side: usize, host: u8) -> IpAddr {
    match six {
        false => Ipv4Addr::new(198, 18, side as u8, host).into(),
        true => Ipv6Addr::new(0x2001, 2, 0, side as u16, 0, 0, 0, host.into()).into(),
    }
}

/// The routes of a table.
pub fn routes(six: bool, entries: u64) -> impl Iterator<Item = Route> {
    let via = lab_address(six, 1);
    (0..entries).map(move |index| {
        let prefix = match six {
            false => {
                let (shift, length) = narrowness(entries);
                let network = FIRST_ROUTE_4.wrapping_add((index as u32) << shift);
                format!("{}/{length}", Ipv4Addr::from(network))
            }
            true => format!("{}/48", Ipv6Addr::from(FIRST_ROUTE_6 + (u128::from(index) << 80))),
        };
        Route { prefix, via }
    })
}

/// The sources of an allow list, as prefixes.
pub fn sources(entries: u64) -> impl Iterator<Item = String> {
    let (shift, length) = narrowness(entries);
    let network = move |index: u64| FIRST_SOURCE.wrapping_add((index as u32) << shift);
    (0..entries).map(move |index| format!("{}/{length}", Ipv4Addr::from(network(index))))
}

/// Sources right below and right above those that are allowed.
pub fn unlisted_sources(entries: u64) -> [Ipv4Addr; 2] {
    let end = FIRST_SOURCE.wrapping_add((entries as u32) << narrowness(entries).0);
    [FIRST_SOURCE - 1, end].map(Ipv4Addr::from)
}

/// An address right above those of the IPv4 routes.
pub fn beyond_routes(entries: u64) -> Ipv4Addr {
    FIRST_ROUTE_4.wrapping_add((entries as u32) << narrowness(entries).0).into()
}

/// How far apart IPv4 routes are, and sources.
pub fn step(entries: u64) -> u64 {
    1 << narrowness(entries).0
}

/// Bits of a prefix' hosts, and its length.
pub(super) fn narrowness(entries: u64) -> (u32, u32) {
    if entries <= WIDE_ROUTES { (8, 24) } else { (4, 28) }
}

/// The stations of a table.
pub fn macs(entries: u64) -> impl Iterator<Item = MacAddr> {
    (0..entries).map(|index| MacAddr::from_bits(FIRST_MAC + index))
}
