//! What stands behind a port: hardware, a kernel device, another process, a file, memory, or other
//! ports. One file a kind.
//!
//! To add a kind: its file, with its fields and what it says of itself (`Kind`), and its line in
//! the list below.

pub mod bond;
mod bvi;
pub mod ends;
pub mod erspan;
mod fields;
pub mod geneve;
pub mod gre;
pub mod ipip;
mod kind;
pub mod lisp;
pub mod vlan;
pub mod vxlan;

use bond::Bond;
use bvi::Bvi;
use ends::{End, Ends, Remotes};
use erspan::Erspan;
use geneve::Geneve;
use gre::Gre;
use ipip::Ipip;
use lisp::Lisp;
use vlan::Vlan;
use vxlan::Vxlan;

use super::vrf::VrfName;
use crate::config::declare::Declared;
use crate::config::field::word_field;
use crate::config::info::Info;
use crate::config::read::TableReader;
use crate::config::report::Report;
use crate::config::value::Value;
use crate::config::write::Fields;
pub(crate) use kind::{DEFAULT_MTU, Kind};

pub use fields::{DeviceName, FrameHex, PciAddress};
pub use memif::Role;
pub use pcap::Repeat;

/// Declares the kinds of ports: each its word, and the fields that it has.
macro_rules! kinds {
    (
        devices: $( $(#[doc = $dhelp:literal])+ $file:ident: $dkind:ident = $dword:literal, )+
        virtual: $( $rest:tt )+
    ) => {
        $( mod $file; pub use $file::$dkind; )+

        /// What ports have that stand on no others.
        #[derive(Clone, Copy, Debug)]
        pub enum Device<'a> { $( $(#[doc = $dhelp])+ $dkind(&'a $dkind), )+ }

        impl PortKind {
            /// Its device; none of a port that stands on others.
            pub fn device(&self) -> Option<Device<'_>> {
                match self {
                    $( Self::$dkind(it) => Some(Device::$dkind(it)), )+
                    _ => None,
                }
            }
        }

        kinds! { $( $(#[doc = $dhelp])+ $dkind($dkind) = $dword, )+ $($rest)+ }
    };
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

            /// What differs by kind.
            fn as_kind(&self) -> &dyn Kind {
                match self { $( kinds!(@is it $kind $($fields)?) => kinds!(@kind it $kind $($fields)?), )+ }
            }
        }

        /// `kind` and the fields that go with it.
        impl Value for PortKind {
            fn read(table: &mut TableReader<'_>, key: &'static str, _: bool) -> Option<Self> {
                match table.deciding(key)? {
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

            fn paths(&self, out: &mut Vec<std::path::PathBuf>) {
                match self { $( kinds!(@is it $kind $($fields)?) => kinds!(@paths it out $($fields)?), )+ }
            }
        }
    };
    (@read $table:ident $kind:ident) => { Some(PortKind::$kind) };
    (@read $table:ident $kind:ident $fields:ident) => { $fields::read($table).map(PortKind::$kind) };
    (@is $it:ident $kind:ident) => { PortKind::$kind };
    (@is $it:ident $kind:ident $fields:ident) => { PortKind::$kind($it) };
    (@kind $it:ident $kind:ident) => { &$kind };
    (@kind $it:ident $kind:ident $fields:ident) => { $it };
    (@paths $it:ident $all:ident) => { {} };
    (@paths $it:ident $all:ident $fields:ident) => { Declared::paths($it, $all) };
    (@write $it:ident $all:ident) => { $all };
    (@write $it:ident $all:ident $fields:ident) => { Declared::write($it, $all) };
}

// One line a kind.
kinds! {
    devices:
    /// A network card bound to a user-space driver.
    pci: Pci = "pci",
    /// A kernel device through a packet socket.
    af_packet: AfPacket = "af_packet",
    /// A kernel device through an XDP socket.
    af_xdp: AfXdp = "af_xdp",
    /// A new kernel device, made by us.
    tap: Tap = "tap",
    /// Shared memory with another process.
    memif: Memif = "memif",
    /// Shared memory with a virtual machine, our end the host's.
    vhost: Vhost = "vhost",
    /// The machine's end of a vhost socket.
    virtio_user: VirtioUser = "virtio_user",
    /// Capture files.
    pcap: Pcap = "pcap",
    /// Packets in memory, replayed for ever.
    memory: Memory = "memory",
    virtual:
    /// A VLAN of another port.
    Vlan(Vlan) = "vlan",
    /// Several ports that are one.
    Bond(Bond) = "bond",
    /// The router's own station in a bridge.
    Bvi = "bvi",
    /// A VXLAN tunnel.
    Vxlan(Vxlan) = "vxlan",
    /// A Geneve tunnel.
    Geneve(Geneve) = "geneve",
    /// A GRE tunnel of Ethernet frames, or of packets.
    Gre(Gre) = "gre",
    /// A tunnel of IPv4 and IPv6 packets in IPv4 or IPv6, and nothing else between.
    Ipip(Ipip) = "ipip",
    /// A way for mirrors' copies to an analyser far away.
    Erspan(Erspan) = "erspan",
    /// A link to the sites of LISP.
    Lisp(Lisp) = "lisp",
}

impl PortKind {
    /// Whether no device belongs to it: it stands on other ports.
    pub fn is_virtual(&self) -> bool {
        self.as_kind().is_virtual()
    }

    /// Whether VLANs can stand on it.
    pub fn is_trunk(&self) -> bool {
        !self.is_virtual() || self.as_kind().is_trunk()
    }

    /// What no two ports can share, as a person calls it.
    pub(crate) fn claim(&self) -> Option<String> {
        self.as_kind().claim()
    }

    /// Finds what is wrong with it; `port` is how problems call the port.
    pub(crate) fn check(&self, port: &str, report: &mut Report) {
        self.as_kind().check(port, report);
    }

    /// How many receive queues it can have, if that is known.
    pub(crate) fn most_rx_queues(&self) -> Option<u16> {
        self.as_kind().most_rx_queues()
    }

    /// Packet buffers that each of its queues takes for packets to come, as far as that is known
    /// before its device is open.
    pub(crate) fn buffers_a_queue(&self) -> u32 {
        self.as_kind().buffers_a_queue()
    }

    /// Whether the other end may be a host that leaves work to a card.
    pub fn peer_offloads(&self) -> bool {
        self.as_kind().peer_offloads()
    }

    /// The ends of a tunnel.
    pub fn ends(&self) -> Option<&Ends> {
        self.as_kind().ends()
    }

    /// The VRF that packets around those that it carries are in, if another than the default one.
    pub fn underlay_vrf(&self) -> Option<&VrfName> {
        self.as_kind().underlay_vrf()
    }

    /// Whether packets that it receives are routed though it has no address.
    pub fn routes(&self) -> bool {
        self.as_kind().routes()
    }

    /// Whether it is one tunnel to several ends: only a bridge knows which of them a frame is for.
    pub fn has_remotes(&self) -> bool {
        self.ends().is_some_and(|ends| matches!(ends.remotes, Remotes::Several { .. }))
    }

    /// Whether it carries packets that are in no frames: there are no stations on it, only the
    /// other end.
    pub fn is_point_to_point(&self) -> bool {
        self.as_kind().is_point_to_point()
    }

    /// Whether flows say the number that a tunnel's packets have: in a bridge of flows alone.
    pub fn is_numbered_by_flows(&self) -> bool {
        self.as_kind().is_numbered_by_flows()
    }

    /// Whether flows say the other end of a tunnel's packets: in a bridge of flows alone.
    pub fn is_directed_by_flows(&self) -> bool {
        self.ends().is_some_and(|ends| ends.remotes == Remotes::Flow)
    }

    /// Whether flows say our end of a tunnel's packets, too.
    pub fn has_local_by_flows(&self) -> bool {
        self.ends().is_some_and(|ends| ends.local == Some(End::Flow))
    }

    /// Whether mirrors' copies leave by it, and nothing else does.
    pub fn is_for_copies(&self) -> bool {
        self.as_kind().is_for_copies()
    }

    /// The longest packet of a port that does not say.
    pub fn default_mtu(&self) -> u16 {
        self.as_kind().default_mtu()
    }
}
