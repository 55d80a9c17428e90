//! One open port.
//!
//! ```text
//!  open ─▶ stopped ◀─ start/stop ─▶ running ─▶ close (or drop): the device is gone
//! ```
//! Ports come and go while workers poll: a handle of a stopped or closed port is silent. The
//! control thread owns the port; all its calls are short, none waits for the link.

use crate::descriptors::Descriptors;
use crate::device::{Device, Shape};
use crate::facts::{self, PortFacts};
use crate::kind::{Attendant, MtuOf, Opened};
use crate::link::Link;
use crate::linux::{LinuxDevice, Presence};
use crate::packet_rings::PacketRings;
use crate::packet_slots::PacketSlots;
use crate::privilege::Privilege;
use crate::queue::Queue;
use crate::receive_times::{PortClock, ReceiveTimes};
use crate::stats::{self, PortStats};
use crate::{DpdkPool, Eal, Error, PortSpec, RxHandle, TxHandle, error, ffi, gate, log, stale};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Between two tries of a memif client to connect.
const RECONNECT_PAUSE: Duration = Duration::from_secs(1);

/// What is wanted of a port. What its driver cannot do is brought down to what it can.
#[derive(Clone)]
pub struct PortOptions {
    /// Receive queues; receive side scaling spreads flows over them.
    pub rx_queues: u16,
    /// Transmit queues.
    pub tx_queues: u16,
    /// Packets a receive queue holds; `None`: as the driver likes it.
    pub rx_descriptors: Option<u16>,
    /// Packets a transmit queue holds; `None`: as the driver likes it.
    pub tx_descriptors: Option<u16>,
    /// Largest packet without its Ethernet header; `None`: as it is.
    pub mtu: Option<u16>,
    /// Receive all packets, not only those to the port's address.
    pub promiscuous: bool,
    /// A Linux host at the other end may leave checksums, and cutting into frames, to a card that
    /// is not there: see
    /// [`offloads`](crate::offloads). Only of af_packet and af_xdp.
    pub peer_offloads: bool,
    /// Packets carry the time at which the port received them; a port that cannot do it does not
    /// open, or start.
    pub receive_times: bool,
    /// Where received packets live.
    pub pool: DpdkPool,
}

impl PortOptions {
    /// One queue each way, promiscuous, the driver's own sizes.
    pub fn new(pool: DpdkPool) -> Self {
        Self {
            rx_queues: 1,
            tx_queues: 1,
            rx_descriptors: None,
            tx_descriptors: None,
            mtu: None,
            promiscuous: true,
            peer_offloads: true,
            receive_times: false,
            pool,
        }
    }
}

/// An open port.
pub struct Port {
    spec: PortSpec,
    peer_offloads: bool,
    device: Device,
    number: u16,
    facts: PortFacts,
    rx: Vec<Arc<Queue>>,
    tx: Vec<Arc<Queue>>,
    /// By will of the user.
    running: bool,
    /// By the driver's word.
    started: bool,
    /// When a memif client last tried to connect.
    tried: Option<Instant>,
    linux: Option<LinuxDevice>,
    remarks: Vec<String>,
    /// What goes with a port of its kind.
    attendant: Box<dyn Attendant>,
    /// Of packet sockets, if there are some.
    packet_rings: Arc<PacketRings>,
    /// If they are wanted.
    receive_times: Option<(ReceiveTimes, Option<PortClock>)>,
    /// Of the queues of an af_packet port, what its driver does not say of packets.
    packet_slots: Vec<Option<Arc<PacketSlots>>>,
    // Dropped after the port is closed, in this order.
    pool: DpdkPool,
    _eal: Eal,
}

