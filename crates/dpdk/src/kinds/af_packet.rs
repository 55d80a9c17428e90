//! `af_packet`: a Linux device through packet sockets. Its driver is ours (crate `sockets`): DPDK's
//! takes a packet at a time, and knows nothing of what Linux says of one.

use super::kernel_stats::{self, sum};
use crate::arguments::check_device;
use crate::device::Shape;
use crate::driver::{Driver, Failed, Queues, Sink, Source};
use crate::interface_request::{address_in, ioctl, put_address, request, socket};
use crate::kind::{Kind, MtuOf};
use crate::large_pool;
use crate::link::Link;
use crate::linux::index;
use crate::privilege::Right;
use crate::receive_times::ReceiveTimes;
use crate::stats::PortStats;
use crate::{DpdkPool, Error, PortClock, PortFacts, PortOptions};
use packet::Pool;
use sockets::{Alone, PacketPort, Stamp};
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;

/// A Linux device through packet sockets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AfPacket {
    /// The device.
    pub device: String,
    /// The kernel's own protocols get its packets, too.
    pub kernel_receives: bool,
}

impl AfPacket {
    /// The kernel keeps seeing its packets.
    pub fn usual(device: String) -> Self {
        Self { device, kernel_receives: true }
    }
}

/// What a device that only Linux knows tells of its speed, as DPDK's driver does.
const SPEED_MBPS: u32 = 10_000;
const WITHHOLD: &str =
    "withhold its packets from the kernel (`kernel_receives = false` takes Linux 6.6 and CAP_BPF)";
/// Sockets that share a device, at most (`linux/if_packet.h`).
const MOST_QUEUES: u16 = 256;

impl Kind for AfPacket {
    fn name(&self) -> &'static str {
        "af_packet"
    }

    fn driver(&self, shape: Shape) -> Result<Box<dyn Driver>, Error> {
        check_device(&self.device)?;
        Ok(Box::new(PacketSockets { spec: self.clone(), shape, opened: None }))
    }

    fn rights(&self) -> &'static [Right] {
        if self.kernel_receives {
            &[Right::NetRaw]
        } else {
            &[Right::NetRaw, Right::NetAdmin, Right::Bpf]
        }
    }

    fn calls(&self) -> &'static [&'static str] {
        if self.kernel_receives { &[] } else { &["bpf"] }
    }

    fn linux_device(&self) -> Option<&str> {
        Some(&self.device)
    }

    fn takes_large(&self) -> bool {
        true
    }

    fn has_queue_pairs(&self) -> bool {
        true
    }

    fn mtu_is_of(&self) -> MtuOf {
        MtuOf::Linux
    }
}

impl fmt::Display for AfPacket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.device)
    }
}

/// The driver of one port.
struct PacketSockets {
    spec: AfPacket,
    shape: Shape,
    opened: Option<Opened>,
}

struct Opened {
    /// To ask the device by, in the namespace that it is in.
    socket: OwnedFd,
    if_index: u32,
    port: PacketPort,
    large: Option<DpdkPool>,
    times: Option<ReceiveTimes>,
    /// Where the kernel's own protocols get nothing.
    alone: Option<Alone>,
}

fn number(error: io::Error) -> i32 {
    -error.raw_os_error().unwrap_or(libc::EINVAL)
}

impl PacketSockets {
    fn opened(&self) -> Result<&Opened, i32> {
        self.opened.as_ref().ok_or(-libc::ENODEV)
    }
}

impl Driver for PacketSockets {
    fn open(&mut self, options: &PortOptions) -> Result<PortFacts, i32> {
        let socket = socket(libc::AF_INET, libc::SOCK_DGRAM).map_err(number)?;
        let if_index = index(&socket, &self.spec.device).map_err(number)? as u32;
        let Shape { queues, mtu, descriptors: slots } = self.shape;
        let queues = queues.min(MOST_QUEUES);
        let port = PacketPort::open(if_index, sockets::Shape { queues, mtu, slots });
        let port = port.map_err(number)?;
        port.keep_whole(options.peer_offloads);
        let times = options.receive_times.then(ReceiveTimes::register).flatten();
        // Who wants them cut has no use for the room.
        let large = options.peer_offloads.then(|| large_pool::shared(&options.pool)).flatten();
        self.opened = Some(Opened { socket, if_index, port, large, times, alone: None });
        Ok(PortFacts {
            driver: "af_packet".to_owned(),
            max_rx_queues: MOST_QUEUES,
            max_tx_queues: MOST_QUEUES,
            max_mtu: u16::MAX,
            rss: true,
            if_index,
            socket: -1,
        })
    }

