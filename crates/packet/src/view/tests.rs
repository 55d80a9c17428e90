use super::*;
use crate::{HeapPool, Pool};
use proptest::prelude::*;

const ROOM: usize = 192;

fn frame(pool: &HeapPool, packets: &[&[u8]]) -> Box<Frame> {
    let mut frame = Frame::new();
    let mut cache = pool.cache();
    packets.iter().for_each(|bytes| frame.push(cache.copy_of(bytes).unwrap(), 3));
    frame
}

#[test]
fn of_a_packet_that_was_taken_nothing_is_left_to_look_at() {
    let pool = HeapPool::new(2, ROOM).unwrap();
    let mut frame = frame(&pool, &[b"header and rest", b"other"]);
    let mut packet = frame.view(0);
    assert!(packet.advance(7));
    packet.set_tx(9);
    let taken = packet.take().unwrap();
    assert_eq!((taken.bytes(), taken.rx(), taken.tx()), (&b"and rest"[..], 3, 9));
    assert!(packet.take().is_none() && packet.share(1).next().is_none());
    assert!(!packet.advance(1) && !packet.prepend(1) && !packet.extend(1));
    assert!(packet.whole().is_empty() && packet.header_mut().is_empty());
    assert_eq!((packet.trace(), packet.is_chain()), (0, false));
    packet.set_trace(7);
    packet.release(&mut *pool.cache());
    frame.commit();
    assert!(frame.is_taken(0) && !frame.is_taken(1));
    frame.view(0).put_back(taken);
    assert_eq!(frame.view(0).whole(), b"and rest");
    let mut cache = pool.cache();
    frame.view(0).release(&mut *cache);
    let rest = frame.take_all();
    assert_eq!((rest.len(), rest[0].bytes()), (1, &b"other"[..]));
    cache.release(rest);
    drop(cache);
    assert_eq!((frame.left(), pool.usage().free), (2, 2));
}

#[test]
fn a_packet_that_others_hold_leaves_as_it_is() {
    let pool = HeapPool::new(1, ROOM).unwrap();
    let mut cache = pool.cache();
    let mut frame = frame(&pool, &[b"link payload"]);
    let mut other = Frame::new();
    let mut packet = frame.view(0);
    packet.share(2).for_each(|twin| other.push(twin, 4));
    packet.header_mut().fill(b'x');
    assert!(packet.take().is_none() && !packet.extend(1));
    assert!(packet.advance(5) && packet.prepend(5) && !packet.prepend(1));
    packet.truncate(4);
    packet.set_trace(7);
    assert!(packet.share(1).next().is_none(), "it is not what the others have");
    frame.commit();
    let sent: Vec<Vec<u8>> = frame.take_all().iter().map(|it| it.bytes().to_vec()).collect();
    assert_eq!(sent, [b"link payload"]);
    for slot in 0..2 {
        let mut twin = other.view(slot);
        assert_eq!((twin.header(), twin.trace()), (&b"link payload"[..], 0));
        twin.release(&mut *cache);
    }
    // Of the three references one was lost above.
    assert!(cache.allocate_one().is_none());
}

#[test]
fn the_last_holder_may_write_again() {
    let pool = HeapPool::new(1, ROOM).unwrap();
    let mut cache = pool.cache();
    let mut frame = frame(&pool, &[b"packet"]);
    let twin = frame.view(0).share(1).next().unwrap();
    cache.release_one(twin);
    let mut packet = frame.view(0);
    packet.header_mut()[0] = b'P';
    assert_eq!(packet.take().unwrap().bytes(), b"Packet");
}

#[test]
fn references_do_not_run_over() {
    let pool = HeapPool::new(1, ROOM).unwrap();
    let mut frame = frame(&pool, &[b"packet"]);
    let mut packet = frame.view(0);
    let counts: Vec<u16> = (0..9).map(|_| packet.share(1 << 12).left).collect();
    assert_eq!((counts[0], counts[8]), (1 << 12, 0));
}

