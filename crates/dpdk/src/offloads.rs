//! What a Linux device does to packets before a port sees them, and how to have it left alone.
//!
//! A port wants frames as they are on the wire. Linux likes to merge received frames into large
//! ones (gro in software, lro in the card), which are longer than any buffer and come cut off;
//! af_packet and af_xdp ports therefore turn these off on their device while they are open.
//!
//! | the other end of the wire | what it may send | what we do |
//! |---|---|---|
//! | a card | whole frames | nothing |
//! | a veth, transmit checksums on | frames without checksum | fill it in (`checksum`) |
//! | a veth, segmentation on | frames of up to 64 KiB | make the veth refuse them (`veth`) |
//! | a tap's kernel side | whole frames: the tap offers no offloads | nothing |
//!
//! Measured with iperf3 through two veths, hosts with Linux's default settings, Linux 6.18, 2 cores
//! at 2.5 GHz: nothing done 0; checksums alone 0.3 Mbit/s; both 0.9 to 1.1 Gbit/s; and 1.3 Gbit/s
//! if the hosts themselves turn tso and gso off.
//!
//! An XDP program has a price, whatever it does: Linux copies every packet to make room in front of
//! it. Whose other end is no such host (another switch, a generator, a host with all of this off)
//! says so (`PortOptions::peer_offloads`): over a veth with both ends on one core 0.31 (0.27 to
//! 0.32) in place of 0.24 (0.22 to 0.27) million frames of 64 octets a second (`volley-lab traffic
//! af_packet:x0 af_packet:x1 --rate max --seconds 0.5`, median and range of seven runs each in
//! turn, with the right to load programs and without it, a virtual EPYC with two shared cores).

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

    /// The name of the device's driver.
    pub(crate) fn driver(&self) -> io::Result<String> {
        const GET_DRIVER: u32 = 0x03;
        let mut information = [0; 196];
        information[..4].copy_from_slice(&GET_DRIVER.to_ne_bytes());
        // SAFETY: struct ethtool_drvinfo has 196 bytes: the command, then texts.
        unsafe { self.call(&mut information)? };
        let name = information[4..36].split(|&byte| byte == 0).next().unwrap_or_default();
        Ok(String::from_utf8_lossy(name).into_owned())
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
