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
pub(super) mod between;
mod cpio;
mod image;
mod kernel;
mod machine;
mod protocol;
mod session;

use accel::Accel;
pub(crate) use image::LOAD_AT_HAND;
use kernel::Kernel;
use lab_record::axes::Endpoint;
use machine::{Card, Machine, QEMU, Seat};

use super::site::{Plan, Site};
use crate::Error;
use crate::dut::device::Device;
use crate::link::{LAB_MACS, LinkKind};
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
        let Plan { folder, cores, side, .. } = *plan;
        let name = format!("the guest at end {side}");
        let seat = Seat { name, folder, cores, namespace: plan.namespace.clone() };
        let card = Card { wire: plan.wire.clone(), mac: LAB_MACS[side] };
        Place::within(folder, cores, Box::new(Machine::start(&seat, &[card])?))
    }
}

/// Why there can be no virtual machines here; none where there can.
pub(super) fn refusal() -> Option<String> {
    Vm.refusal()
}

/// What virtual machines are here, for a reader; none where there can be none.
pub fn facts() -> Option<String> {
    let what = here().ok()?;
    let accel = Accel::here(&Kernel::find().ok()?).told();
    Some(format!("{what}, {accel}"))
}

/// The kernel, and who runs it; or why there can be none. How it is run is not looked at: that
/// takes a while.
pub(crate) fn here() -> Result<String, String> {
    Vm.refusal().map_or(Ok(()), Err)?;
    let kernel = Kernel::find()?;
    let qemu = output(&[QEMU, "--version"]).unwrap_or_default();
    let qemu = qemu.lines().next().unwrap_or_default().to_owned();
    Ok(format!("Linux {}, {qemu}", kernel.release))
}
