//! The pool as packets see it.

mod rig;

use dpdk::kinds::Null;
use packet::{
    Burst, Frame, HeapPool, MBUF_HEADER_BYTES, PRIVATE_BYTES, PacketBuf, PacketCache, Pool, TxQueue,
};
use rig::rig;
use std::sync::Barrier;

fn take(cache: &mut dyn PacketCache, count: usize) -> Option<Vec<PacketBuf>> {
    let mut packets = Vec::new();
    cache.allocate(count, &mut packets).then_some(packets)
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
    assert_eq!((mbuf.data_off, mbuf.buf_len, mbuf.nb_segs), (128, 2176, 1));
    assert_eq!(packet.bytes(), [7; 2048]);
    assert!(!packet.is_shared());
    packet.set_trace(u32::MAX);
    assert_eq!(packet.bytes(), [7; 2048]);
    rig.cache.release_one(packet);
    assert!(rig.cache.copy_of(&[7; 2049]).is_none());
}

#[test]
fn every_buffer_is_given_once_and_comes_back() {
    let mut rig = rig();
    let total = rig.pool.usage().total;
    let mut packets = take(&mut *rig.cache, total).unwrap();
    assert!(take(&mut *rig.cache, 1).is_none());
    packets.sort_by_key(|packet| packet.as_ptr());
    packets.dedup_by_key(|packet| packet.as_ptr());
    assert_eq!(packets.len(), total);
    rig.cache.release(Burst::of(&mut packets));
    assert!(rig.nothing_leaked());
}

#[test]
fn a_buffer_held_twice_comes_back_with_the_second_release() {
    let mut rig = rig();
    let mut frame = Frame::new();
    frame.push(rig.cache.copy_of(&[7; 60]).unwrap(), 0);
    let twin = frame.view(0).share(1).next().unwrap();
    rig.cache.release(frame.take_all());
    assert!(!rig.nothing_leaked() && twin.bytes() == [7; 60]);
    rig.cache.release_one(twin);
    assert!(rig.nothing_leaked());
}

#[test]
fn threads_beyond_those_dpdk_knows_work_too() {
    let rig = rig();
    let (known, done) = (Barrier::new(128), Barrier::new(128));
    std::thread::scope(|scope| {
        for _ in 0..127 {
            scope.spawn(|| {
                rig.pool.cache().release(Burst::default());
                known.wait();
                done.wait();
            });
        }
        known.wait();
        let one_too_many = scope.spawn(|| {
            let mut cache = rig.pool.cache();
            let packets = take(&mut *cache, 8);
            packets.map(|mut packets| cache.release(Burst::of(&mut packets))).is_some()
        });
        let worked = one_too_many.join();
        done.wait();
        assert!(worked.unwrap());
    });
    assert!(rig.nothing_leaked());
}

#[test]
fn packets_of_another_pool_are_lost_and_do_no_harm() {
    let mut rig = rig();
    let before = rig.pool.usage();
    let heap = HeapPool::new(64, 2048).unwrap();
    let mut cache = heap.cache();
    let mut null = rig.open(&dpdk::PortSpec::Null(Null { packet_bytes: 64 }));
    let mut packets: Vec<PacketBuf> = (0..60).map(|_| cache.copy_of(&[9; 60]).unwrap()).collect();
    let rest = packets.split_off(30);
    rig.cache.release(Burst::of(&mut packets));
    packets.extend(rest);
    packets.extend((0..30).map(|_| rig.cache.copy_of(&[8; 60]).unwrap()));
    null.tx.send(&mut *rig.cache, &mut packets);
    assert!(packets.is_empty());
    // And the other way round: the heap's end takes DPDK's packets, and gives them out again.
    packets.extend((0..3).map(|_| rig.cache.copy_of(&[7; 60]).unwrap()));
    cache.release(Burst::of(&mut packets));
    packets.extend((0..7).map(|_| cache.allocate_one().unwrap()));
    assert!(cache.allocate_one().is_none());
    rig.cache.release(Burst::of(&mut packets));
    drop(null);
    assert_eq!(rig.pool.usage().free, before.free);
    assert_eq!(heap.usage().free, 0);
}
