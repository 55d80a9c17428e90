//! The two links between the lab and a device, of one kind.
//!
//! ```text
//! kind       lab's ends                     device's ends
//! veth       af_packet g0, g1               d0, d1 (any device)
//! veth-xdp   af_xdp g0, g1                  d0, d1
//! tap        net_tap g0, g1, moved          d0, d1: what the lab sends the kernel receives there
//! memif      memif client                   memif server      (DPDK devices)
//! vhost      virtio_user                    vhost, listening  (DPDK devices; the lab listens where the device connects)
//! pcap       files, written and read       net_pcap, from one file and into another (functional checks alone)
//! pci        cards                         cards, of addresses that the scenario names
//! ```

pub mod cards;
mod kind;
mod names;

use std::path::{Path, PathBuf};

use dpdk::kinds::{AfPacket, AfXdp, Memif, Pcap, Pci, Tap, VirtioUser};
use dpdk::{MemifRole, PortSpec};

use crate::Error;
use crate::place::{Place, output};
use crate::testbed::Reached;
use cards::Cards;
pub use kind::LinkKind;
pub use names::{DEVICE_DEVICES, DEVICE_MACS, LAB_DEVICES, LAB_MACS};

/// What the device opens at one end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceEnd {
    /// A kernel device.
    Kernel(String),
    /// A memif, as server.
    Memif(PathBuf),
    /// A vhost socket, listening.
    Vhost(PathBuf),
    /// Capture files.
    Pcap {
        /// To be read.
        rx: PathBuf,
        /// To be written.
        tx: PathBuf,
    },
    /// A network card, by its address.
    Pci(String),
}

/// Makes the kernel's part of the links, and says what the device is to open.
pub fn lay(
    kind: LinkKind,
    place: &mut Place,
    mtu: u16,
    cards: Option<&Cards>,
) -> Result<[DeviceEnd; 2], Error> {
    let socket = |side: usize| place.folder().join(format!("{}{side}.sock", kind.name()));
    Ok(match kind {
        LinkKind::Memif => [0, 1].map(|side| DeviceEnd::Memif(socket(side))),
        LinkKind::Vhost => [0, 1].map(|side| DeviceEnd::Vhost(socket(side))),
        LinkKind::Veth | LinkKind::VethXdp => {
            for side in 0..2 {
                veth(place, side, mtu)?;
            }
            kernel_ends()
        }
        LinkKind::Tap => kernel_ends(),
        LinkKind::Pcap => [0, 1].map(|side| DeviceEnd::Pcap {
            rx: place.folder().join(format!("in{side}.pcap")),
            tx: place.folder().join(format!("out{side}.pcap")),
        }),
        LinkKind::Pci => {
            let cards = cards.ok_or_else(unnamed)?;
            cards.check(Path::new(cards::CARDS))?;
            cards.device.clone().map(DeviceEnd::Pci)
        }
    })
}

/// The device's ends where a test bed has the wires: the lab's are there already.
pub(crate) fn lent(mtu: u16) -> Result<[DeviceEnd; 2], Error> {
    Reached::widen(mtu)?;
    Ok(kernel_ends())
}

fn unnamed() -> Error {
    let reason = "no scenario names the cards".to_owned();
    Error::Port { port: LinkKind::Pci.to_string(), reason }
}

fn kernel_ends() -> [DeviceEnd; 2] {
    DEVICE_DEVICES.map(|name| DeviceEnd::Kernel(name.to_owned()))
}

/// Gives the kernel devices of open taps to the device.
pub fn hand_over(place: &mut Place, mtu: u16) -> Result<(), Error> {
    for side in 0..2 {
        let (near, far) = (LAB_DEVICES[side], DEVICE_DEVICES[side]);
        let line = format!("ip link set {near} netns {}", place.namespace());
        output(&["sh", "-c", &line])
            .map_err(|reason| Error::Command { line: line.clone(), reason })?;
        place.quietly(&format!(
            "ip link set {near} down && ip link set {near} name {far} address {} mtu {mtu} && \
             echo 1 > /proc/sys/net/ipv6/conf/{far}/disable_ipv6 && ip link set {far} up",
            DEVICE_MACS[side]
        ))?;
    }
    Ok(())
}

