//! Looks at every packet that comes out of the device at one end.
//!
//! ```text
//! packet ─┬─ of a capture that is replayed ─▶ stream, by its content
//!         ├─ no signature of this trial ───▶ foreign (ARP, router advertisements …)
//!         ├─ of an earlier trial ──────────▶ stale
//!         ├─ of a stream sent from here ───▶ misdirected
//!         └─ stream ─▶ sequence · latency · jitter · delay variation · rates
//! ```
//! Test frames carry no magic number. But a time within the trial and a stream that there is are
//! some 60 bits that hold together: no other packet has them by chance.

use std::cell::RefCell;
use std::rc::Rc;

use lab_record::Histogram;

use super::recording::UnderWay;
use super::sender::STREAM_SHIFT;
use crate::receive::SequenceTracker;
use crate::receive::delay_variation::DelayVariationTracker;
use crate::receive::jitter::Jitter;
use crate::receive::rate_windows::RateWindows;
use crate::receive::sequence::Arrival;
use crate::test_frame::Signature;

/// Numbers that a stream may be behind its newest and still be told apart exactly.
const WINDOW: usize = 1 << 16;
/// Length of the windows whose worst latency is kept: a spike is at least as long.
pub const SPIKE_WINDOW_NS: u64 = 100_000;
/// The counter may differ that much between processors.
const CLOCK_SLACK_NS: u64 = 1_000;

/// One stream as it arrives.
pub struct StreamReceiver {
    /// Which packets came, in which order.
    pub sequence: SequenceTracker,
    /// From when each was meant to leave until it came.
    pub latency: Histogram,
    /// RFC 3550.
    pub jitter: Jitter,
    /// RFC 5481.
    pub variation: DelayVariationTracker,
}

impl StreamReceiver {
    fn new() -> Self {
        Self {
            sequence: SequenceTracker::new(WINDOW),
            latency: Histogram::default(),
            jitter: Jitter::default(),
            variation: DelayVariationTracker::default(),
        }
    }

    #[inline]
    fn observe(&mut self, number: u64, latency_ns: Option<u64>) {
        let arrival = self.sequence.observe(number);
        let Some(latency_ns) = latency_ns else { return };
        match arrival {
            Arrival::InOrder => {
                self.jitter.observe(latency_ns as i64);
                self.variation.observe(latency_ns);
            }
            Arrival::Reordered => {}
            // It came before; when its copy came says nothing of the stream.
            Arrival::Duplicate | Arrival::BeyondWindow => return,
        }
        self.latency.record(latency_ns);
    }
}

/// All that arrives at one end.
pub struct Receiver {
    /// By the stream's number; none for those that do not end here.
    pub streams: Vec<Option<StreamReceiver>>,
    /// Packets that are no test frames.
    pub foreign: u64,
    /// Test frames of an earlier trial.
    pub stale: u64,
    /// Test frames that should have come out elsewhere.
    pub misdirected: u64,
    /// Different test frames of this trial that should come out here and did.
    pub unique: u64,
    /// Octets of these, without checksums.
    pub octets: u64,
    /// Rates on four time scales.
    pub rates: RateWindows,
    /// The worst latency of each window, from the start.
    pub worst_ns: Vec<u64>,
    /// Of the streams that are replayed and end here, what is under way.
    replays: Vec<(u16, Rc<RefCell<UnderWay>>)>,
    start_ns: u64,
    last_ns: u64,
}

impl Receiver {
    /// Of `streams` there are in all, those `here` should come out at this end.
    pub fn new(streams: u16, here: &[u16]) -> Self {
        let receiver = |id| here.contains(&id).then(StreamReceiver::new);
        Self {
            streams: (0..streams).map(receiver).collect(),
            foreign: 0,
            stale: 0,
            misdirected: 0,
            unique: 0,
            octets: 0,
            rates: RateWindows::new(0, 0),
            worst_ns: Vec::new(),
            replays: Vec::new(),
            start_ns: 0,
            last_ns: 0,
        }
    }

    /// Frames of this stream carry no signature: they are known by their content.
    pub fn await_replay(&mut self, id: u16, under_way: Rc<RefCell<UnderWay>>) {
        self.replays.push((id, under_way));
    }

    /// When the trial begins, and how long it may last.
    pub fn schedule(&mut self, start_ns: u64, longest_ns: u64) {
        (self.start_ns, self.last_ns) = (start_ns, start_ns);
        self.rates = RateWindows::new(start_ns, (longest_ns / 1_000_000) as usize + 1);
        self.worst_ns = Vec::with_capacity((longest_ns / SPIKE_WINDOW_NS) as usize + 1);
    }

    /// When the last test frame came.
    pub fn last_ns(&self) -> u64 {
        self.last_ns
    }

    /// Takes note of a packet that is at hand now.
    #[inline]
    pub fn observe(&mut self, at_ns: u64, frame: &[u8]) {
        self.observe_stamped(at_ns, at_ns, frame);
    }

