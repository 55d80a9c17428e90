//! `tap`: a device that we make in Linux. Its driver is ours (crate `sockets`): DPDK's knows
//! nothing of what Linux says of a frame, so that Linux has to cut all that it sends.

use super::kernel_stats::{self, sum};
use crate::arguments::check_device;
use crate::device::Shape;
use crate::driver::{Driver, Failed, Queues, Sink, Source};
use crate::interface_request::{address_in, put_address, request, socket};
use crate::kind::{AddressOf, Kind, MtuOf};
use crate::large_pool;
use crate::link::Link;
use crate::linux::index;
use crate::privilege::Right;
use crate::stats::PortStats;
use crate::{DpdkPool, Error, PortFacts, PortOptions};
use packet::Pool;
use sockets::tap::MOST_QUEUES;
use std::fmt;
use std::io;

/// A device that we make in Linux: the kernel is the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tap {
    /// Its name.
    pub name: String,
}

/// What a device that only Linux knows tells of its speed, as DPDK's driver does.
const SPEED_MBPS: u32 = 10_000;

impl Kind for Tap {
    fn name(&self) -> &'static str {
        "tap"
    }

    fn driver(&self, shape: Shape) -> Result<Box<dyn Driver>, Error> {
        check_device(&self.name)?;
        Ok(Box::new(Files { name: self.name.clone(), queues: shape.queues, opened: None }))
    }

    fn rights(&self) -> &'static [Right] {
        &[Right::NetAdmin]
    }

    fn linux_device(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn makes_device(&self) -> bool {
        true
    }

    fn takes_large(&self) -> bool {
        true
    }

    fn has_queue_pairs(&self) -> bool {
        true
    }

    fn address_is_of(&self) -> AddressOf {
        AddressOf::Kernel
    }

    fn mtu_is_of(&self) -> MtuOf {
        MtuOf::Linux
    }
}

impl fmt::Display for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The driver of one port.
struct Files {
    name: String,
    queues: u16,
    opened: Option<Opened>,
}

struct Opened {
    tap: sockets::tap::Tap,
    large: Option<DpdkPool>,
}

fn number(error: io::Error) -> i32 {
    -error.raw_os_error().unwrap_or(libc::EINVAL)
}

impl Files {
    fn opened(&self) -> Result<&Opened, i32> {
        self.opened.as_ref().ok_or(-libc::ENODEV)
    }
}

impl Driver for Files {
    fn open(&mut self, options: &PortOptions) -> Result<PortFacts, i32> {
        let tap = sockets::tap::Tap::open(&self.name, self.queues).map_err(number)?;
        tap.keep_whole(options.peer_offloads);
        // Who wants them cut has no use for the room.
        let large = options.peer_offloads.then(|| large_pool::shared(&options.pool)).flatten();
        let socket = socket(libc::AF_INET, libc::SOCK_DGRAM).map_err(number)?;
        let if_index = index(&socket, &self.name).map_err(number)? as u32;
        self.opened = Some(Opened { tap, large });
        Ok(PortFacts {
            driver: "tap".to_owned(),
            max_rx_queues: MOST_QUEUES,
            max_tx_queues: MOST_QUEUES,
            max_mtu: u16::MAX,
            rss: true,
            if_index,
            socket: -1,
        })
    }

    fn configure(&mut self, _: Queues, _: &PortOptions) -> Result<Queues, Failed> {
        let action = || "set up its queues".to_owned();
        let opened = self.opened().map_err(|code| Failed { action: action(), code })?;
        Ok(Queues { rx: opened.tap.queues(), tx: opened.tap.queues() })
    }

    fn start(&mut self) -> Result<(), i32> {
        self.opened()?.tap.start();
        Ok(())
    }

    fn stop(&mut self) -> Result<(), i32> {
        self.opened()?.tap.stop();
        Ok(())
    }

    fn close(&mut self) {
        self.opened = None;
    }

    fn source(&self, queue: u16) -> Option<Source> {
        let opened = self.opened.as_ref()?;
        let large = opened.large.as_ref().map(DpdkPool::cache);
        Some(Source::Ours(Box::new(opened.tap.receiver(queue, large)?)))
    }

    fn sink(&self, queue: u16) -> Option<Sink> {
        Some(Sink::Ours(Box::new(self.opened.as_ref()?.tap.sender(queue)?)))
    }

    /// Linux tells of the device itself (`linux`).
    fn link(&self) -> Result<Link, i32> {
        self.opened()?;
        Ok(Link { up: true, speed_mbps: Some(SPEED_MBPS), full_duplex: true, ..Link::default() })
    }

    /// What Linux had no room for, it counts itself (`ip -s link`, dropped of what it sent).
    fn stats(&self) -> Result<PortStats, i32> {
        let tap = &self.opened()?.tap;
        Ok(kernel_stats::all(sum(tap.received()), sum(tap.sent()), 0))
    }

    fn extended_stats(&self) -> Result<Vec<(String, u64)>, i32> {
        let (tap, all) = (&self.opened()?.tap, self.stats()?);
        Ok(kernel_stats::named(&all, tap.received(), tap.sent()))
    }

    fn mac(&self) -> Result<[u8; 6], i32> {
        let mut asked = request("");
        // SAFETY: writes the address.
        unsafe {
            self.opened()?.tap.ask(libc::SIOCGIFHWADDR, &mut asked).map_err(number)?;
            Ok(address_in(&asked))
        }
    }

    fn set_mac(&mut self, address: [u8; 6]) -> Result<(), i32> {
        let mut asked = request("");
        put_address(&mut asked, address);
        // SAFETY: the request has its address set.
        unsafe { self.opened()?.tap.ask(libc::SIOCSIFHWADDR, &mut asked) }.map_err(number)
    }

    /// Linux has it (`MtuOf::Linux`).
    fn mtu(&self) -> Result<u16, i32> {
        Err(-libc::ENOTSUP)
    }

    fn set_mtu(&mut self, _: u16) -> Result<(), i32> {
        Err(-libc::ENOTSUP)
    }

    fn keep_whole(&self, keep: bool) {
        if let Some(opened) = &self.opened {
            opened.tap.keep_whole(keep);
        }
    }
}

impl fmt::Display for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tap,{}", self.name)
    }
}
