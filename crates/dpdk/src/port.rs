//! One open port.
//!
//! ```text
//!  open ─▶ stopped ◀─ start/stop ─▶ running ─▶ close (or drop): the device is gone
//! ```
//! Ports come and go while workers poll: a handle of a stopped or closed port is silent. The
//! control thread owns the port; all its calls are short, none waits for the link.

use crate::device::Shape;
use crate::driver::{Driver, Failed, Queues};
use crate::facts::PortFacts;
use crate::kind::{Attendant, MtuOf};
use crate::link::Link;
use crate::linux::{LinuxDevice, Presence};
use crate::privilege::Privilege;
use crate::queue::{LargeCounts, Queue};
use crate::receive_times::{PortClock, ReceiveTimes};
use crate::stats::PortStats;
use crate::taken::Taken;
use crate::{
    DpdkPool, Eal, Error, PortSpec, RxHandle, TxHandle, error, gate, large_pool, log, open_files,
    stale,
};
use packet::Pool;
use std::fs::File;
use std::io;
use std::sync::Arc;

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
    /// What a Linux host at the other end leaves to a card that is not there: see
    /// [`offloads`](crate::offloads). Of af_packet: frames of up to 64 KiB pass whole; else they
    /// are cut as they come. Of af_xdp: checksums are filled in.
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
    driver: Box<dyn Driver>,
    facts: PortFacts,
    rx: Vec<Arc<Queue>>,
    tx: Vec<Arc<Queue>>,
    /// By will of the user.
    running: bool,
    /// By the driver's word.
    started: bool,
    linux: Option<LinuxDevice>,
    remarks: Vec<String>,
    /// What goes with a port of its kind.
    attendant: Box<dyn Attendant>,
    /// Large frames that were cut on their way out, or were made there.
    cut: Arc<LargeCounts>,
    /// If they are wanted.
    receive_times: Option<(ReceiveTimes, Option<PortClock>)>,
    /// Files that its driver has by path alone.
    kept: Vec<File>,
    // Dropped after the port is closed, in this order.
    pool: DpdkPool,
    _eal: Eal,
}

impl Port {
    /// Opens `spec`: it is configured, has its queues, and is stopped.
    pub fn open(eal: &Eal, spec: &PortSpec, options: PortOptions) -> Result<Self, Error> {
        let taken = spec.as_kind().forgets_buffers().then(|| Taken::from(&options.pool));
        let opened = Self::open_it(eal, spec, options);
        if let (Err(_), Some(taken)) = (&opened, taken) {
            let buffers = taken.put_back();
            tracing::debug!(%spec, buffers, "what its driver had taken is back");
        }
        opened
    }

