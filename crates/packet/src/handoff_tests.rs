//! A ring between two threads. Their interleavings are tried one by one in the crate `faults`.

use crate::handoff::handoff;

#[test]
fn a_full_queue_takes_no_more_until_something_was_taken_out() {
    let (mut into, mut from) = handoff(4);
    assert_eq!(into.push(&[1, 2, 3]), 3);
    assert_eq!(into.push(&[4, 5, 6]), 1);
    let mut out = Vec::new();
    from.pop(2, &mut out);
    assert_eq!(into.push(&[5, 6, 7]), 2);
    from.pop(9, &mut out);
    from.pop(9, &mut out);
    assert_eq!(out, [1, 2, 3, 4, 5, 6]);
}

#[test]
fn everything_arrives_once_and_in_order_across_threads() {
    const COUNT: u64 = if cfg!(miri) { 400 } else { 200_000 };
    let (mut into, mut from) = handoff(64);
    let sender = std::thread::spawn(move || {
        let mut next = 0;
        while next < COUNT {
            let burst: Vec<u64> = (next..COUNT.min(next + 40)).collect();
            next += into.push(&burst) as u64;
            std::thread::yield_now();
        }
    });
    let mut out = Vec::new();
    while (out.len() as u64) < COUNT {
        from.pop(33, &mut out);
        std::thread::yield_now();
    }
    sender.join().unwrap();
    assert!(out.into_iter().eq(0..COUNT));
}
