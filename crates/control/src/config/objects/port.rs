//! `[port.NAME]`: where packets come in and go out.

use wire::MacAddr;

use super::port_export::Exported;
use super::port_filters::Filters;
use super::port_kind::{KindName, PortKind};
use super::port_policing::Policing;
use super::port_ra::Ra;
use super::port_twin::Twin;
use super::qos::{self, Qos};
use super::vrf::VrfName;
use crate::config::declare::{Declared, object};
use crate::config::field::{Field, word_field};
use crate::config::info::{Described, Stands};
use crate::config::listed::{self, Listed};
use crate::config::prefix::{InterfaceAddress, Prefix};
use crate::config::report::Report;
use crate::config::row::Row;
use crate::config::table::{Delta, Table};
use crate::config::write::{Fields, Writer};

pub use super::port_name::PortName;

/// RFC 791: every link carries 68 bytes.
const MIN_MTU: u16 = 68;
/// Largest jumbo frames in common use.
const MAX_MTU: u16 = 9_216;

/// Most ports there can be, remotes of tunnels that have several among them.
pub const MOST_PORTS: usize = 1_024;

word_field! {
    /// How a worker waits for packets of a port.
    RxMode {
        /// Polls for a moment, then sleeps until some come.
        Adaptive = "adaptive",
        /// Polls without a break.
        Polling = "polling",
        /// Sleeps until some come.
        Interrupt = "interrupt",
    }
}

object! {
    /// Where packets come in and go out
    pub struct Port {
        /// What stands behind it
        pub kind: PortKind as "memory",
        /// Whether it is to be up
        pub up: bool = true,
        /// Longest packet, without the Ethernet header
        pub mtu: u16 [MIN_MTU..=MAX_MTU] = kind.default_mtu(),
        /// Whose routes its packets follow; the default VRF's when left out
        pub vrf: Option<VrfName> as "red" = None,
        /// MAC address; the device's own when left out
        pub mac: Option<MacAddr> as "02:00:00:00:00:01" = None,
        /// Receive queues, spread over the workers
        pub rx_queues: u16 [1..=64] = 1,
        /// How packets are waited for: by polling for a moment and then by the device's word, by
        /// polling all the time, or by its word alone
        pub rx_mode: RxMode = RxMode::Adaptive,
        /// Addresses with their connected networks
        pub addresses: Vec<InterfaceAddress> as "192.0.2.1/24" = Vec::new(),
        /// The port whose IPv4 addresses it speaks with, when it has none of its own
        pub unnumbered: Option<PortName> as "lan" = None,
        /// What its packets are held to
        pub filters: Box<Filters> = Box::default(),
        /// What its frames are held to, and which marks they get
        pub policing: Box<Policing> = Box::default(),
        /// Who is told of its packets
        pub exported: Box<Exported> = Box::default(),
        /// How packets wait before they leave by it; they do not when left out
        pub qos: Option<Qos> = None,
        /// How it advertises the router to IPv6 hosts; not at all when left out
        pub ra: Option<Ra> as "on" = None,
        /// Whether packets that it receives are routed; when left out, where it has addresses
        pub routing: Option<bool> as "true" = None,
        /// Networks whose addresses it answers ARP for, too, as far as they lie beyond other ports
        pub proxy_arp: Vec<Prefix> as "10.0.0.0/8" = Vec::new(),
        /// Networks whose addresses it answers neighbour discovery for, too, as far as they lie
        /// beyond other ports
        pub proxy_nd: Vec<Prefix> as "2001:db8::/32" = Vec::new(),
        /// Whether packets to all hosts of its networks, from beyond other ports, leave by it
        pub directed_broadcasts: bool = false,
        /// Whether it tells hosts of better ways than by us
        pub redirects: bool = false,
        /// The kernel's interface beside it; there is none when left out
        pub twin: Option<Box<Twin>> as "on" = None,
    }
    also { "down": up = "false" }
}

/// Ports stand on each other no higher: VLANs on a bond, that on devices.
const HIGHEST: u8 = 2;

impl Port {
    /// How many others it may stand on, one on another.
    fn height(&self) -> u8 {
        match (self.kind.is_virtual(), self.kind.is_trunk()) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => HIGHEST,
        }
    }

    /// Whether it has an IPv4 address of its own.
    pub fn has_ip4(&self) -> bool {
        self.addresses.iter().any(|own| own.address().is_ipv4())
    }

    /// Whether it speaks IPv4, by an address of its own or another's.
    pub fn speaks_ip4(&self) -> bool {
        self.has_ip4() || self.unnumbered.is_some()
    }

    /// Whether it has addresses, its own or another's.
    pub fn has_addresses(&self) -> bool {
        !self.addresses.is_empty() || self.unnumbered.is_some()
    }

    /// Whether packets that it receives are routed, where nothing else becomes of its frames.
    pub fn routes(&self) -> bool {
        self.routing.unwrap_or_else(|| self.has_addresses() || self.kind.routes())
    }

    /// What says that it is to route, whatever becomes of its frames, if something does.
    pub fn why_it_routes(&self) -> Option<&'static str> {
        match (self.has_addresses(), self.routing) {
            (true, _) => Some("has addresses"),
            (false, Some(true)) => Some("is told to route"),
            (false, _) => None,
        }
    }

    /// Whether it speaks IPv6.
    pub fn has_ip6(&self) -> bool {
        self.addresses.iter().any(|own| own.address().is_ipv6())
    }

    /// Whether it is to advertise the router.
    pub fn advertises(&self) -> bool {
        self.up && self.ra.is_some() && self.has_ip6()
    }

    /// Whether the change from one to the other keeps the device open.
    pub fn same_device(&self, other: &Self) -> bool {
        let same_kind = match (&self.kind, &other.kind) {
            // Members come and go; the first gives the bond its address.
            (PortKind::Bond(one), PortKind::Bond(other)) => {
                one.members.first() == other.members.first()
            }
            (one, other) => one == other,
        };
        same_kind && self.rx_queues == other.rx_queues
    }
}

impl Row for Port {
    const KIND: &'static str = "port";

    fn parts() -> Vec<Described> {
        let stands = Stands::Elsewhere(qos::schema);
        vec![Described { path: "port.qos", about: |_| "", infos: Vec::new(), stands }]
    }

    fn about(kind: &str) -> &'static str {
        KindName::from_text(kind).map_or(Self::ABOUT, PortKind::about)
    }

    fn fields(&self) -> Fields {
        let fields = self.write(Fields::new());
        self.qos.iter().fold(fields, |fields, qos| qos.told(fields))
    }
}

/// All ports by name.
pub type Ports = Table<PortName, Port>;

impl Listed for Port {
    type Key = PortName;

    const FIRST: usize = 1;

    fn write_more(&self, header: &str, writer: &mut Writer) {
        if let Some(qos) = &self.qos {
            qos.write(header, writer);
        }
    }

    fn keep(&mut self, old: &Self) {
        self.qos.clone_from(&old.qos);
    }

    fn order(deltas: &mut [Delta<PortName, Self>]) {
        // Ports that stand on others go before those, and come after them.
        deltas.sort_by_key(|delta| match delta {
            Delta::Removed { row, .. } => HIGHEST - row.height(),
            Delta::Added { row, .. } | Delta::Modified { new: row, .. } => row.height(),
        });
    }
}

/// Complains about a port that is not there.
pub(crate) fn check_exists(field: &str, name: &PortName, ports: &Ports, report: &mut Report) {
    listed::check_exists(field, name, ports, report);
}
