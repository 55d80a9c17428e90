//! Where packets live and come from: DPDK's pools and ports, or plain memory where no port needs
//! DPDK and it does not start here.

use crate::capabilities;
use crate::memory_port;
use crate::port_files;
use crate::port_specs::spec_of;
use crate::world::{GivenDevice, Opener};
use control::config::Config;
use control::config::objects::memory::{Hugepages, Memory as Buffers};
use control::config::objects::port::Port;
use control::config::objects::port_kind::{Memory, PortKind};
use control::config::objects::workers::Placement;
use dataplane::PortQueues;
use dpdk::{DpdkPool, Eal, EalOptions, MemoryChoice, PortOptions, PortSpec};
use packet::{HeapPool, Pool, PoolError, PoolUsage, RxQueue, TxQueue};
use rights::Folders;
use std::sync::Arc;

/// Bytes of an mbuf's header, private area, headroom and slack, beside the frame.
const BUFFER_OVERHEAD_BYTES: u64 = 128 + 64 + 128 + 64;
/// What DPDK's drivers take beside the packet pool: rings, their own state.
const DRIVER_MIB: u64 = 64 + dpdk::LARGE_POOL_MIB;

/// The source of all buffers and ports.
pub(crate) struct Devices {
    dpdk: Option<(Eal, DpdkPool)>,
    /// Buffers in memory.
    heap: Option<Arc<dyn Pool>>,
    /// Who opens devices in the place of drivers.
    opener: Option<Arc<dyn Opener>>,
    /// Below which the files are that somebody over the API may name.
    folders: Folders,
    /// Why there is no DPDK, where there is none.
    pub(crate) without_dpdk: Option<String>,
    /// What all devices refuse.
    #[cfg(test)]
    pub(crate) refusals: Refusals,
}

/// Why devices refuse what they are asked.
#[cfg(test)]
#[derive(Default)]
pub(crate) struct Refusals {
    /// To be opened.
    pub(crate) open: Option<&'static str>,
    /// Another MAC address.
    pub(crate) readdress: Option<&'static str>,
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
    /// A simulation's.
    Given(Box<dyn GivenDevice>),
    /// Queues in memory: no device at all.
    Memory,
    /// None of its own.
    Virtual,
}

/// What came of opening a device.
pub(crate) struct Opened {
    pub(crate) device: Device,
    pub(crate) queues: PortQueues,
    /// The device's own address, where it is to be the port's.
    pub(crate) mac: Option<[u8; 6]>,
    /// What it cannot do.
    pub(crate) problem: Option<String>,
}

impl Devices {
    /// Starts DPDK if it can; where no port asks for it, does without if it must.
    pub(crate) fn start(config: &Config) -> Result<Self, DeviceError> {
        let memory = &config.memory;
        let folders = Folders::new(config.files.folders.clone());
        let needs_dpdk = |(_, port): (_, &Port)| spec_of(&port.kind).is_some();
        match start_dpdk(config) {
            Ok(dpdk) => Ok(Self { folders, ..Self::of(Some(dpdk), None, None) }),
            Err(error) if config.ports.iter().any(needs_dpdk) => Err(error.into()),
            Err(error) => {
                let pool = HeapPool::new(memory.buffers as usize, memory.frame_bytes.into())?;
                let why = Some(error.to_string());
                Ok(Self { folders, ..Self::of(None, Some(Arc::new(pool)), why) })
            }
        }
    }

    /// Those of another world than the machine.
    pub(crate) fn given(config: &Config, pool: Arc<dyn Pool>, opener: Arc<dyn Opener>) -> Self {
        let folders = Folders::new(config.files.folders.clone());
        Self { folders, opener: Some(opener), ..Self::of(None, Some(pool), None) }
    }

    /// Below which the files are that somebody over the API may name.
    pub(crate) fn folders(&self) -> &Folders {
        &self.folders
    }

    fn of(
        dpdk: Option<(Eal, DpdkPool)>,
        heap: Option<Arc<dyn Pool>>,
        without_dpdk: Option<String>,
    ) -> Self {
        Self {
            dpdk,
            heap,
            opener: None,
            folders: Folders::default(),
            without_dpdk,
            #[cfg(test)]
            refusals: Refusals::default(),
        }
    }

    /// Where buffers come from.
    pub(crate) fn pool(&self) -> Option<Arc<dyn Pool>> {
        match (&self.dpdk, &self.heap) {
            (Some((_, pool)), _) => Some(Arc::new(pool.clone())),
            (None, Some(pool)) => Some(Arc::clone(pool)),
            (None, None) => None,
        }
    }

    /// How many packet buffers there are, and how many are free; none without a pool.
    pub(crate) fn buffers(&self) -> Option<PoolUsage> {
        match (&self.dpdk, &self.heap) {
            (Some((_, pool)), _) => Some(pool.usage()),
            (None, heap) => heap.as_ref().map(|pool| pool.usage()),
        }
    }

    /// What DPDK found, in words, if it runs.
    pub(crate) fn facts(&self) -> Option<&dpdk::EalFacts> {
        self.dpdk.as_ref().map(|(eal, _)| eal.facts())
    }

    /// Whether opening a port, and closing it, takes no time: there is no device of its own.
    pub(crate) fn is_at_once(&self, port: &Port) -> bool {
        port.kind.is_virtual()
    }

