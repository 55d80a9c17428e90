//! `vhost`: the host's end of a virtual machine's network card. DPDK's driver, behind a guard of
//! ours (crate `vhost`): its library believes much of what a machine's side tells it.

use crate::arguments::Arguments;
use crate::device::{Device, Shape};
use crate::driver::{Driver, Failed, Queues, Sink, Source};
use crate::eth_dev::EthDev;
use crate::kind::{AddressOf, Kind};
use crate::link::Link;
use crate::stats::PortStats;
use crate::{Error, PortClock, PortFacts, PortOptions, stale};
use ::vhost::Guard;
use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The host's end of a virtual machine's network card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vhost {
    /// The socket both meet at.
    pub socket: PathBuf,
    /// Connect to the socket instead of listening. Nothing stands between then.
    pub client: bool,
}

impl Vhost {
    /// Where DPDK listens, for the guard alone.
    fn inside(&self) -> PathBuf {
        let mut path = self.socket.clone().into_os_string();
        path.push(".dpdk");
        path.into()
    }
}

impl Kind for Vhost {
    fn name(&self) -> &'static str {
        "vhost"
    }

    fn driver(&self, shape: Shape) -> Result<Box<dyn Driver>, Error> {
        // Of one that cannot be the reason is told by its own path.
        Arguments::default().socket("iface", &self.socket)?;
        let socket = if self.client { self.socket.clone() } else { self.inside() };
        let arguments = Arguments::default()
            .socket("iface", &socket)?
            .with("queues", shape.queues)
            .with("client", u8::from(self.client));
        let driver = EthDev::of(Device::of_driver("net_vhost", arguments));
        if self.client {
            return Ok(driver);
        }
        let pairs = shape.queues;
        Ok(Box::new(Guarded { spec: self.clone(), pairs, driver, guard: None }))
    }

    fn has_queue_pairs(&self) -> bool {
        true
    }

    fn listens_at(&self) -> Option<&Path> {
        (!self.client).then_some(&self.socket)
    }

    fn address_is_of(&self) -> AddressOf {
        AddressOf::PortThatBringsAll
    }
}

impl fmt::Display for Vhost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.socket.display().fmt(f)
    }
}

/// DPDK's driver and the guard in front of it.
struct Guarded {
    spec: Vhost,
    pairs: u16,
    driver: Box<dyn Driver>,
    /// From `configure` on.
    guard: Option<Guard>,
}

impl Driver for Guarded {
    fn open(&mut self, options: &PortOptions) -> Result<PortFacts, i32> {
        let inside = self.spec.inside();
        stale::remove_socket(&inside);
        if inside.symlink_metadata().is_ok() {
            return Err(-libc::EADDRINUSE);
        }
        self.driver.open(options)
    }

    fn configure(&mut self, wanted: Queues, options: &PortOptions) -> Result<Queues, Failed> {
        let queues = self.driver.configure(wanted, options)?;
        let inside = self.spec.inside();
        // Whoever reaches it reaches past the guard. If it fails, the usual rights are on it.
        let ours_alone = std::fs::Permissions::from_mode(0o600);
        let _ = std::fs::set_permissions(&inside, ours_alone);
        let rings = 2 * u32::from(self.pairs);
        let guard = Guard::listen(&self.spec.socket, &inside, rings).map_err(|error| Failed {
            action: format!("listen at {}", self.spec),
            code: -error.raw_os_error().unwrap_or(libc::EINVAL),
        })?;
        self.guard = Some(guard);
        Ok(queues)
    }

    fn start(&mut self) -> Result<(), i32> {
        self.driver.start()
    }

    fn stop(&mut self) -> Result<(), i32> {
        self.driver.stop()
    }

    fn close(&mut self) {
        self.guard = None;
        self.driver.close();
    }

    fn source(&self, queue: u16) -> Option<Source> {
        self.driver.source(queue)
    }

    fn sink(&self, queue: u16) -> Option<Sink> {
        self.driver.sink(queue)
    }

    fn link(&self) -> Result<Link, i32> {
        self.driver.link()
    }

    fn stats(&self) -> Result<PortStats, i32> {
        self.driver.stats()
    }

    fn extended_stats(&self) -> Result<Vec<(String, u64)>, i32> {
        let mut all = self.driver.extended_stats()?;
        let refused = self.guard.as_ref().map_or(0, Guard::refused);
        all.push(("peers_refused".to_owned(), refused));
        Ok(all)
    }

    fn mac(&self) -> Result<[u8; 6], i32> {
        self.driver.mac()
    }

    fn set_mac(&mut self, address: [u8; 6]) -> Result<(), i32> {
        self.driver.set_mac(address)
    }

    fn mtu(&self) -> Result<u16, i32> {
        self.driver.mtu()
    }

    fn set_mtu(&mut self, mtu: u16) -> Result<(), i32> {
        self.driver.set_mtu(mtu)
    }

    fn set_promiscuous(&mut self, on: bool) -> Result<(), i32> {
        self.driver.set_promiscuous(on)
    }

    fn set_all_multicast(&mut self, on: bool) -> Result<(), i32> {
        self.driver.set_all_multicast(on)
    }

    fn offers_times(&self) -> bool {
        self.driver.offers_times()
    }

    fn clock(&self) -> Option<PortClock> {
        self.driver.clock()
    }

    fn keep_whole(&self, keep: bool) {
        self.driver.keep_whole(keep);
    }

    fn read_clock(&self, clock: PortClock) -> Result<u64, i32> {
        self.driver.read_clock(clock)
    }
}

impl fmt::Display for Guarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.driver.fmt(f)
    }
}
