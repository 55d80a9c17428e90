//! A receive ring of slots that the kernel fills one by one (`packet(7)`, TPACKET_V2).
//!
//! ```text
//!  slot   status · length · kept · header at · frame at · seconds · nanoseconds · tag · its type …  virtio header · frame
//!         kernel: all else, then the status        we: all is read, then the status
//! ```

use crate::virtio::{HEADER_BYTES, Header};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// Filled (`linux/if_packet.h`).
const USER: u32 = 1;
/// The whole frame waits at the socket.
const COPY: u32 = 1 << 1;
/// There was a tag, and its type is told.
const TAG: u32 = 1 << 4;
const TAG_TYPE: u32 = 1 << 6;
/// The type of a tag that has none told.
const CUSTOMER_TAG: u16 = 0x8100;

/// Slots of a block: Linux allocates a ring in blocks.
pub(crate) const SLOTS_A_BLOCK: u32 = 4;

/// The memory of a ring, mapped.
pub(crate) struct Ring {
    memory: NonNull<u8>,
    bytes: usize,
    slots: u32,
    slot_bytes: u32,
}

// SAFETY: plain memory, which the kernel and one receiver share by the status of each slot.
unsafe impl Send for Ring {}
// SAFETY: as above.
unsafe impl Sync for Ring {}

/// What the kernel says of a frame (`struct tpacket2_hdr`).
#[repr(C)]
#[derive(Clone, Copy)]
struct Told {
    status: u32,
    length: u32,
    kept: u32,
    frame_at: u16,
    network_at: u16,
    seconds: u32,
    nanoseconds: u32,
    tag: u16,
    tag_type: u16,
}

/// A filled slot.
pub(crate) struct Slot<'r> {
    status: &'r AtomicU32,
    told: Told,
    /// What the kernel kept of the frame.
    pub(crate) frame: &'r [u8],
    pub(crate) header: Header,
}

impl Ring {
    /// Makes a socket have one, and maps it.
    pub(crate) fn of(socket: &OwnedFd, slots: u32, slot_bytes: u32) -> io::Result<Self> {
        let request = libc::tpacket_req {
            tp_block_size: slot_bytes * SLOTS_A_BLOCK,
            tp_block_nr: slots / SLOTS_A_BLOCK,
            tp_frame_size: slot_bytes,
            tp_frame_nr: slots,
        };
        crate::socket::set(socket, libc::PACKET_RX_RING, &request)?;
        let bytes = slots as usize * slot_bytes as usize;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a fresh mapping of so many bytes of the socket's ring.
        let memory = unsafe {
            let (anywhere, fd) = (core::ptr::null_mut(), socket.as_raw_fd());
            libc::mmap(anywhere, bytes, protection, libc::MAP_SHARED, fd, 0)
        };
        match NonNull::new(memory) {
            Some(memory) if memory.as_ptr() != libc::MAP_FAILED => {
                Ok(Self { memory: memory.cast(), bytes, slots, slot_bytes })
            }
            _ => Err(io::Error::last_os_error()),
        }
    }

    pub(crate) fn slots(&self) -> u32 {
        self.slots
    }

    fn status(&self, number: u32) -> &AtomicU32 {
        let at = (number % self.slots) as usize * self.slot_bytes as usize;
        // SAFETY: a slot of the mapping, at a multiple of 1 KiB; its first word is written by the
        // kernel and by us, as a whole.
        unsafe { self.memory.add(at).cast::<AtomicU32>().as_ref() }
    }

    /// Whether a slot is filled.
    #[inline]
    pub(crate) fn is_filled(&self, number: u32) -> bool {
        self.status(number).load(Ordering::Acquire) & USER != 0
    }

    /// A slot that is filled. Nobody else takes it meanwhile.
    #[inline]
    pub(crate) fn slot(&self, number: u32) -> Option<Slot<'_>> {
        let status = self.status(number);
        let word = status.load(Ordering::Acquire);
        if word & USER == 0 {
            return None;
        }
        // SAFETY: the head of a slot. It is ours: the kernel wrote it before the status, and
        // writes it again once we gave it back.
        let told = unsafe { Told { status: word, ..status.as_ptr().cast::<Told>().read() } };
        let (at, kept) = (usize::from(told.frame_at), told.kept as usize);
        let is_inside =
            at >= size_of::<Told>() + HEADER_BYTES && at + kept <= self.slot_bytes as usize;
        let kept = if is_inside { kept } else { 0 };
        let at = if is_inside { at } else { size_of::<Told>() + HEADER_BYTES };
        // SAFETY: inside the slot, which is ours.
        let (frame, header) = unsafe {
            let start = status.as_ptr().cast::<u8>().add(at);
            let header = start.sub(HEADER_BYTES).cast::<Header>().read();
            (core::slice::from_raw_parts(start, kept), header)
        };
        Some(Slot { status, told, frame, header })
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: our mapping, which nobody uses any more.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.bytes) };
    }
}

impl Slot<'_> {
    /// Whether the whole frame is to be fetched from the socket.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.told.status & COPY != 0
    }

    /// Whether all of the frame is here.
    pub(crate) fn is_whole(&self) -> bool {
        self.told.length as usize == self.frame.len()
    }

    /// The tag that the kernel took off the frame.
    #[inline]
    pub(crate) fn tag(&self) -> Option<[u8; 4]> {
        if self.told.status & TAG == 0 {
            return None;
        }
        let is_told = self.told.status & TAG_TYPE != 0;
        let of = if is_told { self.told.tag_type } else { CUSTOMER_TAG };
        let ([a, b], [c, d]) = (of.to_be_bytes(), self.told.tag.to_be_bytes());
        Some([a, b, c, d])
    }

    /// When the kernel took the frame: CLOCK_REALTIME.
    pub(crate) fn time_ns(&self) -> u64 {
        u64::from(self.told.seconds) * 1_000_000_000 + u64::from(self.told.nanoseconds)
    }

    /// Gives the slot back.
    #[inline]
    pub(crate) fn give_back(self) {
        self.status.store(0, Ordering::Release);
    }
}
