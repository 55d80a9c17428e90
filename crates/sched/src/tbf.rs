//! The token bucket filter: a rate with a burst, and if asked for a peak rate, over one child.
//!
//! ```text
//!   child ──▶ head ──▶ [ bucket: burst, fills at rate ] ──▶ [ bucket: mtu, fills at peakrate ] ──▶ dequeue
//!                       not enough tokens: Wait until there are
//! ```
//!
//! Time O(1) above the child's; space 160 bytes.

use crate::child::Child;
use crate::discipline::{Accepted, Discipline, Drained, Peek, Step};
use crate::kind::Kind;
use crate::names::Names;
use crate::packet::DropReason;
use crate::plan::{Plan, Shape};
use crate::pool::{Backlog, Context, Reuse, SlotId};
use crate::rate::{Link, Price, Ticks, elapsed, ns_to_pay};
use crate::report::{Counters, Report};
use crate::said::Said;
use crate::settings::{settings, within};
use crate::tree::child;
use crate::units::{Rate, Size, Time};
use crate::{ClassId, Error, LinkLayer, Warning};

/// One bucket: tokens are time at its rate.
pub(crate) struct Bucket {
    price: Price,
    depth: Ticks,
    tokens: Ticks,
}

impl Bucket {
    /// A bucket that a packet of so many bytes empties, whatever the link makes of it.
    pub(crate) fn new(price: Price, depth_bytes: u64) -> Self {
        let depth = price.of_longest(depth_bytes);
        Self { price, depth, tokens: depth }
    }

    /// The tokens there would be `time` later, after a packet of this length.
    fn after(&self, time: Ticks, length_bytes: u32) -> Ticks {
        (self.tokens + time).min(self.depth) - self.price.of(length_bytes)
    }
}

pub(crate) struct Tbf {
    child: Child,
    rate: Bucket,
    peak: Option<Bucket>,
    filled_ns: u64,
    longest_bytes: u32,
    settings: String,
    counters: Counters,
}

impl Tbf {
    /// `longest_bytes` is what both buckets can hold tokens for.
    pub(crate) fn new(
        child: Child,
        rate: Bucket,
        peak: Option<Bucket>,
        longest_bytes: u32,
        settings: String,
    ) -> Self {
        let counters = Counters::default();
        Self { child, rate, peak, filled_ns: 0, longest_bytes, settings, counters }
    }
}

impl Discipline for Tbf {
    fn enqueue<T: Copy>(
        &mut self,
        cx: &mut Context<'_, T>,
        id: SlotId,
        class: ClassId,
    ) -> Accepted {
        if cx.length_bytes(id) > self.longest_bytes {
            self.counters.dropped += 1;
            cx.drop_packet(id, DropReason::TooLong);
            return false;
        }
        let accepted = self.child.enqueue(cx, id, class);
        self.counters.dropped += u64::from(!accepted);
        accepted
    }

    fn dequeue<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Step {
        let length_bytes = match self.child.peek(cx) {
            Peek::Length(length_bytes) => length_bytes,
            Peek::Wait(until_ns) => return Step::Wait(until_ns),
            Peek::Empty => return Step::Empty,
        };
        let time = elapsed(self.filled_ns, cx.now_ns);
        let tokens = self.rate.after(time, length_bytes);
        let peak_tokens = self.peak.as_ref().map_or(0, |peak| peak.after(time, length_bytes));
        let lacking = tokens.min(peak_tokens);
        if lacking < 0 {
            self.counters.overlimits += 1;
            return Step::Wait(cx.now_ns + ns_to_pay(-lacking));
        }
        let step = self.child.dequeue(cx);
        if let Step::Packet(_) = step {
            self.filled_ns = cx.now_ns;
            self.rate.tokens = tokens;
            if let Some(peak) = &mut self.peak {
                peak.tokens = peak_tokens;
            }
            self.counters.sent(length_bytes);
        }
        step
    }

    fn backlog(&self) -> Backlog {
        self.child.backlog()
    }

    fn drain<T: Copy>(&mut self, cx: &mut Context<'_, T>, class: ClassId, out: Drained<'_>) {
        self.child.drain(cx, class, out);
    }

    fn spend(&mut self, now_ns: u64) {
        self.filled_ns = now_ns;
        self.rate.tokens = 0;
        if let Some(peak) = &mut self.peak {
            peak.tokens = 0;
        }
        self.child.spend(now_ns);
    }

