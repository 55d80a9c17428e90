//! Strict priority over up to sixteen bands: `prio`, and `pfifo_fast`, which is three FIFOs behind Linux's priority map.
//!
//! ```text
//!   priority ─▶ map ─▶ band 0 [ · · · ] ──┐  always first
//!                      band 1 [ · · ]   ──┼─▶ dequeue
//!                      band 2 [ · · · ] ──┘  only when the others are empty or wait
//! ```
//!
//! Time O(bands) to find the first that gives a packet; space one child a band.

use crate::ClassId;
use crate::class_map::ClassMap;
use crate::discipline::{Accepted, Child, Discipline, Drained, Peek, Step};
use crate::pool::{Backlog, Context, SlotId};
use crate::report::{Counters, Report};

/// Linux's map from priority to band: 6 and 7 (interactive, control) first, 1..=3 and 5 (filler, bulk) last.
pub(crate) const LINUX_PRIOMAP: [u8; 16] = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];

pub(crate) struct Prio {
    kind: &'static str,
    bands: Vec<Child>,
    priomap: [u8; 16],
    classes: ClassMap,
    counters: Counters,
}

impl Prio {
    pub(crate) fn new(
        kind: &'static str,
        bands: Vec<Child>,
        priomap: [u8; 16],
        classes: ClassMap,
    ) -> Self {
        Self { kind, bands, priomap, classes, counters: Counters::default() }
    }
}

impl Discipline for Prio {
    #[inline]
    fn enqueue<T: Copy>(
        &mut self,
        cx: &mut Context<'_, T>,
        id: SlotId,
        class: ClassId,
    ) -> Accepted {
        let band = self
            .classes
            .find(class)
            .unwrap_or_else(|| u32::from(self.priomap[usize::from(cx.pool.get(id).priority & 15)]));
        let accepted = self.bands[band as usize].enqueue(cx, id, class);
        self.counters.dropped += u64::from(!accepted);
        accepted
    }

    #[inline]
    fn dequeue<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Step {
        let mut wait = None;
        for band in &mut self.bands {
            match band.dequeue(cx) {
                Step::Packet(id) => {
                    self.counters.sent(cx.length_bytes(id));
                    return Step::Packet(id);
                }
                Step::Wait(until_ns) => {
                    wait = Some(wait.map_or(until_ns, |soonest: u64| soonest.min(until_ns)));
                }
                Step::Empty => {}
            }
        }
        wait.map_or(Step::Empty, Step::Wait)
    }

    /// A packet of a band before may still come and go first, unless the band has to take its head out to know it.
    fn peek<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Option<Peek> {
        let mut wait = None;
        for band in &mut self.bands {
            match band.peek(cx) {
                Peek::Length(length_bytes) => return Some(Peek::Length(length_bytes)),
                Peek::Wait(until_ns) => {
                    wait = Some(wait.map_or(until_ns, |soonest: u64| soonest.min(until_ns)));
                }
                Peek::Empty => {}
            }
        }
        Some(wait.map_or(Peek::Empty, Peek::Wait))
    }

    fn backlog(&self) -> Backlog {
        let mut sum = Backlog::default();
        for band in &self.bands {
            let one = band.backlog();
            sum.packets += one.packets;
            sum.bytes += one.bytes;
        }
        sum
    }

    fn drain<T: Copy>(&mut self, cx: &mut Context<'_, T>, class: ClassId, out: Drained<'_>) {
        let named = class == ClassId::NONE && self.kind == "prio";
        for (minor, band) in (1..).zip(&mut self.bands) {
            let class = if named { ClassId::new(self.classes.major(), minor) } else { class };
            band.drain(cx, class, out);
        }
    }

    fn report(&self) -> Report {
        let map: Vec<String> = self.priomap.iter().map(u8::to_string).collect();
        let settings = format!("bands {} priomap {}", self.bands.len(), map.join(" "));
        let mut report = Report::new(self.kind, settings, self.counters, self.backlog());
        let major = self.classes.major();
        report.id = if self.kind == "prio" { ClassId::new(major, 0) } else { ClassId::NONE };
        for (minor, band) in (1..).zip(&self.bands) {
            let below = band.report();
            let mut class = Report::new("band", String::new(), below.counters, below.backlog);
            class.id = ClassId::new(if self.kind == "prio" { major } else { 0 }, minor);
            class.children.push(below);
            report.children.push(class);
        }
        report
    }
}

#[cfg(test)]
mod tests {
    use crate::{Config, Packet, Shape, testing::Bench};

    fn offer(bench: &mut Bench, handle: u64, priority: u8) {
        let mut packet = Packet::new(handle, 100, 0);
        packet.priority = priority;
        bench.offer_packet(0, packet);
    }

    #[test]
    fn pfifo_fast_maps_priorities_as_linux_does() {
        let mut bench = Bench::with(&Config::of(Shape::pfifo_fast()));
        for priority in 0..16 {
            offer(&mut bench, u64::from(priority), priority);
        }
        assert_eq!(bench.take_all(0), [6, 7, 0, 4, 8, 9, 10, 11, 12, 13, 14, 15, 1, 2, 3, 5]);
    }

    #[test]
    fn a_band_that_overflows_takes_nothing_from_another() {
        let mut shape = Shape::pfifo_fast();
        if let Shape::PfifoFast { limit, .. } = &mut shape {
            *limit = 2;
        }
        let mut bench = Bench::with(&Config::of(shape));
        for handle in 0..3 {
            offer(&mut bench, handle, 1);
        }
        offer(&mut bench, 9, 6);
        assert_eq!(bench.dropped_handles(), [2]);
        assert_eq!(bench.take_all(0), [9, 0, 1]);
    }

    #[test]
    fn a_class_named_by_a_filter_goes_before_the_map() {
        let mut bench = Bench::new(Shape::prio(3));
        offer(&mut bench, 1, 6);
        let packet = Packet::new(2, 100, 0).in_class("1:3".parse().unwrap());
        bench.offer_packet(0, packet);
        bench.offer_packet(0, Packet::new(3, 100, 0).in_class("1:1".parse().unwrap()));
        assert_eq!(bench.take_all(0), [1, 3, 2]);
    }
}
