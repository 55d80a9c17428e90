//! `vhost`: the host's end of a virtual machine's network card. DPDK's driver, behind a guard of
//! ours (crate `vhost`): its library believes much of what a machine's side tells it.

use crate::arguments::Arguments;
use crate::attached::Attached;
use crate::device::{Device, Shape};
use crate::driver::{Driver, Failed, Queues, Sink, Source, TakesLarge};
use crate::eth_dev::EthDev;
use crate::kind::{AddressOf, Kind};
use crate::link::Link;
use crate::rests::RestingQueue;
use crate::stats::PortStats;
use crate::{Error, PortClock, PortFacts, PortOptions, stale};
use ::vhost::rules::{GUEST_TSO4, GUEST_TSO6};
use ::vhost::{Guard, Inside};
use sockets::virtio::says_reduced;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::fs::{DirBuilder, Permissions};
use std::hash::BuildHasher;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wire::cut::Transport;

/// The host's end of a virtual machine's network card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vhost {
    /// The socket both meet at.
    pub socket: PathBuf,
    /// Connect to the socket, which the machine makes, instead of listening.
    pub client: bool,
}

impl Vhost {
    /// Where DPDK listens, for the guard alone. Where the machine makes the socket its folder is
    /// not ours: in one that nobody can guess, for as long as it takes to hide it.
    fn inside(&self) -> PathBuf {
        if self.client {
            let number = RandomState::new().hash_one(0);
            return std::env::temp_dir().join(format!("volley-vhost-{number:016x}")).join("dpdk");
        }
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
        let inside = self.inside();
        let arguments = Arguments::default()
            .socket("iface", &inside)?
            .with("queues", shape.queues)
            .with("client", 0)
            .with("tso", 1);
        let driver = EthDev::with_large_frames(Device::of_driver("net_vhost", arguments));
        let pairs = shape.queues;
        let spec = self.clone();
        let (guard, attached, peer_offloads) = (None, None, true);
        Ok(Box::new(Guarded { spec, inside, pairs, driver, guard, attached, peer_offloads }))
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
    inside: PathBuf,
    pairs: u16,
    driver: EthDev,
    /// From `configure` on.
    guard: Option<Guard>,
    /// From `configure` on.
    attached: Option<Arc<Attached>>,
    /// The machine may be given large frames.
    peer_offloads: bool,
}

impl Guarded {
    /// Makes room for the library's socket.
    fn make_room(&self) -> Result<(), i32> {
        if let (true, Some(folder)) = (self.spec.client, self.inside.parent()) {
            return DirBuilder::new().mode(0o700).create(folder).map_err(|error| code(&error));
        }
        stale::remove_socket(&self.inside);
        match self.inside.symlink_metadata() {
            Ok(_) => Err(-libc::EADDRINUSE),
            Err(_) => Ok(()),
        }
    }

    /// A folder of ours is of no use any more.
    fn clear_room(&self) {
        if let (true, Some(folder)) = (self.spec.client, self.inside.parent()) {
            // What is there no more need not go.
            let _ = std::fs::remove_file(&self.inside);
            let _ = std::fs::remove_dir(folder);
        }
    }

    /// Puts the guard in front of the library, which listens.
    fn guard(&self) -> io::Result<Guard> {
        // Whoever reaches it reaches past the guard. If it fails, the usual rights are on it.
        let _ = std::fs::set_permissions(&self.inside, Permissions::from_mode(0o600));
        let rings = 2 * u32::from(self.pairs);
        if !self.spec.client {
            return Guard::listen(&self.spec.socket, Inside::at(&self.inside), rings);
        }
        let inside = Inside::hidden(&self.inside)?;
        self.clear_room();
        Guard::connect(&self.spec.socket, inside, rings)
    }
}

fn code(error: &io::Error) -> i32 {
    -error.raw_os_error().unwrap_or(libc::EINVAL)
}

impl Driver for Guarded {
    fn open(&mut self, options: &PortOptions) -> Result<PortFacts, i32> {
        self.make_room()?;
        let opened = self.driver.open(options);
        if opened.is_err() {
            self.clear_room();
        }
        opened
    }

    fn configure(&mut self, wanted: Queues, options: &PortOptions) -> Result<Queues, Failed> {
        let queues = self.driver.configure(wanted, options)?;
        let action = if self.spec.client { "connect to" } else { "listen at" };
        let guard = self.guard().map_err(|error| Failed {
            action: format!("{action} {}", self.spec),
            code: code(&error),
        })?;
        let kicks = guard.kicks();
        self.guard = Some(guard);
        let watched = self
            .driver
            .number()
            .and_then(|port| Attached::of(port, Box::new(move || kicks.ring_all())));
        let action = "learn who is attached".to_owned();
        self.attached = Some(Arc::new(watched.map_err(|code| Failed { action, code })?));
        self.peer_offloads = options.peer_offloads;
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
        if let Some(attached) = self.attached.take() {
            attached.end();
        }
        self.driver.close();
        self.clear_room();
    }

    fn source(&self, queue: u16) -> Option<Source> {
        let (guard, attached) = (self.guard.as_ref()?, Arc::clone(self.attached.as_ref()?));
        let (place, kicks, kick) = ((self.driver.number().ok()?, queue), guard.kicks(), None);
        match self.driver.source(queue)? {
            Source::Ours(queue) => {
                Some(Source::Ours(Box::new(RestingQueue { queue, place, kicks, attached, kick })))
            }
            other => Some(other),
        }
    }

    fn sink(&self, queue: u16) -> Option<Sink> {
        self.driver.sink(queue)
    }

    fn link(&self) -> Result<Link, i32> {
        self.driver.link()
    }

    fn problem(&self) -> Option<String> {
        let guard = self.guard.as_ref().filter(|_| self.spec.client)?;
        guard.problem().or_else(|| {
            let is_down = self.driver.link().is_ok_and(|link| !link.up);
            is_down.then(|| format!("who listens at {} has begun no rings", self.spec))
        })
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

    /// What the machine chose to take. A window that was reduced is told of no frame here.
    fn takes_large(&self) -> Option<TakesLarge> {
        let (chosen, may_be) = (self.guard.as_ref()?.features(), self.peer_offloads);
        Some(Arc::new(move |cut, packet| {
            let wanted = if cut.is_ip6() { GUEST_TSO6 } else { GUEST_TSO4 };
            may_be
                && cut.transport() == Transport::Tcp
                && chosen.load(Ordering::Relaxed) & wanted != 0
                && !packet.is_shared()
                && !says_reduced(cut, packet.bytes())
        }))
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
