//! What DPDK opens for a kind of port.

use control::config::objects::port_kind::{PortKind, Repeat, Role};
use dpdk::kinds::{AfPacket, AfXdp, Memif, Pcap, Pci, Tap, Vhost, VirtioUser};
use dpdk::{MemifRole, PortSpec};

/// None for kinds that do without DPDK. One line a kind.
pub(crate) fn spec_of(kind: &PortKind) -> Option<PortSpec> {
    Some(match kind.clone() {
        PortKind::Pci(it) => Pci { address: it.address.as_str().to_owned() }.into(),
        PortKind::AfPacket(it) => AfPacket { device: it.device.as_str().to_owned() }.into(),
        PortKind::AfXdp(it) => AfXdp::usual(it.device.as_str().to_owned()).into(),
        PortKind::Tap(it) => Tap { name: it.device.as_str().to_owned() }.into(),
        PortKind::Memif(it) => Memif::usual(role(it.role), it.socket, it.id).into(),
        PortKind::Vhost(it) => Vhost { socket: it.socket, client: false }.into(),
        PortKind::VirtioUser(it) => VirtioUser { path: it.socket, server: false }.into(),
        PortKind::Pcap(it) => {
            Pcap { rx: it.rx, tx: it.tx, repeat: it.repeat == Repeat::Forever }.into()
        }
        PortKind::Memory(_)
        | PortKind::Vlan(_)
        | PortKind::Bond(_)
        | PortKind::Bvi
        | PortKind::Vxlan(_)
        | PortKind::Gre(_)
        | PortKind::Ipip(_)
        | PortKind::Erspan(_)
        | PortKind::Lisp(_) => return None,
    })
}

fn role(role: Role) -> MemifRole {
    match role {
        Role::Server => MemifRole::Server,
        Role::Client => MemifRole::Client,
    }
}
