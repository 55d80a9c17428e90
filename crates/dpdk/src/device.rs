//! A port's kind as the device name and arguments that DPDK takes: `net_tap3,iface=vt0`.
//!
//! DPDK splits arguments at `,` and `=` and knows no escape, so a value with such a character is
//! refused instead of being understood as something else.

use crate::packet_times::RingShape;
use crate::spec::{MemifRole, PortSpec};
use crate::{Error, ffi, packet_sockets};
use std::ffi::CString;
use std::fmt::Display;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// Characters that mean something in DPDK's arguments.
const SPECIAL: &[char] = &[',', '=', '"', '\'', '[', ']', '(', ')', '\\'];

/// Most bytes of a Linux device name.
const DEVICE_NAME_BYTES: usize = 15;

/// Most bytes of a Unix socket's path.
const SOCKET_PATH_BYTES: usize = 107;

/// DPDK tells devices apart by name.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// What some drivers must know of a port when the device is made.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// Queues each way.
    pub(crate) queues: u16,
    /// Largest packet.
    pub(crate) mtu: u16,
    /// Packets a queue holds.
    pub(crate) descriptors: Option<u16>,
}

impl Shape {
    /// The receive ring of a packet socket; that for sending is as large.
    pub(crate) fn packet_ring(&self) -> RingShape {
        let slot_bytes = packet_slot_bytes(self.mtu);
        RingShape { slots: packet_slots(self.descriptors, slot_bytes), slot_bytes }
    }
}

/// What `rte_eal_hotplug_add` takes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Device {
    pub(crate) bus: &'static str,
    pub(crate) name: String,
    pub(crate) arguments: String,
    /// Has a single packet socket.
    pub(crate) alone: bool,
}

impl Device {
    /// The device of `spec`, of that shape.
    pub(crate) fn of(spec: &PortSpec, shape: Shape) -> Result<Self, Error> {
        if let PortSpec::Pci { address } = spec {
            check_pci_address(address)?;
            return Ok(Self {
                bus: "pci",
                name: address.clone(),
                arguments: String::new(),
                alone: false,
            });
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}{number}", driver(spec));
        let alone = matches!(spec, PortSpec::AfPacket { .. }) && shape.queues == 1;
        Ok(Self { bus: "vdev", name, arguments: arguments(spec, shape)?.0, alone })
    }
}

impl Device {
    /// Makes DPDK open the device; its port number or an error number.
    pub(crate) fn plug(&self) -> Result<u16, i32> {
        let texts = [self.bus, &self.name, &self.arguments].map(CString::new);
        let [Ok(bus), Ok(name), Ok(arguments)] = texts else { return Err(libc::EINVAL) };
        let add = || {
            // SAFETY: DPDK runs; three texts, copied.
            unsafe { ffi::rte_eal_hotplug_add(bus.as_ptr(), name.as_ptr(), arguments.as_ptr()) }
        };
        let code = if self.alone { packet_sockets::alone(add) } else { add() };
        if code != 0 {
            return Err(code);
        }
        let mut number = 0;
        // SAFETY: DPDK runs; the result is ours.
        match unsafe { ffi::rte_eth_dev_get_port_by_name(name.as_ptr(), &mut number) } {
            0 => Ok(number),
            code => {
                self.unplug();
                Err(code)
            }
        }
    }

    /// Makes DPDK forget the device.
    pub(crate) fn unplug(&self) {
        let texts = [self.bus, &self.name].map(CString::new);
        let [Ok(bus), Ok(name)] = texts else { return };
        // SAFETY: DPDK runs; a device that is gone is an error number, and gone is what we want.
        unsafe { ffi::rte_eal_hotplug_remove(bus.as_ptr(), name.as_ptr()) };
    }
}

/// The driver that takes device names beginning so.
fn driver(spec: &PortSpec) -> &'static str {
    match spec {
        PortSpec::Pci { .. } => "",
        PortSpec::AfPacket { .. } => "net_af_packet",
        PortSpec::AfXdp { .. } => "net_af_xdp",
        PortSpec::Tap { .. } => "net_tap",
        PortSpec::Memif { .. } => "net_memif",
        PortSpec::Vhost { .. } => "net_vhost",
        PortSpec::VirtioUser { .. } => "net_virtio_user",
        PortSpec::Pcap { .. } => "net_pcap",
        PortSpec::Null { .. } => "net_null",
        PortSpec::Ring => "net_ring",
    }
}

