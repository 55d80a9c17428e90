//! A port of one of DPDK's drivers, by DPDK's number of it.

use crate::descriptors::Descriptors;
use crate::device::Device;
use crate::driver::{Driver, Failed, Queues, Sink, Source, TakesLarge};
use crate::large_frames::{ChainReceiver, ChainSender, LargeFrames};
use crate::link::Link;
use crate::receive_times::ReceiveTimes;
use crate::scattered::{Gatherer, Scattered, must_scatter};
use crate::stats::{self, PortStats};
use crate::{DpdkPool, PortClock, PortFacts, PortOptions, facts, ffi, large_pool};
use core::fmt;
use packet::Pool;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wire::cut::Transport;

/// What a card has that is told nothing.
const ORDINARY_MTU: u16 = 1500;

/// See the module.
pub(crate) struct EthDev {
    device: Device,
    /// As long as it is open.
    opened: Option<(u16, ffi::PortFacts)>,
    /// It is asked for large frames, and given some.
    has_large: bool,
    /// From `configure` on, of one with large frames.
    large: Option<Large>,
    /// It is a card, which may cut frames into several buffers as they come.
    is_card: bool,
    /// Queues each way that it has, whatever its driver says.
    most_queues: u16,
    /// From `configure` on, of a card.
    card: Option<Card>,
}

/// What a card has of its own.
struct Card {
    shared: Arc<Scattered>,
    /// To set it up again with.
    queues: Queues,
    options: PortOptions,
    /// It was told that it may cut frames.
    may_scatter: bool,
    runs: bool,
}

/// What a port with large frames has of its own.
struct Large {
    shared: Arc<LargeFrames>,
    /// For those that come, and for others.
    pools: (Option<DpdkPool>, DpdkPool),
    /// The driver cuts those of TCP, or has them cut.
    is_cut: bool,
}

impl EthDev {
    /// One that is not open yet.
    pub(crate) fn of(device: Device) -> Box<dyn Driver> {
        Box::new(Self::new(device))
    }

    /// The same of a card, or of what brings frames in several buffers as cards do.
    /// It has at most so many queues each way, and fewer where its driver says so.
    pub(crate) fn of_card(device: Device, most_queues: u16) -> Box<dyn Driver> {
        Box::new(Self { is_card: true, most_queues, ..Self::new(device) })
    }

    /// The same, which brings large frames and takes them, as chains of buffers.
    pub(crate) fn with_large_frames(device: Device) -> Self {
        Self { has_large: true, ..Self::new(device) }
    }

    fn new(device: Device) -> Self {
        Self {
            device,
            opened: None,
            has_large: false,
            large: None,
            is_card: false,
            most_queues: u16::MAX,
            card: None,
        }
    }

    /// DPDK's number of it, while it is open.
    pub(crate) fn number(&self) -> Result<u16, i32> {
        self.opened.as_ref().map(|(number, _)| *number).ok_or(-libc::ENODEV)
    }

    fn set_up_queues(
        &self,
        queues: Queues,
        options: &PortOptions,
        number: u16,
        raw: &ffi::PortFacts,
    ) -> Result<(), Failed> {
        let (rx_limits, tx_limits) = (Descriptors::rx(raw), Descriptors::tx(raw));
        let rx_size = rx_limits.choose(options.rx_descriptors);
        let tx_size = tx_limits.choose(options.tx_descriptors);
        let socket = raw.socket as u32;
        let pool = options.pool.as_ptr();
        let usual = core::ptr::null();
        for queue in 0..queues.rx {
            // SAFETY: an open, stopped port; the pool outlives it.
            let code =
                unsafe { ffi::rte_eth_rx_queue_setup(number, queue, rx_size, socket, usual, pool) };
            failed(code, || format!("set up receive queue {queue} of {rx_size} packets"))?;
        }
        for queue in 0..queues.tx {
            // SAFETY: an open, stopped port.
            let code =
                unsafe { ffi::rte_eth_tx_queue_setup(number, queue, tx_size, socket, usual) };
            failed(code, || format!("set up transmit queue {queue} of {tx_size} packets"))?;
        }
        Ok(())
    }
}

