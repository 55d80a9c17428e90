//! The pool as packets see it.

mod rig;

use packet::{MBUF_HEADER_BYTES, PRIVATE_BYTES, PacketCache, PacketPtr, Pool};
use rig::rig;
use std::sync::Barrier;

fn take(cache: &mut dyn PacketCache, count: usize) -> Option<Vec<PacketPtr>> {
    let mut slots = vec![None; count];
    cache.allocate(&mut slots).then(|| slots.into_iter().flatten().collect())
}

#[test]
fn buffers_look_as_the_packet_crate_says() {
    let mut rig = rig();
    let mut packet = rig.cache.copy_of(&[7; 2048]).unwrap();
    let mbuf = packet.mbuf();
    let private_end = packet.as_ptr() as usize + MBUF_HEADER_BYTES + PRIVATE_BYTES;
    assert_eq!(mbuf.buf_addr as usize, private_end);
    // Without an IOMMU that is told otherwise, cards are told the addresses that we see.
    assert_eq!(mbuf.buf_iova, mbuf.buf_addr as u64);
    assert_eq!((mbuf.data_off, mbuf.buf_len, mbuf.refcnt, mbuf.nb_segs), (128, 2176, 1, 1));
    assert_eq!(packet.bytes(), [7; 2048]);
    packet.private_mut().trace = u32::MAX;
    assert_eq!(packet.bytes(), [7; 2048]);
    rig.cache.release(&[packet]);
    assert!(rig.cache.copy_of(&[7; 2049]).is_none());
}

#[test]
fn every_buffer_is_given_once_and_comes_back() {
    let mut rig = rig();
    let total = rig.pool.usage().total;
    let mut packets = take(&mut *rig.cache, total).unwrap();
    assert!(take(&mut *rig.cache, 1).is_none());
    packets.sort_by_key(|packet| packet.as_ptr());
    packets.dedup();
    assert_eq!(packets.len(), total);
    rig.cache.release(&packets);
    assert!(rig.nothing_leaked());
}

#[test]
fn a_buffer_held_twice_comes_back_with_the_second_release() {
    let mut rig = rig();
    let mut packet = take(&mut *rig.cache, 1).unwrap()[0];
    packet.mbuf_mut().refcnt = 2;
    rig.cache.release(&[packet]);
    assert!(!rig.nothing_leaked());
    rig.cache.release(&[packet]);
    assert!(rig.nothing_leaked());
}

#[test]
fn threads_beyond_those_dpdk_knows_work_too() {
    let rig = rig();
    let (known, done) = (Barrier::new(128), Barrier::new(128));
    std::thread::scope(|scope| {
        for _ in 0..127 {
            scope.spawn(|| {
                rig.pool.cache().release(&[]);
                known.wait();
                done.wait();
            });
        }
        known.wait();
        let one_too_many = scope.spawn(|| {
            let mut cache = rig.pool.cache();
            let packets = take(&mut *cache, 8);
            packets.inspect(|packets| cache.release(packets)).is_some()
        });
        let worked = one_too_many.join();
        done.wait();
        assert!(worked.unwrap());
    });
    assert!(rig.nothing_leaked());
}
