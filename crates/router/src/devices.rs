//! Where packets live and come from: DPDK's pools and ports, or plain memory where no port needs
//! DPDK and it does not start here.

use crate::memory_port;
use control::config::Config;
use control::config::objects::memory::{Hugepages, Memory as Buffers};
use control::config::objects::port::Port;
use control::config::objects::port_kind::{
    AfPacket, AfXdp, Memif, Memory, Pcap, Pci, PortKind, Repeat, Role, Tap, Vhost, VirtioUser,
};
use dataplane::PortQueues;
use dpdk::{DpdkPool, Eal, EalOptions, MemifRole, MemoryChoice, PortOptions, PortSpec};
use packet::{HeapPool, Pool, PoolError, RxQueue, TxQueue};
use std::sync::Arc;

/// Bytes of an mbuf's header, private area, headroom and slack, beside the frame.
const BUFFER_OVERHEAD_BYTES: u64 = 128 + 64 + 128 + 64;
/// What DPDK's drivers take beside the packet pool: rings, their own state.
const DRIVER_MIB: u64 = 64;

/// The source of all buffers and ports.
pub(crate) struct Devices {
    dpdk: Option<(Eal, DpdkPool)>,
    heap: Option<Arc<HeapPool>>,
    /// Why there is no DPDK, where there is none.
    pub(crate) without_dpdk: Option<String>,
}

