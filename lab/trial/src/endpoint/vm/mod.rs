//! Ends in virtual machines: QEMU, with a kernel and the host's own programs in it.
//!
//! ```text
//!            d0, a tap ─ or ─ vhost0.sock          d1, a tap ─ or ─ vhost1.sock
//!  guest 0 ══ virtio-net ════════ │ device │ ════════ virtio-net ══ guest 1
//!     └ agent ── virtio-serial ── lab ── virtio-serial ── agent ┘
//! ```
//! Where a device speaks vhost-user the guests share their memory with it; else the host's kernel
//! is between them, by a tap. KVM runs them where it can, and else they are emulated: that is told
//! with every number.

mod accel;
pub mod agent;
mod cpio;
mod image;
mod kernel;
mod machine;
mod protocol;
mod session;

use accel::Accel;
use kernel::Kernel;
use lab_record::axes::Endpoint;
use machine::{Machine, QEMU};

use super::site::{Plan, Site};
use crate::Error;
use crate::dut::device::Device;
use crate::link::LinkKind;
use crate::place::{Place, find_program, output};

pub(super) struct Vm;

impl Site for Vm {
    fn endpoint(&self) -> Endpoint {
        Endpoint::Vm
    }

    fn refusal(&self) -> Option<String> {
        if !cfg!(target_arch = "x86_64") {
            return Some("guests are x86-64, and this host is not".into());
        }
        if find_program(QEMU).is_none() {
            let what =
                format!("there is no {QEMU} to run virtual machines (package qemu-system-x86)");
            return Some(what);
        }
        if let Some((name, package)) = image::missing() {
            return Some(format!("virtual machines lack {name} (package {package})"));
        }
        Kernel::find().err()
    }

    fn link(&self, device: &dyn Device, link: LinkKind) -> Result<LinkKind, &'static str> {
        match link {
            LinkKind::Veth => Ok(device.guests_link()),
            LinkKind::Tap | LinkKind::Vhost => Ok(link),
            _ => Err(
                "a virtual machine is behind a tap or vhost-user: veth (which of them fits the device), tap or vhost",
            ),
        }
    }

    fn place(&self, plan: &Plan<'_>) -> Result<Place, Error> {
        Place::within(plan.folder, plan.cores, Box::new(Machine::start(plan)?))
    }
}

/// What virtual machines are here, for a reader; none where there can be none.
pub fn facts() -> Option<String> {
    if Vm.refusal().is_some() {
        return None;
    }
    let kernel = Kernel::find().ok()?;
    let qemu = output(&[QEMU, "--version"]).unwrap_or_default();
    let qemu = qemu.lines().next().unwrap_or_default().to_owned();
    let accel = Accel::here(&kernel).told();
    Some(format!("Linux {}, {accel}, {qemu}", kernel.release))
}