/// An error number of a call, or none.
fn check(code: i32) -> Result<(), i32> {
    if code < 0 { Err(code) } else { Ok(()) }
}

/// Adds to a counter that the driver may have, too.
fn add(counters: &mut Vec<(String, u64)>, name: &str, more: u64) {
    match counters.iter_mut().find(|(it, _)| it == name) {
        Some((_, count)) => *count += more,
        None => counters.push((name.to_owned(), more)),
    }
}

fn failed(code: i32, action: impl Fn() -> String) -> Result<(), Failed> {
    check(code).map_err(|code| Failed { action: action(), code })
}

impl Driver for EthDev {
    fn open(&mut self, _: &PortOptions) -> Result<PortFacts, i32> {
        let number = self.device.plug()?;
        match facts::raw(number) {
            Ok(mut raw) => {
                raw.max_rx_queues = raw.max_rx_queues.min(self.most_queues);
                raw.max_tx_queues = raw.max_tx_queues.min(self.most_queues);
                let facts = PortFacts::from(&raw);
                self.opened = Some((number, raw));
                Ok(facts)
            }
            Err(code) => {
                self.device.unplug();
                Err(code)
            }
        }
    }

    fn configure(&mut self, wanted: Queues, options: &PortOptions) -> Result<Queues, Failed> {
        let action = || "set up its queues".to_owned();
        let Some((number, raw)) = &self.opened else {
            return Err(Failed { action: action(), code: -libc::ENODEV });
        };
        let constants = facts::constants();
        let rx = wanted.rx.min(raw.max_rx_queues);
        let tx = wanted.tx.min(raw.max_tx_queues);
        let rss = (constants.rss_ip | constants.rss_l4) & raw.rss_functions;
        let stamps = if options.receive_times { constants.rx_timestamp } else { 0 };
        // Without a peer to them a driver may offer some, and refuse them then.
        let wants_large = self.has_large && options.peer_offloads;
        let (rx_large, tx_large) =
            if wants_large { (constants.rx_large, constants.tx_large) } else { (0, 0) };
        let may_scatter =
            self.is_card && must_scatter(options.mtu.unwrap_or(ORDINARY_MTU), &options.pool);
        let rx_scatter = if may_scatter { constants.rx_scatter } else { 0 };
        // One that is set up again keeps the MTU that it has.
        let mtu = self.card.as_ref().and_then(|_| self.mtu().ok()).unwrap_or_default();
        let config = ffi::PortConfig {
            rx_queues: rx,
            tx_queues: tx,
            mtu: mtu.into(),
            rss_functions: if rx > 1 { rss } else { 0 },
            rx_offloads: (stamps | rx_large | rx_scatter) & raw.rx_offloads,
            tx_offloads: tx_large & raw.tx_offloads,
        };
        // SAFETY: an open port; the configuration is read only during the call.
        let code = unsafe { ffi::volley_port_configure(*number, &config) };
        failed(code, || format!("set up {rx} receive and {tx} transmit queues"))?;
        let queues = Queues { rx, tx };
        self.set_up_queues(queues, options, *number, raw)?;
        if self.has_large {
            let pool = wants_large.then(|| large_pool::shared(&options.pool)).flatten();
            self.large = Some(Large {
                shared: Arc::new(LargeFrames::new(rx, wants_large)),
                pools: (pool, options.pool.clone()),
                is_cut: config.tx_offloads == constants.tx_large,
            });
        }
        if self.is_card {
            let times = options.receive_times.then(ReceiveTimes::register).flatten();
            let shared = || Arc::new(Scattered::new(times));
            self.card = Some(Card {
                // Queues that are out hold what it has.
                shared: self.card.take().map_or_else(shared, |card| card.shared),
                queues,
                options: options.clone(),
                may_scatter,
                runs: false,
            });
        }
        Ok(queues)
    }

