//! Packets into a ring.
//!
//! ```text
//!  client   its own buffer of each slot       ▸ the descriptor says where it is and how long
//!  server   the buffer that the client names  ▸ checked, filled, its length told
//! ```
//! A packet longer than a buffer goes into several. A slot whose buffer cannot be is passed on
//! empty: the packet goes into those behind it.

use crate::counts::{Counts, Worked};
use crate::queue::Outgoing;
use crate::ring::{Buffers, Descriptor, Lie, MORE, Ring};
use packet::{Burst, PacketBuf, PacketCache};
use std::sync::atomic::Ordering;

/// The end of a ring at which packets go in, copied.
pub(crate) struct Copying {
    ring: Ring,
    buffers: Buffers,
    /// The next slot to fill.
    next: u16,
    /// The next slot to be emptied, when we last looked.
    emptied: u16,
}

/// How a packet fared.
enum Put {
    /// It took so many slots.
    Slots(u16),
    /// There is no room now.
    NoRoom,
    /// There never will be.
    Never,
}

impl Copying {
    /// An end that begins with an empty ring.
    pub(crate) fn new(ring: Ring, buffers: Buffers) -> Self {
        match buffers {
            Buffers::Peers => ring.tail().store(0, Ordering::Release),
            Buffers::Ours { .. } => ring.head().store(0, Ordering::Release),
        }
        Self { ring, buffers, next: 0, emptied: 0 }
    }

    /// Slots that may be filled.
    #[inline]
    fn free(&mut self) -> Result<u16, Lie> {
        let size = self.ring.size();
        match self.buffers {
            Buffers::Peers => {
                let handed = self.ring.head().load(Ordering::Acquire).wrapping_sub(self.next);
                if handed > size { Err(Lie) } else { Ok(handed) }
            }
            Buffers::Ours { .. } => {
                let tail = self.ring.tail().load(Ordering::Acquire);
                let filled = self.next.wrapping_sub(self.emptied);
                if tail.wrapping_sub(self.emptied) > filled {
                    return Err(Lie);
                }
                self.emptied = tail;
                Ok(size - self.next.wrapping_sub(tail))
            }
        }
    }

    /// Copies a packet into slots from the first on, if it fits into so many.
    #[inline]
    fn put(&self, first: u16, packet: &PacketBuf, free: u16, worked: &mut Worked) -> Put {
        let mut rest = packet.bytes();
        // The router makes no chains.
        if packet.mbuf().nb_segs != 1 || rest.is_empty() {
            return Put::Never;
        }
        let (mut used, mut wrong) = (0, 0);
        while used < free {
            let slot = first.wrapping_add(used);
            let (found, start) = self.buffer(slot);
            let room = start.map_or(0, |_| (found.length as usize).min(rest.len()));
            let (now, later) = rest.split_at(room);
            if let Some(start) = start {
                // SAFETY: so many bytes of a region that is mapped; a packet is never in one.
                unsafe { core::ptr::copy_nonoverlapping(now.as_ptr(), start, now.len()) };
            }
            wrong += u64::from(start.is_none());
            let flags = if later.is_empty() { 0 } else { MORE };
            self.ring.write(slot, Descriptor { flags, length: room as u32, ..found });
            rest = later;
            used += 1;
            if rest.is_empty() {
                worked.wrong += wrong;
                return Put::Slots(used);
            }
        }
        if free == self.ring.size() { Put::Never } else { Put::NoRoom }
    }

    /// The buffer of a slot, read once: where it is, if it may be used.
    #[inline]
    fn buffer(&self, slot: u16) -> (Descriptor, Option<*mut u8>) {
        let found = match self.buffers.whole(&self.ring, slot) {
            Some(ours) => ours,
            None => self.ring.read(slot),
        };
        (found, self.ring.bytes_of(found))
    }
}

impl Outgoing for Copying {
    fn transmit(
        &mut self,
        cache: &mut dyn PacketCache,
        packets: &mut Burst<'_>,
        counts: &Counts,
    ) -> Result<bool, Lie> {
        let mut free = self.free()?;
        // Not in place: what is written there would wait for the ring's lines, which the other side
        // has, and the next packet for that.
        let (mut next, mut worked, mut done) = (self.next, Worked::default(), 0);
        for packet in packets.iter() {
            match self.put(next, packet, free, &mut worked) {
                Put::Slots(slots) => {
                    next = next.wrapping_add(slots);
                    free -= slots;
                    worked.packets += 1;
                    worked.bytes += packet.bytes().len() as u64;
                }
                Put::NoRoom => break,
                Put::Never => worked.errors += 1,
            }
            done += 1;
        }
        cache.release(packets.take_front(done));
        counts.note(&worked);
        if next == self.next {
            return Ok(false);
        }
        self.next = next;
        match self.buffers {
            Buffers::Peers => self.ring.tail().store(next, Ordering::Release),
            Buffers::Ours { .. } => self.ring.head().store(next, Ordering::Release),
        }
        Ok(self.ring.wants_bell())
    }
}
