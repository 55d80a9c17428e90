//! What DPDK opens for a kind of port.

use control::config::objects::port_kind::{Device, PortKind, Repeat, Role};
use dpdk::kinds::{AfPacket, AfXdp, Memif, Pcap, Pci, Tap, Vhost, VirtioUser};
use dpdk::{MemifRole, PortSpec};

/// None for kinds that do without DPDK. One line a device.
pub(crate) fn spec_of(kind: &PortKind) -> Option<PortSpec> {
    Some(match kind.device()? {
        Device::Pci(it) => Pci { address: it.address.as_str().to_owned() }.into(),
        Device::AfPacket(it) => {
            AfPacket { device: it.device.as_str().to_owned(), kernel_receives: it.kernel_receives }
                .into()
        }
        Device::AfXdp(it) => AfXdp::usual(it.device.as_str().to_owned()).into(),
        Device::Tap(it) => Tap { name: it.device.as_str().to_owned() }.into(),
        Device::Memif(it) => Memif {
            zero_copy: it.zero_copy,
            ..Memif::usual(role(it.role), it.socket.clone(), it.id)
        }
        .into(),
        Device::Vhost(it) => {
            Vhost { socket: it.socket.clone(), client: it.role == Role::Client }.into()
        }
        Device::VirtioUser(it) => VirtioUser { path: it.socket.clone(), server: false }.into(),
        Device::Pcap(it) => {
            let repeat = it.repeat == Repeat::Forever;
            Pcap { rx: it.rx.clone(), tx: it.tx.clone(), repeat }.into()
        }
        Device::Memory(_) => return None,
    })
}

fn role(role: Role) -> MemifRole {
    match role {
        Role::Server => MemifRole::Server,
        Role::Client => MemifRole::Client,
    }
}