    fn configure(&mut self, _: Queues, _: &PortOptions) -> Result<Queues, Failed> {
        let kernel_receives = self.spec.kernel_receives;
        let failed = |action: &str, code| Failed { action: action.to_owned(), code };
        let opened = self.opened.as_mut().ok_or(failed("set up its queues", -libc::ENODEV))?;
        if !kernel_receives && opened.alone.is_none() {
            let alone = Alone::on(opened.if_index).map_err(number);
            opened.alone = Some(alone.map_err(|code| failed(WITHHOLD, code))?);
        }
        Ok(Queues { rx: opened.port.queues(), tx: opened.port.queues() })
    }

    fn start(&mut self) -> Result<(), i32> {
        self.opened()?.port.start().map_err(number)
    }

    fn stop(&mut self) -> Result<(), i32> {
        self.opened()?.port.stop().map_err(number)
    }

    fn close(&mut self) {
        self.opened = None;
    }

    fn source(&self, queue: u16) -> Option<Source> {
        let opened = self.opened.as_ref()?;
        let stamp =
            opened.times.map(|times| -> Stamp { Box::new(move |to, at| times.put(to, at)) });
        let large = opened.large.as_ref().map(DpdkPool::cache);
        Some(Source::Ours(Box::new(opened.port.receiver(queue, large, stamp)?)))
    }

    fn sink(&self, queue: u16) -> Option<Sink> {
        Some(Sink::Ours(Box::new(self.opened.as_ref()?.port.sender(queue)?)))
    }

    /// Linux tells of the device itself (`linux`).
    fn link(&self) -> Result<Link, i32> {
        self.opened()?;
        Ok(Link { up: true, speed_mbps: Some(SPEED_MBPS), full_duplex: true, ..Link::default() })
    }

    fn stats(&self) -> Result<PortStats, i32> {
        let port = &self.opened()?.port;
        Ok(kernel_stats::all(sum(port.received()), sum(port.sent()), port.missed()))
    }

    fn extended_stats(&self) -> Result<Vec<(String, u64)>, i32> {
        let (port, all) = (&self.opened()?.port, self.stats()?);
        Ok(kernel_stats::named(&all, port.received(), port.sent()))
    }

    fn mac(&self) -> Result<[u8; 6], i32> {
        let mut asked = request(&self.spec.device);
        // SAFETY: reads the name and writes the address.
        unsafe {
            ioctl(&self.opened()?.socket, libc::SIOCGIFHWADDR, &mut asked).map_err(number)?;
            Ok(address_in(&asked))
        }
    }

    fn set_mac(&mut self, address: [u8; 6]) -> Result<(), i32> {
        let mut asked = request(&self.spec.device);
        put_address(&mut asked, address);
        // SAFETY: the request is ours and has its address set.
        unsafe { ioctl(&self.opened()?.socket, libc::SIOCSIFHWADDR, &mut asked) }.map_err(number)
    }

    /// Linux has it (`MtuOf::Linux`).
    fn mtu(&self) -> Result<u16, i32> {
        Err(-libc::ENOTSUP)
    }

    fn set_mtu(&mut self, _: u16) -> Result<(), i32> {
        Err(-libc::ENOTSUP)
    }

    fn offers_times(&self) -> bool {
        self.opened.as_ref().is_some_and(|opened| opened.times.is_some())
    }

    fn clock(&self) -> Option<PortClock> {
        Some(PortClock::Realtime)
    }

    fn read_clock(&self, clock: PortClock) -> Result<u64, i32> {
        clock.read(0)
    }

    fn keep_whole(&self, keep: bool) {
        if let Some(opened) = &self.opened {
            opened.port.keep_whole(keep);
        }
    }
}

impl fmt::Display for PacketSockets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "af_packet,{}", self.spec.device)
    }
}
