//! Gets back what the af_xdp driver loses when its port is closed: sockets and packet buffers.
//!
//! The driver (22.11 to 24.11) forgets to close its socket, so that the queue stays taken and the
//! port cannot be opened again, and forgets the buffers that wait in the socket's rings. So we keep
//! a second hold on each socket and look into its rings after the driver is done:
//!
//! ```text
//!  fill        buffers for packets to come   ┐
//!  rx          packets nobody fetched        │ consumer .. producer
//!  tx          packets nobody sent           │   entries: buffer's address in the pool's memory
//!  completion  packets sent, not yet freed   ┘
//! ```
//! A card that takes packets without a copy keeps the buffers in its own ring: those are lost.

use crate::{DpdkPool, ffi};
use core::ptr::NonNull;
use packet::{Mbuf, PacketBuf, Pool};
use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};

/// Where the four rings are in a socket's file: rx, tx, fill, completion; and an entry's size.
const RINGS: [(u64, usize); 4] =
    [(0, 16), (0x8000_0000, 16), (0x1_0000_0000, 8), (0x1_8000_0000, 8)];

/// In unaligned mode an entry's upper 16 bits are where the frame starts in its buffer.
const ADDRESS_BITS: u64 = (1 << 48) - 1;

/// The AF_XDP sockets that this process has.
pub(crate) fn all() -> HashSet<RawFd> {
    let Ok(folder) = fs::read_dir("/proc/self/fd") else { return HashSet::new() };
    let numbers = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers
        .filter(|&fd| option(fd, libc::SOL_SOCKET, libc::SO_DOMAIN, 0) == Some(libc::AF_XDP))
        .collect()
}

fn option<T: Copy>(fd: RawFd, level: i32, name: i32, empty: T) -> Option<T> {
    let (mut value, mut size) = (empty, size_of::<T>() as u32);
    // SAFETY: the kernel writes at most `size` bytes; callers give types of any-bits-valid numbers.
    let code = unsafe { libc::getsockopt(fd, level, name, (&raw mut value).cast(), &mut size) };
    (code == 0 && size as usize == size_of::<T>()).then_some(value)
}

/// Our hold on one socket of the driver's.
pub(crate) struct XdpSocket {
    driver_fd: RawFd,
    inode: u64,
    ours: OwnedFd,
    rings: Vec<Ring>,
}

impl XdpSocket {
    /// Holds those sockets that are there now and were not `before`, in the order of queues: that
    /// in which the driver opened them, each with the lowest number that was free.
    pub(crate) fn hold_new(before: &HashSet<RawFd>) -> Vec<Self> {
        let mut new: Vec<RawFd> = all().difference(before).copied().collect();
        new.sort_unstable();
        new.into_iter().filter_map(|fd| Self::hold(fd).ok()).collect()
    }

    /// Our own descriptor of it.
    pub(crate) fn descriptor(&self) -> RawFd {
        self.ours.as_raw_fd()
    }

    fn hold(driver_fd: RawFd) -> io::Result<Self> {
        // SAFETY: the driver has it open.
        let ours = unsafe { BorrowedFd::borrow_raw(driver_fd) }.try_clone_to_owned()?;
        let inode = inode(driver_fd)?;
        let none = io::Error::from(io::ErrorKind::InvalidData);
        const XDP_MMAP_OFFSETS: i32 = 1;
        let offsets: [[u64; 4]; 4] =
            option(driver_fd, libc::SOL_XDP, XDP_MMAP_OFFSETS, [[0; 4]; 4]).ok_or(none)?;
        let mapped = fs::read_to_string("/proc/self/maps")?;
        let mut rings = Vec::new();
        for ((place, entry_bytes), fields) in RINGS.into_iter().zip(offsets) {
            if let Some(length) = mapped_bytes(&mapped, inode, place) {
                rings.push(Ring::map(&ours, place, length, entry_bytes, fields)?);
            }
        }
        Ok(Self { driver_fd, inode, ours, rings })
    }

    /// Frees what the driver left. To be called when its port is closed.
    pub(crate) fn recover(self, pool: &DpdkPool) {
        let origin = pool.xdp_origin();
        let mut cache = pool.cache();
        for address in self.rings.iter().flat_map(Ring::entries) {
            let mbuf = (origin + (address & ADDRESS_BITS) as usize) as *mut Mbuf;
            if let Some(packet) = pool.packet_at(mbuf) {
                cache.release_one(packet);
            }
        }
        if inode(self.driver_fd).is_ok_and(|now| now == self.inode) {
            // SAFETY: still the driver's socket, which the driver has forgotten.
            drop(unsafe { OwnedFd::from_raw_fd(self.driver_fd) });
        }
        drop(self.ours);
    }
}

