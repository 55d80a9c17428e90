//! Packets into a ring, handed over as they lie.
//!
//! ```text
//!            emptied ──▶   read by the server       filled ──▶
//!  ──────────┴────────────────┴─────────────────────┴───────
//!            buffers that are free again               packets, one a slot
//! ```
//! A packet that lies elsewhere is copied into a buffer of the memory, or into several.

use super::{REGION, SharedBuffers};
use crate::counts::{Counts, Worked};
use crate::queue::Outgoing;
use crate::ring::{Descriptor, Lie, MORE, Ring};
use packet::{Burst, PacketBuf, PacketCache};
use std::sync::atomic::Ordering;

/// The end of a ring at which packets go in and stay ours until they were read.
pub(crate) struct Handing {
    ring: Ring,
    buffers: SharedBuffers,
    cache: Box<dyn PacketCache>,
    /// By slot: what the server may be reading.
    slots: Box<[Option<PacketBuf>]>,
    /// What goes back to the buffers, and what goes back to who sent it.
    emptied_buffers: Vec<PacketBuf>,
    copied: Vec<PacketBuf>,
    /// Buffers for what is copied.
    pieces: Vec<PacketBuf>,
    /// The next slot to fill.
    next: u16,
    /// The next slot to be emptied, when we last looked.
    emptied: u16,
}

impl Handing {
    /// An end that begins with an empty ring.
    pub(crate) fn new(ring: Ring, buffers: SharedBuffers) -> Self {
        ring.head().store(0, Ordering::Release);
        let slots = (0..ring.size()).map(|_| None).collect();
        let cache = buffers.cache();
        let (emptied_buffers, copied, pieces) = (Vec::new(), Vec::new(), Vec::new());
        let (next, emptied) = (0, 0);
        Self { ring, buffers, cache, slots, emptied_buffers, copied, pieces, next, emptied }
    }

    /// Frees what was read, and says how many slots may be filled.
    fn take_back(&mut self) -> Result<u16, Lie> {
        let tail = self.ring.tail().load(Ordering::Acquire);
        if tail.wrapping_sub(self.emptied) > self.next.wrapping_sub(self.emptied) {
            return Err(Lie);
        }
        while self.emptied != tail {
            let read = self.slots[self.ring.place_of(self.emptied)].take();
            self.emptied_buffers.extend(read);
            self.emptied = self.emptied.wrapping_add(1);
        }
        if !self.emptied_buffers.is_empty() {
            self.cache.release(Burst::of(&mut self.emptied_buffers));
        }
        Ok(self.ring.size() - self.next.wrapping_sub(tail))
    }

    /// Puts a packet that lies in the memory into a slot.
    #[inline]
    fn hand(&mut self, slot: u16, packet: PacketBuf, offset: u32, flags: u16) {
        let length = packet.bytes().len() as u32;
        self.ring.write(slot, Descriptor { flags, region: REGION, length, offset });
        self.slots[self.ring.place_of(slot)] = Some(packet);
    }

    /// Copies bytes into the memory and hands that over; false where there are no buffers.
    fn hand_copy(&mut self, first: u16, bytes: &[u8], count: usize) -> bool {
        if !self.cache.allocate(count, &mut self.pieces) {
            return false;
        }
        let mut rest = bytes.chunks(usize::from(self.buffers.frame_bytes())).peekable();
        let mut slot = first;
        while let (Some(now), Some(mut piece)) = (rest.next(), self.pieces.pop()) {
            piece.fill(now);
            let flags = if rest.peek().is_some() { MORE } else { 0 };
            let offset = self.buffers.offset_of(&piece).unwrap_or_default();
            self.hand(slot, piece, offset, flags);
            slot = slot.wrapping_add(1);
        }
        true
    }
}

impl Outgoing for Handing {
    fn transmit(
        &mut self,
        cache: &mut dyn PacketCache,
        packets: &mut Burst<'_>,
        counts: &Counts,
    ) -> Result<bool, Lie> {
        let mut free = self.take_back()?;
        // Not in place: what is written there would wait for the ring's lines, which the other side
        // has, and the next packet for that.
        let (mut next, mut worked) = (self.next, Worked::default());
        while let Some(packet) = packets.first() {
            let length = packet.bytes().len();
            let slots = match self.buffers.offset_of(packet) {
                Some(_) => 1,
                None => length.div_ceil(usize::from(self.buffers.frame_bytes())),
            };
            // The router makes no chains.
            if packet.mbuf().nb_segs != 1 || length == 0 || slots > usize::from(self.ring.size()) {
                worked.errors += 1;
                let its = if self.buffers.has(packet) {
                    &mut self.emptied_buffers
                } else {
                    &mut self.copied
                };
                its.extend(packets.pop());
                continue;
            }
            if slots > usize::from(free) {
                break;
            }
            match self.buffers.offset_of(packet) {
                Some(offset) => {
                    let Some(packet) = packets.pop() else { break };
                    self.hand(next, packet, offset, 0);
                }
                None => {
                    if !self.hand_copy(next, packet.bytes(), slots) {
                        counts.add(&counts.no_buffers, 1);
                        break;
                    }
                    self.copied.extend(packets.pop());
                }
            }
            next = next.wrapping_add(slots as u16);
            free -= slots as u16;
            worked.packets += 1;
            worked.bytes += length as u64;
        }
        if !self.copied.is_empty() {
            cache.release(Burst::of(&mut self.copied));
        }
        counts.note(&worked);
        if next == self.next {
            return Ok(false);
        }
        self.next = next;
        self.ring.head().store(next, Ordering::Release);
        Ok(self.ring.wants_bell())
    }
}

impl Drop for Handing {
    fn drop(&mut self) {
        self.emptied_buffers.extend(self.slots.iter_mut().filter_map(Option::take));
        self.cache.release(Burst::of(&mut self.emptied_buffers));
    }
}
