//! Tunnels. One of several remotes is, in its own row, that from any of them.

use crate::core::Core;
use crate::interfaces::OpenPort;
use crate::part::Part;
use crate::vrf_numbers::VrfNumbers;
use control::config::objects::port::PortName;
use control::config::objects::port_kind::PortKind;
use control::config::objects::port_kind::ends::Remotes;
use nodes::tables::{Ends, Inside, Interface, Link, Tunnel, Wrap};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// See the module.
#[derive(Default)]
pub(crate) struct Tunnels;

impl Part for Tunnels {
    fn row(&self, core: &Core, _: &PortName, port: &OpenPort, row: &mut Interface) {
        if let Some(tunnel) = tunnel(&port.config.kind, &core.vrfs) {
            row.link = Link::Tunnel(tunnel);
        }
    }
}

fn tunnel(kind: &PortKind, vrfs: &VrfNumbers) -> Option<Tunnel> {
    let ends = kind.ends()?;
    let (remote, learns) = match &ends.remotes {
        Remotes::One(remote) => (*remote, false),
        Remotes::Several { learn, .. } => (unspecified(ends.local), *learn),
    };
    let wrap = match kind {
        PortKind::Vxlan(vxlan) => Wrap::Vxlan { vni: vxlan.vni, port: vxlan.udp_port },
        PortKind::Gre(gre) => Wrap::Gre(gre.incoming_key()),
        PortKind::Ipip(_) => Wrap::Ip,
        _ => return None,
    };
    let mut tunnel = Tunnel::new(wrap, Ends::new(ends.local, remote)?);
    match kind {
        PortKind::Vxlan(vxlan) => {
            tunnel.summed = vxlan.checksum.unwrap_or(tunnel.summed);
            (tunnel.dscp, tunnel.ttl) = (vxlan.dscp.fixed(), vxlan.ttl.fixed());
        }
        PortKind::Gre(gre) => {
            tunnel.key_out = gre.outgoing_key();
            (tunnel.dscp, tunnel.ttl) = (gre.dscp.fixed(), gre.ttl.fixed());
        }
        PortKind::Ipip(ipip) => {
            (tunnel.dscp, tunnel.ttl) = (ipip.dscp.fixed(), ipip.ttl.fixed());
        }
        _ => {}
    }
    let inside = if kind.is_point_to_point() { Inside::Packets } else { Inside::Frames };
    let underlay = vrfs.of(ends.underlay_vrf.as_ref());
    Some(Tunnel { inside, learns, underlay, ..tunnel })
}

/// No address, of the family of another one.
fn unspecified(like: IpAddr) -> IpAddr {
    match like {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    }
}
