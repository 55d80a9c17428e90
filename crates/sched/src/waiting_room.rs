//! Buffers that packets may wait in, shared by the schedulers of all ports.
//!
//! ```text
//!  the pool  ├─ reserve ─┤├── port 1 ──┤├─ port 2 ─┤├───────── free ─────────┤
//!             receiving,   each has at most SHARE times what is free
//!             our own                   (dynamic thresholds, Choudhury and Hahne 1998)
//! ```
//! A port alone has most of the room; of several that are flooded each has the same, and some is
//! left for the next one. So no port takes another's buffers, or those of received packets.

use std::sync::atomic::{AtomicUsize, Ordering};

/// One part in so many of the pool is nobody's to wait in.
const RESERVE: usize = 8;
/// How much of what is free a port may have.
const SHARE: usize = 4;

/// See the module. The workers that own schedulers keep count, once a vector.
#[derive(Debug)]
pub struct WaitingRoom {
    buffers: usize,
    waiting: AtomicUsize,
}

/// What one port has of the room.
#[derive(Debug, Default)]
pub struct Share {
    counted: usize,
    left: usize,
}

impl WaitingRoom {
    /// The room in a pool of so many buffers.
    pub const fn of_pool(buffers: usize) -> Self {
        Self { buffers: buffers - buffers / RESERVE, waiting: AtomicUsize::new(0) }
    }

    /// Most packets that may wait at a port when none waits at another.
    pub const fn of_one_port(&self) -> usize {
        self.buffers / (SHARE + 1) * SHARE
    }

    /// Most packets that may wait at one port by now.
    pub fn most(&self) -> usize {
        let free = self.buffers.saturating_sub(self.waiting.load(Ordering::Relaxed));
        free * SHARE
    }
}

impl Share {
    /// So many packets wait at the port; from here on it takes as many more as it may have.
    pub fn count(&mut self, waiting: usize, room: &WaitingRoom) {
        if waiting != self.counted {
            // Wraps where fewer wait than before, and so takes away.
            room.waiting.fetch_add(waiting.wrapping_sub(self.counted), Ordering::Relaxed);
            self.counted = waiting;
        }
        self.left = room.most().saturating_sub(waiting);
    }

    /// Takes so many of those; false when fewer are left, until the next count.
    #[inline]
    pub fn take(&mut self, packets: usize) -> bool {
        let left = self.left.checked_sub(packets);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ports that are all flooded take turns at taking what they may.
    fn flooded(ports: usize, room: &WaitingRoom) -> Vec<usize> {
        let mut shares: Vec<Share> = (0..ports).map(|_| Share::default()).collect();
        for _ in 0..20_000 {
            for share in &mut shares {
                share.count(share.counted, room);
                if share.take(1) {
                    share.count(share.counted + 1, room);
                }
            }
        }
        shares.iter().map(|share| share.counted).collect()
    }

    #[test]
    fn one_flooded_port_leaves_room_for_others_and_for_receiving() {
        let room = WaitingRoom::of_pool(16_384);
        let had = flooded(1, &room)[0];
        assert!(had.abs_diff(room.of_one_port()) <= SHARE, "{had} {}", room.of_one_port());
        assert!(had < 12_000 && room.most() > 11_000);
    }

    #[test]
    fn flooded_ports_have_the_same_and_never_the_reserve() {
        for ports in [2, 8, 64] {
            let room = WaitingRoom::of_pool(16_384);
            let had = flooded(ports, &room);
            let (least, most) = (had.iter().min().unwrap(), had.iter().max().unwrap());
            assert!(most - least <= SHARE, "{had:?}");
            assert!(had.iter().sum::<usize>() < 16_384 - 16_384 / RESERVE, "{had:?}");
            assert!(room.most() > 0, "{ports}");
        }
    }

    #[test]
    fn what_leaves_makes_room() {
        let room = WaitingRoom::of_pool(1_000);
        let mut share = Share::default();
        share.count(875, &room);
        assert_eq!(room.most(), 0);
        share.count(775, &room);
        assert_eq!(room.most(), 400);
        share.count(0, &room);
        assert_eq!(room.most(), 3_500);
    }
}
