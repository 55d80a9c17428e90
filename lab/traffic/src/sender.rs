//! Sends the streams of one end: each packet at its time, or as soon after as the port lets it.
//!
//! ```text
//! gaps ─▶ due times ─▶ built (stamped with the due time) ─▶ waiting ─▶ port
//!                                                     what the port refuses waits, in order
//! ```
//! A packet is stamped with the time at which it was meant to leave: a generator that is late shows
//! as latency instead of hiding it. What could not be sent by the end is counted as unsent.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use lab_record::Histogram;
use packet::{Burst, PacketBuf};

use super::end::{BURST, End};
use super::recording::{Recording, UnderWay};
use super::stream::{FCS_BYTES, Stream};
use super::template::Template;
use crate::Error;
use crate::arrivals::Gaps;
use crate::test_frame::Signature;

/// The stream's number is in the upper 16 bits of the sequence number.
pub const STREAM_SHIFT: u32 = 48;

/// Tells the contents of buffers apart, over all senders.
static NEXT_TEMPLATE: AtomicU32 = AtomicU32::new(1);

/// Frames sent as they were captured.
struct Replay {
    recording: Arc<Recording>,
    number: u32,
    under_way: Rc<RefCell<UnderWay>>,
}

impl Replay {
    fn new(recording: &Arc<Recording>) -> Self {
        Self {
            recording: recording.clone(),
            number: NEXT_TEMPLATE.fetch_add(1, Ordering::Relaxed),
            under_way: Rc::new(RefCell::new(UnderWay::new(recording))),
        }
    }

    /// Makes `packet` the frame of this number. Its octets.
    fn write(&self, packet: &mut PacketBuf, sequence: u64, intended_ns: u64) -> usize {
        let frame = self.recording.frame(sequence);
        packet.refill(frame, self.number, frame.len());
        self.under_way.borrow_mut().sent(intended_ns);
        frame.len()
    }
}

/// One stream's state.
struct Lane {
    id: u16,
    /// A template for each size, and its number.
    templates: Vec<(Template, u32)>,
    /// Which template each packet of the size sequence takes.
    sizes: Vec<u8>,
    /// Instead of templates.
    replay: Option<Replay>,
    /// None: as fast as it goes.
    gaps: Option<Gaps>,
    /// When it begins, since the trial did.
    after_ns: u64,
    next_ns: u64,
    sequence: u64,
    limit: u64,
    offered: u64,
    octets: u64,
}

impl Lane {
    fn new(stream: &Stream, id: u16, link_bps: f64, seed: u64) -> Result<Self, Error> {
        let replay = stream.recording.as_ref().map(Replay::new);
        let mut distinct: Vec<u16> = match replay {
            Some(_) => Vec::new(),
            None => stream.frame_bytes.sequence().to_vec(),
        };
        distinct.sort_unstable();
        distinct.dedup();
        let mut templates = Vec::new();
        for &size in &distinct {
            let number = NEXT_TEMPLATE.fetch_add(1, Ordering::Relaxed);
            templates.push((Template::new(stream, size)?, number));
        }
        let place = |size: &u16| distinct.iter().position(|it| it == size).unwrap_or(0) as u8;
        let sizes: Vec<u8> = stream.frame_bytes.sequence().iter().map(place).collect();
        let pps = stream.rate.pps(stream.mean_bytes(), link_bps);
        let gaps = pps.map(|pps| Gaps::new(stream.arrivals.clone(), pps, seed)).transpose()?;
        let limit = stream.packets.unwrap_or(u64::MAX);
        Ok(Self {
            id,
            templates,
            sizes,
            replay,
            gaps,
            after_ns: (stream.after_s * 1e9) as u64,
            next_ns: 0,
            sequence: 0,
            limit,
            offered: 0,
            octets: 0,
        })
    }

    /// The time of the next packet, if one is due before `end_ns`.
    #[inline]
    fn due_ns(&self, now_ns: u64, end_ns: u64) -> Option<u64> {
        let due = self.next_ns <= now_ns && self.next_ns < end_ns && self.sequence < self.limit;
        due.then_some(self.next_ns)
    }

