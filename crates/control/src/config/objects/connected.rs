//! The networks that the ports' addresses connect: which port of a VRF reaches an address directly.
//!
//! Sorted by VRF and network address; networks inside others are left out, so one binary search
//! decides.

use std::net::IpAddr;

use super::port::Ports;
use super::port_name::PortName;
use super::vrf::VrfName;
use crate::config::prefix::{InterfaceAddress, Prefix};
use crate::config::report::{Problem, Report};

/// A network of a VRF.
type Network<'a> = (Option<&'a VrfName>, Prefix);

/// The connected networks, widest only, in the order of their VRFs and addresses.
#[derive(Debug)]
pub struct Connected<'a> {
    networks: Vec<(Network<'a>, &'a PortName)>,
    overlaps: Vec<Overlap<'a>>,
}

#[derive(Debug)]
struct Overlap<'a> {
    field: String,
    inner: (Prefix, &'a PortName),
    outer: (Prefix, &'a PortName),
}

impl<'a> Connected<'a> {
    /// The networks of these ports.
    pub fn of(ports: &'a Ports) -> Self {
        let mut all: Vec<(Network<'_>, &PortName, usize)> = Vec::new();
        for (name, port) in ports.iter() {
            let networks = port.addresses.iter().map(InterfaceAddress::prefix).enumerate();
            // Every port may have the same link-local network: it tells no port from another.
            let networks = networks.filter(|(_, prefix)| !is_link_local(prefix.address()));
            let vrf = port.vrf.as_ref();
            all.extend(networks.map(|(index, prefix)| ((vrf, prefix), name, index)));
        }
        all.sort();
        let mut networks: Vec<(Network<'_>, &PortName)> = Vec::new();
        let mut overlaps = Vec::new();
        for ((vrf, prefix), name, index) in all {
            match networks.last() {
                // Sorted, so whatever overlaps the widest before it lies inside.
                Some(&((same, wide), outer)) if same == vrf && wide.overlaps(&prefix) => {
                    if outer != name {
                        let field = format!("port.{name}.addresses[{index}]");
                        overlaps.push(Overlap {
                            field,
                            inner: (prefix, name),
                            outer: (wide, outer),
                        });
                    }
                }
                _ => networks.push(((vrf, prefix), name)),
            }
        }
        Self { networks, overlaps }
    }

    /// The port of a VRF that reaches the address directly.
    pub fn port_to(&self, vrf: Option<&VrfName>, address: IpAddr) -> Option<&'a PortName> {
        let is_before = |network: Network<'_>| (network.0, network.1.address()) <= (vrf, address);
        let after = self.networks.partition_point(|(network, _)| is_before(*network));
        let ((of, prefix), name) = self.networks.get(after.checked_sub(1)?)?;
        (*of == vrf && prefix.contains(address)).then_some(*name)
    }

    /// Complains about networks on several ports.
    pub(crate) fn check(&self, report: &mut Report) {
        for Overlap { field, inner, outer } in &self.overlaps {
            let message = format!("{} on {} overlaps {} on {}", inner.0, inner.1, outer.0, outer.1);
            report.push(Problem::new(field, message).expected("each network on one port of a VRF"));
        }
    }
}

/// Whether one link alone knows the address: `fe80::/10`.
pub(crate) fn is_link_local(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(v6) if v6.is_unicast_link_local())
}

/// Complains about an address that no host can have.
pub(crate) fn check_host_address(field: &str, address: InterfaceAddress, report: &mut Report) {
    let (ip, prefix) = (address.address(), address.prefix());
    let what = match ip {
        _ if ip.is_multicast() => "a multicast address",
        _ if ip.is_loopback() => "a loopback address",
        _ if ip.is_unspecified() => "not an address",
        IpAddr::V4(v4) if v4.octets()[0] == 0 || v4.octets()[0] >= 240 => "a reserved address",
        IpAddr::V4(_) if prefix.length() < 31 && ip == prefix.address() => "the network itself",
        IpAddr::V4(_) if prefix.broadcast() == Some(ip) => "the network's broadcast address",
        IpAddr::V6(_) if is_link_local(ip) && prefix.length() != 64 => {
            "a link-local address whose prefix length is not 64"
        }
        IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() => "an IPv4 address written as IPv6",
        IpAddr::V6(_) if is_link_local(ip) => return,
        IpAddr::V6(_) if prefix.length() < 127 && ip == prefix.address() => {
            "the anycast address of the network's routers"
        }
        IpAddr::V6(_) => return,
        IpAddr::V4(_) => return,
    };
    report.push(
        Problem::new(field, format!("{address} is {what}"))
            .expected("the address of one host in its network"),
    );
}