fn veth(place: &mut Place, side: usize, mtu: u16) -> Result<(), Error> {
    let (near, far) = (LAB_DEVICES[side], DEVICE_DEVICES[side]);
    let here = |line: String| {
        let shell = ["sh", "-c", &line];
        output(&shell).map_err(|reason| Error::Command { line: line.clone(), reason })
    };
    let quiet = |name: &str| format!("echo 1 > /proc/sys/net/ipv6/conf/{name}/disable_ipv6");
    // An earlier one ends with its namespace, but not at once.
    let _ = output(&["ip", "link", "del", near]);
    // Our end has an address that no frame is sent to: the kernel lets go of them at once where it
    // would look for a route.
    here(format!(
        "ip link add {near} mtu {mtu} type veth peer name {far} address {} mtu {mtu} netns {}",
        DEVICE_MACS[side],
        place.namespace()
    ))?;
    here(format!("{} && ip link set {near} up", quiet(near)))?;
    ready(place, far)
}

/// Makes a kernel device of a device's place ready for it.
pub(crate) fn ready(place: &Place, far: &str) -> Result<(), Error> {
    // Without a card below, nobody would ever fill in a checksum that is left out.
    place.quietly(&format!(
        "echo 1 > /proc/sys/net/ipv6/conf/{far}/disable_ipv6 && ip link set {far} up && \
         ethtool -K {far} tx off gso off tso off gro off >/dev/null || true"
    ))?;
    Ok(())
}

/// Gives the packets that come in at kernel devices of a place to the place's cores (RPS): else
/// they are handled on the core of whoever sent them.
pub(crate) fn steer(place: &mut Place, devices: &[&str]) -> Result<(), Error> {
    let mask = mask(place.cores());
    // /sys shows the namespace in which it was mounted.
    let set: Vec<String> = devices
        .iter()
        .map(|device| format!("echo {mask:x} > /sys/class/net/{device}/queues/rx-0/rps_cpus"))
        .collect();
    // A container has its own already, to be read alone.
    let inner =
        format!("mount -t sysfs sysfs /sys && mount -o remount,rw /sys && {}", set.join(" && "));
    place.run(&format!("unshare --mount sh -c '{inner}'")).map(drop)
}

/// Cores as `taskset` writes them, a bit each.
fn mask(cores: &str) -> u64 {
    let range = |text: &str| {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        Some(first.trim().parse::<u32>().ok()?..=last.trim().parse().ok()?)
    };
    let cores = cores.split(',').filter_map(range).flatten();
    cores.fold(0, |mask, core| mask | 1 << core.min(63))
}

/// What a device needs of the lab's ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// Receive queues: as many as it sends by, where each of its queues has to meet one.
    pub rx_queues: u16,
    /// Whether the lab has to listen at a vhost's socket, because the device connects.
    pub listener: bool,
}

impl Default for Needs {
    fn default() -> Self {
        Self { rx_queues: 1, listener: false }
    }
}

/// What the lab opens at its ends.
pub fn lab_ports(
    kind: LinkKind,
    place: &Place,
    needs: Needs,
    cards: Option<&Cards>,
) -> Result<[PortSpec; 2], Error> {
    let cards = match (kind, cards) {
        (LinkKind::Pci, cards) => cards.ok_or_else(unnamed)?.generator.clone(),
        _ => [String::new(), String::new()],
    };
    let socket = |side: usize| place.folder().join(format!("{}{side}.sock", kind.name()));
    Ok([0, 1].map(|side| match kind {
        LinkKind::Veth => PortSpec::AfPacket(AfPacket::usual(LAB_DEVICES[side].into())),
        LinkKind::VethXdp => PortSpec::AfXdp(AfXdp {
            device: LAB_DEVICES[side].into(),
            first_queue: 0,
            force_copy: false,
        }),
        LinkKind::Tap => PortSpec::Tap(Tap { name: LAB_DEVICES[side].into() }),
        LinkKind::Memif => Memif::usual(MemifRole::Client, socket(side), 0).into(),
        LinkKind::Vhost => {
            PortSpec::VirtioUser(VirtioUser { path: socket(side), server: needs.listener })
        }
        LinkKind::Pci => PortSpec::Pci(Pci { address: cards[side].clone() }),
        // Written before the device starts, and read when it has ended: nothing in between.
        LinkKind::Pcap => PortSpec::Pcap(Pcap { rx: None, tx: None, repeat: false }),
    }))
}

/// Takes the kernel's part away again.
pub fn take_up(kind: LinkKind) {
    if kind.is_kernel() {
        for near in LAB_DEVICES {
            let _ = output(&["ip", "link", "del", near]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_bits() {
        assert_eq!([mask("0"), mask("1,3"), mask("2-4,6"), mask("")], [1, 0b1010, 0b101_1100, 0]);
    }
}
