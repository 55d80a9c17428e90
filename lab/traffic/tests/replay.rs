//! Captures sent as they are, over links in memory whose truth is known, and streams that end with
//! their last packet.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // all of it is test code

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use lab_traffic::clock::Clock;
use lab_traffic::memory::{self, Line};
use lab_traffic::recording::Recording;
use lab_traffic::{Header, Plan, Rate, Side, Stream, TrafficResult, drive};
use packet::{PacketBuf, PacketCache, RxQueue};
use wire::MacAddr;
use wire::pcap::{LINK_ETHERNET, Writer};

/// Each look at the clock takes this long: a few of them are an iteration.
const STEP_NS: u64 = 20;

/// Frames of all sizes, one of them twice; the gaps are 1 us, and 9 us behind each tenth.
fn frames() -> Vec<(u64, Vec<u8>)> {
    let mut random = lab_search::random::Random::new(3);
    let mut time_ns = 7_000;
    let mut frame = |index: u64| {
        time_ns += if index.is_multiple_of(10) { 9_000 } else { 1_000 };
        let length = 14 + random.below(1_500) as usize;
        (time_ns, (0..length).map(|_| random.below(256) as u8).collect::<Vec<u8>>())
    };
    let mut frames: Vec<_> = (0..500).map(&mut frame).collect();
    frames[300].1 = frames[200].1.clone();
    frames
}

fn capture(name: &str, frames: &[(u64, Vec<u8>)]) -> Arc<Recording> {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.pcap"));
    let mut writer = Writer::new(Vec::new(), LINK_ETHERNET).unwrap();
    frames.iter().for_each(|(time_ns, frame)| writer.write(*time_ns, frame).unwrap());
    std::fs::write(&path, writer.finish().unwrap()).unwrap();
    Arc::new(Recording::load(&path).unwrap())
}

/// What a receive queue saw, and when.
type Seen = Arc<Mutex<Vec<(u64, Vec<u8>)>>>;

struct Watching {
    inner: Box<dyn RxQueue>,
    clock: Clock,
    seen: Seen,
}

impl RxQueue for Watching {
    fn receive(&mut self, cache: &mut dyn PacketCache, most: usize, into: &mut Vec<PacketBuf>) {
        let first = into.len();
        self.inner.receive(cache, most, into);
        let seen = |packet: &PacketBuf| (self.clock.now_ns(), packet.bytes().to_vec());
        self.seen.lock().unwrap().extend(into[first..].iter().map(seen));
    }
}

/// Sends a stream over a link with these faults. What came of it, and what was seen at the far end.
fn send(faults: &str, stream: Stream) -> (TrafficResult, Vec<(u64, Vec<u8>)>, memory::Done) {
    let clock = Clock::stepped(STEP_NS);
    let (mut ends, account) =
        memory::pair(&clock, faults.parse().unwrap(), Line::default()).unwrap();
    let [a, b] = &mut ends;
    let seen = Seen::default();
    let inner = std::mem::replace(&mut b.rx, Box::new(Nothing));
    b.rx = Box::new(Watching { inner, clock: clock.clone(), seen: seen.clone() });
    let sides = vec![Side { end: a, streams: vec![stream] }, Side { end: b, streams: Vec::new() }];
    let result = drive(&clock, sides, &Plan::new(0.5), &mut |_| true).unwrap();
    let seen = seen.lock().unwrap().clone();
    (result, seen, account.of(0))
}

struct Nothing;

impl RxQueue for Nothing {
    fn receive(&mut self, _: &mut dyn PacketCache, _: usize, _: &mut Vec<PacketBuf>) {}
}

