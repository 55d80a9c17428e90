//! Ports without a device of their own: VLANs of other ports, the router's own stations in bridges,
//! tunnels.
//!
//! ```text
//!  p1 ── device        p1.100 ── VLAN 100 of p1: its link is p1's, its frames leave by p1's queues
//! ```

use crate::interfaces::{Link, OpenPort, OpenPorts};
use crate::router::Router;
use crate::vrfs::VrfNumbers;
use control::config::objects::port::{Port, PortName};
use control::config::objects::port_kind::PortKind;
use control::config::objects::tunnel::Remotes;
use control::config::objects::vlan::{Protocol, Vid, Vlan as VlanConfig};
use nodes::tables::{Ends, Inside, Interface, Link as RowLink, Tunnel, Vlan, VlanTags, Wrap};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use wire::ethernet::ethertype;

impl Router {
    /// What is known of a port's link: the device's, or that of the port it is a part of.
    pub(crate) fn link_of(&self, port: &OpenPort) -> Link {
        match parent_of(&port.config) {
            Some(parent) => self.ports.get(parent).map_or_else(Link::default, |it| it.link_now()),
            None => port.read_link(),
        }
    }

    /// Gives ports without a MAC address of their own that of the port they are a part of, which
    /// may have another now.
    pub(crate) fn inherit_macs(&mut self) {
        let names: Vec<PortName> = self.ports.keys().cloned().collect();
        for name in names {
            let Some(port) = self.ports.get(&name) else { continue };
            let mac = self.inherited_mac(&port.config);
            if let (Some(mac), Some(port)) = (mac, self.ports.get_mut(&name)) {
                port.mac = mac;
            }
        }
    }

    /// The MAC address of a port that has none of its own.
    pub(crate) fn inherited_mac(&self, config: &Port) -> Option<[u8; 6]> {
        let parent = self.ports.get(parent_of(config)?)?;
        config.mac.is_none().then_some(parent.mac)
    }
}

impl OpenPort {
    /// The link for those that stand on it.
    fn link_now(&self) -> Link {
        Link { up: self.carries(), ..self.link }
    }

    /// Makes of a row what a port without a device needs.
    pub(crate) fn stand_on_others(
        &self,
        row: &mut Interface,
        ids: &HashMap<PortName, u16>,
        ports: &OpenPorts,
        vrfs: &VrfNumbers,
    ) {
        match &self.config.kind {
            PortKind::Vlan(config) => match ids.get(&config.parent) {
                Some(&parent) => {
                    row.port = parent;
                    row.link = RowLink::Vlan(vlan(config, parent));
                    row.up &= ports.get(&config.parent).is_some_and(|parent| parent.config.up);
                }
                None => row.up = false,
            },
            PortKind::Bvi => row.link = RowLink::Bridge,
            kind => {
                if let Some(tunnel) = tunnel(kind, vrfs) {
                    row.link = RowLink::Tunnel(tunnel);
                }
            }
        }
    }
}

fn parent_of(config: &Port) -> Option<&PortName> {
    match &config.kind {
        PortKind::Vlan(vlan) => Some(&vlan.parent),
        _ => None,
    }
}

/// A tunnel; one of several remotes as that from any of them.
fn tunnel(kind: &PortKind, vrfs: &VrfNumbers) -> Option<Tunnel> {
    let ends = kind.ends()?;
    let (remote, learns) = match &ends.remotes {
        Remotes::One(remote) => (*remote, false),
        Remotes::Several { learn, .. } => (unspecified(ends.local), *learn),
    };
    let wrap = match kind {
        PortKind::Vxlan(vxlan) => Wrap::Vxlan(vxlan.vni),
        PortKind::Gre(gre) => Wrap::Gre(gre.key),
        _ => return None,
    };
    let usual = Tunnel::new(wrap, Ends::new(ends.local, remote)?);
    let summed = match kind {
        PortKind::Vxlan(vxlan) => vxlan.checksum.unwrap_or(usual.summed),
        _ => usual.summed,
    };
    let inside = if kind.is_point_to_point() { Inside::Packets } else { Inside::Frames };
    let underlay = vrfs.of(ends.underlay_vrf.as_ref());
    Some(Tunnel { inside, summed, learns, underlay, ..usual })
}

/// No address, of the family of another one.
fn unspecified(like: IpAddr) -> IpAddr {
    match like {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    }
}

fn vlan(config: &VlanConfig, parent: u16) -> Vlan {
    let tags = match (config.vlan, config.inner) {
        (Vid::Exact(outer), Some(Vid::Exact(inner))) => VlanTags::Two(outer, inner),
        (Vid::Exact(outer), Some(_)) => VlanTags::AnyInner(outer),
        (Vid::Exact(outer), None) => VlanTags::One(outer),
        (Vid::Any, _) => VlanTags::Any,
        (Vid::Untagged, _) => VlanTags::Untagged,
    };
    let protocol = match config.protocol {
        Protocol::Customer => ethertype::VLAN,
        Protocol::Service => ethertype::QINQ,
    };
    Vlan { parent, tags, protocol, priority: config.priority.map(|priority| priority as u8) }
}