    fn start(&mut self) -> Result<(), i32> {
        let number = self.number()?;
        // SAFETY: an open, configured port.
        check(unsafe { ffi::rte_eth_dev_start(number) })?;
        if let Some(card) = &mut self.card {
            // SAFETY: an open port.
            let is_cutting = match unsafe { ffi::volley_port_scatters(number) } {
                0 => false,
                1 => true,
                _ => card.may_scatter,
            };
            card.shared.started(is_cutting, &card.options.pool);
            card.runs = true;
        }
        Ok(())
    }

    fn stop(&mut self) -> Result<(), i32> {
        if let Some(card) = &mut self.card {
            card.runs = false;
        }
        // SAFETY: an open port; no worker is in one of its queues.
        check(unsafe { ffi::rte_eth_dev_stop(self.number()?) })
    }

    fn close(&mut self) {
        self.large = None;
        self.card = None;
        if let Some((number, _)) = self.opened.take() {
            // SAFETY: an open, stopped port; no worker is in one of its queues, nor will be.
            unsafe { ffi::rte_eth_dev_close(number) };
            self.device.unplug();
        }
    }

    fn source(&self, queue: u16) -> Option<Source> {
        let port = self.number().ok()?;
        let Some(Large { shared, pools: (large, ordinary), .. }) = &self.large else {
            let gatherer = self.card.as_ref().map(|card| Box::new(Gatherer::new(&card.shared)));
            return Some(Source::Dpdk { port, queue, gatherer });
        };
        let large = large.as_ref().map(DpdkPool::cache);
        Some(Source::Ours(Box::new(ChainReceiver::new(
            (port, queue),
            shared,
            large,
            ordinary.cache(),
        ))))
    }

    fn sink(&self, queue: u16) -> Option<Sink> {
        let port = self.number().ok()?;
        Some(match &self.large {
            Some(Large { shared, .. }) => {
                Sink::Ours(Box::new(ChainSender::new((port, queue), shared)))
            }
            None => Sink::Dpdk { port, queue },
        })
    }

    /// Of a driver that cuts TCP all of that. Frames that others hold are theirs, too.
    fn takes_large(&self) -> Option<TakesLarge> {
        let is_cut = self.large.as_ref()?.is_cut;
        Some(Arc::new(move |cut, packet| {
            is_cut && cut.transport() == Transport::Tcp && !packet.is_shared()
        }))
    }

    fn keep_whole(&self, keep: bool) {
        if let Some(Large { shared, .. }) = &self.large {
            shared.keeps_whole.store(keep, Ordering::Relaxed);
        }
    }

    fn link(&self) -> Result<Link, i32> {
        let mut raw = ffi::Link::default();
        // SAFETY: an open port; the result is ours.
        check(unsafe { ffi::volley_port_link(self.number()?, &mut raw) })?;
        Ok(Link {
            up: raw.up != 0,
            gone: false,
            returned: false,
            speed_mbps: Some(raw.speed_mbps).filter(|&speed| speed != 0 && speed != u32::MAX),
            full_duplex: raw.full_duplex != 0,
        })
    }

    fn stats(&self) -> Result<PortStats, i32> {
        let mut all = stats::read(self.number()?)?;
        if let Some(Large { shared, .. }) = &self.large {
            let received = shared.received();
            all.rx_errors += received.wrong;
            all.rx_no_buffers += received.no_buffers;
            all.tx_errors += shared.lost.load(Ordering::Relaxed);
        }
        if let Some(Card { shared, .. }) = &self.card {
            let counted = shared.counters();
            all.rx_errors += counted.wrong;
            all.rx_no_buffers += counted.no_buffers;
        }
        Ok(all)
    }

