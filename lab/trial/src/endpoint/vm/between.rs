//! A device that is another kernel: a virtual machine with two cards, each the far end of a tap
//! that is an end's own.
//!
//! ```text
//!  end 0                     virtual machine                      end 1
//!  g0, a tap ══ QEMU ══ d0, virtio-net │ device │ d1, virtio-net ══ QEMU ══ g1, a tap
//! ```
//! So the lab measures the kernel's own devices where the host's kernel was built without them.
//! Taps are made in a namespace of nobody, where QEMU takes hold of them, and handed to the ends
//! then.

use std::fs::File;
use std::path::Path;

use super::machine::{Card, Machine, Seat};
use crate::Error;
use crate::endpoint::site::Wire;
use crate::link::{DEVICE_DEVICES, DEVICE_MACS, LAB_DEVICES, LAB_MACS};
use crate::place::{Inside, Place, Process};

/// See the module.
struct Between {
    machine: Machine,
    /// Where QEMU runs.
    _yard: Place,
}

/// Starts one between ends that have no links yet.
pub(crate) fn start(
    folder: &Path,
    cores: &str,
    ends: &mut [Place; 2],
    mtu: u16,
    go_on: &dyn Fn() -> bool,
) -> Result<Place, Error> {
    let mut yard = Place::new(&folder.with_extension("yard"), cores)?;
    let mut cards = Vec::new();
    for (side, device) in LAB_DEVICES.into_iter().enumerate() {
        yard.run(&format!("ip tuntap add dev {device} mode tap vnet_hdr"))?;
        cards.push(Card { wire: Wire::Device(device.to_owned()), mac: DEVICE_MACS[side] });
    }
    let name = "the guest that is the device".to_owned();
    let machine =
        Machine::start(&Seat { name, folder, cores, namespace: yard.namespace() }, &cards)?;
    machine.until_it_runs(go_on)?;
    for (side, end) in ends.iter_mut().enumerate() {
        let device = LAB_DEVICES[side];
        yard.run(&format!("ip link set {device} netns {}", end.namespace()))?;
        end.run(&format!("ip link set {device} address {} mtu {mtu}", LAB_MACS[side]))?;
    }
    let mut place = Place::within(folder, cores, Box::new(Between { machine, _yard: yard }))?;
    place.run("ip link set lo up")?;
    place.run("echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6 || true")?;
    for (side, device) in DEVICE_DEVICES.into_iter().enumerate() {
        place.run(&format!("ip link set eth{side} name {device} mtu {mtu}"))?;
        place.run(&format!("ip link set {device} up"))?;
    }
    Ok(place)
}

impl Inside for Between {
    fn pid(&self) -> u32 {
        self.machine.pid()
    }

    fn start(&self, cores: &str, line: &str, out: File) -> Result<Box<dyn Process>, Error> {
        Inside::start(&self.machine, cores, line, out)
    }

    fn says(&self, line: &str) -> Result<String, String> {
        self.machine.says(line)
    }

    fn description(&self) -> Option<String> {
        self.machine.description()
    }

    fn has_own_kernel(&self) -> bool {
        true
    }

    fn is_emulated(&self) -> bool {
        self.machine.is_emulated()
    }
}