impl Port {
    /// Opens `spec`: it is configured, has its queues, and is stopped.
    pub fn open(eal: &Eal, spec: &PortSpec, options: PortOptions) -> Result<Self, Error> {
        let shape = Shape {
            queues: options.rx_queues.max(options.tx_queues).max(1),
            mtu: options.mtu.unwrap_or(1500),
            descriptors: options.rx_descriptors,
        };
        let kind = spec.as_kind();
        let device = kind.device(shape)?;
        if let Some(socket) = kind.listens_at() {
            stale::remove_socket(socket);
            // The vhost driver would remove another's when it fails.
            if socket.exists() && !kind.shares_socket() {
                let reason = "something else is at that path".to_owned();
                return Err(Error::Open { device: spec.to_string(), reason });
            }
        }
        let mut linux = match kind.linux_device() {
            Some(name) if !kind.makes_device() => Some(LinuxDevice::find(name)?),
            _ => None,
        };
        let mut remarks = Vec::new();
        if let Some(device) = &mut linux {
            let program = options.peer_offloads && kind.has_room_for_program();
            remarks.extend(device.want_whole_frames(program).err().map(|error| error.to_string()));
        }
        let since = log::mark();
        let refuse = |code: i32| {
            let mut reason = error::reason(code, since);
            if let Some(lacks) = Privilege::of_this_process().lacks(kind.rights()) {
                reason.push_str(&format!("; {lacks}"));
            }
            Error::Open { device: spec.to_string(), reason }
        };
        let attendant = kind.attendant();
        let number = device.plug().map_err(refuse)?;
        let raw = match facts::raw(number) {
            Ok(raw) => raw,
            Err(code) => {
                device.unplug();
                return Err(refuse(code));
            }
        };
        let mut port = Self {
            spec: spec.clone(),
            peer_offloads: options.peer_offloads,
            device,
            number,
            facts: PortFacts::from(&raw),
            rx: Vec::new(),
            tx: Vec::new(),
            running: false,
            started: false,
            tried: None,
            linux,
            remarks,
            attendant,
            packet_rings: Arc::default(),
            receive_times: None,
            packet_slots: Vec::new(),
            pool: options.pool.clone(),
            _eal: eal.clone(),
        };
        if let (Some(name), true) = (kind.linux_device(), kind.makes_device()) {
            port.linux = Some(LinuxDevice::find(name)?);
        }
        let configured = port.configure(&options, &raw);
        let Self { linux, rx, tx, attendant, .. } = &mut port;
        attendant.opened(&Opened { linux: linux.as_ref(), rx, tx });
        port.packet_rings = port.attendant.rings();
        let slots = port.attendant.packet_slots(shape).into_iter();
        port.packet_slots = slots.map(|slots| slots.map(Arc::new)).collect();
        configured?;
        if options.receive_times {
            port.take_times(&raw)?;
        }
        Ok(port)
    }

    fn configure(&mut self, options: &PortOptions, raw: &ffi::PortFacts) -> Result<(), Error> {
        let constants = facts::constants();
        let pairs = self.spec.has_queue_pairs();
        let most = options.rx_queues.max(options.tx_queues);
        let wanted = |queues: u16| if pairs { most } else { queues }.max(1);
        let rx = wanted(options.rx_queues).min(raw.max_rx_queues);
        let tx = wanted(options.tx_queues).min(raw.max_tx_queues);
        let rss = (constants.rss_ip | constants.rss_l4) & raw.rss_functions;
        let stamps = if options.receive_times { constants.rx_timestamp } else { 0 };
        let config = ffi::PortConfig {
            rx_queues: rx,
            tx_queues: tx,
            mtu: 0,
            rss_functions: if rx > 1 { rss } else { 0 },
            rx_offloads: stamps & raw.rx_offloads,
        };
        // SAFETY: an open port; the configuration is read only during the call.
        let code = unsafe { ffi::volley_port_configure(self.number, &config) };
        self.check(code, || format!("set up {rx} receive and {tx} transmit queues"))?;
        self.set_up_queues(options, raw, rx, tx)?;
        if let Some(mtu) = options.mtu {
            self.set_mtu(mtu)?;
        }
        // Drivers without such a mode receive all packets.
        if let Err(error) = self.set_promiscuous(options.promiscuous) {
            tracing::debug!(%error, "a port's mode of reception stays");
        }
        Ok(())
    }