proptest! {
    #![proptest_config(crate::testing::cases())]
    /// What the view shows is what a plain list of bytes would, and lies in the buffer.
    #[test]
    fn no_sequence_of_moves_leaves_the_buffer(
        length in 0usize..ROOM,
        moves in prop::collection::vec((0u8..9, 0usize..300), 1..24),
    ) {
        let pool = HeapPool::new(2, ROOM).unwrap();
        let bytes: Vec<u8> = (0..length).map(|at| at as u8).collect();
        let mut frame = frame(&pool, &[&bytes, b"beside"]);
        let (mut consumed, mut shown) = (Vec::new(), bytes);
        for (step, size) in moves {
            let mut packet = frame.view(0);
            match step {
                0 => {
                    prop_assert_eq!(packet.advance(size), size <= shown.len());
                    if size <= shown.len() {
                        consumed.extend(shown.drain(..size));
                    }
                }
                1 => {
                    let free = packet.header().as_ptr() as usize - consumed.len()
                        - packet.own_mbuf().unwrap().buf_addr as usize;
                    prop_assert_eq!(packet.prepend(size), size <= consumed.len() + free);
                    if size <= consumed.len() + free {
                        // What was not consumed before is headroom, of any content.
                        packet.header_mut()[..size].fill(7);
                        consumed.truncate(consumed.len().saturating_sub(size));
                        shown.splice(..0, vec![7; size]);
                    }
                }
                2 => {
                    packet.truncate(size);
                    shown.truncate(size);
                }
                3 => if packet.extend(size % 64) {
                    let from = shown.len();
                    packet.header_mut()[from..].fill(9);
                    shown.extend(vec![9; size % 64]);
                },
                4 => {
                    packet.start_here();
                    consumed.clear();
                }
                5 => if let Some(taken) = packet.take() {
                    prop_assert_eq!(taken.bytes(), &shown[..]);
                    packet.put_back(taken);
                    consumed.clear();
                },
                6 => {
                    let fill = size as u8;
                    packet.header_mut().fill(fill);
                    shown.fill(fill);
                }
                7 => {
                    let n = size as u16;
                    let fits = usize::from(n) <= shown.len().min(6);
                    prop_assert_eq!(frame.advance(n), fits);
                    if fits {
                        prop_assert!(frame.give_back(n));
                    }
                }
                _ => {
                    let twin = packet.share(1).next().unwrap();
                    pool.cache().release_one(twin);
                }
            }
            let packet = frame.view(0);
            prop_assert_eq!(packet.header(), &shown[..]);
            prop_assert_eq!(packet.whole(), [&consumed[..], &shown[..]].concat());
            let mbuf = packet.own_mbuf().unwrap();
            let whole = packet.whole().as_ptr_range();
            let buffer = mbuf.buf_addr.cast_const()..mbuf.buf_addr.wrapping_add(mbuf.buf_len.into());
            prop_assert!(buffer.start <= whole.start && whole.end <= buffer.end);
        }
        pool.cache().release(frame.take_all());
        prop_assert_eq!(pool.usage().free, 2);
    }
}

#[test]
fn a_packet_has_the_ends_that_it_was_told_and_those_that_others_hold_keep_theirs() {
    let pool = HeapPool::new(1, ROOM).unwrap();
    let mut frame = frame(&pool, &[b"frame"]);
    let mut packet = frame.view(0);
    for remote in ["192.0.2.9", "2001:db8::9"].map(|it| Some(it.parse().unwrap())) {
        packet.set_remote(remote);
        assert_eq!((packet.remote(), packet.local()), (remote, None));
    }
    let local = Some("192.0.2.1".parse().unwrap());
    packet.set_local(local);
    let twins: Vec<_> = packet.share(1).collect();
    packet.set_remote(None);
    packet.set_local(None);
    let remote = Some("2001:db8::9".parse().unwrap());
    assert_eq!((packet.remote(), packet.local()), (remote, local));
    let mut cache = pool.cache();
    twins.into_iter().for_each(|twin| cache.release_one(twin));
    packet.set_remote(None);
    assert_eq!((packet.remote(), packet.local()), (None, local));
    packet.release(&mut *cache);
    assert_eq!(frame.view(0).remote(), None);
}

#[test]
fn eight_octets_of_each_header_are_read_where_all_have_them() {
    let pool = HeapPool::new(3, ROOM).unwrap();
    let octets: [u8; 40] = std::array::from_fn(|at| at as u8);
    let mut frame = frame(&pool, &[&octets[..12], &octets, &octets[7..20]]);
    let mut words = Vec::new();
    assert!(frame.each_word(4, |slot, word| words.push((slot, word.to_be_bytes().to_vec()))));
    assert_eq!(
        words,
        [(0, 4..12), (1, 4..12), (2, 11..19)].map(|(slot, at)| (slot, octets[at].to_vec()))
    );
    assert!(!frame.each_word(5, |_, _| panic!("the first has seven from there on")));
    frame.view(1).release(&mut *pool.cache());
    assert!(!frame.each_word(0, |_, _| panic!("one was taken")));
}
