//! One packet socket: what it is told, and what it is asked.

use crate::counts::Counts;
use crate::ring::Ring;
use crate::virtio::{HEADER_BYTES, Header};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Room for what waits at the socket: as much as the ring has.
const QUEUED_BYTES: i32 = 8 << 20;
/// Packets of one flow come to one socket of a group (`linux/if_packet.h`), and what the kernel
/// itself sends to none of them (since Linux 5.1).
const BY_FLOW: u32 = libc::PACKET_FANOUT_HASH;
const NO_OUTGOING: u32 = libc::PACKET_FANOUT_FLAG_IGNORE_OUTGOING;
const NEW_GROUP: u32 = libc::PACKET_FANOUT_FLAG_UNIQUEID;

/// A packet socket and its ring, shared by a receiver and a sender.
pub(crate) struct Socket {
    pub(crate) ring: Ring,
    pub(crate) fd: OwnedFd,
    /// The slot that the kernel fills next.
    pub(crate) next: AtomicU32,
    /// Large frames are not cut as they come.
    pub(crate) keeps_whole: AtomicBool,
    pub(crate) received: Counts,
    pub(crate) sent: Counts,
    missed: AtomicU64,
}

/// What the kernel tells of a packet socket since it was last asked.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Missed {
    packets: u32,
    drops: u32,
}

