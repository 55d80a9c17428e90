//! Packets out of a ring whose slots have buffers of ours.
//!
//! ```text
//!            taken ──▶     told by the server        lent ──▶
//!  ──────────┴───────────────┴──────────────────────┴───────
//!            full buffers: go on as packets           empty buffers, one a slot
//! ```
//! Where no buffer is free, slots behind `lent` have none until one is.

use super::{REGION, SharedBuffers};
use crate::counts::{Counts, Worked};
use crate::queue::Incoming;
use crate::receive::{Rung, allocate};
use crate::ring::{Descriptor, Lie, MORE, Ring};
use packet::{Burst, PacketBuf, PacketCache, prefetch_read, prefetch_write};
use std::os::fd::{OwnedFd, RawFd};
use std::sync::atomic::Ordering;

/// Descriptors looked at before their packets are.
const AHEAD: u16 = 32;

/// The end of a ring at which packets come out, by buffers that were lent.
pub(crate) struct Lending {
    ring: Rung,
    buffers: SharedBuffers,
    cache: Box<dyn PacketCache>,
    /// By slot; none of one that has no buffer.
    slots: Box<[Option<PacketBuf>]>,
    /// Buffers that wait for a slot.
    fresh: Vec<PacketBuf>,
    /// The next slot to take.
    next: u16,
    /// Behind the last slot that the server may fill.
    lent: u16,
}

impl Lending {
    /// An end of an empty ring.
    pub(crate) fn new(ring: Ring, buffers: SharedBuffers, bell: OwnedFd) -> Self {
        let slots = (0..ring.size()).map(|_| None).collect();
        let (cache, fresh) = (buffers.cache(), Vec::new());
        let ring = Rung::new(ring, bell);
        let mut lending = Self { ring, buffers, cache, slots, fresh, next: 0, lent: 0 };
        lending.lend();
        lending
    }

    /// Gives a buffer to each slot that has none, as far as there are some.
    fn lend(&mut self) {
        let end = self.next.wrapping_add(self.ring.size());
        let missing = usize::from(end.wrapping_sub(self.lent));
        if missing == 0 {
            return;
        }
        if self.fresh.len() < missing {
            allocate(&mut *self.cache, missing - self.fresh.len(), &mut self.fresh);
        }
        let length = u32::from(self.buffers.frame_bytes());
        let mut lent = self.lent;
        while lent != end {
            let place = &mut self.slots[self.ring.place_of(lent)];
            if place.is_none() {
                *place = self.fresh.pop();
            }
            let offset = place.as_ref().and_then(|packet| self.buffers.offset_of(packet));
            let Some(offset) = offset else { break };
            let whole = Descriptor { flags: 0, region: REGION, length, offset };
            self.ring.write(lent, whole);
            lent = lent.wrapping_add(1);
        }
        if lent != self.lent {
            self.lent = lent;
            self.ring.head().store(lent, Ordering::Release);
        }
    }

    /// Slots that were filled and not taken.
    #[inline]
    fn waiting(&self) -> Result<u16, Lie> {
        let waiting = self.ring.tail().load(Ordering::Acquire).wrapping_sub(self.next);
        if waiting > self.lent.wrapping_sub(self.next) { Err(Lie) } else { Ok(waiting) }
    }

    /// Has what so many slots hold brought here: headers to be written, packets to be read.
    #[inline]
    fn fetch(&self, first: u16, count: u16) {
        for slot in (0..count).map(|n| first.wrapping_add(n)) {
            if let Some(packet) = &self.slots[self.ring.place_of(slot)] {
                prefetch_write(packet.as_ptr());
            }
            // Whatever the server wrote there: it is looked at by nobody.
            if let Some(bytes) = self.buffers.at(self.ring.read(slot).offset) {
                prefetch_read(bytes);
            }
        }
    }

    /// Copies a packet out of several of the `waiting` slots from this one on; how many it took,
    /// and whether the packet was told whole and fits.
    #[cold]
    fn gather(&self, first: u16, waiting: u16, into: &mut PacketBuf) -> (u16, bool) {
        let (mut taken, mut is_whole, mut fits) = (0, false, true);
        while taken < waiting && !is_whole {
            let slot = first.wrapping_add(taken);
            let told = self.ring.read(slot);
            taken += 1;
            is_whole = told.flags & MORE == 0;
            let length = told.length as usize;
            let piece = self.slots[self.ring.place_of(slot)].as_ref();
            let piece = piece.filter(|piece| length <= piece.capacity_bytes());
            let (Some(piece), Some(room)) = (piece, into.append(length)) else {
                fits = false;
                continue;
            };
            // SAFETY: an empty buffer of ours with so many bytes behind where a packet in it would
            // begin, and another. The other side may write them meanwhile.
            unsafe {
                core::ptr::copy_nonoverlapping(piece.start(), room.as_mut_ptr(), length);
            }
        }
        (taken, is_whole && fits && !into.bytes().is_empty())
    }
}

impl Incoming for Lending {
    fn receive(
        &mut self,
        cache: &mut dyn PacketCache,
        most: usize,
        into: &mut Vec<PacketBuf>,
        counts: &Counts,
    ) -> Result<(), Lie> {
        let waiting = self.waiting()?;
        let (first, mut worked, mut taken, mut fetched) = (into.len(), Worked::default(), 0, 0);
        // A burst ends after so many wrong ones, too: they cost time as well.
        while taken < waiting && into.len() - first + (worked.wrong as usize) < most {
            if taken >= fetched {
                fetched = waiting.min(taken + AHEAD);
                self.fetch(self.next.wrapping_add(taken), fetched - taken);
            }
            let slot = self.next.wrapping_add(taken);
            let told = self.ring.read(slot);
            let packet = if told.flags & MORE == 0 {
                taken += 1;
                let length = told.length as usize;
                let is_filled =
                    |packet: &mut PacketBuf| length != 0 && packet.append(length).is_some();
                self.slots[self.ring.place_of(slot)].take_if(is_filled)
            } else {
                let Some(mut packet) = cache.allocate_one() else {
                    counts.add(&counts.no_buffers, 1);
                    break;
                };
                let (slots, is_right) = self.gather(slot, waiting - taken, &mut packet);
                taken += slots;
                if is_right {
                    Some(packet)
                } else {
                    cache.release_one(packet);
                    None
                }
            };
            match packet {
                Some(packet) => {
                    worked.packets += 1;
                    worked.bytes += packet.bytes().len() as u64;
                    into.push(packet);
                }
                None => worked.wrong += 1,
            }
        }
        self.next = self.next.wrapping_add(taken);
        self.lend();
        let is_short = self.lent == self.next;
        counts.add(&counts.no_buffers, u64::from(is_short));
        counts.note(&worked);
        Ok(())
    }

    /// Nobody tells where slots have no buffers, which may come back unseen.
    fn before_rest(&self) -> Option<RawFd> {
        let is_lent = self.lent.wrapping_sub(self.next) == self.ring.size();
        is_lent.then(|| self.ring.before_rest())
    }

    fn after_rest(&self) {
        self.ring.after_rest();
    }
}

impl Drop for Lending {
    fn drop(&mut self) {
        self.fresh.extend(self.slots.iter_mut().filter_map(Option::take));
        self.cache.release(Burst::of(&mut self.fresh));
    }
}
