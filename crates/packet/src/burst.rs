//! Packets that change hands together: owned by who holds the burst, wherever their handles are
//! stored.
//!
//! ```text
//!  frame ─ take_all, offer ─┐
//!  Vec   ─ of, offer ───────┴▶ Burst ─▶ PacketCache::release, TxQueue::transmit
//! ```
//! A burst is a slice of addresses, as drivers want it, and whoever lent the slice counts them as
//! gone.

use crate::PacketBuf;
use core::ops::Deref;
use core::ptr;

/// Packets in order, owned. What is still in it when it is dropped is lost to its pool.
///
/// ```compile_fail,E0382
/// use packet::{Burst, HeapPool, Pool};
/// let mut cache = HeapPool::new(1, 64).unwrap().cache();
/// let mut packets = vec![cache.copy_of(b"one").unwrap()];
/// let burst = Burst::of(&mut packets);
/// cache.release(burst);
/// cache.release(burst); // given back twice
/// ```
///
/// ```compile_fail,E0499
/// use packet::{Burst, HeapPool, Pool};
/// let mut packets = vec![HeapPool::new(1, 64).unwrap().cache().copy_of(b"one").unwrap()];
/// let burst = Burst::of(&mut packets);
/// let twin = Burst::of(&mut packets); // lent already
/// assert_eq!(burst.len(), twin.len());
/// ```
#[must_use = "packets that nobody gives back are lost to their pool"]
#[derive(Debug, Default)]
pub struct Burst<'a> {
    packets: &'a [PacketBuf],
}

impl<'a> Burst<'a> {
    /// # Safety
    /// The caller owns these packets and gives them up: while the burst lives and afterwards the
    /// slice's own owner takes its places for empty.
    #[inline]
    pub(crate) unsafe fn owning(packets: &'a [PacketBuf]) -> Self {
        Self { packets }
    }

    /// All packets of a list, which is empty then.
    #[inline]
    pub fn of(packets: &'a mut Vec<PacketBuf>) -> Self {
        let (first, count) = (packets.as_ptr(), packets.len());
        // SAFETY: shorter is always right; the places that the burst reads stay where they are
        // while it lives, as the list is lent to it, and are the list's no more.
        unsafe {
            packets.set_len(0);
            Self::owning(core::slice::from_raw_parts(first, count))
        }
    }

    /// Offers the packets of a list to `take`, which takes from the front what it wants; that is
    /// gone from the list then. Says how many went.
    pub fn offer(packets: &mut Vec<PacketBuf>, take: impl FnOnce(&mut Burst<'_>)) -> usize {
        let (first, count) = (packets.as_mut_ptr(), packets.len());
        // SAFETY: as in `of`. What `take` left is the end of what we gave it (`left_of`): it moves
        // to the front and is the list's again.
        unsafe {
            packets.set_len(0);
            let mut burst = Burst::owning(core::slice::from_raw_parts(first, count));
            take(&mut burst);
            let left = burst.left_of(first, count);
            ptr::copy(first.add(count - left), first, left);
            packets.set_len(left);
            count - left
        }
    }

    /// How many of the `count` packets from `first` on are still in here; none where somebody put
    /// another burst in its place, or took packets from its end.
    #[inline]
    pub(crate) fn left_of(&self, first: *const PacketBuf, count: usize) -> usize {
        let ends_alike = self.packets.as_ptr_range().end == first.wrapping_add(count);
        if ends_alike && self.packets.len() <= count { self.packets.len() } else { 0 }
    }

    /// Takes the first so many out, or all there are.
    #[inline]
    pub fn take_front(&mut self, count: usize) -> Burst<'a> {
        let (front, rest) = self.packets.split_at(count.min(self.packets.len()));
        self.packets = rest;
        Burst { packets: front }
    }

