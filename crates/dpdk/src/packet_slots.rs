//! What the kernel says of each frame of an af_packet port and the driver of DPDK 22.11 does not
//! hand on: when it took the frame, and which tag it took off it.
//!
//! ```text
//!  receive ring, mapped by the driver    slot: status · lengths · offsets · seconds · nanoseconds · tag · its type · frame
//!    taken ─▶ next ──────▶ not filled yet      read here before the burst: the burst gives the slot back
//! ```
//! The driver and this reader start at the first slot, and both go on by as many slots as a burst
//! has packets.
//!
//! The times are those that later drivers give by themselves: CLOCK_REALTIME, when the frame was
//! queued at the socket. A tag the kernel takes off every frame, on the way to a packet socket, and
//! the driver puts it back as one of customers (0x8100) whatever it was (IEEE 802.1ad: 0x88a8).

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use packet::PacketBuf;

use crate::receive_times::ReceiveTimes;

/// Set by the kernel when a slot is filled (`linux/if_packet.h`).
const STATUS_USER: u32 = 1;
/// The slot has a tag that was taken off, and its type.
const STATUS_TAG: u32 = 1 << 4 | 1 << 6;
/// 32-bit words of a slot's header (`struct tpacket2_hdr`).
const STATUS_WORD: usize = 0;
const SECONDS_WORD: usize = 4;
const NANOSECONDS_WORD: usize = 5;
const TAG_WORD: usize = 6;
/// The type that the driver gives to all tags.
const CUSTOMER_TAG: u16 = 0x8100;
/// Where a frame has the type of its first tag.
const TYPE: core::ops::Range<usize> = 12..14;
/// Most packets of a burst that are looked at.
pub(crate) const BURST: usize = 64;

/// Size of a ring in slots.
#[derive(Clone, Copy)]
pub(crate) struct RingShape {
    pub(crate) slots: u32,
    pub(crate) slot_bytes: u32,
}

/// What is to be known of a frame that waits.
#[derive(Clone, Copy, Default)]
pub(crate) struct Slot {
    time_ns: u64,
    /// The type of its first tag where that is another than the driver will say; else 0.
    tag_type: u16,
}

/// The slots of one receive ring. To be used while the port runs.
pub(crate) struct PacketSlots {
    ring: usize,
    shape: RingShape,
    next: AtomicU32,
}

impl PacketSlots {
    /// Of the ring of the packet socket with this inode; none if the process has not mapped that
    /// much of it.
    pub(crate) fn of(inode: u64, shape: RingShape) -> Option<Self> {
        let maps = fs::read_to_string("/proc/self/maps").ok()?;
        let (start, bytes) = mapping(&maps, inode)?;
        // The send ring lies behind it, as large.
        let wanted = 2 * shape.slots as usize * shape.slot_bytes as usize;
        let next = AtomicU32::new(0);
        (shape.slots > 0 && bytes >= wanted).then_some(Self { ring: start, shape, next })
    }

    /// Looks at the frames that wait, at most so many: how many there are.
    ///
    /// # Safety
    /// The port runs and nobody else receives from it.
    #[inline]
    pub(crate) unsafe fn read(&self, slots: &mut [Slot]) -> usize {
        let mut number = self.next.load(Ordering::Relaxed);
        for (count, slot) in slots.iter_mut().enumerate() {
            let at = self.ring + number as usize * self.shape.slot_bytes as usize;
            let header = core::ptr::with_exposed_provenance::<u32>(at);
            // SAFETY: a slot of the ring, which is mapped while the port runs; slots begin at
            // multiples of 1 KiB.
            let word = |index: usize| unsafe { header.add(index).read_volatile() };
            let status = word(STATUS_WORD);
            if status & STATUS_USER == 0 {
                return count;
            }
            // The kernel writes all else before the status.
            fence(Ordering::Acquire);
            let [_, _, low, high] = word(TAG_WORD).to_ne_bytes();
            let tag_type = u16::from_ne_bytes([low, high]);
            let differs = status & STATUS_TAG == STATUS_TAG && tag_type != CUSTOMER_TAG;
            *slot = Slot {
                time_ns: u64::from(word(SECONDS_WORD)) * 1_000_000_000
                    + u64::from(word(NANOSECONDS_WORD)),
                tag_type: if differs { tag_type } else { 0 },
            };
            number = (number + 1) % self.shape.slots;
        }
        slots.len()
    }

