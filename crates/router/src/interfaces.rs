//! Open ports: the device, the row that workers see, the addresses and the link.

use crate::connected::Specials;
use crate::devices::{Device, Opened};
use crate::routing::LinkHeader;
use crate::standing::Standing;
use control::config::objects::export::ExportName;
use control::config::objects::port::{Port, PortName};
use control::config::objects::port_kind::PortKind;
use control::config::objects::qos::Qos;
use dataplane::Dataplane;
use fib::Ip4Prefix;
use nodes::tables::{Interface, Kind};
use packet::RxQueue;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Instant;
use wire::{MacAddr, ipv6};

/// The MAC of ports that configure none and whose device has none for us (memory, tap): locally
/// administered, told apart by process and id.
fn made_up_mac(id: u16) -> [u8; 6] {
    let ([a, b, c, d], [_, low]) = (std::process::id().to_be_bytes(), id.to_be_bytes());
    [0x02, 0x56, a ^ b, c, d, low]
}

/// Length of the prefix of link-local addresses (RFC 4291 section 2.5.6).
const LINK_LOCAL_LENGTH: u8 = 64;

/// One configured port, open or waiting for its device to come (back).
pub(crate) struct OpenPort {
    pub(crate) id: u16,
    pub(crate) config: Port,
    pub(crate) mac: [u8; 6],
    /// What its members make of its link, if it is a bond.
    pub(crate) aggregate: Link,
    /// It goes: nothing is opened beside it any more.
    pub(crate) closing: bool,
    /// None while the device is away.
    pub(crate) device: Option<Device>,
    /// Why it is, or what its device cannot do.
    pub(crate) problem: Option<String>,
    /// Receive queues that no worker reads yet.
    pub(crate) unread: Vec<Box<dyn RxQueue>>,
    pub(crate) link: Link,
    pub(crate) peer: Option<PortName>,
    /// The other ends of a tunnel that has several.
    pub(crate) remotes: BTreeMap<IpAddr, Remote>,
    /// Those of them that fixed stations of its bridge are behind.
    pub(crate) fixed_remotes: BTreeSet<IpAddr>,
    /// Those that a routing daemon tells of, and whether flooding reaches them.
    pub(crate) told_remotes: BTreeMap<IpAddr, bool>,
    /// The kernel's number of the link that a routing daemon's routes lead by, beside its twin's.
    pub(crate) route_link: Option<u32>,
    /// The kernel's number of its twin.
    pub(crate) twin_link: Option<u32>,
    /// Who its bridge tells of what it receives.
    pub(crate) bridge_exports: Vec<ExportName>,
    /// Who is told of what flows of its bridge sample.
    pub(crate) bridge_samples: Vec<ExportName>,
    /// The scheduler that its packets wait in.
    pub(crate) shaped: Option<Qos>,
    /// Routes that stand because of its addresses.
    pub(crate) standing: Standing,
    /// IPv6 addresses that nobody else was found to have, with their prefix lengths.
    pub(crate) valid6: Vec<(u128, u8)>,
    /// IPv6 addresses of which that is being found out.
    pub(crate) tentative6: Vec<u128>,
}

/// One of several remotes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Remote {
    /// Its interface.
    pub(crate) id: u16,
    /// Frames to unknown stations and groups go there.
    pub(crate) floods: bool,
    /// How, if it was learned.
    pub(crate) learned: Option<LearnedRemote>,
}

/// How a remote was learned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LearnedRemote {
    /// When it last had a station.
    pub(crate) seen: Instant,
    /// The interface that it was heard by.
    pub(crate) underlay: u16,
}

/// What is known of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Link {
    pub(crate) up: bool,
    pub(crate) mbps: u32,
}

impl OpenPort {
    /// A port whose device is away.
    pub(crate) fn waiting(id: u16, config: &Port) -> Self {
        Self {
            id,
            config: config.clone(),
            mac: config.mac.map_or_else(|| made_up_mac(id), |mac| mac.0),
            aggregate: Link::default(),
            closing: false,
            device: None,
            problem: None,
            unread: Vec::new(),
            link: Link::default(),
            peer: None,
            remotes: BTreeMap::new(),
            fixed_remotes: BTreeSet::new(),
            told_remotes: BTreeMap::new(),
            route_link: None,
            twin_link: None,
            bridge_exports: Vec::new(),
            bridge_samples: Vec::new(),
            shaped: None,
            standing: Standing::default(),
            valid6: Vec::new(),
            tentative6: Vec::new(),
        }
    }

    /// Takes an open device in. It can send at once; nothing is read from it before
    /// [`OpenPort::begin_reading`].
    pub(crate) fn take_device(
        &mut self,
        opened: Opened,
        dataplane: &Dataplane,
    ) -> Result<(), String> {
        let Opened { device, queues, mac, problem } = opened;
        self.mac = mac.unwrap_or(self.mac);
        if !self.config.kind.is_virtual() {
            dataplane.attach_tx(self.id, queues.tx).map_err(|error| error.to_string())?;
        }
        self.unread = queues.rx;
        self.device = Some(device);
        self.problem = problem;
        self.link = self.read_link();
        Ok(())
    }