    /// Sees to it that packets carry the time at which they were received.
    fn take_times(&mut self, raw: &ffi::PortFacts) -> Result<(), Error> {
        let action = || "tell when it received its packets".to_owned();
        let refuse = |reason: &str| Error::Port {
            device: self.spec.to_string(),
            action: action(),
            reason: reason.to_owned(),
        };
        let told = self.attendant.tells_times();
        if !told && raw.rx_offloads & facts::constants().rx_timestamp == 0 {
            return Err(refuse("its driver offers no time stamps"));
        }
        let times =
            ReceiveTimes::register().ok_or_else(|| refuse("packets have no room for it"))?;
        if told && self.rx.len() != 1 {
            return Err(refuse("it takes a port with one receive queue"));
        }
        if told && !matches!(self.packet_slots[..], [Some(_)]) {
            return Err(refuse("its receive ring is not to be found"));
        }
        // Cards tell the time once they run.
        let clock = told.then_some(PortClock::Realtime);
        self.receive_times = Some((times, clock));
        Ok(())
    }

    /// Where packets carry the time at which this port received them, if that was asked for, and by
    /// which clock.
    pub fn receive_times(&self) -> Option<(ReceiveTimes, PortClock)> {
        let (times, clock) = self.receive_times?;
        Some((times, clock?))
    }

    /// What the clock says now by which the port stamps what it receives, in its ticks.
    #[inline]
    pub fn read_clock(&self) -> Result<u64, Error> {
        let read = match self.receive_times() {
            Some((_, clock)) => clock.read(self.number),
            None => Err(-libc::ENOTSUP),
        };
        read.map_err(|code| self.failed(code, "read the clock".to_owned()))
    }

    fn set_up_queues(
        &mut self,
        options: &PortOptions,
        raw: &ffi::PortFacts,
        rx: u16,
        tx: u16,
    ) -> Result<(), Error> {
        let (rx_limits, tx_limits) = (Descriptors::rx(raw), Descriptors::tx(raw));
        let rx_size = rx_limits.choose(options.rx_descriptors);
        let tx_size = tx_limits.choose(options.tx_descriptors);
        let socket = raw.socket as u32;
        let pool = options.pool.as_ptr();
        for queue in 0..rx {
            // SAFETY: an open, stopped port; the pool outlives it.
            let code = unsafe {
                ffi::rte_eth_rx_queue_setup(
                    self.number,
                    queue,
                    rx_size,
                    socket,
                    core::ptr::null(),
                    pool,
                )
            };
            self.check(code, || format!("set up receive queue {queue} of {rx_size} packets"))?;
            self.rx.push(Arc::default());
        }
        for queue in 0..tx {
            // SAFETY: an open, stopped port.
            let code = unsafe {
                ffi::rte_eth_tx_queue_setup(self.number, queue, tx_size, socket, core::ptr::null())
            };
            self.check(code, || format!("set up transmit queue {queue} of {tx_size} packets"))?;
            self.tx.push(Arc::default());
        }
        Ok(())
    }

    /// Lets packets flow. A memif client whose server is not there yet waits for it.
    pub fn start(&mut self) -> Result<(), Error> {
        if self.running {
            return Ok(());
        }
        let started = self.start_driver();
        // A client that leaves its server in the middle of their first words, and comes again at
        // once, is taken for the one that left: DPDK's server then waits for it without end. So the
        // first connection has its time, too.
        self.tried = started.is_ok().then(Instant::now);
        self.running = started.is_ok() || self.spec.as_kind().connects_to().is_some();
        if self.running { Ok(()) } else { started }
    }

    /// Holds packets back. Workers may go on polling.
    pub fn stop(&mut self) -> Result<(), Error> {
        self.running = false;
        self.stop_driver()
    }

    fn start_driver(&mut self) -> Result<(), Error> {
        // SAFETY: an open, configured port.
        let code = unsafe { ffi::rte_eth_dev_start(self.number) };
        self.check(code, || "start".to_owned())?;
        self.started = true;
        if let Some((times, None)) = self.receive_times {
            let clock = PortClock::of_card(self.number).ok_or_else(|| Error::Port {
                device: self.spec.to_string(),
                action: "tell when it received its packets".to_owned(),
                reason: "the clock that it stamps by cannot be read".to_owned(),
            })?;
            self.receive_times = Some((times, Some(clock)));
        }
        if let Some(linux) = &self.linux {
            // Without the right to do so the link is down until somebody else switches it on.
            if let Err(error) = linux.switch_on() {
                let device = self.spec.to_string();
                tracing::warn!(fault = "switch-on", device, %error, "a device cannot be switched on");
            }
        }
        for queue in self.rx.iter().chain(&self.tx) {
            queue.gate.open();
        }
        Ok(())
    }