fn arguments(spec: &PortSpec, shape: Shape) -> Result<Arguments, Error> {
    let queues = shape.queues;
    let list = Arguments::default();
    match spec {
        PortSpec::Pci { .. } | PortSpec::Ring => Ok(list),
        PortSpec::AfPacket { device } => {
            let RingShape { slots, slot_bytes } = shape.packet_ring();
            list.device("iface", device)?
                .with("qpairs", queues)
                .with("blocksz", slot_bytes * PACKET_SLOTS_A_BLOCK)
                .with("framesz", slot_bytes)
                .with("framecnt", slots)
                .with("qdisc_bypass", 0)
                .ok()
        }
        PortSpec::AfXdp { device, first_queue, force_copy } => list
            .device("iface", device)?
            .with("start_queue", first_queue)
            .with("queue_count", queues)
            .with("force_copy", u8::from(*force_copy))
            .ok(),
        PortSpec::Tap { name } => list.device("iface", name)?.ok(),
        PortSpec::Memif { role, socket, id, ring_log2, buffer_bytes } => {
            check_range("memif ring_log2", u32::from(*ring_log2), 1, 14)?;
            list.with("role", role_name(*role))
                .socket("socket", socket)?
                .with("socket-abstract", "no")
                .with("id", id)
                .with("rsize", ring_log2)
                .with("bsize", buffer_bytes)
                .ok()
        }
        PortSpec::Vhost { socket, client } => list
            .socket("iface", socket)?
            .with("queues", queues)
            .with("client", u8::from(*client))
            .ok(),
        PortSpec::VirtioUser { path, server } => {
            let list = list.socket("path", path)?.with("queues", queues);
            if *server { list.with("server", 1).ok() } else { list.ok() }
        }
        PortSpec::Pcap { rx, tx, repeat } => pcap(list, rx.as_deref(), tx.as_deref(), *repeat),
        PortSpec::Null { packet_bytes } => list.with("size", packet_bytes).ok(),
    }
}

/// A slot of a packet socket's ring holds a header of its own, the frame, and a tag to spare. Its
/// size is a quarter of something in pages, as the driver knows no gap at a block's end; and the
/// driver wants the port's buffers to hold all of it but 32 bytes.
fn packet_slot_bytes(mtu: u16) -> u32 {
    const HEADER_BYTES: u32 = 66;
    (HEADER_BYTES + 14 + 4 + u32::from(mtu)).next_multiple_of(1024).max(2048)
}

/// Linux allocates a ring in blocks.
const PACKET_SLOTS_A_BLOCK: u32 = 4;

/// A host bursts as fast as it can copy while we may be waiting for its core: 4096 usual frames.
const PACKET_RING_BYTES: u32 = 8 << 20;

fn packet_slots(descriptors: Option<u16>, slot_bytes: u32) -> u32 {
    let wanted = descriptors.map_or(PACKET_RING_BYTES / slot_bytes, u32::from);
    wanted.max(1).next_multiple_of(PACKET_SLOTS_A_BLOCK)
}

fn pcap(
    mut list: Arguments,
    rx: Option<&Path>,
    tx: Option<&Path>,
    repeat: bool,
) -> Result<Arguments, Error> {
    if rx.is_none() && tx.is_none() {
        return Err(refuse("pcap", "", "a file to receive from or to send to is needed"));
    }
    if let Some(path) = rx {
        list = list.path("rx_pcap", path)?.with("infinite_rx", u8::from(repeat));
    }
    if let Some(path) = tx {
        list = list.path("tx_pcap", path)?;
    }
    list.ok()
}

fn role_name(role: MemifRole) -> &'static str {
    match role {
        MemifRole::Server => "server",
        MemifRole::Client => "client",
    }
}

/// `key=value` pairs whose values were looked at.
#[derive(Default)]
struct Arguments(String);

impl Arguments {
    /// Adds a value of ours.
    fn with(mut self, key: &str, value: impl Display) -> Self {
        if !self.0.is_empty() {
            self.0.push(',');
        }
        self.0.push_str(&format!("{key}={value}"));
        self
    }

    fn device(self, key: &str, name: &str) -> Result<Self, Error> {
        check_text("device", name)?;
        if name.len() > DEVICE_NAME_BYTES || name.contains(['/', ' ', ':']) || name.starts_with('.')
        {
            return Err(refuse("device", name, "Linux has no devices of such a name"));
        }
        Ok(self.with(key, name))
    }

    fn path(self, key: &str, path: &Path) -> Result<Self, Error> {
        let text = path
            .to_str()
            .ok_or_else(|| refuse("path", &path.to_string_lossy(), "it is not valid UTF-8"))?;
        check_text("path", text)?;
        Ok(self.with(key, text))
    }

    fn socket(self, key: &str, path: &Path) -> Result<Self, Error> {
        if path.as_os_str().len() > SOCKET_PATH_BYTES {
            return Err(refuse(
                "path",
                &path.to_string_lossy(),
                "a socket's path has at most 107 bytes",
            ));
        }
        self.path(key, path)
    }