    /// Opens the device of a port with a transmit queue for each worker. It may be called on any
    /// thread: drivers take their time.
    pub(crate) fn open_for(&self, port: &Port, workers: usize) -> Result<Opened, String> {
        let before = self.buffers();
        let (device, queues) = self.open(port, workers)?;
        let mac = match &device {
            Device::Dpdk(device) if port.mac.is_none() && device.spec().has_address() => {
                Some(device.mac().map_err(|error| error.to_string())?)
            }
            Device::Given(device) if port.mac.is_none() => Some(device.mac()),
            Device::Dpdk(_) | Device::Given(_) | Device::Memory | Device::Virtual => None,
        };
        let problem = short_of_buffers(before, self.buffers(), workers);
        Ok(Opened { device, queues, mac, problem })
    }

    /// Opens a port with a transmit queue for each worker; packets flow once it is started.
    fn open(&self, port: &Port, workers: usize) -> Result<(Device, PortQueues), String> {
        #[cfg(test)]
        if let Some(why) = self.refusals.open {
            return Err(why.to_owned());
        }
        if let PortKind::Memory(Memory { source, frames, record }) = &port.kind {
            let (source, record) = (source.as_deref(), record.as_deref());
            let (queues, folders) = (port.rx_queues, &self.folders);
            let queues = memory_port::open(source, frames, record, queues, workers, folders)?;
            return Ok((Device::Memory, queues));
        }
        let Some(spec) = spec_of(&port.kind) else {
            return Ok((Device::Virtual, PortQueues::default()));
        };
        if let Some(opener) = &self.opener {
            let (device, queues) = opener.open(port, workers)?;
            return Ok((Device::Given(device), queues));
        }
        let Some((eal, pool)) = &self.dpdk else {
            let why = self.without_dpdk.as_deref().unwrap_or("it was not started");
            return Err(format!("this kind of port needs DPDK: {why}"));
        };
        let options = PortOptions {
            rx_queues: port.rx_queues,
            tx_queues: workers as u16,
            mtu: Some(port.mtu),
            peer_offloads: port.kind.peer_offloads(),
            ..PortOptions::new(pool.clone())
        };
        capabilities::check(&spec)?;
        let (kind, files) = port_files::opened(&port.kind, &self.folders)?;
        let spec = spec_of(&kind).unwrap_or(spec);
        let mut device = dpdk::Port::open(eal, &spec, options).map_err(|e| e.to_string())?;
        device.keep(files);
        if let (Some(mac), true) = (port.mac, spec.filters_by_address()) {
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

    /// Tells an open device our MAC address, if it must know.
    pub(crate) fn readdress(
        &self,
        device: Option<&mut Device>,
        mac: [u8; 6],
    ) -> Result<(), String> {
        #[cfg(test)]
        if let Some(why) = self.refusals.readdress {
            return Err(why.to_owned());
        }
        match device {
            Some(Device::Dpdk(port)) if port.spec().filters_by_address() => {
                port.set_mac(mac).map_err(|error| error.to_string())
            }
            Some(Device::Given(device)) => device.readdress(mac),
            Some(Device::Dpdk(_) | Device::Memory | Device::Virtual) | None => Ok(()),
        }
    }
}

/// What is wrong once a device has taken so many buffers for its rings that too few are left for
/// packets on their way.
fn short_of_buffers(
    before: Option<PoolUsage>,
    after: Option<PoolUsage>,
    workers: usize,
) -> Option<String> {
    let (before, after) = (before?, after?);
    let (took, left) = (before.free.saturating_sub(after.free), after.free);
    let takes = Placement::Count(workers as u16).buffers();
    (took > 0 && left < takes as usize).then(|| {
        format!(
            "its rings took {took} packet buffers, and {left} of {} are left; packets on their \
             way take {takes}: memory.buffers is too small",
            after.total
        )
    })
}

fn start_dpdk(config: &Config) -> Result<(Eal, DpdkPool), dpdk::Error> {
    let memory: &Buffers = &config.memory;
    let buffer = u64::from(memory.frame_bytes) + BUFFER_OVERHEAD_BYTES;
    let pool_mib = (buffer * u64::from(memory.buffers)).div_ceil(1 << 20);
    let shares =
        |(_, port): (_, &Port)| matches!(&port.kind, PortKind::Memif(memif) if memif.zero_copy);
    let shared = if config.ports.iter().any(shares) { dpdk::SHARED_HEADER_BYTES } else { 0 };
    let shared_mib = (shared * u64::from(memory.buffers)).div_ceil(1 << 20);
    let is_pci =
        |(_, port): (_, &Port)| spec_of(&port.kind).as_ref().is_some_and(PortSpec::is_card);
    let eal = Eal::start(EalOptions {
        // A quarter more: the pool's own ring, alignment, fragments.
        memory_mib: (pool_mib + pool_mib / 4 + shared_mib + DRIVER_MIB) as usize,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_that_leave_too_few_buffers_are_told_with_numbers() {
        let free = |free| Some(PoolUsage { total: 4096, free, memory_bytes: 0 });
        assert_eq!(short_of_buffers(free(4096), free(2048), 1), None);
        assert_eq!(short_of_buffers(free(100), free(100), 1), None, "it took none");
        let told = short_of_buffers(free(2048), free(0), 2).unwrap();
        for number in ["took 2048", "0 of 4096", "take 1024"] {
            assert!(told.contains(number), "{told}");
        }
    }
}
