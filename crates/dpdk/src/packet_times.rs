//! When the kernel took each frame of an af_packet port, which the driver of DPDK 22.11 does not
//! hand on.
//!
//! ```text
//!  receive ring, mapped by the driver          slot: status · lengths · offsets · seconds · nanoseconds · frame
//!    taken ─▶ next ──────▶ not filled yet        read here before the burst: the burst gives the slot back
//! ```
//! The driver and this reader start at the first slot, and both go on by as many slots as a burst
//! has packets. The times are those that later drivers give by themselves: CLOCK_REALTIME, when the
//! frame was queued at the socket.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use packet::PacketBuf;

use crate::receive_times::ReceiveTimes;

/// Set by the kernel when a slot is filled (`linux/if_packet.h`).
const STATUS_USER: u32 = 1;
/// 32-bit words of a slot's header (`struct tpacket2_hdr`).
const STATUS_WORD: usize = 0;
const SECONDS_WORD: usize = 4;
const NANOSECONDS_WORD: usize = 5;
/// Most packets of a burst whose times are kept.
pub(crate) const BURST: usize = 64;

/// Size of a ring in slots.
#[derive(Clone, Copy)]
pub(crate) struct RingShape {
    pub(crate) slots: u32,
    pub(crate) slot_bytes: u32,
}

/// The times in one receive ring. To be used while the port runs.
pub(crate) struct PacketTimes {
    ring: usize,
    shape: RingShape,
    next: AtomicU32,
    into: ReceiveTimes,
}

impl PacketTimes {
    /// Of the ring of the packet socket with this inode; none if the process has not mapped that
    /// much of it.
    pub(crate) fn of(inode: u64, shape: RingShape, into: ReceiveTimes) -> Option<Self> {
        let maps = fs::read_to_string("/proc/self/maps").ok()?;
        let (start, bytes) = mapping(&maps, inode)?;
        // The send ring lies behind it, as large.
        let wanted = 2 * shape.slots as usize * shape.slot_bytes as usize;
        (shape.slots > 0 && bytes >= wanted).then(|| Self {
            ring: start,
            shape,
            next: AtomicU32::new(0),
            into,
        })
    }

    /// The times of the frames that wait, at most so many: how many there are.
    ///
    /// # Safety
    /// The port runs and nobody else receives from it.
    pub(crate) unsafe fn read(&self, times: &mut [u64]) -> usize {
        let mut slot = self.next.load(Ordering::Relaxed);
        for (count, time) in times.iter_mut().enumerate() {
            let at = self.ring + slot as usize * self.shape.slot_bytes as usize;
            let header = core::ptr::with_exposed_provenance::<u32>(at);
            // SAFETY: a slot of the ring, which is mapped while the port runs; slots begin at
            // multiples of 1 KiB.
            let word = |index: usize| unsafe { header.add(index).read_volatile() };
            if word(STATUS_WORD) & STATUS_USER == 0 {
                return count;
            }
            // The kernel writes all else before the status.
            fence(Ordering::Acquire);
            *time =
                u64::from(word(SECONDS_WORD)) * 1_000_000_000 + u64::from(word(NANOSECONDS_WORD));
            slot = (slot + 1) % self.shape.slots;
        }
        times.len()
    }

    /// Puts the times into the packets of the burst that took them.
    pub(crate) fn put(&self, times: &[u64], packets: &mut [PacketBuf]) {
        let next = self.next.load(Ordering::Relaxed) + packets.len() as u32;
        self.next.store(next % self.shape.slots, Ordering::Relaxed);
        for (packet, &time) in packets.iter_mut().zip(times) {
            self.into.put(packet, time);
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
    fn times_follow_the_packets_around_the_ring() {
        // Slots of 32 octets; the status says which are filled.
        let mut ring = vec![0u32; 8 * 4];
        let into = ReceiveTimes::at(96, 1 << 23);
        let times = PacketTimes {
            ring: ring.as_mut_ptr().expose_provenance(),
            shape: RingShape { slots: 4, slot_bytes: 32 },
            next: AtomicU32::new(0),
            into,
        };
        let pool = HeapPool::new(8, 2_048).unwrap();
        let mut cache = pool.cache();
        let (mut second, mut slot) = (100, 0);
        for filled in [3, 0, 4, 2] {
            for _ in 0..filled {
                ring[slot * 8 + STATUS_WORD] = STATUS_USER;
                ring[slot * 8 + SECONDS_WORD] = second;
                ring[slot * 8 + NANOSECONDS_WORD] = 7;
                (second, slot) = (second + 1, (slot + 1) % 4);
            }
            let mut read = [0; 8];
            // SAFETY: the ring lives; nobody else reads it.
            assert_eq!(unsafe { times.read(&mut read[..4]) }, filled);
            let mut packets: Vec<_> =
                (0..filled).map(|_| cache.copy_of(&[0; 60]).unwrap()).collect();
            times.put(&read, &mut packets);
            let first = u64::from(second) - filled as u64;
            for (number, packet) in packets.into_iter().enumerate() {
                let expected = (first + number as u64) * 1_000_000_000 + 7;
                assert_eq!(into.of(&packet), Some(expected));
                cache.release_one(packet);
            }
            // The driver gives them back.
            ring.iter_mut().step_by(8).for_each(|status| *status = 0);
        }
    }
}
