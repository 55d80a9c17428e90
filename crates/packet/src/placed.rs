//! A pool whose packets lie in memory of somebody else's choice, and whose headers stay where they
//! are.
//!
//! ```text
//!  pool    ├ mbuf 128 ┼ private 64 ┼ (room that is not used)
//!               └ buf_addr ─┐
//!  memory                   ▼ headroom 128 ┼ frame room … ┼ headroom 128 ┼ …
//! ```
//! So memory that others may write holds packets and nothing else: where a packet begins, how long
//! it is and who has it stands in headers that only we write.

use crate::mbuf::HEADROOM_BYTES;
use crate::{Burst, Pool};
use core::ptr::NonNull;

/// Places the bytes of all the pool's buffers at `memory`, one behind the other, each with so many
/// bytes, its headroom among them. False where a buffer is not in the pool: some may have been
/// placed then, and all are still usable.
///
/// # Safety
/// From `memory` on so many bytes for each buffer may be read and written for as long as the pool
/// or a packet of it lives, and by nobody else of this process.
pub unsafe fn place_buffers(pool: &dyn Pool, memory: NonNull<u8>, bytes_each: u16) -> bool {
    let (mut cache, total) = (pool.cache(), pool.usage().total);
    let mut packets = Vec::with_capacity(total);
    while packets.len() < total && cache.allocate(1, &mut packets) {}
    for (number, packet) in packets.iter_mut().enumerate() {
        // SAFETY: nobody else holds it: it comes from its pool. The place is the caller's word.
        unsafe {
            let mbuf = packet.mbuf_mut();
            mbuf.buf_addr = memory.as_ptr().add(number * usize::from(bytes_each));
            mbuf.buf_iova = mbuf.buf_addr as u64;
            mbuf.buf_len = bytes_each;
            mbuf.data_off = (HEADROOM_BYTES as u16).min(bytes_each);
        }
    }
    let placed = packets.len();
    cache.release(Burst::of(&mut packets));
    placed == total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HeapPool, PacketBuf};

    #[test]
    fn packets_lie_in_the_memory_and_use_all_of_their_place() {
        const EACH: u16 = 448;
        // It outlives the pool.
        let mut memory = vec![0u64; 4 * usize::from(EACH) / 8];
        let start = memory.as_mut_ptr().cast::<u8>();
        let pool = HeapPool::new(4, 0).unwrap();
        // SAFETY: so much there is, and nobody else looks into it while the pool lives.
        assert!(unsafe { place_buffers(&pool, NonNull::new(start).unwrap(), EACH) });
        let mut cache = pool.cache();
        let mut packets: Vec<PacketBuf> = (0..4u8)
            .map(|n| cache.copy_of(&[n; EACH as usize - HEADROOM_BYTES]).unwrap())
            .collect();
        let mut places: Vec<_> =
            packets.iter().map(|it| it.start() as usize - start as usize).collect();
        places.sort_unstable();
        assert_eq!(places, [128, 576, 1024, 1472]);
        for (number, packet) in packets.iter_mut().enumerate() {
            assert!(packet.bytes().iter().all(|&byte| usize::from(byte) == number));
            assert!(packet.append(1).is_none(), "it is full");
            assert_eq!(packet.capacity_bytes(), usize::from(EACH) - HEADROOM_BYTES);
        }
        assert!(cache.copy_of(b"none is left").is_none());
        cache.release(Burst::of(&mut packets));
        // What comes back from the pool lies there again.
        let again = cache.copy_of(b"again").unwrap();
        assert!((start as usize..start as usize + 1792).contains(&(again.start() as usize)));
        // SAFETY: a packet is out: not all can be placed.
        assert!(!unsafe { place_buffers(&pool, NonNull::new(start).unwrap(), EACH) });
        cache.release_one(again);
    }
}