    fn stop_driver(&mut self) -> Result<(), Error> {
        if !self.started {
            return Ok(());
        }
        gate::shut(self.rx.iter().chain(&self.tx).map(|queue| &queue.gate));
        self.started = false;
        self.attendant.settle();
        self.attendant.stopping();
        // SAFETY: an open port; no worker is in one of its queues.
        let code = unsafe { ffi::rte_eth_dev_stop(self.number) };
        self.attendant.settle();
        self.check(code, || "stop".to_owned())
    }

    /// Connects a memif client whose link is down again, at most once a second. `LinkWatch`
    /// calls it; so must whoever watches the link otherwise.
    pub fn reconnect(&mut self) {
        let Some(socket) = self.spec.as_kind().connects_to() else { return };
        let recently = self.tried.is_some_and(|at| at.elapsed() < RECONNECT_PAUSE);
        if !self.running || recently || !socket.exists() {
            return;
        }
        self.tried = Some(Instant::now());
        // If it does not work this time it will be tried again.
        for outcome in [self.stop_driver(), self.start_driver()] {
            if let Err(error) = outcome {
                tracing::debug!(%error, "a port is not connected yet");
            }
        }
    }

    /// Receive queue `number`: `None` if there is no such queue or somebody has it.
    pub fn rx(&self, number: u16) -> Option<RxHandle> {
        let queue = self.rx.get(usize::from(number))?;
        RxHandle::take(
            queue,
            self.number,
            number,
            self.peer_offloads && self.spec.as_kind().leaves_out_checksums(),
            self.packet_slots.get(usize::from(number)).cloned().flatten(),
            self.receive_times().filter(|_| self.attendant.tells_times()).map(|(times, _)| times),
            self.attendant.wakes(number),
        )
    }

    /// Transmit queue `number`: `None` if there is no such queue or somebody has it.
    pub fn tx(&self, number: u16) -> Option<TxHandle> {
        TxHandle::take(self.tx.get(usize::from(number))?, self.number, number, &self.packet_rings)
    }

    /// Receive queues it has.
    pub fn rx_queues(&self) -> u16 {
        self.rx.len() as u16
    }

    /// Transmit queues it has.
    pub fn tx_queues(&self) -> u16 {
        self.tx.len() as u16
    }

    /// What it was opened as.
    pub fn spec(&self) -> &PortSpec {
        &self.spec
    }

    /// What its driver says.
    pub fn facts(&self) -> &PortFacts {
        &self.facts
    }

    /// What the user should know of it: things that work less well than they could.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// True between start and stop.
    pub fn is_running(&self) -> bool {
        self.running
    }

    /// Its hardware address.
    pub fn mac(&self) -> Result<[u8; 6], Error> {
        let mut address = [0; 6];
        // SAFETY: an open port; six bytes of ours.
        let code = unsafe { ffi::rte_eth_macaddr_get(self.number, &mut address) };
        self.check(code, || "read the MAC address".to_owned())?;
        Ok(address)
    }

    /// Gives it a hardware address.
    pub fn set_mac(&mut self, mut address: [u8; 6]) -> Result<(), Error> {
        // SAFETY: an open port; the address is copied.
        let code = unsafe { ffi::rte_eth_dev_default_mac_addr_set(self.number, &mut address) };
        self.check(code, || format!("set the MAC address {address:02x?}"))
    }

    /// Largest packet without its Ethernet header.
    pub fn mtu(&self) -> Result<u16, Error> {
        if let Some(linux) = &self.linux {
            return linux.mtu().map_err(|source| self.device_failed("read the MTU", source));
        }
        let mut mtu = 0;
        // SAFETY: an open port; the result is ours.
        let code = unsafe { ffi::rte_eth_dev_get_mtu(self.number, &mut mtu) };
        self.check(code, || "read the MTU".to_owned())?;
        Ok(mtu)
    }