    fn report(&self) -> Report {
        let mut report = Report::new("tbf", self.settings.clone(), self.counters, self.backlog());
        report.children.push(self.child.report());
        report
    }
}

settings! {
    /// What `tbf` can be set to.
    pub struct TbfShape: "tbf" {
        /// Its name: what waits in it may have its own.
        bucket_handle: maybe ClassId, its_name();
        /// The long-term rate.
        rate: needed Rate, within(1, u64::MAX, "1 bit a second and more");
        /// What may go at once.
        burst: needed Size, within(1, 1 << 32, "1 byte to 4 GiB"), tc(&["burst", "buffer", "maxburst"]);
        /// The rate at which the burst goes.
        peakrate: maybe Rate;
        /// What may go at once at the peak rate; the MTU if not given.
        mtu: maybe Size, within(64, 1 << 24, "64 bytes to 16 MiB"), tc(&["mtu", "minburst"]);
        /// Bytes that the link adds to every packet.
        overhead: usual u32 = 0, within(0, 1024, "0 to 1024");
        /// The least bytes that the link carries for a packet.
        mpu: usual u32 = 0, within(0, 1024, "0 to 1024");
        /// How the link carries a packet: `atm` in cells.
        linklayer: usual LinkLayer = LinkLayer::Ethernet;
        with /// What waits for tokens.
        leaf: Box<Shape> = Box::new(Shape::bfifo(256 << 10));
    }
}

impl Plan for TbfShape {
    fn handle(&self) -> Option<ClassId> {
        self.bucket_handle
    }

    fn leaves(&self) -> Vec<Option<&Shape>> {
        vec![Some(&self.leaf)]
    }

    fn reuse(&self) -> Reuse {
        self.leaf.plan().reuse()
    }

    fn holds_back(&self) -> bool {
        true
    }

    fn check(&self, _: &mut Names) -> Result<(), Error> {
        let Some(peak) = self.peakrate else { return Ok(()) };
        let least = self.rate.0.saturating_add(1);
        within("tbf", "peakrate", peak.0, least, u64::MAX, "above the rate")
    }

    fn warn(&self, mtu_bytes: u32, _: Option<Rate>, warnings: &mut Vec<Warning>) {
        let longest = Size(u64::from(mtu_bytes));
        let peak = self.mtu.filter(|_| self.peakrate.is_some());
        for (setting, size) in [("burst", Some(self.burst)), ("mtu", peak)] {
            if let Some(size) = size.filter(|&size| size < longest) {
                warnings.push(Warning::ShortBurst { kind: "tbf", setting, size, longest });
            }
        }
    }

    fn build(&self, mtu_bytes: u32) -> Result<Kind, Error> {
        let link = Link::new(self.overhead, self.mpu, self.linklayer);
        let peak_depth = self.mtu.map_or(u64::from(mtu_bytes), |mtu| mtu.0);
        let peak = self.peakrate.map(|rate| Bucket::new(Price::new(rate, link), peak_depth));
        let longest = if peak.is_some() { self.burst.0.min(peak_depth) } else { self.burst.0 };
        let text = self.told(link, peak_depth);
        let rate = Bucket::new(Price::new(self.rate, link), self.burst.0);
        let longest_bytes = u32::try_from(longest).unwrap_or(u32::MAX);
        let leaf = child(&self.leaf, mtu_bytes)?;
        Ok(Kind::Tbf(Box::new(Tbf::new(leaf, rate, peak, longest_bytes, text))))
    }
}

impl TbfShape {
    /// What it is set to, as `tc` shows it: the longest wait, or how much may wait where a burst is
    /// more than that.
    fn told(&self, link: Link, peak_bytes: u64) -> String {
        let held = |bytes| Size(link.longest(bytes));
        let mut text = format!("rate {} burst {}", Said(self.rate), Said(held(self.burst.0)));
        let mut latency = self.latency(self.rate, held(self.burst.0));
        if let Some(peak) = self.peakrate {
            text += &format!(" peakrate {} minburst {}", Said(peak), Said(held(peak_bytes)));
            latency = latency.max(self.latency(peak, held(peak_bytes)));
        }
        if let Shape::Bfifo(waits) = &*self.leaf {
            text += &match latency {
                Some(latency) => format!(" lat {}", Said(latency)),
                None => format!(" limit {}", Said(waits.limit)),
            };
        }
        if self.overhead != 0 {
            text += &format!(" overhead {}", self.overhead);
        }
        if self.linklayer != LinkLayer::Ethernet {
            text += &format!(" linklayer {}", self.linklayer);
        }
        text
    }

