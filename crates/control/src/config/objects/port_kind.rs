//! What stands behind a port: hardware, a kernel device, another process, a file, or memory.

use std::path::PathBuf;

use super::api::check_socket;
use super::tunnel::{Gre, Vxlan};
use super::vlan::Vlan;
use crate::config::field::{Field, Refusal, word_field};
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::write::Fields;

word_field! {
    /// The kinds of ports, by name.
    KindName {
        /// A network card bound to a user-space driver.
        Pci = "pci",
        /// A kernel device through a packet socket.
        AfPacket = "af_packet",
        /// A kernel device through an XDP socket.
        AfXdp = "af_xdp",
        /// A new kernel device, made by us.
        Tap = "tap",
        /// Shared memory with another process.
        Memif = "memif",
        /// Shared memory with a virtual machine, our end the server.
        Vhost = "vhost",
        /// The machine's end of a vhost socket.
        VirtioUser = "virtio_user",
        /// Capture files.
        Pcap = "pcap",
        /// Packets in memory, replayed for ever.
        Memory = "memory",
        /// A VLAN of another port.
        Vlan = "vlan",
        /// The router's own station in a bridge.
        Bvi = "bvi",
        /// A VXLAN tunnel.
        Vxlan = "vxlan",
        /// A GRE tunnel of Ethernet frames.
        Gre = "gre",
    }
}

word_field! {
    /// Which end of a memif we are.
    Role {
        /// We make the socket and the other end connects.
        Server = "server",
        /// We connect to the other end's socket.
        Client = "client",
    }
}

word_field! {
    /// How often a capture file is replayed.
    Repeat {
        /// To its end.
        Once = "once",
        /// From the start again, for ever.
        Forever = "forever",
    }
}

/// What stands behind a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortKind {
    /// A network card.
    Pci {
        /// Bus address.
        address: PciAddress,
    },
    /// A kernel device through a packet socket.
    AfPacket {
        /// Name in the kernel.
        device: DeviceName,
        /// Whether the other end may be a Linux host that leaves work to a card.
        peer_offloads: bool,
    },
    /// A kernel device through an XDP socket.
    AfXdp {
        /// Name in the kernel.
        device: DeviceName,
        /// As for `AfPacket`.
        peer_offloads: bool,
    },
    /// A kernel device that we make.
    Tap {
        /// Name it gets in the kernel.
        device: DeviceName,
    },
    /// Shared memory with another process.
    Memif {
        /// Socket over which the ends meet.
        socket: PathBuf,
        /// Our end.
        role: Role,
        /// Number that tells several interfaces on a socket apart.
        id: u32,
    },
    /// Shared memory with a virtual machine.
    Vhost {
        /// Socket that we make.
        socket: PathBuf,
    },
    /// The machine's end of a vhost socket.
    VirtioUser {
        /// Socket that we connect to.
        socket: PathBuf,
    },
    /// Capture files.
    Pcap {
        /// Packets to receive.
        rx: Option<PathBuf>,
        /// Where sent packets go.
        tx: Option<PathBuf>,
        /// How often `rx` is replayed.
        repeat: Repeat,
    },
    /// Packets in memory, replayed for ever.
    Memory {
        /// Capture file to take the packets from.
        source: Option<PathBuf>,
        /// Packets in hexadecimal, after those of `source`.
        frames: Vec<FrameHex>,
        /// Capture file to write sent packets to; without it they are freed.
        record: Option<PathBuf>,
    },
    /// A VLAN of another port.
    Vlan(Vlan),
    /// The router's own station in the bridge that it is in.
    Bvi,
    /// A VXLAN tunnel.
    Vxlan(Vxlan),
    /// A GRE tunnel of Ethernet frames.
    Gre(Gre),
}