impl Socket {
    /// One that receives nothing yet.
    pub(crate) fn open(slots: u32, slot_bytes: u32) -> io::Result<Self> {
        // SAFETY: a fresh descriptor, owned at once; by protocol 0 it receives nothing.
        let fd = unsafe {
            match libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) {
                -1 => return Err(io::Error::last_os_error()),
                fd => OwnedFd::from_raw_fd(fd),
            }
        };
        set(&fd, libc::PACKET_VERSION, &(libc::tpacket_versions::TPACKET_V2 as i32))?;
        set(&fd, libc::PACKET_VNET_HDR, &1_i32)?;
        set(&fd, libc::PACKET_COPY_THRESH, &1_i32)?;
        // Kernels before 4.20 do not know it: what the kernel sends is received, too.
        let _unknown = set(&fd, libc::PACKET_IGNORE_OUTGOING, &1_i32);
        for (wanted, least) in
            [(libc::SO_RCVBUFFORCE, libc::SO_RCVBUF), (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF)]
        {
            // Who may not have so much gets what others may.
            set_at(&fd, libc::SOL_SOCKET, wanted, &QUEUED_BYTES)
                .or_else(|_| set_at(&fd, libc::SOL_SOCKET, least, &QUEUED_BYTES))?;
        }
        let ring = Ring::of(&fd, slots, slot_bytes)?;
        let (next, missed) = (AtomicU32::new(0), AtomicU64::new(0));
        let (received, sent) = (Counts::default(), Counts::default());
        let keeps_whole = AtomicBool::new(true);
        let socket = Self { ring, fd, next, keeps_whole, received, sent, missed };
        socket.hold_back(true)?;
        Ok(socket)
    }

    /// Binds it to a device.
    pub(crate) fn bind(&self, device: u32) -> io::Result<()> {
        // SAFETY: zeroes are a valid address.
        let mut address: libc::sockaddr_ll = unsafe { core::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = device as i32;
        let (place, size) = (&raw const address, size_of::<libc::sockaddr_ll>() as u32);
        // SAFETY: an address of that size, read only.
        check(unsafe { libc::bind(self.fd.as_raw_fd(), place.cast(), size) })
    }

    /// Makes it one of a group that share what comes, a new one where there is none; the group's
    /// number.
    pub(crate) fn join(&self, group: Option<u16>) -> io::Result<u16> {
        let kind = |more: u32| (BY_FLOW | more) << 16;
        let asked = |more: u32| match group {
            Some(group) => kind(more) | u32::from(group),
            None => kind(more | NEW_GROUP),
        };
        set(&self.fd, libc::PACKET_FANOUT, &asked(NO_OUTGOING))
            .or_else(|_| set(&self.fd, libc::PACKET_FANOUT, &asked(0)))?;
        let told: u32 = get(&self.fd, libc::SOL_PACKET, libc::PACKET_FANOUT)?;
        Ok(told as u16)
    }

    /// Has it receive nothing, or all.
    pub(crate) fn hold_back(&self, hold: bool) -> io::Result<()> {
        let mut nothing = libc::sock_filter { code: 0x06, jt: 0, jf: 0, k: 0 };
        let program = libc::sock_fprog { len: 1, filter: &raw mut nothing };
        match hold {
            true => set_at(&self.fd, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program),
            false => set_at(&self.fd, libc::SOL_SOCKET, libc::SO_DETACH_FILTER, &0_i32),
        }
    }

    /// Throws away what came. To be called while it receives nothing and nobody uses the ring.
    pub(crate) fn empty(&self) {
        while let Some(slot) = self.ring.slot(self.next.load(Ordering::Relaxed)) {
            if slot.is_elsewhere() {
                let _gone = self.fetch(&mut []);
            }
            slot.give_back();
            self.step();
        }
    }

    /// Goes on to the next slot.
    #[inline]
    pub(crate) fn step(&self) {
        let next = (self.next.load(Ordering::Relaxed) + 1) % self.ring.slots();
        self.next.store(next, Ordering::Relaxed);
    }

    /// Takes the frame that waits longest at the socket: its header and its length, which may be
    /// more than the room.
    pub(crate) fn fetch(&self, room: &mut [u8]) -> io::Result<(Header, usize)> {
        let mut header = [0; HEADER_BYTES];
        let mut parts = [part(&mut header), part(room)];
        // SAFETY: zeroes are a valid message.
        let mut message: libc::msghdr = unsafe { core::mem::zeroed() };
        (message.msg_iov, message.msg_iovlen) = (parts.as_mut_ptr(), parts.len());
        let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
        for _ in 0..3 {
            // SAFETY: two parts of ours, written as far as they go.
            let length = unsafe { libc::recvmsg(self.fd.as_raw_fd(), &mut message, flags) };
            match usize::try_from(length) {
                Ok(length) => return Ok((header, length.saturating_sub(HEADER_BYTES))),
                // That its device went down is told once, and is no matter of this frame.
                Err(_) if io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => {}
            }
        }
        Err(io::Error::last_os_error())
    }

    /// What is told of the socket once is not told any more: a rest would end at once.
    pub(crate) fn forget_error(&self) {
        let _told: io::Result<i32> = get(&self.fd, libc::SOL_SOCKET, libc::SO_ERROR);
    }

    /// Frames for which there was no slot.
    pub(crate) fn missed(&self) -> u64 {
        let now: io::Result<Missed> = get(&self.fd, libc::SOL_PACKET, libc::PACKET_STATISTICS);
        let drops = now.map_or(0, |missed| u64::from(missed.drops));
        self.missed.fetch_add(drops, Ordering::Relaxed) + drops
    }
}

fn part(bytes: &mut [u8]) -> libc::iovec {
    libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() }
}

fn check(code: i32) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Sets an option of packet sockets.
pub(crate) fn set<T>(socket: &OwnedFd, name: i32, value: &T) -> io::Result<()> {
    set_at(socket, libc::SOL_PACKET, name, value)
}

fn set_at<T>(socket: &OwnedFd, level: i32, name: i32, value: &T) -> io::Result<()> {
    let (place, size) = (core::ptr::from_ref(value).cast(), size_of::<T>() as u32);
    // SAFETY: a value of that size, read only; what a filter points to lives as long.
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, place, size) })
}

/// Reads an option that consists of numbers.
fn get<T: Copy + Default>(socket: &OwnedFd, level: i32, name: i32) -> io::Result<T> {
    let (mut value, mut size) = (T::default(), size_of::<T>() as u32);
    let place = (&raw mut value).cast();
    // SAFETY: the kernel writes at most `size` bytes, numbers, into the value.
    check(unsafe { libc::getsockopt(socket.as_raw_fd(), level, name, place, &mut size) })?;
    Ok(value)
}
