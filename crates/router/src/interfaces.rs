//! Open ports: the device, the row that workers see, the addresses and the link.

use crate::devices::{Device, Devices, is_tap};
use control::config::objects::port::{Port, PortName};
use control::config::objects::qos::Qos;
use dataplane::Dataplane;
use fib::Ip4Prefix;
use fib::rib::Target;
use nodes::plumbing::{Interface, InterfaceId, Kind, Mode};
use packet::RxQueue;
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr};

/// The MAC of ports that configure none and whose device has none for us (memory, tap): locally
/// administered, told apart by process and id.
fn made_up_mac(id: u16) -> [u8; 6] {
    let ([a, b, c, d], [_, low]) = (std::process::id().to_be_bytes(), id.to_be_bytes());
    [0x02, 0x56, a ^ b, c, d, low]
}

/// One configured port, open or waiting for its device to come (back).
pub(crate) struct OpenPort {
    pub(crate) id: u16,
    pub(crate) config: Port,
    pub(crate) mac: [u8; 6],
    /// None while the device is away.
    pub(crate) device: Option<Device>,
    /// Receive queues that no worker reads yet.
    pub(crate) unread: Vec<Box<dyn RxQueue>>,
    pub(crate) link: Link,
    pub(crate) peer: Option<PortName>,
    /// The scheduler that its packets wait in.
    pub(crate) shaped: Option<Qos>,
    /// Routes that stand because of its addresses.
    pub(crate) connected: BTreeMap<Ip4Prefix, Target>,
    /// Broadcast addresses of its networks.
    pub(crate) specials: BTreeMap<Ip4Prefix, Kind>,
}

/// What is known of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Link {
    pub(crate) up: bool,
    pub(crate) mbps: u32,
}

impl OpenPort {
    /// Opens the device of a port.
    pub(crate) fn open(
        id: u16,
        config: &Port,
        devices: &Devices,
        dataplane: &Dataplane,
    ) -> Result<Self, String> {
        let mut port = Self {
            id,
            config: config.clone(),
            mac: config.mac.map_or_else(|| made_up_mac(id), |mac| mac.0),
            device: None,
            unread: Vec::new(),
            link: Link::default(),
            peer: None,
            shaped: None,
            connected: BTreeMap::new(),
            specials: BTreeMap::new(),
        };
        port.open_device(devices, dataplane)?;
        Ok(port)
    }

    /// Opens its device (again). It can send at once; nothing is read from it before
    /// [`OpenPort::begin_reading`].
    pub(crate) fn open_device(
        &mut self,
        devices: &Devices,
        dataplane: &Dataplane,
    ) -> Result<(), String> {
        let workers = dataplane.worker_cores().len();
        let (device, queues) = devices.open(&self.config, workers)?;
        if let Device::Dpdk(device) = &device
            && self.config.mac.is_none()
            && !is_tap(&self.config.kind)
        {
            self.mac = device.mac().map_err(|error| error.to_string())?;
        }
        dataplane.attach_tx(self.id, queues.tx).map_err(|error| error.to_string())?;
        self.unread = queues.rx;
        self.device = Some(device);
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
            Some(Device::Memory) => Link { up: true, mbps: 0 },
            Some(Device::Dpdk(port)) => port.link().map_or_else(
                |_| Link::default(),
                |link| Link { up: link.up, mbps: link.speed_mbps.unwrap_or(0) },
            ),
        }
    }

    /// Looks for the link's other end again, where the device has to look for it.
    pub(crate) fn reconnect(&mut self) {
        if let Some(Device::Dpdk(port)) = &mut self.device {
            port.reconnect();
        }
    }

    /// True if the device below is gone for good: only opening it again can bring it back.
    pub(crate) fn device_is_gone(&self) -> bool {
        match &self.device {
            Some(Device::Dpdk(port)) => port.link().is_ok_and(|link| link.gone),
            Some(Device::Memory) | None => false,
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

    /// Our address to use towards a neighbour: of the same network if there is one.
    pub(crate) fn source_towards(&self, neighbor: Ipv4Addr) -> Option<u32> {
        let addresses = self.addresses();
        let row = |&&(own, length): &&(u32, u8)| {
            Ip4Prefix::new(own, length).is_ok_and(|prefix| prefix.contains(neighbor.into()))
        };
        addresses.iter().find(row).or(addresses.first()).map(|&(own, _)| own)
    }

    /// The row that workers see.
    pub(crate) fn row(&self, name: &PortName, ids: &HashMap<PortName, u16>) -> Interface {
        let peer = self.peer.as_ref().and_then(|peer| ids.get(peer));
        Interface {
            name: name.as_str().to_owned(),
            port: self.id,
            up: self.config.up,
            shaped: false,
            mode: peer.map_or(Mode::Routed, |&peer| Mode::CrossConnect(InterfaceId(peer))),
            mac: self.mac,
            mtu_bytes: self.config.mtu,
            ip4: self.addresses(),
            ip6: Vec::new(),
            tentative6: Vec::new(),
        }
    }

    /// The routes that its addresses make: each network on the link, each address our own.
    pub(crate) fn wanted_routes(&self) -> BTreeMap<Ip4Prefix, Target> {
        let mut routes = BTreeMap::new();
        for (address, length) in self.addresses() {
            if let Ok(network) = Ip4Prefix::new(address, length) {
                routes.insert(network, fib::rib::Route::connected(self.id).target);
            }
        }
        for (address, _) in self.addresses() {
            routes.insert(Ip4Prefix::host(address), Target::Local);
        }
        routes
    }

    /// Broadcast and network addresses (RFC 1812 section 4.2.2.11): of networks that have them.
    pub(crate) fn wanted_specials(&self) -> BTreeMap<Ip4Prefix, Kind> {
        let mut specials = BTreeMap::new();
        for own in &self.config.addresses {
            if let (Some(IpAddr::V4(last)), IpAddr::V4(first)) =
                (own.prefix().broadcast(), own.prefix().address())
            {
                specials.insert(Ip4Prefix::host(last.into()), Kind::Link);
                specials.insert(Ip4Prefix::host(first.into()), Kind::Link);
            }
        }
        specials
    }
}
