//! Tags and tunnels: what a function puts around the frames at its second link.

use std::net::IpAddr;

use lab_traffic::{Header, Stream};

use super::entries;
use crate::link::{DEVICE_MACS, LAB_MACS};
use crate::scenario::FunctionKind;

/// The VLAN of tagged frames.
pub const VLAN: u16 = 100;
/// The network of encapsulated frames.
pub const VNI: u32 = 100;
/// Where VXLAN is listened for (RFC 7348 section 8).
const VXLAN_PORT: u16 = 4_789;
/// The instance of packets between locators.
pub const INSTANCE: u32 = 100;
/// Where packets between locators are listened for (RFC 9300 section 5.3).
const LISP_PORT: u16 = 4_341;
/// Where the lab says that its encapsulated frames come from.
const VXLAN_SOURCE_PORT: u16 = 49_152;

/// The headers around what a tunnel carries, as they are sent from one end of it to the other.
pub(super) fn tunnel(function: FunctionKind, from_device: bool) -> Vec<Header> {
    let (mut source, mut destination) = (LAB_MACS[1], DEVICE_MACS[1]);
    let (mut from, mut to) = (entries::lab_address(false, 1), entries::device_address(false, 1));
    if from_device {
        std::mem::swap(&mut source, &mut destination);
        std::mem::swap(&mut from, &mut to);
    }
    let (IpAddr::V4(from), IpAddr::V4(to)) = (from, to) else { return Vec::new() };
    let link = Header::Ethernet { source, destination, ethertype: None };
    let network = Header::Ipv4 { source: from, destination: to, ttl: 64, dscp: 0 };
    match function {
        FunctionKind::VxlanEncap => {
            let udp = Header::Udp { source_port: VXLAN_SOURCE_PORT, destination_port: VXLAN_PORT };
            vec![link, network, udp, Header::Vxlan { vni: VNI }]
        }
        FunctionKind::Gre => vec![link, network, Header::Gre],
        FunctionKind::Lisp => {
            let udp = Header::Udp { source_port: VXLAN_SOURCE_PORT, destination_port: LISP_PORT };
            vec![link, network, udp, Header::Lisp { instance: INSTANCE }]
        }
        _ => Vec::new(),
    }
}

/// The stream as it is at the second link where this one, without tag and tunnel, is what it
/// carries: what the lab sends back to a device.
pub(super) fn wrapped(function: FunctionKind, mut inner: Stream) -> Stream {
    match function {
        FunctionKind::VlanTagging => {
            inner.headers.insert(1, Header::Vlan { id: VLAN, priority: 0 });
        }
        FunctionKind::VxlanEncap => {
            inner.headers.splice(0..0, tunnel(function, false));
        }
        FunctionKind::Gre | FunctionKind::Lisp => {
            inner.headers.splice(0..1, tunnel(function, false));
        }
        _ => return inner,
    }
    inner.frame_bytes = inner.frame_bytes.grown(function.overhead_bytes());
    inner
}