impl PortKind {
    /// The kind's name.
    pub fn name(&self) -> KindName {
        match self {
            Self::Pci { .. } => KindName::Pci,
            Self::AfPacket { .. } => KindName::AfPacket,
            Self::AfXdp { .. } => KindName::AfXdp,
            Self::Tap { .. } => KindName::Tap,
            Self::Memif { .. } => KindName::Memif,
            Self::Vhost { .. } => KindName::Vhost,
            Self::VirtioUser { .. } => KindName::VirtioUser,
            Self::Pcap { .. } => KindName::Pcap,
            Self::Memory { .. } => KindName::Memory,
            Self::Vlan(_) => KindName::Vlan,
            Self::Bvi => KindName::Bvi,
            Self::Vxlan(_) => KindName::Vxlan,
            Self::Gre(_) => KindName::Gre,
        }
    }

    /// Whether no device belongs to it: it stands on other ports.
    pub fn is_virtual(&self) -> bool {
        matches!(self, Self::Vlan(_) | Self::Bvi | Self::Vxlan(_) | Self::Gre(_))
    }

    /// What no two ports can share, as a person calls it.
    pub(crate) fn claim(&self) -> Option<String> {
        match self {
            Self::Pci { address } => Some(format!("PCI device {}", address.0)),
            Self::AfPacket { device, .. } | Self::AfXdp { device, .. } | Self::Tap { device } => {
                Some(format!("device {}", device.0))
            }
            Self::Memif { socket, role, id } => {
                Some(format!("memif {} {id} as {}", socket.display(), role.word()))
            }
            Self::Vhost { socket } => Some(format!("vhost socket {}", socket.display())),
            Self::VirtioUser { socket } => Some(format!("virtio socket {}", socket.display())),
            Self::Pcap { tx, .. } => tx.as_ref().map(|path| format!("file {}", path.display())),
            Self::Memory { record, .. } => {
                record.as_ref().map(|path| format!("file {}", path.display()))
            }
            Self::Vlan(_) | Self::Bvi | Self::Vxlan(_) | Self::Gre(_) => None,
        }
    }

    /// Reads `kind` and the fields that go with it.
    pub(crate) fn read(table: &mut TableReader<'_>) -> Option<Self> {
        let kind = table.required("kind")?;
        Some(match kind {
            KindName::Pci => Self::Pci { address: table.required("address")? },
            KindName::AfPacket => {
                let (device, peer_offloads) = kernel_device(table);
                Self::AfPacket { device: device?, peer_offloads }
            }
            KindName::AfXdp => {
                let (device, peer_offloads) = kernel_device(table);
                Self::AfXdp { device: device?, peer_offloads }
            }
            KindName::Tap => Self::Tap { device: table.required("device")? },
            KindName::Memif => {
                let (socket, role) = (table.required("socket"), table.required("role"));
                let id = table.or("id", 0);
                Self::Memif { socket: socket?, role: role?, id }
            }
            KindName::Vhost => Self::Vhost { socket: table.required("socket")? },
            KindName::VirtioUser => Self::VirtioUser { socket: table.required("socket")? },
            KindName::Pcap => Self::Pcap {
                rx: table.optional("rx"),
                tx: table.optional("tx"),
                repeat: table.or("repeat", Repeat::Once),
            },
            KindName::Memory => Self::Memory {
                source: table.optional("source"),
                frames: table.list("frames"),
                record: table.optional("record"),
            },
            KindName::Vlan => Self::Vlan(Vlan::read(table)?),
            KindName::Bvi => Self::Bvi,
            KindName::Vxlan => Self::Vxlan(Vxlan::read(table)?),
            KindName::Gre => Self::Gre(Gre::read(table)?),
        })
    }

