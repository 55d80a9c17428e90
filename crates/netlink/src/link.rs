//! Requests about links and their addresses.
//!
//! ```text
//!  link      │ family │ 0 │ device type (2) │ index (4) │ flags (4) │ which flags (4) │
//!  address   │ family │ prefix length │ flags │ scope │ index of the link (4) │
//! ```

use crate::{Attributes, Error, Kind, Message, Request, flag};
use std::net::IpAddr;

const ADDRESS: u16 = 1;
const NAME: u16 = 3;
const MTU: u16 = 4;
const OF_FAMILIES: u16 = 26;
const CARRIER: u16 = 33;
/// Of IPv6, inside [`OF_FAMILIES`].
const ADDRESS_MODE: u16 = 8;
/// The kernel makes no link-local address by itself.
const MODE_NONE: u8 = 1;

const UP: u32 = 1;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;

const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const IFA_FLAGS: u16 = 8;
/// The address is used at once: that nobody else has it is known.
const NO_DAD: u32 = 2;

/// What a link is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkState {
    /// Its MAC address, if it gets another: with each that is set the kernel forgets the link's
    /// neighbours.
    pub mac: Option<[u8; 6]>,
    /// Longest packet.
    pub mtu: u16,
    /// Administratively up.
    pub up: bool,
    /// Packets can pass.
    pub carrier: bool,
}

pub(crate) fn link_header(index: u32, flags: u32, which: u32) -> Vec<u8> {
    [[0; 4], index.to_ne_bytes(), flags.to_ne_bytes(), which.to_ne_bytes()].concat()
}

/// Asks for the link of a name.
pub fn get(name: &str) -> Request {
    Request::new(Kind::GET_LINK, 0, &link_header(0, 0, 0)).with(NAME, &with_nul(name))
}

pub(crate) fn with_nul(name: &str) -> Vec<u8> {
    [name.as_bytes(), &[0]].concat()
}

/// The index of the link that an answer tells of.
pub fn index_of(message: &Message<'_>) -> Result<u32, Error> {
    let (fixed, _): (&[u8; 16], Attributes<'_>) = message.parts("a link")?;
    Ok(u32::from_ne_bytes([fixed[4], fixed[5], fixed[6], fixed[7]]))
}

/// Gives a link its MAC address, MTU and state.
pub fn set(index: u32, state: &LinkState) -> Request {
    let flags = if state.up { UP } else { 0 };
    let request = Request::new(Kind::NEW_LINK, 0, &link_header(index, flags, UP));
    let request = state.mac.iter().fold(request, |request, mac| request.with(ADDRESS, mac));
    request.with(MTU, &u32::from(state.mtu).to_ne_bytes()).with(CARRIER, &[u8::from(state.carrier)])
}

/// Has the kernel make no IPv6 address of its own on a link.
pub fn no_own_ip6(index: u32) -> Request {
    let mut of_ip6 = Vec::new();
    crate::attribute::write(&mut of_ip6, ADDRESS_MODE, &[MODE_NONE]);
    let mut of_families = Vec::new();
    crate::attribute::write(&mut of_families, AF_INET6.into(), &of_ip6);
    Request::new(Kind::NEW_LINK, 0, &link_header(index, 0, 0)).with(OF_FAMILIES, &of_families)
}

/// Gives a link an address, or takes it away.
pub fn address(index: u32, (address, length): (IpAddr, u8), wanted: bool) -> Request {
    let (family, bytes) = match address {
        IpAddr::V4(address) => (AF_INET, address.octets().to_vec()),
        IpAddr::V6(address) => (AF_INET6, address.octets().to_vec()),
    };
    let fixed = [[family, length, 0, 0], index.to_ne_bytes()].concat();
    let (kind, flags) = match wanted {
        true => (Kind::NEW_ADDRESS, flag::CREATE | flag::REPLACE),
        false => (Kind::DEL_ADDRESS, 0),
    };
    let request = Request::new(kind, flags, &fixed).with(IFA_LOCAL, &bytes);
    let request = request.with(IFA_ADDRESS, &bytes);
    match address.is_ipv6() && wanted {
        true => request.with(IFA_FLAGS, &NO_DAD.to_ne_bytes()),
        false => request,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Messages;

    type Parts = (Kind, Vec<u8>, Vec<(u16, Vec<u8>)>);

    fn read<const N: usize>(bytes: &[u8]) -> Parts {
        let message = Messages::new(bytes).next().unwrap().unwrap();
        let (fixed, attributes) = message.parts::<N>("it").unwrap();
        let attributes = attributes.map(Result::unwrap);
        let attributes = attributes.map(|it| (it.kind, it.value.to_vec())).collect();
        (message.kind, fixed.to_vec(), attributes)
    }

    #[test]
    fn a_link_gets_its_state() {
        let mac = [2, 0, 0, 0, 0, 7];
        let state = LinkState { mac: Some(mac), mtu: 1400, up: true, carrier: false };
        let (kind, fixed, attributes) = read::<16>(&set(5, &state).finish(1));
        let expected = [[0; 4], 5_u32.to_ne_bytes(), 1_u32.to_ne_bytes(), 1_u32.to_ne_bytes()];
        assert_eq!((kind, fixed), (Kind::NEW_LINK, expected.concat()));
        let mtu = (MTU, 1400_u32.to_ne_bytes().to_vec());
        assert_eq!(attributes, [(ADDRESS, mac.to_vec()), mtu.clone(), (CARRIER, vec![0])]);
        let (_, _, attributes) = read::<16>(&set(5, &LinkState { mac: None, ..state }).finish(1));
        assert_eq!(attributes, [mtu, (CARRIER, vec![0])]);
    }

    #[test]
    fn a_link_is_found_by_its_name() {
        let (_, _, attributes) = read::<16>(&get("p1").finish(1));
        assert_eq!(attributes, [(NAME, b"p1\0".to_vec())]);
        let answer = Request::new(Kind::NEW_LINK, 0, &link_header(9, 0, 0)).finish(1);
        let message = Messages::new(&answer).next().unwrap().unwrap();
        assert_eq!(index_of(&message), Ok(9));
    }

    #[test]
    fn ipv6_addresses_are_not_tried_again() {
        let own: IpAddr = "2001:db8::1".parse().unwrap();
        let (kind, fixed, attributes) = read::<8>(&address(3, (own, 64), true).finish(1));
        assert_eq!((kind, &fixed[..2]), (Kind::NEW_ADDRESS, &[AF_INET6, 64][..]));
        assert_eq!(attributes[2], (IFA_FLAGS, NO_DAD.to_ne_bytes().to_vec()));
        let own: IpAddr = "192.0.2.1".parse().unwrap();
        let (kind, _, attributes) = read::<8>(&address(3, (own, 24), false).finish(1));
        assert_eq!((kind, attributes.len()), (Kind::DEL_ADDRESS, 2));
    }
}
