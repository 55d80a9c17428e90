//! The packet sockets below an af_packet port: what its driver does not say of them, and does not
//! do.
//!
//! ```text
//!  receive ring   full: the kernel counts the frame at the socket alone; the driver never asks it
//!  send ring      the driver wakes the kernel once a burst. A socket that has as much on its way as it may
//!                 (SO_SNDBUF: some 270 small frames) leaves the rest in the ring, sent as far as the
//!                 driver knows, until the next burst: on a busy host the last of a load stay there
//! ```

use std::fs;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The sockets of one port.
#[derive(Default)]
pub(crate) struct PacketRings {
    /// The driver's: it closes them when the port stops.
    sockets: Vec<RawFd>,
    /// Until the port stops.
    open: AtomicBool,
    /// The kernel forgets what it has told.
    missed: AtomicU64,
}

/// What the kernel tells of a packet socket since it was last asked.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Counted {
    packets: u32,
    drops: u32,
}

impl PacketRings {
    /// Those that this process has bound to a Linux device.
    pub(crate) fn on(device: u32) -> Self {
        let Ok(folder) = fs::read_dir("/proc/self/fd") else { return Self::default() };
        let numbers = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        // The lowest number that is free is the next one's.
        let mut sockets: Vec<_> = numbers.filter(|&fd| bound_to(fd) == Some(device)).collect();
        sockets.sort_unstable();
        Self { sockets, open: AtomicBool::new(true), missed: AtomicU64::new(0) }
    }

    /// Whether the port has no packet socket: nothing is ever left then.
    pub(crate) fn are_none(&self) -> bool {
        self.sockets.is_empty()
    }

    /// The socket of a queue.
    pub(crate) fn socket(&self, queue: u16) -> Option<RawFd> {
        self.sockets.get(usize::from(queue)).copied()
    }

    /// The inodes of the sockets, in the order in which they were opened: that of queues.
    pub(crate) fn inodes(&self) -> Vec<u64> {
        let inode = |fd: &RawFd| {
            let link = fs::read_link(format!("/proc/self/fd/{fd}")).ok()?;
            link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
        };
        self.sockets.iter().filter_map(inode).collect()
    }

    /// The last look at the sockets, before their driver closes them; what they missed is kept.
    pub(crate) fn let_go(&self) {
        self.missed();
        self.open.store(false, Ordering::Relaxed);
    }

    /// Frames that found a receive ring full.
    pub(crate) fn missed(&self) -> u64 {
        let open = self.open.load(Ordering::Relaxed);
        let sockets = self.sockets.iter().filter(|_| open);
        let drops = sockets.map(|&fd| u64::from(counted(fd).drops)).sum::<u64>();
        self.missed.fetch_add(drops, Ordering::Relaxed) + drops
    }

    /// Has the kernel send what is left in the send rings, as far as it can now, and tells whether
    /// some may still be. To be called while the port runs.
    pub(crate) fn push(&self) -> bool {
        self.sockets.iter().fold(false, |left, &fd| {
            // SAFETY: the driver's socket, open while the port runs; there is nothing but the ring
            // to send.
            let sent = unsafe {
                libc::sendto(fd, core::ptr::null(), 0, libc::MSG_DONTWAIT, core::ptr::null(), 0)
            };
            // Octets sent, or none because the socket has as much on its way as it may: then there
            // may be more.
            left | (sent != 0)
        })
    }
}

/// The device that a packet socket is bound to; none of other descriptors.
fn bound_to(fd: RawFd) -> Option<u32> {
    // SAFETY: zeroes are a valid address.
    let mut address: libc::sockaddr_ll = unsafe { core::mem::zeroed() };
    let mut size = size_of::<libc::sockaddr_ll>() as u32;
    // SAFETY: the kernel writes at most `size` bytes into the address; a descriptor that is no
    // socket is an error.
    let code = unsafe { libc::getsockname(fd, (&raw mut address).cast(), &mut size) };
    let is_packet = code == 0 && i32::from(address.sll_family) == libc::AF_PACKET;
    is_packet.then_some(address.sll_ifindex as u32)
}

fn counted(fd: RawFd) -> Counted {
    let (mut value, mut size) = (Counted::default(), size_of::<Counted>() as u32);
    let (level, name) = (libc::SOL_PACKET, libc::PACKET_STATISTICS);
    // SAFETY: the kernel writes at most `size` bytes, two numbers, into the value.
    let code = unsafe { libc::getsockopt(fd, level, name, (&raw mut value).cast(), &mut size) };
    if code == 0 { value } else { Counted::default() }
}