    /// Takes all out.
    #[inline]
    pub fn take_all(&mut self) -> Burst<'a> {
        core::mem::take(self)
    }

    /// Takes the first out.
    #[inline]
    pub fn pop(&mut self) -> Option<PacketBuf> {
        self.pop_if(|_| true)
    }

    /// Takes the first out, if it is as asked for.
    #[inline]
    pub(crate) fn pop_if(&mut self, wanted: impl FnOnce(&PacketBuf) -> bool) -> Option<PacketBuf> {
        let (first, rest) = self.packets.split_first().filter(|(first, _)| wanted(first))?;
        self.packets = rest;
        // SAFETY: the burst owns it, and shows it no more.
        Some(unsafe { ptr::read(first) })
    }
}

/// Its packets, to be looked at.
impl Deref for Burst<'_> {
    type Target = [PacketBuf];

    #[inline]
    fn deref(&self) -> &[PacketBuf] {
        self.packets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HeapPool, PacketCache, Pool};
    use proptest::prelude::*;

    fn numbered(cache: &mut dyn PacketCache, count: u8) -> Vec<PacketBuf> {
        (0..count).map(|number| cache.copy_of(&[number]).unwrap()).collect()
    }

    fn numbers(packets: &[PacketBuf]) -> Vec<u8> {
        packets.iter().map(|packet| packet.bytes()[0]).collect()
    }

    #[test]
    fn what_is_not_taken_stays_in_order() {
        let pool = HeapPool::new(8, 64).unwrap();
        let mut cache = pool.cache();
        let mut packets = numbered(&mut *cache, 5);
        let went = Burst::offer(&mut packets, |burst| {
            assert_eq!(burst.pop().map(|first| cache.release_one(first)), Some(()));
            cache.release(burst.take_front(1));
        });
        assert_eq!((went, numbers(&packets)), (2, vec![2, 3, 4]));
        cache.release(Burst::of(&mut packets));
        drop(cache);
        assert_eq!((packets.len(), pool.usage().free), (0, 8));
    }

    #[test]
    fn packets_taken_from_the_end_or_swapped_away_are_not_given_back_twice() {
        let pool = HeapPool::new(8, 64).unwrap();
        let mut cache = pool.cache();
        let mut packets = numbered(&mut *cache, 4);
        assert_eq!(
            Burst::offer(&mut packets, |burst| {
                let front = burst.take_front(2);
                cache.release(std::mem::take(burst));
                cache.release(front);
            }),
            4
        );
        let mut packets = numbered(&mut *cache, 4);
        let went = Burst::offer(&mut packets, |burst| {
            let front = burst.take_front(1);
            let rest = std::mem::replace(burst, front);
            cache.release(rest);
        });
        // The first is lost: it stood where the list ends.
        assert_eq!((went, packets.len()), (4, 0));
        drop(cache);
        assert_eq!(pool.usage().free, 7);
    }

    #[test]
    fn a_panic_in_between_loses_packets_and_nothing_else() {
        let pool = HeapPool::new(8, 64).unwrap();
        let mut packets = numbered(&mut *pool.cache(), 3);
        let run = std::panic::AssertUnwindSafe(|| {
            Burst::offer(&mut packets, |burst| {
                pool.cache().release(burst.take_front(1));
                panic!("in between");
            })
        });
        assert!(std::panic::catch_unwind(run).is_err());
        assert!(packets.is_empty());
        assert_eq!(pool.usage().free, 6);
    }

    proptest! {
        #![proptest_config(crate::testing::cases())]
        #[test]
        fn every_packet_is_taken_once_or_stays(steps in prop::collection::vec(0usize..6, 0..8)) {
            let pool = HeapPool::new(24, 64).unwrap();
            let mut cache = pool.cache();
            let mut packets = numbered(&mut *cache, 20);
            let mut gone = Vec::new();
            for step in steps {
                let mut taken = Vec::new();
                let went = Burst::offer(&mut packets, |burst| {
                    let front = burst.take_front(step);
                    taken.extend(numbers(&front));
                    cache.release(front);
                });
                prop_assert_eq!(went, taken.len());
                gone.extend(taken);
            }
            let rest = numbers(&packets);
            prop_assert_eq!([gone, rest].concat(), (0..20).collect::<Vec<u8>>());
        }
    }
}
