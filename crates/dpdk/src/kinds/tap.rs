//! `tap`: a device that we make in Linux.

use crate::Error;
use crate::arguments::Arguments;
use crate::device::{Device, Shape};
use crate::driver::Driver;
use crate::eth_dev::EthDev;
use crate::interface_request::request;
use crate::kind::{AddressOf, Attendant, Kind};
use crate::linux::LinuxDevice;
use crate::privilege::Right;
use packet::Wakes;
use std::fmt;
use std::fs;
use std::os::fd::RawFd;

/// A device that we make in Linux: the kernel is the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tap {
    /// Its name.
    pub name: String,
}

impl Kind for Tap {
    fn name(&self) -> &'static str {
        "tap"
    }

    fn driver(&self, _: Shape) -> Result<Box<dyn Driver>, Error> {
        let arguments = Arguments::default().device("iface", &self.name)?;
        Ok(EthDev::of(Device::of_driver("net_tap", arguments)))
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

    fn has_queue_pairs(&self) -> bool {
        true
    }

    fn address_is_of(&self) -> AddressOf {
        AddressOf::Kernel
    }

    fn attendant(&self) -> Box<dyn Attendant> {
        Box::new(Queues { device: self.name.clone(), descriptors: Vec::new() })
    }
}

impl fmt::Display for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The descriptors of an open port, which the driver has.
struct Queues {
    device: String,
    descriptors: Vec<RawFd>,
}

impl Attendant for Queues {
    fn opened(&mut self, _: Option<&LinuxDevice>) {
        self.descriptors = queues_of(&self.device);
    }

    fn wakes(&self, queue: u16) -> Wakes {
        let descriptor = self.descriptors.get(usize::from(queue)).copied();
        descriptor.map_or(Wakes::Unseen, Wakes::Readable)
    }
}

/// What this process has of a tap device: its queues in the order in which they were opened, each
/// with the lowest number that was free, and behind them the second hold that the driver takes on
/// each for sending.
fn queues_of(device: &str) -> Vec<RawFd> {
    let Ok(folder) = fs::read_dir("/proc/self/fdinfo") else { return Vec::new() };
    let numbers = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_queue = |fd: &RawFd| {
        let info = fs::read_to_string(format!("/proc/self/fdinfo/{fd}"));
        info.is_ok_and(|info| device_in(&info) == Some(device)) && is_attached(*fd)
    };
    let mut queues: Vec<RawFd> = numbers.filter(is_queue).collect();
    queues.sort_unstable();
    queues
}

/// One that the driver detached, to keep the device alive by it, never has packets.
fn is_attached(queue: RawFd) -> bool {
    let mut answer = request("");
    // SAFETY: a queue of a tap device, as /proc says; the kernel writes into the request, which is
    // ours, and of its union the flags.
    unsafe {
        libc::ioctl(queue, libc::TUNGETIFF, &raw mut answer) == 0
            && i32::from(answer.ifr_ifru.ifru_flags) & libc::IFF_DETACH_QUEUE == 0
    }
}

/// The device that a descriptor of `/dev/net/tun` is a queue of.
fn device_in(info: &str) -> Option<&str> {
    info.lines().find_map(|line| Some(line.strip_prefix("iff:")?.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_tells_its_device() {
        assert_eq!(device_in("pos:\t0\nflags:\t02\niff:\tvt0\n"), Some("vt0"));
        assert_eq!(device_in("pos:\t0\niff:\t\n"), Some(""));
        assert_eq!(device_in("pos:\t0\n"), None);
    }
}
