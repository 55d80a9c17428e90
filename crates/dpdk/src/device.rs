//! A device as DPDK takes it, and giving it to DPDK: `net_tap3,iface=vt0`.

use crate::arguments::Arguments;
use crate::ffi;
use std::ffi::CString;
use std::sync::atomic::{AtomicU32, Ordering};

/// DPDK tells devices apart by name.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// What some drivers must know of a port when the device is made.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// Queues each way.
    pub(crate) queues: u16,
    /// Largest packet.
    pub(crate) mtu: u16,
    /// Packets a queue holds.
    pub(crate) descriptors: Option<u16>,
}

/// What `rte_eal_hotplug_add` takes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Device {
    pub(crate) bus: &'static str,
    pub(crate) name: String,
    pub(crate) arguments: String,
}

impl Device {
    /// One that is there, at that place of a bus.
    pub(crate) fn on_bus(bus: &'static str, name: String) -> Self {
        Self { bus, name, arguments: String::new() }
    }

    /// A new one of the driver that takes device names beginning so.
    pub(crate) fn of_driver(driver: &str, arguments: Arguments) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self {
            arguments: arguments.to_string(),
            ..Self::on_bus("vdev", format!("{driver}{number}"))
        }
    }

    /// Makes DPDK open the device; its port number or an error number.
    pub(crate) fn plug(&self) -> Result<u16, i32> {
        let texts = [self.bus, &self.name, &self.arguments].map(CString::new);
        let [Ok(bus), Ok(name), Ok(arguments)] = texts else { return Err(libc::EINVAL) };
        // SAFETY: DPDK runs; three texts, copied.
        let code =
            unsafe { ffi::rte_eal_hotplug_add(bus.as_ptr(), name.as_ptr(), arguments.as_ptr()) };
        if code != 0 {
            return Err(code);
        }
        let mut number = 0;
        // SAFETY: DPDK runs; the result is ours.
        match unsafe { ffi::rte_eth_dev_get_port_by_name(name.as_ptr(), &mut number) } {
            0 => Ok(number),
            code => {
                self.unplug();
                Err(code)
            }
        }
    }

    /// Makes DPDK forget the device.
    pub(crate) fn unplug(&self) {
        let texts = [self.bus, &self.name].map(CString::new);
        let [Ok(bus), Ok(name)] = texts else { return };
        // SAFETY: DPDK runs; a device that is gone is an error number, and gone is what we want.
        unsafe { ffi::rte_eal_hotplug_remove(bus.as_ptr(), name.as_ptr()) };
    }
}
