//! What a Linux device does to packets before a port sees them, and how to have it left alone.
//!
//! Linux likes to merge received frames into large ones (gro in software, lro in the card). An
//! af_packet port takes what gro merged as it is, since Linux says how it is to be cut again; of
//! what a card merged nobody can say, and af_xdp knows no large frames at all: those are turned off
//! on the device while its port is open.
//!
//! | the other end of the wire | what it may send | af_packet | af_xdp |
//! |---|---|---|---|
//! | a card | whole frames | nothing to do | nothing to do |
//! | a veth, transmit checksums on | frames without checksum | finished as Linux says | filled in (`checksum`) |
//! | a veth, segmentation on | frames of up to 64 KiB | pass whole, or are cut (crate `sockets`) | refused by the veth, as XDP is |
//! | a tap's kernel side | whole frames: the tap offers no offloads | | |

use crate::Error;
use crate::interface_request::{ioctl, request, socket};
use std::io;
use std::os::fd::OwnedFd;

/// Something that Linux does for a device's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offload {
    /// The card checks checksums.
    RxChecksum,
    /// The card fills in checksums.
    TxChecksum,
    /// Linux cuts large frames just before the card.
    Gso,
    /// The card cuts large TCP frames.
    Tso,
    /// Linux merges received frames.
    Gro,
    /// The card merges received frames.
    Lro,
    /// The card takes VLAN tags off.
    RxVlan,
}

/// Those that make frames larger than the link.
pub(crate) const MERGING: [Offload; 2] = [Offload::Gro, Offload::Lro];
/// Those of them of which nobody knows what the frames were.
pub(crate) const CARDS_ALONE: [Offload; 1] = [Offload::Lro];

impl Offload {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::RxChecksum,
        Self::TxChecksum,
        Self::Gso,
        Self::Tso,
        Self::Gro,
        Self::Lro,
        Self::RxVlan,
    ];

    /// The ethtool commands that read and write it, and its bit in what they carry.
    fn commands(self) -> (u32, u32, u32) {
        match self {
            Self::RxChecksum => (0x14, 0x15, 1),
            Self::TxChecksum => (0x16, 0x17, 1),
            Self::Tso => (0x1e, 0x1f, 1),
            Self::Gso => (0x23, 0x24, 1),
            Self::Gro => (0x2b, 0x2c, 1),
            Self::Lro => (0x25, 0x26, 1 << 15),
            Self::RxVlan => (0x25, 0x26, 1 << 8),
        }
    }
}

/// Turns `offloads` off on a device of this thread's network namespace. Says which were on and are
/// off now; those that the device cannot turn off stay as they are.
pub fn disable(device: &str, offloads: &[Offload]) -> Result<Vec<Offload>, Error> {
    let ethtool = Ethtool::on(device)?;
    let mut changed = Vec::new();
    for &offload in offloads {
        if ethtool.is_on(offload) && ethtool.set(offload, false).is_ok() {
            changed.push(offload);
        }
    }
    Ok(changed)
}

/// Turns `offloads` on again.
pub fn enable(device: &str, offloads: &[Offload]) -> Result<(), Error> {
    let ethtool = Ethtool::on(device)?;
    for &offload in offloads {
        ethtool.set(offload, true).map_err(|source| failed(device, source))?;
    }
    Ok(())
}

fn failed(device: &str, source: io::Error) -> Error {
    Error::Device { device: device.to_owned(), action: "change its offloads", source }
}

/// A device to ask and tell.
pub(crate) struct Ethtool {
    device: String,
    socket: OwnedFd,
}

#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

impl Ethtool {
    pub(crate) fn on(device: &str) -> Result<Self, Error> {
        let socket =
            socket(libc::AF_INET, libc::SOCK_DGRAM).map_err(|source| failed(device, source))?;
        Ok(Self { device: device.to_owned(), socket })
    }

    fn is_on(&self, offload: Offload) -> bool {
        let (get, _, bit) = offload.commands();
        self.value(get, 0).is_ok_and(|data| data & bit != 0)
    }

    fn set(&self, offload: Offload, on: bool) -> io::Result<()> {
        let (get, set, bit) = offload.commands();
        let others = self.value(get, 0)? & !bit;
        self.value(set, if on { others | bit } else { others })?;
        Ok(())
    }

    fn value(&self, command: u32, data: u32) -> io::Result<u32> {
        let mut value = Value { command, data };
        // SAFETY: the commands in `commands` read or write a value of this shape.
        unsafe { self.call(&mut value)? };
        Ok(value.data)
    }

    /// # Safety
    /// `data` begins with a command and is as large as that command wants.
    unsafe fn call<T>(&self, data: &mut T) -> io::Result<()> {
        let mut request = request(&self.device);
        request.ifr_ifru.ifru_data = (data as *mut T).cast();
        // SAFETY: the data outlives the call; its size is the caller's word.
        unsafe { ioctl(&self.socket, libc::SIOCETHTOOL as libc::Ioctl, &mut request) }
    }
}
