//! Frames own their packets, and splits keep their order.

use super::*;
use crate::{HeapPool, Pool, Splitter};
use proptest::prelude::*;

/// A frame of packets of these lengths.
fn frame(lengths: &[usize]) -> (HeapPool, Box<Frame>) {
    let pool = HeapPool::new(8, 256).unwrap();
    let mut frame = Frame::new();
    for length in lengths {
        frame.push(pool.cache().copy_of(&vec![7; *length]).unwrap(), 0);
    }
    (pool, frame)
}

#[test]
fn all_headers_move_or_none() {
    let (_pool, mut frame) = frame(&[60, 14, 20]);
    assert!(!frame.advance(15));
    assert_eq!(frame.lengths(), [60, 14, 20]);
    assert_eq!(frame.view(1).consumed(), 0);
    assert!(frame.advance(14));
    assert_eq!(frame.lengths(), [46, 0, 6]);
    assert_eq!((frame.view(2).consumed(), frame.view(2).whole().len()), (14, 20));
    frame.view(0).advance(2);
    assert!(!frame.give_back(15) && frame.give_back(14));
    assert_eq!(frame.lengths(), [58, 14, 20]);
    assert_eq!(frame.view(0).consumed(), 2);
}

#[test]
fn all_get_room_in_front_or_none() {
    let (pool, mut frame) = frame(&[60, 20]);
    frame.view(0).advance(14);
    assert!(!frame.prepend(129), "the second has its headroom alone");
    assert_eq!(frame.lengths(), [46, 20]);
    assert_eq!(frame.view(0).consumed(), 14);
    assert!(frame.prepend(128));
    assert_eq!(frame.lengths(), [174, 148]);
    assert_eq!(frame.view(0).consumed(), 0);
    assert!(!frame.prepend(1));
    frame.view(0).advance(100);
    let twin = frame.view(0).share(1).next().unwrap();
    assert!(!frame.prepend(1), "another holds it");
    pool.cache().release_one(twin);
    pool.cache().release(frame.take_all());
    assert_eq!(pool.usage().free, 8);
}

#[test]
fn the_first_octets_of_all_are_shown_and_changed_or_those_of_none() {
    let (pool, mut frame) = frame(&[60, 20, 30]);
    frame.view(1).advance(4);
    frame.adjacencies_mut().copy_from_slice(&[5, 6, 7]);
    let mut shown = Vec::new();
    assert!(frame.each_front::<16>(|slot, front| shown.push((slot, front[15]))));
    assert_eq!(shown, [(0, 7), (1, 7), (2, 7)]);
    assert!(!frame.each_front::<17>(|_, _| panic!("the second has 16")));
    assert!(
        frame.each_front_mut::<16>(|slot, found, front| front[15] = 10 * slot as u8 + found as u8)
    );
    assert_eq!([0, 1, 2].map(|slot| frame.view(slot).header()[15]), [5, 16, 27]);
    assert!(!frame.each_front_mut::<17>(|_, _, _| panic!("the second has 16")));
    let twin = frame.view(0).share(1).next().unwrap();
    assert!(!frame.each_front_mut::<1>(|_, _, _| panic!("another holds it")));
    assert!(frame.each_front::<1>(|_, _| ()), "it can be looked at");
    pool.cache().release_one(twin);
    let taken = frame.view(2).take().unwrap();
    assert!(!frame.each_front::<1>(|_, _| panic!("a slot is empty")));
    pool.cache().release_one(taken);
    pool.cache().release(frame.take_all());
    assert_eq!(pool.usage().free, 8);
}

#[test]
fn packets_are_cut_and_never_lengthened() {
    let (_pool, mut frame) = frame(&[60, 14]);
    frame.truncate(&[28, 15]);
    assert_eq!(frame.lengths(), [28, 14]);
}

#[test]
fn asking_all_ends_at_the_first_no() {
    let (_pool, mut frame) = frame(&[1, 2, 3]);
    let mut asked = 0;
    let mut up_to = |most| {
        frame.all(|packet| {
            asked += 1;
            packet.length() <= most
        })
    };
    assert!(up_to(3) && !up_to(1));
    assert_eq!(asked, 3 + 2);
}

/// The lengths of what a queue took that takes so many at once, of all packets.
fn sent(frame: &mut Frame, most: usize, pool: &HeapPool) -> Vec<u8> {
    let mut lengths = Vec::new();
    frame.commit();
    frame.offer(|burst| lengths = taken(burst, most, pool));
    lengths
}

fn taken(burst: &mut Burst<'_>, most: usize, pool: &HeapPool) -> Vec<u8> {
    let front = burst.take_front(most);
    let lengths = front.iter().map(|packet| packet.bytes().len() as u8).collect();
    pool.cache().release(front);
    lengths
}

/// The same, with its group, of packets that are of these groups.
fn sent_groups(frame: &mut Frame, of: &[u16], most: usize, pool: &HeapPool) -> Vec<(u16, Vec<u8>)> {
    let mut all = Vec::new();
    frame.commit();
    frame.offer_groups(of, |group, burst| all.push((group, taken(burst, most, pool))));
    all
}

#[test]
fn what_a_queue_does_not_take_stays_in_its_slot() {
    let (pool, mut frame) = frame(&[1, 2, 3]);
    assert_eq!(sent(&mut frame, 2, &pool), [1, 2]);
    assert_eq!([0, 1, 2].map(|slot| frame.is_taken(slot)), [true, true, false]);
    assert_eq!((frame.len(), frame.left(), frame.lengths()), (3, 0, &[0, 0, 3][..]));
    assert_eq!(sent(&mut frame, 2, &pool), [3]);
    assert!(frame.is_taken(2) && frame.take_all().is_empty());
    assert_eq!(pool.usage().free, 8);
}

