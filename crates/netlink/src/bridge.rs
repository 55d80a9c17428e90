//! Requests about bridges of the kernel's, and VXLAN links in them.
//!
//! ```text
//!  link │ name │ its kind: │ "vxlan" │ of its kind: VNI, local address, UDP port … │
//!  port │ family of bridges │ of a port: learning, flooding … │
//! ```

use crate::link::{link_header, with_nul};
use crate::{Attributes, Error, Kind, Message, Request, attribute, flag};
use std::net::IpAddr;

const ADDRESS: u16 = 1;
const NAME: u16 = 3;
const BRIDGE: u16 = 10;
const OF_PORT: u16 = 12;
const OF_KIND: u16 = 18;
const ALIAS: u16 = 20;
/// The value has attributes inside; what bridges say of ports is not read without it.
const NESTED: u16 = 0x8000;

/// Inside [`OF_KIND`].
const KIND: u16 = 1;
const DATA: u16 = 2;

const BRIDGE_SNOOPS: u16 = 23;

const VXLAN_VNI: u16 = 1;
const VXLAN_LINK: u16 = 3;
const VXLAN_LOCAL: u16 = 4;
const VXLAN_LEARNS: u16 = 7;
const VXLAN_UDP_PORT: u16 = 15;
const VXLAN_LOCAL6: u16 = 17;

const PORT_LEARNS: u16 = 8;
const PORT_FLOODS_UNKNOWN: u16 = 9;
const PORT_FLOODS_GROUPS: u16 = 27;
const PORT_FLOODS_BROADCASTS: u16 = 30;

const UP: u32 = 1;
const AF_BRIDGE: u8 = 7;

/// A VXLAN link to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vxlan<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its network identifier.
    pub vni: u32,
    /// Our end.
    pub local: IpAddr,
    /// The index of the link that its packets leave by; it goes with that.
    pub over: u32,
    /// The UDP port.
    pub udp_port: u16,
}

/// Makes a bridge that looks into no multicasts.
pub fn add(name: &str, mac: Option<[u8; 6]>) -> Request {
    let request = made(name);
    let request = mac.iter().fold(request, |request, mac| request.with(ADDRESS, mac));
    request.with(OF_KIND, &of_kind("bridge", &[(BRIDGE_SNOOPS, &[0])]))
}

/// Makes a VXLAN link that learns nothing.
pub fn add_vxlan(vxlan: &Vxlan<'_>) -> Request {
    let (local, address) = match vxlan.local {
        IpAddr::V4(address) => (VXLAN_LOCAL, address.octets().to_vec()),
        IpAddr::V6(address) => (VXLAN_LOCAL6, address.octets().to_vec()),
    };
    let data: [(u16, &[u8]); 5] = [
        (VXLAN_VNI, &vxlan.vni.to_ne_bytes()),
        (VXLAN_LINK, &vxlan.over.to_ne_bytes()),
        (local, &address),
        (VXLAN_LEARNS, &[0]),
        (VXLAN_UDP_PORT, &vxlan.udp_port.to_be_bytes()),
    ];
    made(vxlan.name).with(OF_KIND, &of_kind("vxlan", &data))
}

fn made(name: &str) -> Request {
    let flags = flag::CREATE | flag::EXCLUSIVE;
    Request::new(Kind::NEW_LINK, flags, &link_header(0, 0, 0)).with(NAME, &with_nul(name))
}

fn of_kind(kind: &str, data: &[(u16, &[u8])]) -> Vec<u8> {
    let mut inside = Vec::new();
    data.iter().for_each(|(kind, value)| attribute::write(&mut inside, *kind, value));
    let mut of_kind = Vec::new();
    attribute::write(&mut of_kind, KIND, kind.as_bytes());
    attribute::write(&mut of_kind, DATA, &inside);
    of_kind
}

/// Takes a link into a bridge.
pub fn join(link: u32, bridge: u32) -> Request {
    let request = Request::new(Kind::NEW_LINK, 0, &link_header(link, 0, 0));
    request.with(BRIDGE, &bridge.to_ne_bytes())
}