    fn open_it(eal: &Eal, spec: &PortSpec, options: PortOptions) -> Result<Self, Error> {
        let shape = Shape {
            queues: options.rx_queues.max(options.tx_queues).max(1),
            mtu: options.mtu.unwrap_or(1500),
            descriptors: options.rx_descriptors,
        };
        let kind = spec.as_kind();
        let mut driver = kind.driver(shape)?;
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
            let left_alone = device.want_frames_as_sent(kind.takes_large());
            remarks.extend(left_alone.err().map(|error| error.to_string()));
        }
        let since = log::mark();
        let refuse = |code: i32| {
            let mut reason = error::reason(code, since);
            if let Some(lacks) = Privilege::of_this_process().lacks(kind.rights()) {
                reason.push_str(&format!("; {lacks}"));
            }
            if let Some(few) = open_files::few_left() {
                reason.push_str(&format!("; {few}"));
            }
            Error::Open { device: spec.to_string(), reason }
        };
        let attendant = kind.attendant();
        let facts = driver.open(&options).map_err(refuse)?;
        let mut port = Self {
            spec: spec.clone(),
            peer_offloads: options.peer_offloads,
            driver,
            facts,
            rx: Vec::new(),
            tx: Vec::new(),
            running: false,
            started: false,
            linux,
            remarks,
            attendant,
            receive_times: None,
            cut: Arc::default(),
            kept: Vec::new(),
            pool: options.pool.clone(),
            _eal: eal.clone(),
        };
        if let (Some(name), true) = (kind.linux_device(), kind.makes_device()) {
            port.linux = Some(LinuxDevice::find(name)?);
        }
        let configured = port.configure(&options);
        port.attendant.opened(port.linux.as_ref());
        configured?;
        if options.receive_times {
            port.take_times()?;
        }
        Ok(port)
    }

    fn configure(&mut self, options: &PortOptions) -> Result<(), Error> {
        let pairs = self.spec.has_queue_pairs();
        let most = options.rx_queues.max(options.tx_queues);
        let wanted = |queues: u16| if pairs { most } else { queues }.max(1);
        let wanted = Queues { rx: wanted(options.rx_queues), tx: wanted(options.tx_queues) };
        let set_up = self.driver.configure(wanted, options);
        let Queues { rx, tx } =
            set_up.map_err(|Failed { action, code }| self.failed(code, action))?;
        self.rx = (0..rx).map(|_| Arc::default()).collect();
        self.tx = (0..tx).map(|_| Arc::default()).collect();
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
    fn take_times(&mut self) -> Result<(), Error> {
        let action = || "tell when it received its packets".to_owned();
        let refuse = |reason: &str| Error::Port {
            device: self.spec.to_string(),
            action: action(),
            reason: reason.to_owned(),
        };
        if !self.driver.offers_times() {
            return Err(refuse("its driver offers no time stamps"));
        }
        let times =
            ReceiveTimes::register().ok_or_else(|| refuse("packets have no room for it"))?;
        // The clock is known once it runs.
        self.receive_times = Some((times, None));
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
            Some((_, clock)) => self.driver.read_clock(clock),
            None => Err(-libc::ENOTSUP),
        };
        read.map_err(|code| self.failed(code, "read the clock".to_owned()))
    }

    /// Lets packets flow. What is at the other end need not be there yet.
    pub fn start(&mut self) -> Result<(), Error> {
        if !self.running {
            self.start_driver()?;
            self.running = true;
        }
        Ok(())
    }

    /// Holds packets back. Workers may go on polling.
    pub fn stop(&mut self) -> Result<(), Error> {
        self.running = false;
        self.stop_driver()
    }

    fn start_driver(&mut self) -> Result<(), Error> {
        self.driver.start().map_err(|code| self.failed(code, "start".to_owned()))?;
        self.started = true;
        if let Some((times, None)) = self.receive_times {
            let clock = self.driver.clock().ok_or_else(|| Error::Port {
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
        self.attendant.stopping();
        self.driver.stop().map_err(|code| self.failed(code, "stop".to_owned()))
    }

    /// Receive queue `number`: `None` if there is no such queue or somebody has it.
    pub fn rx(&self, number: u16) -> Option<RxHandle> {
        let queue = self.rx.get(usize::from(number))?;
        RxHandle::take(
            queue,
            || self.driver.source(number),
            self.peer_offloads && self.spec.as_kind().leaves_out_checksums(),
            self.attendant.wakes(number),
        )
    }

    /// Transmit queue `number`: `None` if there is no such queue or somebody has it.
    pub fn tx(&self, number: u16) -> Option<TxHandle> {
        let queue = self.tx.get(usize::from(number))?;
        let (all, some) = (self.spec.as_kind().takes_large(), self.driver.takes_large());
        let may = all || some.is_some();
        let large = may.then(large_pool::there).flatten().map(|pool| pool.cache());
        let takes = some.unwrap_or_else(|| Arc::new(move |_, _| all));
        let copies = self.spec.as_kind().tells_addresses();
        TxHandle::take(queue, || self.driver.sink(number), (takes, copies), &self.cut, large)
    }

    /// Receive queues it has.
    pub fn rx_queues(&self) -> u16 {
        self.rx.len() as u16
    }

    /// Transmit queues it has.
    pub fn tx_queues(&self) -> u16 {
        self.tx.len() as u16
    }

    /// Has frames of up to 64 KiB go on as they are, and packets of one stream be put together
    /// where they leave, or be cut as they come, by a port that can do either. At any time; what
    /// was said of the other end stays (`PortOptions::peer_offloads`).
    pub fn keep_whole(&self, keep: bool) {
        self.driver.keep_whole(keep && self.peer_offloads);
        self.cut.merge(keep && self.peer_offloads);
    }

    /// Keeps these open for as long as the port is.
    pub fn keep(&mut self, files: Vec<File>) {
        self.kept.extend(files);
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
        self.driver.mac().map_err(|code| self.failed(code, "read the MAC address".to_owned()))
    }

    /// Gives it a hardware address.
    pub fn set_mac(&mut self, address: [u8; 6]) -> Result<(), Error> {
        self.driver
            .set_mac(address)
            .map_err(|code| self.failed(code, format!("set the MAC address {address:02x?}")))
    }

    /// Largest packet without its Ethernet header.
    pub fn mtu(&self) -> Result<u16, Error> {
        if let Some(linux) = &self.linux {
            return linux.mtu().map_err(|source| self.device_failed("read the MTU", source));
        }
        self.driver.mtu().map_err(|code| self.failed(code, "read the MTU".to_owned()))
    }

    /// Sets the largest packet. A driver that takes this only in a stopped port is stopped for it.
    pub fn set_mtu(&mut self, mtu: u16) -> Result<(), Error> {
        let whose = self.spec.as_kind().mtu_is_of();
        if let (MtuOf::Linux, Some(linux)) = (whose, &self.linux) {
            return linux.set_mtu(mtu).map_err(|source| Error::Port {
                device: self.spec.to_string(),
                action: format!("set the MTU {mtu}"),
                reason: format!("{source}; `ip -d link show` tells its least and its most"),
            });
        }
        let mut set = self.driver.set_mtu(mtu);
        if set == Err(-libc::EBUSY) && self.started {
            self.stop_driver()?;
            set = self.driver.set_mtu(mtu);
            self.start_driver()?;
        }
        match set {
            Err(code) if code == -libc::ENOTSUP && whose == MtuOf::DriverIfAnybody => Ok(()),
            set => set.map_err(|code| {
                let most = match self.facts.max_mtu {
                    0 | u16::MAX => String::new(),
                    most => format!(", of {most} at most"),
                };
                self.failed(code, format!("set the MTU {mtu}{most}"))
            }),
        }
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
        let set = self.driver.set_promiscuous(on);
        set.map_err(|code| self.failed(code, "change promiscuous mode".to_owned()))
    }

    /// Receive packets to all groups, or only to those joined.
    pub fn set_all_multicast(&mut self, on: bool) -> Result<(), Error> {
        let set = self.driver.set_all_multicast(on);
        set.map_err(|code| self.failed(code, "change all-multicast mode".to_owned()))
    }

    /// The link as it is now; does not wait for it.
    pub fn link(&self) -> Result<Link, Error> {
        let link = self.driver.link();
        let link = link.map_err(|code| self.failed(code, "read the link's state".to_owned()))?;
        // Drivers of Linux devices do not look at them.
        let presence = self.linux.as_ref().map_or(Presence::Up, LinuxDevice::presence);
        Ok(Link {
            up: match presence {
                Presence::Up => link.up,
                // Neither we nor its driver can see how it fares there.
                Presence::Elsewhere => true,
                Presence::Down | Presence::Gone | Presence::Replaced => false,
            },
            gone: matches!(presence, Presence::Gone | Presence::Replaced),
            returned: presence == Presence::Replaced,
            ..link
        })
    }

    /// Why nobody is at the other end, where the port is who sees to it that somebody is.
    pub fn problem(&self) -> Option<String> {
        self.driver.problem()
    }

    /// What every driver counts, and what was lost of large frames that were cut for it.
    pub fn stats(&self) -> Result<PortStats, Error> {
        let counted = self.driver.stats();
        let counted = counted.map_err(|code| self.failed(code, "read the counters".to_owned()))?;
        Ok(PortStats { tx_errors: counted.tx_errors + self.cut.lost(), ..counted })
    }

    /// All that its driver counts, by the driver's names.
    pub fn extended_stats(&self) -> Result<Vec<(String, u64)>, Error> {
        let told = self.driver.extended_stats();
        let mut told =
            told.map_err(|code| self.failed(code, "read the driver's counters".to_owned()))?;
        told.push(("tx_large_cut".to_owned(), self.cut.cut()));
        told.push(("tx_merged".to_owned(), self.cut.merged()));
        told.push(("tx_large_cut_lost".to_owned(), self.cut.lost()));
        Ok(told)
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
        self.driver.close();
        self.attendant.closed(&self.pool);
    }
}