fn inode(fd: RawFd) -> io::Result<u64> {
    // SAFETY: zeroes are a valid result, filled by the call.
    unsafe {
        let mut status: libc::stat = core::mem::zeroed();
        match libc::fstat(fd, &mut status) {
            0 => Ok(status.st_ino),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// How much of the file `inode` from `place` on is mapped, says /proc/self/maps:
/// `7f00-7f10 rw-s 80000000 00:08 4711  socket:[4711]`
fn mapped_bytes(maps: &str, inode: u64, place: u64) -> Option<usize> {
    maps.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [range, _, offset, _, number, ..] = words[..] else { return None };
        let (from, to) = range.split_once('-')?;
        let hex = |text: &str| u64::from_str_radix(text, 16).ok();
        let ours = number.parse() == Ok(inode) && hex(offset)? == place;
        ours.then_some((hex(to)? - hex(from)?) as usize)
    })
}

/// One of a socket's rings, mapped to be read.
struct Ring {
    memory: NonNull<u8>,
    length: usize,
    producer: usize,
    consumer: usize,
    entries: usize,
    entry_bytes: usize,
    /// A power of two.
    size: u32,
}

// SAFETY: a mapping that only its owner reads; which thread that is makes no difference.
unsafe impl Send for Ring {}

impl Ring {
    fn map(
        socket: &OwnedFd,
        place: u64,
        length: usize,
        entry_bytes: usize,
        [producer, consumer, entries, _]: [u64; 4],
    ) -> io::Result<Self> {
        let [producer, consumer, entries] = [producer, consumer, entries].map(|at| at as usize);
        // The mapping is rounded up to pages; rings have a thousand entries and more.
        let size = (length.saturating_sub(entries) / entry_bytes) as u32;
        let size = size.checked_ilog2().map_or(0, |bits| 1 << bits);
        if size == 0 || producer.max(consumer) + 4 > length {
            return Err(io::ErrorKind::InvalidData.into());
        }
        // SAFETY: a fresh mapping, only read.
        let memory = unsafe {
            let (read, shared) = (libc::PROT_READ, libc::MAP_SHARED);
            let null = core::ptr::null_mut();
            libc::mmap(null, length, read, shared, socket.as_raw_fd(), place as i64)
        };
        match NonNull::new(memory.cast::<u8>()) {
            Some(memory) if memory.as_ptr() != libc::MAP_FAILED.cast() => {
                Ok(Self { memory, length, producer, consumer, entries, entry_bytes, size })
            }
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn index(&self, at: usize) -> u32 {
        // SAFETY: inside the mapping, as `map` checked; the kernel's index is aligned.
        unsafe { AtomicU32::from_ptr(self.memory.as_ptr().add(at).cast()) }.load(Ordering::Acquire)
    }

    /// What is between consumer and producer.
    fn entries(&self) -> impl Iterator<Item = u64> + '_ {
        let (from, to) = (self.index(self.consumer), self.index(self.producer));
        let count = to.wrapping_sub(from).min(self.size);
        (0..count).map(move |number| {
            let slot = (from.wrapping_add(number) & (self.size - 1)) as usize;
            let at = self.entries + slot * self.entry_bytes;
            // SAFETY: the slot is below the size, which fits the mapping. Entries begin with an
            // address.
            unsafe { self.memory.as_ptr().add(at).cast::<u64>().read() }
        })
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: our own mapping.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.length) };
    }
}

impl DpdkPool {
    /// What an address in a ring counts from to give an mbuf: the driver hands the kernel the
    /// pool's memory from the page on that its first chunk begins in.
    fn xdp_origin(&self) -> usize {
        // SAFETY: a live pool.
        unsafe { ffi::volley_pool_xdp_origin(self.as_ptr()) }
    }

    /// The buffer at that address, if there is one of this pool.
    fn packet_at(&self, mbuf: *mut Mbuf) -> Option<PacketBuf> {
        // SAFETY: the pool says whether the address is that of a buffer of its own, which is then
        // live, and the driver that held it has forgotten it.
        unsafe {
            let ours = ffi::volley_pool_has(self.as_ptr(), mbuf) != 0;
            ours.then(|| NonNull::new(mbuf).map(|mbuf| PacketBuf::from_raw(mbuf))).flatten()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_found_by_inode_and_offset() {
        let maps = "7f0000001000-7f0000003000 rw-s 80000000 00:08 4711 socket:[4711]\n\
                    7f0000003000-7f000000c000 rw-s 100000000 00:08 4711 socket:[4711]\n\
                    7f000000c000-7f000000d000 rw-s 100000000 00:08 4712 socket:[4712]\n";
        assert_eq!(mapped_bytes(maps, 4711, 0x8000_0000), Some(0x2000));
        assert_eq!(mapped_bytes(maps, 4711, 0x1_0000_0000), Some(0x9000));
        assert_eq!(mapped_bytes(maps, 4711, 0), None);
        assert_eq!(mapped_bytes(maps, 4713, 0x1_0000_0000), None);
    }
}
