//! Tunnels. One of several remotes is, in its own row, that from any of them. Copies that leave by
//! one are numbered as long as it is there.

use crate::core::Core;
use crate::interfaces::OpenPort;
use crate::part::Part;
use crate::vrf_numbers::VrfNumbers;
use control::config::objects::port::PortName;
use control::config::objects::port_kind::PortKind;
use control::config::objects::port_kind::ends::Remotes;
use control::config::objects::port_kind::erspan::Version;
use control::config::objects::tunnel_number::GreKey;
use control::engine::ApplyError;
use nodes::tables::{Ends, Erspan, ErspanVersion, Inside, Interface, Link, Numbered, Tunnel, Wrap};
use nodes::tunnel::Sequence;
use std::collections::BTreeMap;

/// See the module.
#[derive(Default)]
pub(crate) struct Tunnels {
    sequences: BTreeMap<PortName, Sequence>,
}

impl Part for Tunnels {
    fn follow(&mut self, core: &mut Core, name: &PortName) -> Result<(), ApplyError> {
        let is_for_copies = |port: &OpenPort| port.config.kind.is_for_copies();
        if core.ports.get(name).is_some_and(is_for_copies) {
            self.sequences.entry(name.clone()).or_default();
        }
        Ok(())
    }

    fn close(&mut self, _: &mut Core, name: &PortName) -> Result<(), ApplyError> {
        self.sequences.remove(name);
        Ok(())
    }

    fn row(&self, core: &Core, name: &PortName, port: &OpenPort, row: &mut Interface) {
        if let Some(tunnel) = tunnel(&port.config.kind, &core.vrfs) {
            row.link = Link::Tunnel(tunnel);
        }
        row.put(self.sequences.get(name).cloned());
    }
}

fn tunnel(kind: &PortKind, vrfs: &VrfNumbers) -> Option<Tunnel> {
    let ends = kind.ends()?;
    let local = ends.local();
    let any_remote = || Some(Ends::new(local, local)?.with_any_remote());
    let (between, learns) = match &ends.remotes {
        Remotes::One(remote) => (Ends::new(local, *remote)?, false),
        Remotes::Several { learn, .. } => (any_remote()?, *learn),
        Remotes::Flow => (any_remote()?, false),
    };
    let wrap = match kind {
        PortKind::Vxlan(vxlan) => match vxlan.vni.fixed() {
            Some(vni) => Wrap::Vxlan { vni, port: vxlan.udp_port },
            None => Wrap::ByFlows(Numbered::Vxlan { port: vxlan.udp_port }),
        },
        PortKind::Geneve(geneve) => match geneve.vni.fixed() {
            Some(vni) => Wrap::Geneve { vni, port: geneve.udp_port },
            None => Wrap::ByFlows(Numbered::Geneve { port: geneve.udp_port }),
        },
        PortKind::Gre(gre) => match gre.incoming_key() {
            Some(GreKey::Flow) => Wrap::ByFlows(Numbered::Gre),
            key => Wrap::Gre(key.and_then(GreKey::fixed)),
        },
        PortKind::Ipip(_) => Wrap::Ip,
        PortKind::Erspan(it) => Wrap::Erspan(Erspan {
            session: it.session,
            version: match it.version {
                Version::Two => ErspanVersion::II,
                Version::Three => ErspanVersion::III,
            },
            index: it.index,
        }),
        _ => return None,
    };
    let mut tunnel = Tunnel::new(wrap, between);
    tunnel.is_directed = kind.is_directed_by_flows();
    tunnel.local_by_flows = kind.has_local_by_flows();
    match kind {
        PortKind::Vxlan(vxlan) => {
            tunnel.summed = vxlan.checksum.unwrap_or(tunnel.summed);
            (tunnel.dscp, tunnel.ttl) = (vxlan.dscp.fixed(), vxlan.ttl.fixed());
        }
        PortKind::Geneve(geneve) => {
            tunnel.summed = geneve.checksum.unwrap_or(tunnel.summed);
            (tunnel.dscp, tunnel.ttl) = (geneve.dscp.fixed(), geneve.ttl.fixed());
        }
        PortKind::Gre(gre) => {
            if !kind.is_numbered_by_flows() {
                tunnel.key_out = gre.outgoing_key().and_then(GreKey::fixed);
            }
            (tunnel.dscp, tunnel.ttl) = (gre.dscp.fixed(), gre.ttl.fixed());
        }
        PortKind::Ipip(ipip) => {
            (tunnel.dscp, tunnel.ttl) = (ipip.dscp.fixed(), ipip.ttl.fixed());
        }
        PortKind::Erspan(it) => {
            (tunnel.dscp, tunnel.ttl) = (it.dscp.fixed(), it.ttl.fixed());
        }
        _ => {}
    }
    let inside = if kind.is_point_to_point() { Inside::Packets } else { Inside::Frames };
    let underlay = vrfs.of(ends.underlay_vrf.as_ref());
    Some(Tunnel { inside, learns, underlay, ..tunnel })
}