    /// Takes note of a packet that is at hand now and came at another time, by which its latency is
    /// told. When it was meant to leave, if that is known and it should come out here.
    #[inline]
    pub fn observe_stamped(&mut self, at_ns: u64, came_ns: u64, frame: &[u8]) -> Option<u64> {
        for at in 0..self.replays.len() {
            let (id, under_way) = &self.replays[at];
            let id = usize::from(*id);
            let known = under_way.borrow_mut().recognise(frame);
            if let Some(known) = known {
                let latency_ns = known.intended_ns.map(|ns| came_ns.saturating_sub(ns));
                let ours = self.note(id, known.sequence, latency_ns, at_ns, frame);
                return known.intended_ns.filter(|_| ours);
            }
        }
        let Some(signature) = Signature::read(frame, false) else {
            self.foreign += 1;
            return None;
        };
        let id = (signature.sequence >> STREAM_SHIFT) as usize;
        if id >= self.streams.len() || signature.intended_ns > at_ns + CLOCK_SLACK_NS {
            self.foreign += 1;
            return None;
        }
        if signature.intended_ns < self.start_ns {
            self.stale += 1;
            return None;
        }
        let latency_ns = came_ns.saturating_sub(signature.intended_ns);
        let number = signature.sequence & ((1 << STREAM_SHIFT) - 1);
        let ours = self.note(id, number, Some(latency_ns), at_ns, frame);
        ours.then_some(signature.intended_ns)
    }

    /// Takes note of a packet of a stream: whether it should come out here.
    #[inline]
    fn note(
        &mut self,
        id: usize,
        number: u64,
        latency_ns: Option<u64>,
        at_ns: u64,
        frame: &[u8],
    ) -> bool {
        let Some(stream) = &mut self.streams[id] else {
            self.misdirected += 1;
            return false;
        };
        let before = stream.sequence.unique();
        stream.observe(number, latency_ns);
        self.unique += stream.sequence.unique() - before;
        self.octets += frame.len() as u64;
        self.rates.observe(at_ns, 1);
        self.last_ns = at_ns;
        let window = ((at_ns - self.start_ns) / SPIKE_WINDOW_NS) as usize;
        if window >= self.worst_ns.len() {
            self.worst_ns.resize(window + 1, 0);
        }
        self.worst_ns[window] = self.worst_ns[window].max(latency_ns.unwrap_or(0));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(stream: u64, sequence: u64, intended_ns: u64) -> Vec<u8> {
        let mut frame = vec![0; 60];
        let sequence = stream << STREAM_SHIFT | sequence;
        Signature { sequence, intended_ns, flow: None }.write(&mut frame).unwrap();
        frame
    }

    #[test]
    fn packets_are_told_apart_by_whose_they_are() {
        let mut receiver = Receiver::new(2, &[1]);
        receiver.schedule(1_000_000, 10_000_000);
        receiver.observe(2_000_000, &frame(1, 0, 1_500_000));
        receiver.observe(2_000_000, &frame(0, 0, 1_500_000));
        receiver.observe(2_000_000, &frame(1, 1, 900_000));
        receiver.observe(2_000_000, &frame(1, 1, 2_100_000));
        receiver.observe(2_000_000, &frame(9, 1, 1_500_000));
        receiver.observe(2_000_000, &[0xff; 60]);
        receiver.observe(2_000_000, &[0; 12]);
        assert_eq!((receiver.unique, receiver.misdirected, receiver.stale), (1, 1, 1));
        assert_eq!(receiver.foreign, 4);
        assert_eq!(receiver.streams[1].as_ref().unwrap().latency.max_ns(), 500_000);
        assert_eq!(receiver.worst_ns.last(), Some(&500_000));
    }

    #[test]
    fn a_packet_is_as_late_as_its_port_says_and_belongs_to_the_time_at_which_it_is_at_hand() {
        let mut receiver = Receiver::new(2, &[1]);
        receiver.schedule(1_000_000, 10_000_000);
        let mut observe = |came_ns, stream| {
            receiver.observe_stamped(2_000_000, came_ns, &frame(stream, 0, 1_500_000))
        };
        assert_eq!(observe(1_600_000, 1), Some(1_500_000));
        assert_eq!(observe(1_600_000, 0), None, "it should come out elsewhere");
        // The port's clock is a little wrong: no reason to take it for somebody else's.
        assert_eq!(observe(1_400_000, 1), Some(1_500_000));
        let latency = &receiver.streams[1].as_ref().unwrap().latency;
        assert_eq!(
            (latency.max_ns(), receiver.last_ns(), receiver.foreign),
            (100_000, 2_000_000, 0)
        );
    }

    #[test]
    fn a_copy_of_a_packet_is_no_second_latency() {
        let mut receiver = Receiver::new(1, &[0]);
        receiver.schedule(0, 10_000_000);
        for at_ns in [100, 300] {
            receiver.observe(at_ns, &frame(0, 0, 50));
        }
        let stream = receiver.streams.remove(0).unwrap();
        assert_eq!((stream.latency.count(), stream.latency.max_ns()), (1, 50));
        assert_eq!(stream.sequence.finish(1).duplicates, 1);
    }
}
