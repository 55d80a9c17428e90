//! Packets out of a ring.
//!
//! ```text
//!            taken ──▶          told by the sender
//!  ──────────┴────────────────┴──────────────
//!            descriptors of a burst: read, checked, fetched ▸ copied into buffers of ours
//! ```

use crate::bell::drain;
use crate::counts::{Counts, Worked};
use crate::queue::Incoming;
use crate::ring::{Buffers, Descriptor, Lie, MORE, Ring};
use core::ops::Deref;
use packet::{Burst, PacketBuf, PacketCache, prefetch_read};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::Ordering;

/// Descriptors looked at in one go, so that their packets are on the way before they are needed.
const AHEAD: usize = 32;

/// A ring out of which we take packets, and the bell that the other side rings while we rest. It
/// has this eventfd, too: who makes it ring for nothing keeps a worker awake, as its packets would.
pub(crate) struct Rung {
    ring: Ring,
    bell: OwnedFd,
}

impl Rung {
    pub(crate) fn new(ring: Ring, bell: OwnedFd) -> Self {
        ring.want_no_bell();
        Self { ring, bell }
    }

    /// From here on packets ring what this says.
    pub(crate) fn before_rest(&self) -> RawFd {
        self.ring.want_bell();
        self.bell.as_raw_fd()
    }

    /// And no longer.
    pub(crate) fn after_rest(&self) {
        self.ring.want_no_bell();
        drain(&self.bell);
    }
}

impl Deref for Rung {
    type Target = Ring;

    #[inline]
    fn deref(&self) -> &Ring {
        &self.ring
    }
}

/// The end of a ring at which packets come out, copied into buffers of their own.
pub(crate) struct Copying {
    ring: Rung,
    buffers: Buffers,
    /// The next slot to take.
    next: u16,
}

/// A packet that comes out of several slots.
#[derive(Default)]
struct Partial {
    begun: bool,
    wrong: bool,
}

impl Copying {
    /// An end that begins with an empty ring.
    pub(crate) fn new(ring: Ring, buffers: Buffers, bell: OwnedFd) -> Self {
        let mut copying = Self { ring: Rung::new(ring, bell), buffers, next: 0 };
        match copying.buffers {
            Buffers::Peers => copying.ring.tail().store(0, Ordering::Release),
            Buffers::Ours { .. } => copying.hand_out(0, copying.ring.size()),
        }
        copying
    }

    /// Hands buffers of ours out, those of so many slots from this one on.
    fn hand_out(&mut self, first: u16, count: u16) {
        for slot in (0..count).map(|n| first.wrapping_add(n)) {
            if let Some(whole) = self.buffers.whole(&self.ring, slot) {
                self.ring.write(slot, whole);
            }
        }
        self.ring.head().store(first.wrapping_add(count), Ordering::Release);
    }

    /// Slots that were filled and not taken.
    #[inline]
    fn waiting(&self) -> Result<u16, Lie> {
        let told = match self.buffers {
            Buffers::Peers => self.ring.head(),
            Buffers::Ours { .. } => self.ring.tail(),
        };
        // All slots but those that wait are the other side's, so that the most is the whole ring.
        let waiting = told.load(Ordering::Acquire).wrapping_sub(self.next);
        if waiting > self.ring.size() { Err(Lie) } else { Ok(waiting) }
    }