    /// Makes `packet` the next one of the stream. Its size.
    #[inline]
    fn build(&mut self, packet: &mut PacketBuf, now_ns: u64) -> Built {
        let intended_ns = if self.gaps.is_some() { self.next_ns } else { now_ns };
        let octets = match &self.replay {
            None => self.make(packet, intended_ns),
            Some(replay) => replay.write(packet, self.sequence, intended_ns),
        };
        self.sequence += 1;
        self.next_ns = match &mut self.gaps {
            Some(gaps) => self.next_ns + gaps.next_ns(),
            None => now_ns,
        };
        Built { intended_ns, octets: octets as u32 }
    }

    /// The next test frame. Its octets.
    #[inline]
    fn make(&self, packet: &mut PacketBuf, intended_ns: u64) -> usize {
        let (template, number) = match self.sizes[..] {
            [only] => &self.templates[usize::from(only)],
            _ => {
                let place = (self.sequence % self.sizes.len() as u64) as usize;
                &self.templates[usize::from(self.sizes[place])]
            }
        };
        packet.refill(template.bytes(), *number, template.header_bytes());
        let sequence = u64::from(self.id) << STREAM_SHIFT | self.sequence;
        let signature = Signature { sequence, intended_ns, flow: None };
        // The stream was checked: each of its frames has room for the signature.
        let written = template.write(packet.bytes_mut(), self.sequence, &signature);
        debug_assert!(written.is_ok());
        template.bytes().len()
    }

    /// Packets that were due before `end_ns`: those built, and those that the gaps ask for still.
    fn due_count(&self, end_ns: u64) -> u64 {
        let Some(gaps) = &self.gaps else { return self.offered };
        let (mut gaps, mut next_ns, mut count) = (gaps.clone(), self.next_ns, self.sequence);
        while next_ns < end_ns && count < self.limit {
            next_ns += gaps.next_ns();
            count += 1;
        }
        count
    }
}

#[derive(Clone, Copy, Default)]
struct Built {
    intended_ns: u64,
    octets: u32,
}

/// What a stream sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sent {
    /// Packets that should have been sent.
    pub intended: u64,
    /// Packets sent.
    pub offered: u64,
    /// Octets of these, checksums included.
    pub octets: u64,
}

/// All streams of an end.
pub struct Sender {
    lanes: Vec<Lane>,
    start_ns: u64,
    end_ns: u64,
    /// Buffers ready to be filled.
    stock: Vec<PacketBuf>,
    /// Packets built and not taken by the port yet, oldest first.
    waiting: Vec<PacketBuf>,
    built: Vec<(u8, Built)>,
    /// Most packets that wait, and are handed to the port at once.
    burst: usize,
    last_sent_ns: Option<u64>,
    /// Gaps really left between packets.
    pub gaps: Histogram,
    /// How late packets left.
    pub lateness: Histogram,
    /// Times at which there was no buffer to send from.
    pub starved: u64,
}

impl Sender {
    /// A sender of these streams, each with its number.
    pub fn new(
        streams: &[(u16, Stream)],
        link_bps: f64,
        seed: u64,
        burst: usize,
    ) -> Result<Self, Error> {
        let lane = |(id, stream): &(u16, Stream)| {
            Lane::new(stream, *id, link_bps, seed.wrapping_add(u64::from(*id)))
        };
        Ok(Self {
            lanes: streams.iter().map(lane).collect::<Result<_, _>>()?,
            start_ns: 0,
            end_ns: 0,
            stock: Vec::with_capacity(2 * BURST),
            waiting: Vec::with_capacity(burst),
            built: Vec::with_capacity(burst),
            burst,
            last_sent_ns: None,
            gaps: Histogram::default(),
            lateness: Histogram::default(),
            starved: 0,
        })
    }

    /// From when and until when to send.
    pub fn schedule(&mut self, start_ns: u64, end_ns: u64) {
        (self.start_ns, self.end_ns) = (start_ns, end_ns);
        self.lanes.iter_mut().for_each(|lane| lane.next_ns = start_ns + lane.after_ns);
    }

