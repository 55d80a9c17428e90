//! What stands behind a port: hardware, a kernel device, another process, a file, or memory.

use std::path::PathBuf;

use super::api::check_socket;
use super::tunnel::{Gre, Vxlan};
use super::vlan::Vlan;
use crate::config::declare::{Declared, object};
use crate::config::field::{Field, Form, Refusal, word_field};
use crate::config::info::{Info, Value};
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::write::Fields;

/// Declares the kinds of ports: each its word, and the fields that it has.
macro_rules! kinds {
    ($( $(#[doc = $help:literal])+ $kind:ident $(($fields:ident))? = $word:literal, )+) => {
        word_field! {
            /// The kinds of ports, by name.
            KindName { $( $(#[doc = $help])+ $kind = $word, )+ }
        }

        /// What stands behind a port.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum PortKind { $( $(#[doc = $help])+ $kind $(($fields))?, )+ }

        impl PortKind {
            /// What a kind is.
            pub(super) fn about(kind: KindName) -> &'static str {
                match kind { $( KindName::$kind => concat!($($help),+), )+ }
            }

            /// The kind's name.
            pub fn name(&self) -> KindName {
                match self { $( Self::$kind { .. } => KindName::$kind, )+ }
            }
        }

        /// `kind` and the fields that go with it.
        impl Value for PortKind {
            fn read(table: &mut TableReader<'_>, key: &'static str, _: bool) -> Option<Self> {
                match table.required(key)? {
                    $( KindName::$kind => kinds!(@read table $kind $($fields)?), )+
                }
            }

            fn write(&self, key: &'static str, fields: Fields, _: Option<Self>) -> Fields {
                let fields = fields.with(key, &self.name());
                match self { $( kinds!(@is it $kind $($fields)?) => kinds!(@write it fields $($fields)?), )+ }
            }

            fn describe(info: Info, out: &mut Vec<Info>) {
                <KindName as Value>::describe(info, out);
                $( let from = out.len();
                   $( <$fields as Declared>::describe(out); )?
                   for info in &mut out[from..] { info.of = $word; } )+
            }
        }
    };
    (@read $table:ident $kind:ident) => { Some(PortKind::$kind) };
    (@read $table:ident $kind:ident $fields:ident) => { $fields::read($table).map(PortKind::$kind) };
    (@is $it:ident $kind:ident) => { PortKind::$kind };
    (@is $it:ident $kind:ident $fields:ident) => { PortKind::$kind($it) };
    (@write $it:ident $all:ident) => { $all };
    (@write $it:ident $all:ident $fields:ident) => { Declared::write($it, $all) };
}

// One line a kind.
kinds! {
    /// A network card bound to a user-space driver.
    Pci(Pci) = "pci",
    /// A kernel device through a packet socket.
    AfPacket(AfPacket) = "af_packet",
    /// A kernel device through an XDP socket.
    AfXdp(AfXdp) = "af_xdp",
    /// A new kernel device, made by us.
    Tap(Tap) = "tap",
    /// Shared memory with another process.
    Memif(Memif) = "memif",
    /// Shared memory with a virtual machine, our end the server.
    Vhost(Vhost) = "vhost",
    /// The machine's end of a vhost socket.
    VirtioUser(VirtioUser) = "virtio_user",
    /// Capture files.
    Pcap(Pcap) = "pcap",
    /// Packets in memory, replayed for ever.
    Memory(Memory) = "memory",
    /// A VLAN of another port.
    Vlan(Vlan) = "vlan",
    /// The router's own station in a bridge.
    Bvi = "bvi",
    /// A VXLAN tunnel.
    Vxlan(Vxlan) = "vxlan",
    /// A GRE tunnel of Ethernet frames, or of packets.
    Gre(Gre) = "gre",
}

object! {
    /// A network card bound to a user-space driver
    pub struct Pci {
        /// Its place on the bus
        pub address: PciAddress as "0000:03:00.0",
    }
}

object! {
    /// A kernel device through a packet socket
    pub struct AfPacket {
        /// Name in the kernel
        pub device: DeviceName as "veth0",
        /// Whether the other end may be a Linux host that leaves checksums and cutting to a card;
        /// off is cheaper
        pub peer_offloads: bool = true,
    }
}

object! {
    /// A kernel device through an XDP socket
    pub struct AfXdp {
        /// Name in the kernel
        pub device: DeviceName as "veth1",
        /// Whether the other end may be a Linux host that leaves checksums and cutting to a card;
        /// off is cheaper
        pub peer_offloads: bool = true,
    }
}

object! {
    /// A kernel device that we make
    pub struct Tap {
        /// Name it gets in the kernel
        pub device: DeviceName as "volley0",
    }
}

object! {
    /// Shared memory with another process
    pub struct Memif {
        /// Socket over which the ends meet
        pub socket: PathBuf as "/run/volley/memif.sock",
        /// Our end
        pub role: Role as "server",
        /// Number that tells several interfaces on a socket apart
        pub id: u32 = 0,
    }
}

object! {
    /// Shared memory with a virtual machine
    pub struct Vhost {
        /// Socket that we make
        pub socket: PathBuf as "/run/volley/vhost.sock",
    }
}

object! {
    /// The machine's end of a vhost socket
    pub struct VirtioUser {
        /// Socket that we connect to
        pub socket: PathBuf as "/run/other/vhost.sock",
    }
}

object! {
    /// Capture files
    pub struct Pcap {
        /// Packets to receive
        pub rx: Option<PathBuf> as "in.pcap" = None,
        /// Where sent packets go
        pub tx: Option<PathBuf> as "out.pcap" = None,
        /// How often `rx` is replayed
        pub repeat: Repeat = Repeat::Once,
    }
}

object! {
    /// Packets in memory, replayed for ever
    pub struct Memory {
        /// Capture file to take the packets from
        pub source: Option<PathBuf> as "in.pcap" = None,
        /// Packets in hexadecimal, after those of `source`
        pub frames: Vec<FrameHex> as "02000000000102000000000288b5" = Vec::new(),
        /// Capture file to write sent packets to; without it they are freed
        pub record: Option<PathBuf> as "out.pcap" = None,
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

impl PortKind {
    /// Whether no device belongs to it: it stands on other ports.
    pub fn is_virtual(&self) -> bool {
        matches!(self, Self::Vlan(_) | Self::Bvi | Self::Vxlan(_) | Self::Gre(_))
    }

    /// What no two ports can share, as a person calls it.
    pub(crate) fn claim(&self) -> Option<String> {
        match self {
            Self::Pci(Pci { address }) => Some(format!("PCI device {}", address.0)),
            Self::AfPacket(AfPacket { device, .. })
            | Self::AfXdp(AfXdp { device, .. })
            | Self::Tap(Tap { device }) => Some(format!("device {}", device.0)),
            Self::Memif(Memif { socket, role, id }) => {
                Some(format!("memif {} {id} as {}", socket.display(), role.word()))
            }
            Self::Vhost(Vhost { socket }) => Some(format!("vhost socket {}", socket.display())),
            Self::VirtioUser(VirtioUser { socket }) => {
                Some(format!("virtio socket {}", socket.display()))
            }
            Self::Pcap(Pcap { tx, .. }) => {
                tx.as_ref().map(|path| format!("file {}", path.display()))
            }
            Self::Memory(Memory { record, .. }) => {
                record.as_ref().map(|path| format!("file {}", path.display()))
            }
            Self::Vlan(_) | Self::Bvi | Self::Vxlan(_) | Self::Gre(_) => None,
        }
    }

    /// Finds what is wrong with it; `port` is how problems call the port.
    pub(crate) fn check(&self, port: &str, report: &mut Report) {
        match self {
            Self::Memif(Memif { socket, .. })
            | Self::Vhost(Vhost { socket })
            | Self::VirtioUser(VirtioUser { socket }) => {
                check_socket(&format!("{port}.socket"), socket, report);
            }
            Self::Pcap(Pcap { rx: None, tx: None, .. }) => {
                let message = "a pcap port without any file";
                report.push(Problem::new(port, message).expected("`rx`, `tx` or both"));
            }
            _ => {}
        }
    }
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
    const FORM: Form = Form::Text("^[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}[.][0-9a-fA-F]$");

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
    const FORM: Form = Form::Text(r"^[!-+\-.0-9;<>-~]{1,15}$");

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
    const FORM: Form = Form::Text(r"^[0-9a-fA-F\s]{28,}$");

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
