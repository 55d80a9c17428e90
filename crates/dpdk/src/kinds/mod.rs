//! The kinds of ports, one file each, and what a port is: one of them.
//!
//! To add a kind: its file, with its driver, DPDK's or ours (`Kind`, in `kind`), and its line
//! below. `CONTRIBUTING.md` has the rest.

use crate::kind::{AddressOf, Kind};
use std::fmt;

macro_rules! kinds {
    ($( $file:ident: $kind:ident, )+) => {
        $( mod $file; pub use $file::$kind; )+

        /// A kind of port and what that kind needs to know.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum PortSpec { $(
            #[doc = concat!("See [`", stringify!($kind), "`].")]
            $kind($kind), )+ }

        impl PortSpec {
            /// What differs by kind.
            pub(crate) fn as_kind(&self) -> &dyn Kind {
                match self { $( Self::$kind(kind) => kind, )+ }
            }
        }

        $( impl From<$kind> for PortSpec {
            fn from(kind: $kind) -> Self {
                Self::$kind(kind)
            }
        } )+
    };
}

// One line a kind.
kinds! {
    pci: Pci,
    af_packet: AfPacket,
    af_xdp: AfXdp,
    tap: Tap,
    memif: Memif,
    vhost: Vhost,
    virtio_user: VirtioUser,
    pcap: Pcap,
    null: Null,
    ring: Ring,
}

mod counted;
mod kernel_stats;

pub use self::memif::MemifRole;

impl PortSpec {
    /// The kind as a configuration writes it.
    pub fn kind(&self) -> &'static str {
        self.as_kind().name()
    }

    /// True if each queue is a pair: whoever has a transmit queue must also poll its other half,
    /// as the other end may put packets there.
    pub fn has_queue_pairs(&self) -> bool {
        self.as_kind().has_queue_pairs()
    }

    /// The capabilities of Linux that opening one takes, as in `net_raw`.
    pub fn capabilities(&self) -> impl Iterator<Item = &'static str> {
        self.as_kind().rights().iter().map(|right| right.name())
    }

    /// The calls of Linux that it takes beside those that every router makes, as in `bpf`.
    pub fn calls(&self) -> &'static [&'static str] {
        self.as_kind().calls()
    }

    /// True if there is a device of Linux behind it.
    pub fn has_linux_device(&self) -> bool {
        self.as_kind().linux_device().is_some()
    }

    /// True if the environment must have looked for PCI devices.
    pub fn is_card(&self) -> bool {
        self.as_kind().is_card()
    }

    /// True if the MAC address that its driver tells is the port's own, not that of the kernel's
    /// end of the wire.
    pub fn has_address(&self) -> bool {
        self.as_kind().address_is_of() != AddressOf::Kernel
    }

    /// True if its device must know our MAC address.
    pub fn filters_by_address(&self) -> bool {
        self.as_kind().address_is_of() == AddressOf::Port
    }

    /// The Linux device behind the port, if there is one.
    pub fn device(&self) -> Option<&str> {
        self.as_kind().linux_device()
    }
}

/// As a person calls it: `af_packet eth0`.
impl fmt::Display for PortSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())?;
        match self.as_kind().to_string() {
            nothing if nothing.is_empty() => Ok(()),
            which => write!(f, " {which}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Shape;
    use crate::privilege::Privilege;

    const SHAPE: Shape = Shape { queues: 2, mtu: 1500, descriptors: None };

    fn text(spec: impl Into<PortSpec>) -> String {
        let told = spec.into().as_kind().driver(SHAPE).unwrap().to_string();
        let (name, arguments) = told.split_once(',').unwrap();
        format!("{},{arguments}", name.trim_end_matches(|c: char| c.is_ascii_digit()))
    }

    #[test]
    fn kinds_become_the_arguments_that_drivers_know() {
        assert_eq!(text(AfPacket::usual("eth0".into())), "af_packet,eth0");
        let spec = AfXdp { device: "eth0".into(), first_queue: 1, force_copy: true };
        let expected = "iface=eth0,start_queue=1,queue_count=2,force_copy=1";
        assert_eq!(text(spec), format!("net_af_xdp,{expected}"));
        let spec = VirtioUser { path: "/run/v.sock".into(), server: true };
        assert_eq!(text(spec), "net_virtio_user,path=/run/v.sock,queues=2,server=1");
        let spec = Vhost { socket: "/run/v.sock".into(), client: false };
        assert_eq!(text(spec), "net_vhost,iface=/run/v.sock.dpdk,queues=2,client=0,tso=1");
        let spec = Pcap { rx: Some("a.pcap".into()), tx: None, repeat: true };
        assert_eq!(text(spec), "net_pcap,rx_pcap=a.pcap,infinite_rx=1");
        assert_eq!(text(Tap { name: "t0".into() }), "tap,t0");
        assert_eq!(text(Null { packet_bytes: 64 }), "net_null,size=64");
        assert_eq!(text(Ring), "net_ring,");
    }

    #[test]
    fn a_port_is_called_by_its_kind_and_what_tells_it_from_others() {
        let pcap = Pcap { rx: Some("a.pcap".into()), tx: Some("b.pcap".into()), repeat: false };
        assert_eq!(PortSpec::from(pcap).to_string(), "pcap from a.pcap to b.pcap");
        assert_eq!(PortSpec::from(Tap { name: "t0".into() }).to_string(), "tap t0");
        assert_eq!(PortSpec::from(Ring).to_string(), "ring");
        let memif = Memif::usual(MemifRole::Client, "/run/m".into(), 3);
        assert_eq!(PortSpec::from(memif).to_string(), "memif /run/m id 3");
    }

    #[test]
    fn devices_of_one_kind_get_names_of_their_own() {
        let name = || Ring.driver(SHAPE).unwrap().to_string();
        assert_ne!(name(), name());
    }

    #[test]
    fn values_that_would_smuggle_in_arguments_are_refused() {
        for device in ["eth0,qpairs=9", "a=b", "", "a b", "a/b", "sixteencharacter", "e\n", "x\"y"]
        {
            let error = AfPacket::usual(device.into()).driver(SHAPE).err().unwrap();
            assert!(error.to_string().contains(device), "{error}");
        }
        let spec = VirtioUser { path: "/tmp/a,server=1".into(), server: false };
        assert!(spec.driver(SHAPE).is_err());
        let spec = Vhost { socket: "/x".repeat(60).into(), client: false };
        assert!(spec.driver(SHAPE).is_err());
    }

    #[test]
    fn a_refused_port_hears_what_it_lacks() {
        let spec = AfPacket::usual("eth0".to_owned());
        let none = Privilege::default();
        assert!(none.lacks(spec.rights()).is_some_and(|lacks| lacks.contains("CAP_NET_RAW")));
        let some = Privilege { net_raw: true, ..none };
        assert_eq!(some.lacks(spec.rights()), None);
        let alone = AfPacket { kernel_receives: false, ..spec };
        assert_eq!(
            some.lacks(alone.rights()).as_deref(),
            Some("not root with net_raw lacks CAP_NET_ADMIN, CAP_BPF")
        );
        assert_eq!(PortSpec::from(alone).calls(), ["bpf"]);
        let spec = AfXdp::usual("eth0".to_owned());
        let more = Privilege { net_admin: true, bpf: true, ..some };
        assert_eq!(
            more.lacks(spec.rights()).as_deref(),
            Some(
                "not root with net_admin, net_raw, bpf lacks CAP_IPC_LOCK or a larger `ulimit -l`"
            )
        );
        assert_eq!(Privilege::default().lacks(Ring.rights()), None);
    }
}