    /// Fills packets from `done` on; says how many slots that took.
    fn take(
        &self,
        waiting: u16,
        packets: &mut [PacketBuf],
        done: &mut usize,
        worked: &mut Worked,
    ) -> u16 {
        let (mut taken, mut partial) = (0, Partial::default());
        while taken < waiting && *done < packets.len() {
            let mut read = [(None, 0); AHEAD];
            let count = usize::from(waiting - taken).min(AHEAD);
            for (n, place) in read[..count].iter_mut().enumerate() {
                let slot = self.next.wrapping_add(taken).wrapping_add(n as u16);
                *place = self.look(slot);
            }
            for &(bytes, flags) in &read[..count] {
                if *done == packets.len() {
                    break;
                }
                taken += 1;
                let more = flags & MORE != 0;
                if let Some((start, length @ 1..)) = bytes
                    && !more
                    && !partial.begun
                    // SAFETY: so many bytes of a region that is mapped, and no packet's.
                    && unsafe { packets[*done].fill_from(start, length) }
                {
                    worked.packets += 1;
                    worked.bytes += length as u64;
                    *done += 1;
                    continue;
                }
                let ended = !more || taken == waiting;
                // One that goes on where there is nothing yet was not told whole.
                partial.wrong |= more && ended;
                partial.add(bytes, &mut packets[*done]);
                if !ended {
                    continue;
                }
                let packet = &mut packets[*done];
                if partial.wrong || packet.bytes().is_empty() {
                    worked.wrong += 1;
                    packet.fill(&[]);
                    // A burst ends after so many: they cost time as well.
                    if worked.wrong as usize >= packets.len() {
                        return taken;
                    }
                } else {
                    worked.packets += 1;
                    worked.bytes += packet.bytes().len() as u64;
                    *done += 1;
                }
                partial = Partial::default();
            }
        }
        taken
    }

    /// Reads a slot once, and has its bytes fetched: where they are, if they may be used.
    #[inline]
    fn look(&self, slot: u16) -> (Option<(*const u8, usize)>, u16) {
        let told = self.ring.read(slot);
        let believed = self.buffers.believe(&self.ring, slot, told);
        let place = believed.and_then(|found| Some((self.ring.bytes_of(found)?, found)));
        let bytes = place.map(|(start, Descriptor { length, .. })| {
            prefetch_read(start);
            // A line that is not needed is taken away from who writes it next.
            if length > 64 {
                prefetch_read(start.wrapping_add(64));
            }
            (start.cast_const(), length as usize)
        });
        (bytes, told.flags)
    }

    fn give_back(&mut self, taken: u16) {
        match self.buffers {
            Buffers::Peers => {
                self.next = self.next.wrapping_add(taken);
                self.ring.tail().store(self.next, Ordering::Release);
            }
            Buffers::Ours { .. } => {
                let first = self.next.wrapping_add(self.ring.size());
                self.next = self.next.wrapping_add(taken);
                self.hand_out(first, taken);
            }
        }
    }
}

impl Incoming for Copying {
    fn receive(
        &mut self,
        cache: &mut dyn PacketCache,
        most: usize,
        into: &mut Vec<PacketBuf>,
        counts: &Counts,
    ) -> Result<(), Lie> {
        let waiting = self.waiting()?;
        let wanted = most.min(usize::from(waiting));
        if wanted == 0 {
            return Ok(());
        }
        let first = into.len();
        let room = allocate(cache, wanted, into);
        counts.add(&counts.no_buffers, u64::from(room == 0));
        let mut worked = Worked::default();
        let mut done = first;
        let taken = self.take(waiting, &mut into[..first + room], &mut done, &mut worked);
        let mut unused = into.split_off(done);
        if !unused.is_empty() {
            cache.release(Burst::of(&mut unused));
        }
        self.give_back(taken);
        counts.note(&worked);
        Ok(())
    }

    fn before_rest(&self) -> Option<RawFd> {
        Some(self.ring.before_rest())
    }

    fn after_rest(&self) {
        self.ring.after_rest();
    }
}

impl Partial {
    /// One slot's bytes, behind those of the slots before.
    #[inline]
    fn add(&mut self, bytes: Option<(*const u8, usize)>, packet: &mut PacketBuf) {
        if !core::mem::replace(&mut self.begun, true) {
            packet.fill(&[]);
        }
        let Some((start, length)) = bytes else {
            self.wrong = true;
            return;
        };
        match packet.append(length) {
            // SAFETY: so many bytes of a region that is mapped. The other side may write them
            // meanwhile: they are copied, each once, and looked at in the copy alone.
            Some(room) => unsafe {
                core::ptr::copy_nonoverlapping(start, room.as_mut_ptr(), length);
            },
            None => self.wrong = true,
        }
    }
}

/// As many buffers as there are, up to so many.
pub(crate) fn allocate(
    cache: &mut dyn PacketCache,
    wanted: usize,
    into: &mut Vec<PacketBuf>,
) -> usize {
    let mut count = wanted;
    while count != 0 && !cache.allocate(count, into) {
        count /= 2;
    }
    count
}