    /// Sets the largest packet. A driver that takes this only in a stopped port is stopped for it.
    pub fn set_mtu(&mut self, mtu: u16) -> Result<(), Error> {
        let whose = self.spec.as_kind().mtu_is_of();
        if let (MtuOf::Linux, Some(linux)) = (whose, &self.linux) {
            return linux.set_mtu(mtu).map_err(|source| self.device_failed("set the MTU", source));
        }
        // SAFETY: an open port.
        let set = |number| unsafe { ffi::rte_eth_dev_set_mtu(number, mtu) };
        let mut code = set(self.number);
        if code == -libc::EBUSY && self.started {
            self.stop_driver()?;
            code = set(self.number);
            self.start_driver()?;
        }
        if code == -libc::ENOTSUP && whose == MtuOf::DriverIfAnybody {
            return Ok(());
        }
        self.check(code, || format!("set the MTU {mtu}"))
    }

    /// Receive all packets, or only those to the port's address.
    pub fn set_promiscuous(&mut self, on: bool) -> Result<(), Error> {
        if let Some(linux) = &mut self.linux {
            let device = self.spec.to_string();
            let action = "change promiscuous mode";
            return linux.set_promiscuous(on).map_err(|source| Error::Device {
                device,
                action,
                source,
            });
        }
        // SAFETY: an open port.
        let code = unsafe {
            match on {
                true => ffi::rte_eth_promiscuous_enable(self.number),
                false => ffi::rte_eth_promiscuous_disable(self.number),
            }
        };
        self.check(code, || "change promiscuous mode".to_owned())
    }

    /// Receive packets to all groups, or only to those joined.
    pub fn set_all_multicast(&mut self, on: bool) -> Result<(), Error> {
        // SAFETY: an open port.
        let code = unsafe {
            match on {
                true => ffi::rte_eth_allmulticast_enable(self.number),
                false => ffi::rte_eth_allmulticast_disable(self.number),
            }
        };
        self.check(code, || "change all-multicast mode".to_owned())
    }

    /// The link as it is now; does not wait for it.
    pub fn link(&self) -> Result<Link, Error> {
        let mut raw = ffi::Link::default();
        // SAFETY: an open port; the result is ours.
        let code = unsafe { ffi::volley_port_link(self.number, &mut raw) };
        self.check(code, || "read the link's state".to_owned())?;
        // Drivers of Linux devices do not look at them.
        let presence = self.linux.as_ref().map_or(Presence::Up, LinuxDevice::presence);
        Ok(Link {
            up: match presence {
                Presence::Up => raw.up != 0,
                // Neither we nor its driver can see how it fares there.
                Presence::Elsewhere => true,
                Presence::Down | Presence::Gone | Presence::Replaced => false,
            },
            gone: matches!(presence, Presence::Gone | Presence::Replaced),
            returned: presence == Presence::Replaced,
            speed_mbps: Some(raw.speed_mbps).filter(|&speed| speed != 0 && speed != u32::MAX),
            full_duplex: raw.full_duplex != 0,
        })
    }

    /// What every driver counts, and what packet sockets do.
    pub fn stats(&self) -> Result<PortStats, Error> {
        let counted = stats::read(self.number);
        let counted = counted.map_err(|code| self.failed(code, "read the counters".to_owned()))?;
        Ok(PortStats { rx_missed: counted.rx_missed + self.packet_rings.missed(), ..counted })
    }

    /// All that its driver counts, by the driver's names.
    pub fn extended_stats(&self) -> Result<Vec<(String, u64)>, Error> {
        stats::read_extended(self.number)
            .map_err(|code| self.failed(code, "read the driver's counters".to_owned()))
    }

    fn check(&self, code: i32, action: impl Fn() -> String) -> Result<(), Error> {
        match code {
            0.. => Ok(()),
            code => Err(self.failed(code, action())),
        }
    }

    fn device_failed(&self, action: &'static str, source: io::Error) -> Error {
        Error::Device { device: self.spec.to_string(), action, source }
    }

    fn failed(&self, code: i32, action: String) -> Error {
        let reason = error::reason(code, log::mark());
        Error::Port { device: self.spec.to_string(), action, reason }
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        // A driver that does not stop cleanly is closed all the same.
        if let Err(error) = self.stop() {
            tracing::warn!(fault = "port-stop", %error, "a port does not stop as it should");
        }
        // SAFETY: an open, stopped port; no worker is in one of its queues, nor will be.
        unsafe { ffi::rte_eth_dev_close(self.number) };
        self.attendant.settle();
        self.device.unplug();
        self.attendant.closed(&self.pool);
    }
}