    /// The fields that [`PortKind::read`] reads.
    pub(crate) fn fields(&self) -> Fields {
        let fields = Fields::new().with("kind", &self.name());
        match self {
            Self::Pci { address } => fields.with("address", address),
            Self::AfPacket { device, peer_offloads } | Self::AfXdp { device, peer_offloads } => {
                fields.with("device", device).unless("peer_offloads", peer_offloads, &true)
            }
            Self::Tap { device } => fields.with("device", device),
            Self::Memif { socket, role, id } => {
                fields.with("socket", socket).with("role", role).unless("id", id, &0)
            }
            Self::Vhost { socket } | Self::VirtioUser { socket } => fields.with("socket", socket),
            Self::Pcap { rx, tx, repeat } => {
                fields.maybe("rx", rx).maybe("tx", tx).unless("repeat", repeat, &Repeat::Once)
            }
            Self::Memory { source, frames, record } => {
                fields.maybe("source", source).list("frames", frames).maybe("record", record)
            }
            Self::Vlan(vlan) => vlan.fields(fields),
            Self::Bvi => fields,
            Self::Vxlan(vxlan) => vxlan.fields(fields),
            Self::Gre(gre) => gre.fields(fields),
        }
    }

    /// Finds what is wrong with it; `port` is how problems call the port.
    pub(crate) fn check(&self, port: &str, report: &mut Report) {
        match self {
            Self::Memif { socket, .. } | Self::Vhost { socket } | Self::VirtioUser { socket } => {
                check_socket(&format!("{port}.socket"), socket, report);
            }
            Self::Pcap { rx: None, tx: None, .. } => {
                let message = "a pcap port without any file";
                report.push(Problem::new(port, message).expected("`rx`, `tx` or both"));
            }
            _ => {}
        }
    }
}

/// The kernel's device, and whether its other end may leave work to a card.
fn kernel_device(table: &mut TableReader<'_>) -> (Option<DeviceName>, bool) {
    (table.required("device"), table.or("peer_offloads", true))
}

/// A card's place on the bus, as in `0000:03:00.0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PciAddress(String);

/// A network device's name in the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceName(String);

/// A packet in hexadecimal digits, blanks between them allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameHex(Vec<u8>);

impl PciAddress {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl DeviceName {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FrameHex {
    /// The packet.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Field for PciAddress {
    const EXPECTED: &'static str = "a PCI address, as in \"0000:03:00.0\"";

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let hex = |part: &str, digits| {
            part.len() == digits && part.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        let parts: Vec<&str> = text.split([':', '.']).collect();
        let valid = matches!(parts[..], [domain, bus, device, function]
            if hex(domain, 4) && hex(bus, 2) && hex(device, 2) && hex(function, 1));
        if valid && text.matches(':').count() == 2 {
            return Ok(Self(text.to_ascii_lowercase()));
        }
        let short = matches!(parts[..], [bus, device, function]
            if hex(bus, 2) && hex(device, 2) && hex(function, 1));
        Err(Refusal {
            message: None,
            suggestion: short.then(|| format!("write \"0000:{text}\" with its domain")),
        })
    }

    fn to_toml(&self) -> String {
        self.0.to_toml()
    }
}

impl Field for DeviceName {
    const EXPECTED: &'static str = "a device of the kernel: at most 15 characters, no blank or /";

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let fits = (1..=15).contains(&text.len()) && text != "." && text != "..";
        // A comma would end the name in the driver's argument list.
        let plain = text.bytes().all(|byte| byte.is_ascii_graphic() && !b"/:,=".contains(&byte));
        if fits && plain { Ok(Self(text.to_owned())) } else { Err(Refusal::default()) }
    }

    fn to_toml(&self) -> String {
        self.0.to_toml()
    }
}

impl Field for FrameHex {
    const EXPECTED: &'static str = "a packet of 14 to 9216 bytes in hexadecimal digits";

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let digits: Option<Vec<u32>> =
            text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16)).collect();
        let digits = digits.filter(|digits| digits.len() % 2 == 0).ok_or_else(Refusal::default)?;
        let bytes: Vec<u8> =
            digits.chunks_exact(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect();
        if (14..=9216).contains(&bytes.len()) { Ok(Self(bytes)) } else { Err(Refusal::default()) }
    }

    fn to_toml(&self) -> String {
        let digits: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("\"{digits}\"")
    }
}