#[test]
fn a_capture_comes_out_octet_for_octet_in_order_with_its_gaps_as_often_as_asked() {
    let frames = frames();
    let stream = Stream::replay(capture("plain", &frames), 3).unwrap();
    let (result, seen, _) = send("delay=20us", stream);
    let sent: Vec<&Vec<u8>> = frames.iter().cycle().take(1_500).map(|(_, frame)| frame).collect();
    assert!(seen.iter().map(|(_, frame)| frame).eq(sent));
    for (gap, recorded) in seen.windows(2).zip(frames.windows(2)) {
        let (gap, recorded) = (gap[1].0 - gap[0].0, recorded[1].0 - recorded[0].0);
        assert!(gap.abs_diff(recorded) < 500, "{gap} instead of {recorded} ns");
    }
    let stream = &result.streams[0];
    assert_eq!((stream.intended, stream.offered), (1_500, 1_500));
    assert_eq!((stream.sequence.unique, stream.sequence.lost), (1_500, 0));
    assert_eq!((stream.sequence.reordered, stream.sequence.duplicates), (0, 0));
    assert!(stream.latency.percentile_ns(50.0).abs_diff(20_000) < 1_000);
    // Every octet, and four of checksum.
    let octets: usize = frames.iter().map(|(_, frame)| frame.len() + 4).sum();
    assert_eq!(stream.octets, 3 * octets as u64);
    // It ended with the last of them: three times 900 us.
    assert!((2_600_000..2_800_000).contains(&result.duration_ns), "{}", result.duration_ns);
}

#[test]
fn what_a_link_does_to_a_capture_is_counted_exactly() {
    let frames = frames();
    let stream = Stream::replay_at(capture("faults", &frames), 100, Rate::Pps(1e6));
    let faults = "lose=1000,duplicate=333,hold=701,behind=40,delay=1us";
    let (result, _, done) = send(faults, stream);
    let got = &result.streams[0].sequence;
    assert_eq!((got.lost, done.lost), (50, 50));
    assert_eq!((got.duplicates, got.reordered), (done.duplicated, done.held));
    assert!(done.duplicated > 100 && done.held > 50, "{done:?}");
    assert!(result.ends.iter().all(|end| end.foreign + end.misdirected == 0));
}

#[test]
fn frames_of_others_are_not_of_the_capture() {
    let (mine, others) = (frames(), [(0, vec![7; 60]), (9, vec![9; 60])]);
    let others = Stream::replay_at(capture("others", &others), 5, Rate::Pps(1e5));
    let mine = Stream::replay_at(capture("mine", &mine), 1, Rate::Pps(1e5));
    let clock = Clock::stepped(STEP_NS);
    let (mut ends, _) = memory::pair(&clock, Line::default(), Line::default()).unwrap();
    let [a, b] = &mut ends;
    let sides =
        vec![Side { end: a, streams: vec![mine, others] }, Side { end: b, streams: Vec::new() }];
    let result = drive(&clock, sides, &Plan::new(0.5), &mut |_| true).unwrap();
    let unique: Vec<u64> = result.streams.iter().map(|it| it.sequence.unique).collect();
    assert_eq!(unique, [500, 10]);
}

#[test]
fn a_number_of_packets_ends_with_the_last_of_them() {
    let source = MacAddr([2, 0, 0, 0, 0, 1]);
    let headers = vec![Header::Ethernet { source, destination: source, ethertype: None }];
    let made = Stream::new("s", headers, lab_traffic::arrivals::Imix::single(64), Rate::Pps(1e6));
    let (result, _, _) =
        send("delay=1ms,queue=2000", Stream { packets: Some(1_000), ..made.clone() });
    let stream = &result.streams[0];
    assert_eq!((stream.intended, stream.offered, stream.sequence.unique), (1_000, 1_000, 1_000));
    // A thousand at a million a second are a millisecond, and another until all have come.
    assert!((999_000..1_010_000).contains(&result.duration_ns), "{}", result.duration_ns);
    assert!(result.elapsed_ns < 2_100_000, "{}", result.elapsed_ns);
    // One at the largest rate ends as well, and what is lost is waited for no longer than is usual.
    let (result, _, _) = send("lose=100", Stream { packets: Some(500), rate: Rate::Max, ..made });
    assert_eq!((result.streams[0].offered, result.streams[0].sequence.lost), (500, 5));
    assert!(result.elapsed_ns < 60_000_000, "{}", result.elapsed_ns);
}
