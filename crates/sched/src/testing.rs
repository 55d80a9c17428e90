//! A scheduler on the bench: offers and takes in virtual time, with all that was dropped kept for
//! the asserts.

use crate::units::Rate;
use crate::{
    Burst, ClassId, Config, Dropped, Error, Next, Packet, Replaced, Report, Scheduler, Sent, Shape,
    Verdict, build, replace,
};

pub(crate) struct Bench {
    scheduler: Box<dyn Scheduler<u64>>,
    pub(crate) dropped: Vec<Dropped<u64>>,
    pub(crate) marked: Vec<u64>,
}

impl Bench {
    pub(crate) fn new(shape: Shape) -> Self {
        Self::with(&Config::of(shape))
    }

    pub(crate) fn with(config: &Config) -> Self {
        let scheduler = build(config).unwrap_or_else(|error| panic!("{error}"));
        Self { scheduler, dropped: Vec::new(), marked: Vec::new() }
    }

    pub(crate) fn offer(
        &mut self,
        now_ns: u64,
        handle: u64,
        length_bytes: u32,
        flow_hash: u32,
    ) -> Verdict {
        self.offer_packet(now_ns, Packet::new(handle, length_bytes, flow_hash))
    }

    pub(crate) fn offer_packet(&mut self, now_ns: u64, packet: Packet<u64>) -> Verdict {
        let before = self.dropped.len();
        let verdict =
            self.scheduler.enqueue(now_ns, packet, &mut |dropped| self.dropped.push(dropped));
        let itself = self.dropped[before..].iter().any(|drop| drop.handle == packet.handle);
        assert_eq!(verdict == Verdict::Dropped, itself, "the verdict tells of the packet itself");
        verdict
    }

    pub(crate) fn dequeue(&mut self, now_ns: u64) -> Next<u64> {
        let next = self.scheduler.dequeue(now_ns, &mut |dropped| self.dropped.push(dropped));
        if let Next::Packet(sent) = next
            && sent.mark
        {
            self.marked.push(sent.handle);
        }
        next
    }

    pub(crate) fn take_one(&mut self, now_ns: u64) -> Option<u64> {
        match self.dequeue(now_ns) {
            Next::Packet(sent) => Some(sent.handle),
            Next::Wait(_) | Next::Empty => None,
        }
    }

    /// Every packet that may go at this time.
    pub(crate) fn take_all(&mut self, now_ns: u64) -> Vec<u64> {
        std::iter::from_fn(|| self.take_one(now_ns)).collect()
    }

    /// Lets classes that always have packets compete for a link, and tells the bytes that each got.
    pub(crate) fn compete(
        &mut self,
        classes: &[(ClassId, u32)],
        link: Rate,
        time_ns: std::ops::Range<u64>,
    ) -> Vec<u64> {
        let mut got = vec![0; classes.len()];
        let mut now_ns = time_ns.start;
        for (at, &(class, length_bytes)) in classes.iter().enumerate() {
            for _ in 0..20 {
                self.offer_packet(now_ns, Packet::new(at as u64, length_bytes, 0).in_class(class));
            }
        }
        while now_ns < time_ns.end {
            match self.dequeue(now_ns) {
                Next::Packet(sent) => {
                    let at = sent.handle as usize;
                    got[at] += u64::from(sent.length_bytes);
                    let (class, length_bytes) = classes[at];
                    let again = Packet::new(sent.handle, length_bytes, 0).in_class(class);
                    self.offer_packet(now_ns, again);
                    now_ns += u64::from(sent.length_bytes) * 8_000_000_000 / link.0;
                }
                Next::Wait(until_ns) => {
                    assert!(until_ns > now_ns, "a wait lies in the future");
                    now_ns = until_ns;
                }
                Next::Empty => panic!("empty while packets wait"),
            }
        }
        got
    }

    /// Up to so many packets at once, and what came then.
    pub(crate) fn take_burst(&mut self, now_ns: u64, most: usize) -> (Vec<Sent<u64>>, Burst) {
        let mut sent = Vec::new();
        let drops = &mut |dropped| self.dropped.push(dropped);
        let burst = self.scheduler.dequeue_burst(now_ns, most, &mut sent, drops);
        (sent, burst)
    }

    /// The same as [`Bench::compete`], taken in bursts of 32.
    pub(crate) fn compete_in_bursts(
        &mut self,
        classes: &[(ClassId, u32)],
        link: Rate,
        time_ns: std::ops::Range<u64>,
    ) -> Vec<u64> {
        let mut got = vec![0; classes.len()];
        let mut now_ns = time_ns.start;
        let packet = |at: usize| {
            let (class, length_bytes) = classes[at];
            Packet::new(at as u64, length_bytes, 0).in_class(class)
        };
        for at in 0..classes.len() {
            (0..40)
                .for_each(|_| assert_eq!(self.offer_packet(now_ns, packet(at)), Verdict::Queued));
        }
        while now_ns < time_ns.end {
            let (sent, burst) = self.take_burst(now_ns, 32);
            let mut bytes = 0;
            for one in &sent {
                got[one.handle as usize] += u64::from(one.length_bytes);
                bytes += u64::from(one.length_bytes);
                self.offer_packet(now_ns, packet(one.handle as usize));
            }
            now_ns += bytes * 8_000_000_000 / link.0;
            match burst {
                Burst::More => {}
                Burst::Wait(until_ns) => now_ns = now_ns.max(until_ns),
                Burst::Empty => panic!("empty while packets wait"),
            }
        }
        got
    }

    pub(crate) fn dropped_handles(&self) -> Vec<u64> {
        self.dropped.iter().map(|drop| drop.handle).collect()
    }

    pub(crate) fn try_replace(&mut self, now_ns: u64, config: &Config) -> Result<Replaced, Error> {
        replace(&mut self.scheduler, config, now_ns, &mut |dropped| self.dropped.push(dropped))
    }

    pub(crate) fn replace(&mut self, now_ns: u64, config: &Config) -> Replaced {
        self.try_replace(now_ns, config).unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) fn spend(&mut self, now_ns: u64) {
        self.scheduler.spend(now_ns);
    }

    pub(crate) fn waiting(&self) -> u32 {
        self.scheduler.waiting_packets()
    }

    pub(crate) fn report(&self) -> Report {
        self.scheduler.report()
    }
}