#[test]
fn a_frame_that_leaves_whole_is_empty_and_tells_how_many_left() {
    let (pool, mut frame) = frame(&[1, 2, 3]);
    assert_eq!(sent(&mut frame, 3, &pool), [1, 2, 3]);
    assert_eq!((frame.len(), frame.left(), pool.usage().free), (0, 3, 8));
    frame.clear();
    assert_eq!(frame.left(), 0);
}

#[test]
fn each_group_is_offered_in_order_and_what_is_not_taken_stays_in_its_slot() {
    let (pool, mut frame) = frame(&[1, 2, 3, 4]);
    let of = [7, 8, 7, 7];
    assert_eq!(sent_groups(&mut frame, &of, 2, &pool), [(7, vec![1, 3]), (8, vec![2])]);
    assert_eq!((frame.lengths(), frame.left()), (&[0, 0, 0, 4][..], 0));
    // A group that is gone is not offered again.
    assert_eq!(sent_groups(&mut frame, &of, 0, &pool), [(7, vec![])]);
    assert_eq!(frame.lengths(), [0, 0, 0, 4]);
    assert_eq!(sent_groups(&mut frame, &of, 2, &pool), [(7, vec![4])]);
    assert_eq!((frame.len(), frame.left(), pool.usage().free), (0, 4, 8));
}

#[test]
fn groups_that_leave_whole_leave_an_empty_frame() {
    let (pool, mut frame) = frame(&[1, 2, 3]);
    assert_eq!(sent_groups(&mut frame, &[5, 4, 5], 9, &pool), [(5, vec![1, 3]), (4, vec![2])]);
    assert_eq!((frame.len(), frame.left(), pool.usage().free), (0, 3, 8));
}

#[test]
fn packets_that_the_queue_swaps_away_are_the_frames_no_more() {
    let (pool, mut frame) = frame(&[1, 2]);
    let others = Box::into_raw(Box::new(vec![pool.cache().copy_of(b"foreign").unwrap()]));
    frame.offer(|burst| {
        // SAFETY: it lives until the end of the test, and is lent once.
        let foreign = Burst::of(unsafe { &mut *others });
        pool.cache().release(std::mem::replace(burst, foreign));
    });
    assert_eq!((frame.len(), pool.usage().free), (0, 7));
    // SAFETY: it was lent to a burst that is gone.
    drop(unsafe { Box::from_raw(others) });
}

#[test]
fn a_burst_fills_the_frame_and_the_rest_of_it_waits() {
    let pool = HeapPool::new(300, 64).unwrap();
    let mut packets = Vec::new();
    assert!(pool.cache().allocate(300, &mut packets));
    let tail = packets.pop().unwrap();
    packets[7].chain(tail).unwrap();
    let mut frame = Frame::new();
    assert!(frame.push_burst(&mut packets, 5));
    assert_eq!((frame.len(), frame.rx()[255], packets.len()), (VECTOR, 5, 43));
    assert!(frame.view(7).is_chain() && !frame.view(8).is_chain());
    let one_too_many = packets.pop().unwrap();
    frame.push(one_too_many, 5);
    assert_eq!(frame.len(), VECTOR);
    pool.cache().release(Burst::of(&mut packets));
    pool.cache().release(frame.take_all());
    assert_eq!(pool.usage().free, 299, "it is lost, and only it");
}

proptest! {
    #![proptest_config(crate::testing::cases())]
    /// Packets go from frame to frame, are taken, shared, sent and freed: each buffer comes
    /// back once.
    #[test]
    fn every_buffer_comes_back_whatever_way_its_packet_takes(
        steps in prop::collection::vec((0u8..7, 0usize..8, any::<bool>()), 1..30),
    ) {
        let pool = HeapPool::new(64, 64).unwrap();
        let mut cache = pool.cache();
        let mut frames = [Frame::new(), Frame::new()];
        let mut held = Vec::new();
        for (step, slot, first) in steps {
            let [one, other] = &mut frames;
            let (here, there) = if first { (one, other) } else { (other, one) };
            let there_is = slot < here.len();
            match step {
                0 => if let Some(packet) = cache.copy_of(&[slot as u8; 20]) {
                    here.push(packet, 0);
                },
                1 if there_is => held.extend(here.view(slot).take()),
                2 if there_is && here.is_taken(slot) => if let Some(packet) = held.pop() {
                    here.view(slot).put_back(packet);
                },
                3 if there_is => here.view(slot).share(2).for_each(|twin| there.push(twin, 1)),
                4 => {
                    let exits = crate::ExitBytes(core::array::from_fn(|at| (at % 2) as u8));
                    let mut kept = Frame::new();
                    for part in here.parts(&exits) {
                        let into = if part.exit() == 0 { &mut kept } else { &mut *there };
                        into.gather(part, Splitter::detect());
                    }
                    here.clear();
                    here.append(&mut kept);
                }
                5 => {
                    here.commit();
                    here.offer(|burst| cache.release(burst.take_front(slot)));
                }
                6 if there_is => here.view(slot).release(&mut *cache),
                _ => here.each(|mut packet| packet.header_mut().fill(7)),
            }
        }
        cache.release(Burst::of(&mut held));
        frames.iter_mut().for_each(|frame| cache.release(frame.take_all()));
        drop(cache);
        prop_assert_eq!(pool.usage().free, 64);
    }
}
