//! A ring of descriptors in shared memory.
//!
//! ```text
//!  0        4       6      64     128
//!  ├ cookie ┼ flags ┼ head ┼ tail ┼ descriptor 0 ┼ … 16 bytes each
//!                                   └ flags 2 ┼ region 2 ┼ length 4 ┼ offset 4 ┼ unused 4
//! ```
//! The client moves the head, the server the tail, whichever way packets go; both run over
//! 0 to 65,535 and around. The other side writes all of this at any time: each word is read once.

use crate::control::{MAX_RING_LOG2, ring_bytes};
use crate::region::Region;
use core::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

/// What stands first in a ring.
const COOKIE: u32 = 0x03e3_1f20;
/// Flag of a ring: who takes packets out of it polls, and wants no bell.
const NO_BELL: u16 = 1;
/// Flag of a descriptor: the packet goes on in the next.
pub(crate) const MORE: u16 = 1;

const HEAD: usize = 6;
const FLAGS: usize = 4;
const TAIL: usize = 64;
const SLOTS: usize = 128;

/// All memory that a connection shares, by region.
pub(crate) type Memory = Arc<[Region]>;

/// One descriptor, as it was when it was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Descriptor {
    pub(crate) flags: u16,
    pub(crate) region: u16,
    pub(crate) length: u32,
    pub(crate) offset: u32,
}

/// A ring inside a region.
pub(crate) struct Ring {
    memory: Memory,
    start: NonNull<u8>,
    mask: u16,
}

// SAFETY: the memory lives as long as the ring, and is accessed by atomics.
unsafe impl Send for Ring {}

impl Ring {
    /// The ring at that place, if it is inside its region.
    pub(crate) fn at(memory: &Memory, region: u16, offset: u32, log2: u8) -> Option<Self> {
        if log2 > MAX_RING_LOG2 || !offset.is_multiple_of(8) {
            return None;
        }
        let bytes = u32::try_from(ring_bytes(log2)).ok()?;
        let start = memory.get(usize::from(region))?.part(offset, bytes)?;
        let mask = (1 << log2) - 1;
        Some(Self { memory: Arc::clone(memory), start: NonNull::new(start)?, mask })
    }

    /// Makes it an empty one.
    pub(crate) fn clear(&self) {
        self.cookie().store(COOKIE, Ordering::Relaxed);
        self.flags().store(0, Ordering::Relaxed);
        self.head().store(0, Ordering::Relaxed);
        self.tail().store(0, Ordering::Release);
    }

    /// Whether somebody made a ring of it.
    pub(crate) fn has_cookie(&self) -> bool {
        self.cookie().load(Ordering::Acquire) == COOKIE
    }

    /// Packets it holds.
    #[inline]
    pub(crate) fn size(&self) -> u16 {
        self.mask + 1
    }

    /// Which of its places a slot is: slots are counted on and on.
    #[inline]
    pub(crate) fn place_of(&self, slot: u16) -> usize {
        usize::from(slot & self.mask)
    }

    #[inline]
    fn cookie(&self) -> &AtomicU32 {
        // SAFETY: `at` found 128 bytes and the slots inside the region, 8-aligned; the memory is
        // kept. The others write it too, which is what atomics are for.
        unsafe { self.start.cast().as_ref() }
    }

    #[inline]
    fn flags(&self) -> &AtomicU16 {
        // SAFETY: as in `cookie`.
        unsafe { self.start.byte_add(FLAGS).cast().as_ref() }
    }

    #[inline]
    pub(crate) fn head(&self) -> &AtomicU16 {
        // SAFETY: as in `cookie`.
        unsafe { self.start.byte_add(HEAD).cast().as_ref() }
    }

    #[inline]
    pub(crate) fn tail(&self) -> &AtomicU16 {
        // SAFETY: as in `cookie`.
        unsafe { self.start.byte_add(TAIL).cast().as_ref() }
    }

    /// Says that we poll.
    pub(crate) fn want_no_bell(&self) {
        self.flags().store(NO_BELL, Ordering::Relaxed);
    }