    /// How long the last of what may wait waits, if longer than not at all.
    fn latency(&self, rate: Rate, burst: Size) -> Option<Time> {
        let Shape::Bfifo(waits) = &*self.leaf else { return None };
        let bits = u128::from(waits.limit.0.checked_sub(burst.0)?) * 8;
        let ns = bits * 1_000_000_000 / u128::from(rate.0.max(1));
        // In microseconds, as `tc` has it.
        Some(Time(u64::try_from(ns / 1000 * 1000).unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use crate::units::{Rate, Size};
    use crate::{LinkLayer, Next, Shape, testing::Bench};

    fn tbf(peak: Option<&str>) -> Bench {
        let mut shape = Shape::tbf(Rate(8_000_000), Size(2000), Shape::pfifo(100));
        if let Shape::Tbf(settings) = &mut shape {
            settings.peakrate = peak.map(|rate| rate.parse().unwrap());
            settings.mtu = Some(Size(1000));
        }
        Bench::new(shape)
    }

    #[test]
    fn the_burst_goes_at_once_and_the_rest_at_the_rate() {
        let mut bench = tbf(None);
        for handle in 0..4 {
            bench.offer(0, handle, 1000, 0);
        }
        assert_eq!(bench.take_all(0), [0, 1]);
        assert_eq!(bench.dequeue(0), Next::Wait(1_000_000));
        assert!(bench.take_all(999_999).is_empty());
        assert_eq!(bench.take_all(1_000_000), [2]);
        assert_eq!(bench.take_all(2_000_000), [3]);
    }

    #[test]
    fn a_bucket_that_was_spent_is_filled_by_time_alone_wherever_it_stands() {
        let shapes = [
            Shape::tbf(Rate(8_000_000), Size(2000), Shape::pfifo(100)),
            crate::PrioShape::of_bands(vec![Shape::tbf(
                Rate(8_000_000),
                Size(2000),
                Shape::pfifo(100),
            )])
            .into(),
        ];
        for shape in shapes {
            let mut bench = Bench::new(shape);
            bench.spend(5_000_000);
            for handle in 0..3 {
                bench.offer(5_000_000, handle, 1000, 0);
            }
            assert!(bench.take_all(5_999_999).is_empty());
            assert_eq!(bench.take_all(6_000_000), [0]);
            assert_eq!(bench.take_all(7_000_000), [1]);
            // Ten seconds later there is no more than a burst.
            assert_eq!(bench.take_all(10_000_000_000), [2]);
        }
    }

    #[test]
    fn a_peak_rate_spreads_the_burst() {
        let mut bench = tbf(Some("16mbit"));
        for handle in 0..2 {
            bench.offer(0, handle, 1000, 0);
        }
        assert_eq!(bench.take_all(0), [0]);
        assert_eq!(bench.dequeue(0), Next::Wait(500_000));
        assert_eq!(bench.take_all(500_000), [1]);
    }

    #[test]
    fn a_link_of_cells_is_paid_for_in_cells() {
        let mut shape = Shape::tbf(Rate(8_000_000), Size(1000), Shape::pfifo(100));
        if let Shape::Tbf(settings) = &mut shape {
            (settings.linklayer, settings.overhead) = (LinkLayer::Atm, 8);
        }
        let mut bench = Bench::new(shape);
        for handle in 0..3 {
            bench.offer(0, handle, 1000, 0);
        }
        // 1008 bytes are 21 cells, 1113 us; the bucket holds one such packet.
        assert_eq!(bench.take_all(0), [0]);
        assert_eq!(bench.dequeue(0), Next::Wait(1_113_000));
        assert_eq!(bench.take_all(1_113_000), [1]);
        assert_eq!(bench.dequeue(1_113_000), Next::Wait(2_226_000));
    }

    #[test]
    fn a_packet_no_bucket_can_hold_is_refused() {
        let mut bench = tbf(None);
        bench.offer(0, 1, 2001, 0);
        assert_eq!(bench.dropped_handles(), [1]);
    }

    #[test]
    fn idle_time_is_worth_no_more_than_the_burst() {
        let mut bench = tbf(None);
        for handle in 0..5 {
            bench.offer(1_000_000_000, handle, 1000, 0);
        }
        assert_eq!(bench.take_all(1_000_000_000), [0, 1]);
    }
}