    fn extended_stats(&self) -> Result<Vec<(String, u64)>, i32> {
        let told = stats::read_extended(self.number()?);
        // DPDK's vhost counts nothing while nobody is there.
        let mut all = if self.large.is_some() { told.unwrap_or_default() } else { told? };
        if let Some(Large { shared, .. }) = &self.large {
            let received = shared.received();
            let lost = shared.lost.load(Ordering::Relaxed);
            add(&mut all, "rx_errors", received.wrong);
            add(&mut all, "rx_mbuf_allocation_errors", received.no_buffers);
            add(&mut all, "tx_errors", lost);
            all.push(("rx_large_frames".to_owned(), received.large));
            all.push(("tx_large_frames".to_owned(), shared.sent.load(Ordering::Relaxed)));
        }
        if let Some(Card { shared, .. }) = &self.card {
            let counted = shared.counters();
            add(&mut all, "rx_errors", counted.wrong);
            add(&mut all, "rx_mbuf_allocation_errors", counted.no_buffers);
            all.push(("rx_gathered_frames".to_owned(), counted.gathered));
        }
        Ok(all)
    }

    fn mac(&self) -> Result<[u8; 6], i32> {
        let mut address = [0; 6];
        // SAFETY: an open port; six bytes of ours.
        check(unsafe { ffi::rte_eth_macaddr_get(self.number()?, &mut address) })?;
        Ok(address)
    }

    fn set_mac(&mut self, mut address: [u8; 6]) -> Result<(), i32> {
        // SAFETY: an open port; the address is copied.
        check(unsafe { ffi::rte_eth_dev_default_mac_addr_set(self.number()?, &mut address) })
    }

    fn mtu(&self) -> Result<u16, i32> {
        let mut mtu = 0;
        // SAFETY: an open port; the result is ours.
        check(unsafe { ffi::rte_eth_dev_get_mtu(self.number()?, &mut mtu) })?;
        Ok(mtu)
    }

    /// A card decides when it starts whether it cuts frames, by the MTU that it has then; some take
    /// a larger one later all the same, and bring each part of a frame as one.
    fn set_mtu(&mut self, mtu: u16) -> Result<(), i32> {
        if let Some(card) = &self.card {
            if card.runs && mtu > self.mtu()? {
                return Err(-libc::EBUSY);
            }
            if !card.runs && must_scatter(mtu, &card.options.pool) && !card.may_scatter {
                let options = PortOptions { mtu: Some(mtu), ..card.options.clone() };
                self.configure(card.queues, &options).map_err(|failed| failed.code)?;
            }
        }
        // SAFETY: an open port.
        check(unsafe { ffi::rte_eth_dev_set_mtu(self.number()?, mtu) })
    }

    fn set_promiscuous(&mut self, on: bool) -> Result<(), i32> {
        let number = self.number()?;
        // SAFETY: an open port.
        check(unsafe {
            match on {
                true => ffi::rte_eth_promiscuous_enable(number),
                false => ffi::rte_eth_promiscuous_disable(number),
            }
        })
    }

    fn set_all_multicast(&mut self, on: bool) -> Result<(), i32> {
        let number = self.number()?;
        // SAFETY: an open port.
        check(unsafe {
            match on {
                true => ffi::rte_eth_allmulticast_enable(number),
                false => ffi::rte_eth_allmulticast_disable(number),
            }
        })
    }

    fn offers_times(&self) -> bool {
        let stamps = facts::constants().rx_timestamp;
        self.opened.as_ref().is_some_and(|(_, raw)| raw.rx_offloads & stamps != 0)
    }

    fn clock(&self) -> Option<PortClock> {
        PortClock::of_card(self.number().ok()?)
    }

    fn read_clock(&self, clock: PortClock) -> Result<u64, i32> {
        clock.read(self.number()?)
    }
}

/// As DPDK is told: `net_tap3,iface=vt0`.
impl fmt::Display for EthDev {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.device.name, self.device.arguments)
    }
}