    /// Ends it early: what would have been due later is not missing.
    pub fn stop(&mut self, now_ns: u64) {
        self.end_ns = self.end_ns.min(now_ns);
    }

    /// Packets sent so far.
    pub fn offered(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.offered).sum()
    }

    /// What is under way of the streams that are replayed, each with its stream's number.
    pub fn replays(&self) -> impl Iterator<Item = (u16, Rc<RefCell<UnderWay>>)> + '_ {
        let replay = |lane: &Lane| Some((lane.id, lane.replay.as_ref()?.under_way.clone()));
        self.lanes.iter().filter_map(replay)
    }

    /// Whether every stream, however long the trial, has come to its last packet and sent it.
    pub fn is_spent(&self) -> bool {
        self.lanes.iter().all(|lane| lane.sequence >= lane.limit) && self.waiting.is_empty()
    }

    /// Whether it has streams.
    pub fn has_streams(&self) -> bool {
        !self.lanes.is_empty()
    }

    /// Whether all that should be sent by the end was.
    pub fn is_done(&self) -> bool {
        let left =
            |lane: &Lane| lane.due_ns(u64::MAX, self.end_ns).is_some() && lane.gaps.is_some();
        self.waiting.is_empty() && !self.lanes.iter().any(left)
    }

    /// Sends what is due.
    #[inline]
    pub fn send(&mut self, now_ns: u64, end: &mut End) {
        if self.waiting.is_empty() {
            self.build(now_ns, end);
        }
        if self.waiting.is_empty() {
            return;
        }
        let taken = end.tx.send(&mut *end.cache, &mut self.waiting);
        if taken > 0 {
            self.account(now_ns, taken);
        }
    }

    fn account(&mut self, now_ns: u64, taken: usize) {
        for &(lane, Built { intended_ns, octets }) in &self.built[..taken] {
            let lane = &mut self.lanes[usize::from(lane)];
            lane.offered += 1;
            lane.octets += u64::from(octets) + FCS_BYTES as u64;
            self.lateness.record(now_ns.saturating_sub(intended_ns));
        }
        if let Some(last_ns) = self.last_sent_ns.replace(now_ns) {
            self.gaps.record(now_ns - last_ns);
        }
        self.gaps.record_many(0, taken as u64 - 1);
        self.built.drain(..taken);
    }

    /// Builds packets that are due, in order of their times, at most a burst.
    fn build(&mut self, now_ns: u64, end: &mut End) {
        while self.waiting.len() < self.burst {
            let Some(lane) = self.next_lane(now_ns) else { return };
            if self.stock.is_empty() && !self.restock(end) {
                self.starved += 1;
                return;
            }
            let Some(mut packet) = self.stock.pop() else { return };
            let built = self.lanes[lane].build(&mut packet, now_ns);
            self.waiting.push(packet);
            self.built.push((lane as u8, built));
        }
    }

    #[inline]
    fn next_lane(&self, now_ns: u64) -> Option<usize> {
        if let [lane] = &self.lanes[..] {
            return lane.due_ns(now_ns, self.end_ns).map(|_| 0);
        }
        let due = self.lanes.iter().enumerate();
        let due = due.filter_map(|(at, lane)| Some((lane.due_ns(now_ns, self.end_ns)?, at)));
        due.min().map(|(_, at)| at)
    }

    fn restock(&mut self, end: &mut End) -> bool {
        end.cache.allocate(BURST, &mut self.stock)
    }

    /// Gives back what was not sent.
    pub fn give_back(&mut self, end: &mut End) {
        end.cache.release(Burst::of(&mut self.waiting));
        end.cache.release(Burst::of(&mut self.stock));
        self.built.clear();
    }

    /// What stream `number` of this sender sent.
    pub fn sent(&self, number: usize) -> Sent {
        let lane = &self.lanes[number];
        let Lane { offered, octets, .. } = *lane;
        Sent { intended: lane.due_count(self.end_ns), offered, octets }
    }
}