    /// Says that we rest. Who says so looks once more before he does.
    pub(crate) fn want_bell(&self) {
        self.flags().store(0, Ordering::Relaxed);
        // As the other side does it between its packets and its look at this.
        core::sync::atomic::fence(Ordering::SeqCst);
    }

    /// Whether who takes packets out of it must be told.
    #[inline]
    pub(crate) fn wants_bell(&self) -> bool {
        // The packets are there before we look: a fence between their being told and this.
        core::sync::atomic::fence(Ordering::SeqCst);
        self.flags().load(Ordering::Relaxed) & NO_BELL == 0
    }

    #[inline]
    fn words(&self, slot: u16) -> &[AtomicU64; 2] {
        let at = SLOTS + self.place_of(slot) * 16;
        // SAFETY: as in `cookie`; the slot is below the ring's size.
        unsafe { self.start.byte_add(at).cast().as_ref() }
    }

    /// Reads a slot's descriptor, each of its words once.
    #[inline]
    pub(crate) fn read(&self, slot: u16) -> Descriptor {
        let [first, second] = self.words(slot);
        let first = first.load(Ordering::Relaxed).to_ne_bytes();
        let second = second.load(Ordering::Relaxed).to_ne_bytes();
        Descriptor {
            flags: u16::from_ne_bytes([first[0], first[1]]),
            region: u16::from_ne_bytes([first[2], first[3]]),
            length: u32::from_ne_bytes([first[4], first[5], first[6], first[7]]),
            offset: u32::from_ne_bytes([second[0], second[1], second[2], second[3]]),
        }
    }

    /// Writes a slot's descriptor.
    #[inline]
    pub(crate) fn write(&self, slot: u16, of: Descriptor) {
        let [first, second] = self.words(slot);
        let (flags, region) = (of.flags.to_ne_bytes(), of.region.to_ne_bytes());
        let (length, offset) = (of.length.to_ne_bytes(), of.offset.to_ne_bytes());
        let [l0, l1, l2, l3] = length;
        let word = [flags[0], flags[1], region[0], region[1], l0, l1, l2, l3];
        first.store(u64::from_ne_bytes(word), Ordering::Relaxed);
        let [o0, o1, o2, o3] = offset;
        second.store(u64::from_ne_bytes([o0, o1, o2, o3, 0, 0, 0, 0]), Ordering::Relaxed);
    }

    /// Where a descriptor's bytes are, if they are inside a region.
    #[inline]
    pub(crate) fn bytes_of(&self, descriptor: Descriptor) -> Option<*mut u8> {
        let region = self.memory.get(usize::from(descriptor.region))?;
        region.part(descriptor.offset, descriptor.length)
    }
}

/// Who has the buffers that a ring's descriptors name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Buffers {
    /// The peer, wherever it says.
    Peers,
    /// We, each slot its own.
    Ours {
        /// Where the first is.
        offset: u32,
        /// Bytes of each.
        bytes: u16,
        /// Bytes from one to the next.
        stride: u32,
    },
}

impl Buffers {
    /// The bytes that a slot's descriptor is to be believed for: of our own buffers its length
    /// alone is the other side's to say.
    #[inline]
    pub(crate) fn believe(&self, ring: &Ring, slot: u16, told: Descriptor) -> Option<Descriptor> {
        match *self {
            Self::Peers => Some(told),
            Self::Ours { bytes, .. } if told.length > u32::from(bytes) => None,
            Self::Ours { .. } => Some(Descriptor {
                flags: told.flags,
                length: told.length,
                ..self.whole(ring, slot)?
            }),
        }
    }

    /// A slot's whole buffer, of ours.
    #[inline]
    pub(crate) fn whole(&self, ring: &Ring, slot: u16) -> Option<Descriptor> {
        let Self::Ours { offset, bytes, stride } = *self else { return None };
        let index = ring.place_of(slot) as u32;
        let offset = offset.checked_add(index * stride)?;
        Some(Descriptor { flags: 0, region: 0, length: bytes.into(), offset })
    }
}

/// A ring said what cannot be: its peer is not to be dealt with any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lie;