/// Why there are no devices.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// A configured port needs DPDK.
    #[error(transparent)]
    Dpdk(#[from] dpdk::Error),
    /// No memory for packets.
    #[error(transparent)]
    Pool(#[from] PoolError),
}

/// An open device.
pub(crate) enum Device {
    /// One of DPDK's.
    Dpdk(Box<dpdk::Port>),
    /// Queues in memory: no device at all.
    Memory,
    /// None of its own.
    Virtual,
}

impl Devices {
    /// Starts DPDK if it can; where no port asks for it, does without if it must.
    pub(crate) fn start(config: &Config) -> Result<Self, DeviceError> {
        let memory = &config.memory;
        let needs_dpdk = |(_, port): (_, &Port)| {
            !port.kind.is_virtual() && !matches!(port.kind, PortKind::Memory(_))
        };
        match start_dpdk(config) {
            Ok(dpdk) => Ok(Self { dpdk: Some(dpdk), heap: None, without_dpdk: None }),
            Err(error) if config.ports.iter().any(needs_dpdk) => Err(error.into()),
            Err(error) => {
                let pool = HeapPool::new(memory.buffers as usize, memory.frame_bytes.into())?;
                let why = Some(error.to_string());
                Ok(Self { dpdk: None, heap: Some(Arc::new(pool)), without_dpdk: why })
            }
        }
    }

    /// Where buffers come from.
    pub(crate) fn pool(&self) -> Option<Arc<dyn Pool>> {
        match (&self.dpdk, &self.heap) {
            (Some((_, pool)), _) => Some(Arc::new(pool.clone())),
            (None, Some(pool)) => Some(Arc::<HeapPool>::clone(pool)),
            (None, None) => None,
        }
    }

    /// What DPDK found, in words, if it runs.
    pub(crate) fn facts(&self) -> Option<&dpdk::EalFacts> {
        self.dpdk.as_ref().map(|(eal, _)| eal.facts())
    }

    /// Opens a port with a transmit queue for each worker; packets flow once it is started.
    pub(crate) fn open(&self, port: &Port, workers: usize) -> Result<(Device, PortQueues), String> {
        if port.kind.is_virtual() {
            return Ok((Device::Virtual, PortQueues::default()));
        }
        if let PortKind::Memory(Memory { source, frames, record }) = &port.kind {
            let (source, record) = (source.as_deref(), record.as_deref());
            let queues = memory_port::open(source, frames, record, port.rx_queues, workers)?;
            return Ok((Device::Memory, queues));
        }
        let Some((eal, pool)) = &self.dpdk else {
            let why = self.without_dpdk.as_deref().unwrap_or("it was not started");
            return Err(format!("this kind of port needs DPDK: {why}"));
        };
        let options = PortOptions {
            rx_queues: port.rx_queues,
            tx_queues: workers as u16,
            mtu: Some(port.mtu),
            peer_offloads: peer_offloads(&port.kind),
            ..PortOptions::new(pool.clone())
        };
        let mut device =
            dpdk::Port::open(eal, &spec_of(&port.kind), options).map_err(|e| e.to_string())?;
        if let (Some(mac), true) = (port.mac, has_address_of_ours(&port.kind)) {
            device.set_mac(mac.0).map_err(|error| error.to_string())?;
        }
        device.start().map_err(|error| error.to_string())?;
        let rx = (0..device.rx_queues()).filter_map(|number| device.rx(number));
        let tx = (0..device.tx_queues()).filter_map(|number| device.tx(number));
        let rx: Vec<_> = rx.map(|queue| Box::new(queue) as Box<dyn RxQueue>).collect();
        let mut tx: Vec<_> = tx.map(|queue| Box::new(queue) as Box<dyn TxQueue>).collect();
        if tx.len() < workers {
            let have = tx.len();
            return Err(format!("the device has {have} transmit queues for {workers} workers"));
        }
        tx.truncate(workers);
        Ok((Device::Dpdk(Box::new(device)), PortQueues { rx, tx }))
    }
}

fn start_dpdk(config: &Config) -> Result<(Eal, DpdkPool), dpdk::Error> {
    let memory: &Buffers = &config.memory;
    let buffer = u64::from(memory.frame_bytes) + BUFFER_OVERHEAD_BYTES;
    let pool_mib = (buffer * u64::from(memory.buffers)).div_ceil(1 << 20);
    let is_pci = |(_, port): (_, &Port)| matches!(port.kind, PortKind::Pci(_));
    let eal = Eal::start(EalOptions {
        // A quarter more: the pool's own ring, alignment, fragments.
        memory_mib: (pool_mib + pool_mib / 4 + DRIVER_MIB) as usize,
        memory: match memory.hugepages {
            Hugepages::Auto => MemoryChoice::Auto,
            Hugepages::Never => MemoryChoice::Ordinary,
            Hugepages::Require => MemoryChoice::Hugepages,
        },
        pci: config.ports.iter().any(is_pci),
        file_prefix: format!("volley-{}", std::process::id()),
        log: None,
    })?;
    let pool = DpdkPool::new(&eal, memory.buffers, memory.frame_bytes)?;
    Ok((eal, pool))
}

/// True of ports whose device's MAC address belongs to the kernel's end.
pub(crate) fn is_tap(kind: &PortKind) -> bool {
    matches!(kind, PortKind::Tap(_))
}

/// True of ports whose other end may leave work to a card.
fn peer_offloads(kind: &PortKind) -> bool {
    match kind {
        PortKind::AfPacket(AfPacket { peer_offloads, .. })
        | PortKind::AfXdp(AfXdp { peer_offloads, .. }) => *peer_offloads,
        _ => true,
    }
}

/// True of ports whose device must know our MAC address. A tap's own is the kernel's end of the
/// wire, ours is another (see `OpenPort`); shared memory and files have none, and bring every frame
/// whoever it is to.
fn has_address_of_ours(kind: &PortKind) -> bool {
    let bring_every_frame =
        matches!(kind, PortKind::Memif(_) | PortKind::Vhost(_) | PortKind::Pcap(_));
    !is_tap(kind) && !bring_every_frame
}

fn spec_of(kind: &PortKind) -> PortSpec {
    let name =
        |device: &control::config::objects::port_kind::DeviceName| device.as_str().to_owned();
    match kind {
        PortKind::Pci(Pci { address }) => PortSpec::Pci { address: address.as_str().to_owned() },
        PortKind::AfPacket(AfPacket { device, .. }) => PortSpec::AfPacket { device: name(device) },
        PortKind::AfXdp(AfXdp { device, .. }) => {
            PortSpec::AfXdp { device: name(device), first_queue: 0, force_copy: false }
        }
        PortKind::Tap(Tap { device }) => PortSpec::Tap { name: name(device) },
        PortKind::Memif(Memif { socket, role, id }) => PortSpec::Memif {
            role: match role {
                Role::Server => MemifRole::Server,
                Role::Client => MemifRole::Client,
            },
            socket: socket.clone(),
            id: *id,
            ring_log2: 10,
            buffer_bytes: 2048,
        },
        PortKind::Vhost(Vhost { socket }) => {
            PortSpec::Vhost { socket: socket.clone(), client: false }
        }
        PortKind::VirtioUser(VirtioUser { socket }) => {
            PortSpec::VirtioUser { path: socket.clone(), server: false }
        }
        PortKind::Pcap(Pcap { rx, tx, repeat }) => {
            PortSpec::Pcap { rx: rx.clone(), tx: tx.clone(), repeat: *repeat == Repeat::Forever }
        }
        // Opened without DPDK; as a spec it is a port that nothing ever comes from.
        PortKind::Memory(_)
        | PortKind::Vlan(_)
        | PortKind::Bvi
        | PortKind::Vxlan(_)
        | PortKind::Gre(_) => PortSpec::Ring,
    }
}
