//! Octets that the lab did not make: captures to replay, and frames that come out of a device.
//!
//! ```text
//! input: octets ─▶ capture ─▶ sent and known again, each once
//!        octets ─▶ headers of a frame
//!        first ─▶ length of a frame, octets of it, and so on ─▶ receiver: each is counted once
//! ```
#![no_main]

use std::path::Path;

use lab_traffic::dissect;
use lab_traffic::receiver::Receiver;
use lab_traffic::recording::{Recording, UnderWay};
use lab_traffic::test_frame::Signature;
use libfuzzer_sys::fuzz_target;

/// Most frames of a capture that are replayed.
const MOST: u64 = 64;

fuzz_target!(|octets: &[u8]| {
    if let Ok(recording) = Recording::read(octets, Path::new("fuzz")) {
        replay(&recording);
    }
    if let Ok(headers) = dissect::headers(octets) {
        let told: usize = headers.iter().map(|header| header.len()).sum();
        assert!(told <= octets.len(), "{told} octets of {}", octets.len());
    }
    if let Some(signature) = Signature::read(octets, true) {
        let mut written = [0; 22];
        signature.write(&mut written).expect("room for it");
        assert_eq!(Some(&written), octets.last_chunk());
    }
    receive(octets);
});

/// What comes back in order is known by its number, once.
fn replay(recording: &Recording) {
    let sent = recording.frames().min(MOST);
    let mut under_way = UnderWay::new(recording);
    (0..sent).for_each(|at| under_way.sent(at));
    for at in 0..sent {
        let known = under_way.recognise(recording.frame(at)).expect("a frame of the capture");
        assert_eq!((known.sequence, known.intended_ns), (at, Some(at)));
    }
    assert!(recording.mean_bytes() <= f64::from(recording.largest_bytes()));
    assert!(recording.gaps_ns().is_none_or(|gaps| gaps.len() as u64 == recording.frames()));
}

/// A receiver of two streams, of which one should come out here.
fn receive(octets: &[u8]) {
    let mut receiver = Receiver::new(2, &[1]);
    receiver.schedule(1_000, 1_000_000);
    let (mut rest, mut at_ns, mut frames) = (octets, 1_000, 0);
    while let Some((&length, after)) = rest.split_first() {
        let (frame, after) = after.split_at(after.len().min(usize::from(length)));
        receiver.observe(at_ns, frame);
        (rest, at_ns, frames) = (after, at_ns + 1_000 * u64::from(length), frames + 1);
    }
    let others = receiver.foreign + receiver.stale + receiver.misdirected;
    assert!(receiver.unique + others <= frames && receiver.octets <= octets.len() as u64);
}