    /// Puts what was read into the packets of the burst that took them.
    #[inline]
    pub(crate) fn put(
        &self,
        slots: &[Slot],
        packets: &mut [PacketBuf],
        times: Option<ReceiveTimes>,
    ) {
        let next = self.next.load(Ordering::Relaxed) + packets.len() as u32;
        self.next.store(next % self.shape.slots, Ordering::Relaxed);
        for (packet, slot) in packets.iter_mut().zip(slots) {
            if let Some(times) = times {
                times.put(packet, slot.time_ns);
            }
            if slot.tag_type != 0
                && let Some(of_tag) = packet.bytes_mut().get_mut(TYPE)
                && *of_tag == CUSTOMER_TAG.to_be_bytes()
            {
                of_tag.copy_from_slice(&slot.tag_type.to_be_bytes());
            }
        }
    }
}

/// Start and size of the memory of a socket that the process has mapped.
fn mapping(maps: &str, inode: u64) -> Option<(usize, usize)> {
    let name = format!("socket:[{inode}]");
    let line = maps.lines().find(|line| line.split_whitespace().last() == Some(&name))?;
    let (start, end) = line.split_whitespace().next()?.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    let (start, end) = (number(start)?, number(end)?);
    Some((start, end.checked_sub(start)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::{HeapPool, Pool};

    #[test]
    fn the_memory_of_a_socket_is_found_among_all() {
        let maps =
            "55d0-55d8 r--p 0000 08:01 12 /bin/x\n7f00-8000 rw-s 0000 00:08 34 socket:[34]\n";
        assert_eq!(mapping(maps, 34), Some((0x7f00, 0x100)));
        assert_eq!(mapping(maps, 3), None);
    }

    #[test]
    fn times_and_tags_follow_the_packets_around_the_ring() {
        // Slots of 32 octets; the status says which are filled.
        let mut ring = vec![0u32; 8 * 4];
        let into = ReceiveTimes::at(96, 1 << 23);
        let slots = PacketSlots {
            ring: ring.as_mut_ptr().expose_provenance(),
            shape: RingShape { slots: 4, slot_bytes: 32 },
            next: AtomicU32::new(0),
        };
        let pool = HeapPool::new(8, 2_048).unwrap();
        let mut cache = pool.cache();
        let mut tagged = [0; 60];
        tagged[TYPE].copy_from_slice(&CUSTOMER_TAG.to_be_bytes());
        let (mut second, mut slot) = (100_u32, 0);
        for filled in [3, 0, 4, 2] {
            for _ in 0..filled {
                // Every other frame had a tag of a service.
                let service = second.is_multiple_of(2);
                ring[slot * 8 + STATUS_WORD] = STATUS_USER | if service { STATUS_TAG } else { 0 };
                ring[slot * 8 + SECONDS_WORD] = second;
                ring[slot * 8 + NANOSECONDS_WORD] = 7;
                let [low, high] = 0x88a8_u16.to_ne_bytes();
                ring[slot * 8 + TAG_WORD] = u32::from_ne_bytes([5, 0, low, high]);
                (second, slot) = (second + 1, (slot + 1) % 4);
            }
            let mut read = [Slot::default(); 8];
            // SAFETY: the ring lives; nobody else reads it.
            assert_eq!(unsafe { slots.read(&mut read[..4]) }, filled);
            let mut packets: Vec<_> =
                (0..filled).map(|_| cache.copy_of(&tagged).unwrap()).collect();
            slots.put(&read, &mut packets, Some(into));
            let first = u64::from(second) - filled as u64;
            for (number, packet) in packets.into_iter().enumerate() {
                let seconds = first + number as u64;
                assert_eq!(into.of(&packet), Some(seconds * 1_000_000_000 + 7));
                let tag = if seconds.is_multiple_of(2) { [0x88, 0xa8] } else { [0x81, 0] };
                assert_eq!(packet.bytes()[TYPE], tag);
                cache.release_one(packet);
            }
            // The driver gives them back.
            ring.iter_mut().step_by(8).for_each(|status| *status = 0);
        }
    }
}