/// Has the port of a bridge learn nothing, and nothing flooded to it.
pub fn keep_still(link: u32) -> Request {
    let mut of_port = Vec::new();
    for kind in [PORT_LEARNS, PORT_FLOODS_UNKNOWN, PORT_FLOODS_GROUPS, PORT_FLOODS_BROADCASTS] {
        attribute::write(&mut of_port, kind, &[0]);
    }
    let mut header = link_header(link, 0, 0);
    header[0] = AF_BRIDGE;
    Request::new(Kind::SET_LINK, 0, &header).with(OF_PORT | NESTED, &of_port)
}

/// Notes something about a link: whose it is.
pub fn note(link: u32, alias: &str) -> Request {
    Request::new(Kind::NEW_LINK, 0, &link_header(link, 0, 0)).with(ALIAS, alias.as_bytes())
}

/// What is noted about the link that an answer tells of.
pub fn noted_of<'a>(message: &Message<'a>) -> Result<Option<&'a str>, Error> {
    let (_, attributes): (&[u8; 16], Attributes<'a>) = message.parts("a link")?;
    for attribute in attributes {
        let attribute = attribute?;
        if attribute.kind == ALIAS {
            let text = attribute.value.strip_suffix(&[0]).unwrap_or(attribute.value);
            return Ok(std::str::from_utf8(text).ok());
        }
    }
    Ok(None)
}

/// Asks for a link by its index.
pub fn get(link: u32) -> Request {
    Request::new(Kind::GET_LINK, 0, &link_header(link, 0, 0))
}

/// Sets a link up.
pub fn set_up(link: u32) -> Request {
    Request::new(Kind::NEW_LINK, 0, &link_header(link, UP, UP))
}

/// Removes a link.
pub fn remove(link: u32) -> Request {
    Request::new(Kind::DEL_LINK, 0, &link_header(link, 0, 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Messages;

    fn attributes(bytes: &[u8]) -> Vec<(u16, Vec<u8>)> {
        let message = Messages::new(bytes).next().unwrap().unwrap();
        let (_, attributes): (&[u8; 16], _) = message.parts("it").unwrap();
        attributes.map(Result::unwrap).map(|it| (it.kind, it.value.to_vec())).collect()
    }

    fn inside(bytes: &[u8]) -> Vec<(u16, Vec<u8>)> {
        Attributes::new(bytes).map(Result::unwrap).map(|it| (it.kind, it.value.to_vec())).collect()
    }

    #[test]
    fn a_vxlan_link_says_its_network_and_the_link_below_it() {
        let local = "192.0.2.1".parse().unwrap();
        let vxlan = Vxlan { name: "vni7", vni: 7, local, over: 5, udp_port: 258 };
        let all = attributes(&add_vxlan(&vxlan).finish(1));
        assert_eq!(all[0], (NAME, b"vni7\0".to_vec()));
        let of_kind = inside(&all[1].1);
        assert_eq!(of_kind[0], (KIND, b"vxlan".to_vec()));
        let data = inside(&of_kind[1].1);
        assert_eq!(data[0], (VXLAN_VNI, 7_u32.to_ne_bytes().to_vec()));
        assert_eq!(data[1], (VXLAN_LINK, 5_u32.to_ne_bytes().to_vec()));
        assert_eq!(data[2], (VXLAN_LOCAL, vec![192, 0, 2, 1]));
        assert_eq!(data[4], (VXLAN_UDP_PORT, vec![1, 2]));
    }

    #[test]
    fn whose_a_link_is_is_noted_and_read_again() {
        let bytes = note(5, "ours").finish(1);
        let message = Messages::new(&bytes).next().unwrap().unwrap();
        assert_eq!(noted_of(&message), Ok(Some("ours")));
        let bytes = set_up(5).finish(1);
        assert_eq!(noted_of(&Messages::new(&bytes).next().unwrap().unwrap()), Ok(None));
    }

    #[test]
    fn a_bridge_has_its_mac_and_a_port_floods_nothing() {
        let all = attributes(&add("lan", Some([2, 0, 0, 0, 0, 7])).finish(1));
        assert_eq!(all[1], (ADDRESS, vec![2, 0, 0, 0, 0, 7]));
        let bytes = keep_still(5).finish(1);
        assert_eq!(bytes[16], AF_BRIDGE);
        let flags = inside(&attributes(&bytes)[0].1);
        assert_eq!(flags.len(), 4);
        assert!(flags.iter().all(|(_, value)| value == &[0]));
    }
}