    fn ok(self) -> Result<Self, Error> {
        Ok(self)
    }
}

fn check_text(what: &'static str, text: &str) -> Result<(), Error> {
    if text.is_empty() {
        return Err(refuse(what, text, "it is empty"));
    }
    match text.chars().find(|&c| c.is_control() || SPECIAL.contains(&c)) {
        None => Ok(()),
        Some(c) => Err(refuse(what, text, &format!("{c:?} has a meaning of its own there"))),
    }
}

fn check_range(what: &'static str, value: u32, least: u32, most: u32) -> Result<(), Error> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(refuse(what, &value.to_string(), &format!("{least} to {most} are allowed")))
}

/// `0000:01:00.0`
fn check_pci_address(text: &str) -> Result<(), Error> {
    let pattern = "0000:01:00.0";
    let fits = |(c, like): (char, char)| match like {
        ':' | '.' => c == like,
        _ => c.is_ascii_hexdigit(),
    };
    match text.len() == pattern.len() && text.chars().zip(pattern.chars()).all(fits) {
        true => Ok(()),
        false => Err(refuse("PCI address", text, &format!("one looks like {pattern}"))),
    }
}

fn refuse(what: &'static str, value: &str, reason: &str) -> Error {
    Error::Argument { what, value: value.to_owned(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { queues: 2, mtu: 1500, descriptors: None };

    fn text(spec: PortSpec) -> String {
        let device = Device::of(&spec, SHAPE).unwrap();
        format!(
            "{},{}",
            device.name.trim_end_matches(|c: char| c.is_ascii_digit()),
            device.arguments
        )
    }

    #[test]
    fn kinds_become_the_arguments_that_drivers_know() {
        let spec = PortSpec::AfPacket { device: "eth0".into() };
        let sizes = "blocksz=8192,framesz=2048,framecnt=4096";
        assert_eq!(text(spec), format!("net_af_packet,iface=eth0,qpairs=2,{sizes},qdisc_bypass=0"));
        let spec = PortSpec::Memif {
            role: MemifRole::Server,
            socket: "/run/m.sock".into(),
            id: 7,
            ring_log2: 10,
            buffer_bytes: 2048,
        };
        let expected = "role=server,socket=/run/m.sock,socket-abstract=no,id=7,rsize=10,bsize=2048";
        assert_eq!(text(spec), format!("net_memif,{expected}"));
        let spec = PortSpec::VirtioUser { path: "/run/v.sock".into(), server: true };
        assert_eq!(text(spec), "net_virtio_user,path=/run/v.sock,queues=2,server=1");
        let spec = PortSpec::Pcap { rx: Some("a.pcap".into()), tx: None, repeat: true };
        assert_eq!(text(spec), "net_pcap,rx_pcap=a.pcap,infinite_rx=1");
    }

    #[test]
    fn slots_of_packet_sockets_hold_the_mtu_and_fill_blocks() {
        let sizes = [1500, 1964, 1965, 9000, u16::MAX].map(packet_slot_bytes);
        assert_eq!(sizes, [2048, 2048, 3072, 9216, 66_560]);
        assert_eq!(
            [None, Some(0), Some(9)].map(|wanted| packet_slots(wanted, 2048)),
            [4096, 4, 12]
        );
    }

    #[test]
    fn devices_of_one_kind_get_names_of_their_own() {
        let spec = PortSpec::Ring;
        assert_ne!(Device::of(&spec, SHAPE).unwrap().name, Device::of(&spec, SHAPE).unwrap().name);
    }

    #[test]
    fn values_that_would_smuggle_in_arguments_are_refused() {
        for device in ["eth0,qpairs=9", "a=b", "", "a b", "a/b", "sixteencharacter", "e\n", "x\"y"]
        {
            let spec = PortSpec::AfPacket { device: device.into() };
            let error = Device::of(&spec, SHAPE).unwrap_err();
            assert!(error.to_string().contains(device), "{error}");
        }
        let spec = PortSpec::VirtioUser { path: "/tmp/a,server=1".into(), server: false };
        assert!(Device::of(&spec, SHAPE).is_err());
        let spec = PortSpec::Vhost { socket: "/x".repeat(60).into(), client: false };
        assert!(Device::of(&spec, SHAPE).is_err());
    }

    #[test]
    fn a_pci_address_has_four_parts_in_hex() {
        assert!(check_pci_address("0000:0a:1f.7").is_ok());
        for wrong in ["01:00.0", "0000:01:00", "0000.01.00.0", "0000:01:00.0,x=1", "000g:01:00.0"] {
            assert!(check_pci_address(wrong).is_err(), "{wrong}");
        }
    }
}