    /// Gives the receive queues to the workers, once all is in place that says what becomes of
    /// the packets.
    pub(crate) fn begin_reading(&mut self, dataplane: &Dataplane) {
        if !self.unread.is_empty() {
            dataplane.attach_rx(self.id, std::mem::take(&mut self.unread));
        }
    }

    /// What the device says of its link now.
    pub(crate) fn read_link(&self) -> Link {
        match &self.device {
            None => Link::default(),
            Some(Device::Memory | Device::Virtual) => Link { up: true, mbps: 0 },
            Some(Device::Given(device)) => Link { up: device.link().up, mbps: 0 },
            // A device that does not say is taken for down, which is an event.
            Some(Device::Dpdk(port)) => port.link().map_or_else(
                |_| Link::default(),
                |link| Link { up: link.up, mbps: link.speed_mbps.unwrap_or(0) },
            ),
        }
    }

    /// True if the device below is gone for good: only opening it again can bring it back.
    pub(crate) fn device_is_gone(&self) -> bool {
        match &self.device {
            Some(Device::Dpdk(port)) => port.link().is_ok_and(|link| link.gone),
            Some(Device::Given(device)) => device.link().gone,
            Some(Device::Memory | Device::Virtual) | None => false,
        }
    }

    /// Why nobody is at the other end, where its device is who sees to it that somebody is.
    pub(crate) fn alone(&self) -> Option<String> {
        match &self.device {
            Some(Device::Dpdk(port)) => port.problem(),
            Some(Device::Given(_) | Device::Memory | Device::Virtual) | None => None,
        }
    }

    /// What stands in front of packets on its link.
    pub(crate) fn link_header(&self) -> LinkHeader {
        match self.config.kind.is_point_to_point() {
            true => LinkHeader::Nothing,
            false => LinkHeader::From(self.mac),
        }
    }

    /// Packets can pass: the port is up, its device there, its link up.
    pub(crate) fn carries(&self) -> bool {
        self.config.up && self.link.up
    }

    /// Its IPv4 addresses.
    pub(crate) fn addresses(&self) -> Vec<(u32, u8)> {
        let v4 = self.config.addresses.iter().filter_map(|own| match own.address() {
            IpAddr::V4(address) => Some((u32::from(address), own.prefix().length())),
            IpAddr::V6(_) => None,
        });
        v4.collect()
    }

    /// The IPv6 addresses that it is to have: those configured, and where there is one the
    /// link-local one, made from the MAC (RFC 4862 section 5.3) unless it is configured, too.
    pub(crate) fn addresses6(&self) -> Vec<(u128, u8)> {
        let v6 = self.config.addresses.iter().filter_map(|own| match own.address() {
            IpAddr::V4(_) => None,
            IpAddr::V6(address) => Some((u128::from(address), own.prefix().length())),
        });
        let mut addresses: Vec<_> = v6.collect();
        let has_link_local = addresses.iter().any(|&(own, _)| ipv6::is_link_local(own));
        if !addresses.is_empty() && !has_link_local {
            addresses.push((ipv6::link_local_of(MacAddr(self.mac)), LINK_LOCAL_LENGTH));
        }
        addresses
    }

    /// The IPv6 addresses that it is to have now: none while it carries no packets, or another
    /// port's.
    pub(crate) fn used6(&self) -> Vec<(u128, u8)> {
        let routed = self.carries() && self.peer.is_none();
        if routed { self.addresses6() } else { Vec::new() }
    }

    /// The port that it is a part of.
    pub(crate) fn parent(&self) -> Option<&PortName> {
        parent_of(&self.config)
    }

    /// The link for those that stand on it.
    pub(crate) fn link_now(&self) -> Link {
        Link { up: self.carries(), ..self.link }
    }

    /// Its interfaces: its own, and those of its remotes.
    pub(crate) fn rows(&self) -> impl Iterator<Item = u16> {
        std::iter::once(self.id).chain(self.remotes.values().map(|remote| remote.id))
    }

    /// The row that workers see, before parts have their say.
    pub(crate) fn row(&self, name: &PortName) -> Interface {
        Interface {
            up: self.config.up,
            routes: self.config.routes(),
            mac: self.mac,
            mtu_bytes: self.config.mtu,
            ip4: self.addresses(),
            ip6: self.valid6.clone(),
            tentative6: self.tentative6.clone(),
            ..Interface::new(name.as_str(), self.id)
        }
    }

    /// Broadcast and network addresses (RFC 1812 section 4.2.2.11): of networks that have them.
    pub(crate) fn wanted_specials(&self) -> Specials {
        let mut specials = Specials::new();
        for own in &self.config.addresses {
            if let (Some(IpAddr::V4(last)), IpAddr::V4(first)) =
                (own.prefix().broadcast(), own.prefix().address())
            {
                let of_this_link = (Kind::Link, u32::from(self.id));
                specials.insert(Ip4Prefix::host(last.into()), of_this_link);
                specials.insert(Ip4Prefix::host(first.into()), of_this_link);
            }
        }
        specials
    }
}

/// The port that one of such a configuration is a part of.
pub(crate) fn parent_of(config: &Port) -> Option<&PortName> {
    match &config.kind {
        PortKind::Vlan(vlan) => Some(&vlan.parent),
        _ => None,
    }
}
