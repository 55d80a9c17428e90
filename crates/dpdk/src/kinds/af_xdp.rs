//! `af_xdp`: a Linux device through XDP sockets.
//!
//! What DPDK's driver of it forgets when it closes is in `xdp_sockets` and `bpf_objects`, what it
//! forgets when it cannot open one in `taken`.

use crate::arguments::Arguments;
use crate::bpf_objects::{self, BpfObjects};
use crate::device::{Device, Shape};
use crate::driver::Driver;
use crate::eth_dev::EthDev;
use crate::kind::{Attendant, Kind};
use crate::linux::LinuxDevice;
use crate::privilege::Right;
use crate::xdp_queues;
use crate::xdp_sockets::{self, XdpSocket};
use crate::{DpdkPool, Error};
use packet::Wakes;
use std::collections::HashSet;
use std::fmt;
use std::os::fd::RawFd;

/// A Linux device through XDP sockets: the kernel no longer sees its packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AfXdp {
    /// The device.
    pub device: String,
    /// The device's first queue that is taken.
    pub first_queue: u16,
    /// Copy packets even if the driver could do without.
    pub force_copy: bool,
}

impl AfXdp {
    /// From the device's first queue on, without a copy where its driver can do that.
    pub fn usual(device: String) -> Self {
        Self { device, first_queue: 0, force_copy: false }
    }
}

impl Kind for AfXdp {
    fn name(&self) -> &'static str {
        "af_xdp"
    }

    fn driver(&self, shape: Shape) -> Result<Box<dyn Driver>, Error> {
        let arguments = Arguments::default()
            .device("iface", &self.device)?
            .with("start_queue", self.first_queue)
            .with("queue_count", shape.queues)
            .with("force_copy", u8::from(self.force_copy));
        Ok(EthDev::of(Device::of_driver("net_af_xdp", arguments)))
    }

    fn rights(&self) -> &'static [Right] {
        &[Right::NetRaw, Right::NetAdmin, Right::IpcLock, Right::Bpf]
    }

    fn calls(&self) -> &'static [&'static str] {
        &["bpf"]
    }

    fn linux_device(&self) -> Option<&str> {
        Some(&self.device)
    }

    fn has_queue_pairs(&self) -> bool {
        true
    }

    fn leaves_out_checksums(&self) -> bool {
        true
    }

    fn forgets_buffers(&self) -> bool {
        true
    }

    fn attendant(&self) -> Box<dyn Attendant> {
        Box::new(Sockets {
            device: self.device.clone(),
            first_queue: self.first_queue,
            others: xdp_sockets::all(),
            held: Vec::new(),
            objects_of_others: bpf_objects::all(),
            objects: BpfObjects::new(),
            at_the_stop: None,
        })
    }
}

impl fmt::Display for AfXdp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.device)
    }
}

/// The sockets of an open port.
struct Sockets {
    device: String,
    first_queue: u16,
    /// Those that were there before.
    others: HashSet<RawFd>,
    held: Vec<XdpSocket>,
    objects_of_others: BpfObjects,
    /// The program and the map that lead to them.
    objects: BpfObjects,
    /// All there were when it was about to stop.
    at_the_stop: Option<BpfObjects>,
}

impl Attendant for Sockets {
    fn opened(&mut self, _: Option<&LinuxDevice>) {
        self.held = XdpSocket::hold_new(&self.others);
        let new = bpf_objects::all().into_iter();
        self.objects = new.filter(|object| !self.objects_of_others.contains(object)).collect();
    }

    fn wakes(&self, queue: u16) -> Wakes {
        let socket = self.held.get(usize::from(queue)).map(XdpSocket::descriptor);
        socket.map_or(Wakes::Unseen, Wakes::Readable)
    }

    fn stopping(&mut self) {
        self.at_the_stop = Some(bpf_objects::all());
    }

    fn closed(&mut self, pool: &DpdkPool) {
        let queues = self.first_queue..self.first_queue + self.held.len() as u16;
        for socket in self.held.drain(..) {
            socket.recover(pool);
        }
        // It opens the program anew to take it off the device, and forgets that, too.
        if let Some(before) = self.at_the_stop.take() {
            let new = bpf_objects::all().into_iter();
            self.objects.extend(new.filter(|object| !before.contains(object)));
        }
        bpf_objects::close(core::mem::take(&mut self.objects));
        queues.for_each(|queue| xdp_queues::until_free(&self.device, queue));
    }
}
