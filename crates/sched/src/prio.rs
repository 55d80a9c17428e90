//! Strict priority over up to sixteen bands: `prio`, and `pfifo_fast`, which is three FIFOs behind
//! Linux's priority map.
//!
//! ```text
//!   priority ─▶ map ─▶ band 0 [ · · · ] ──┐  always first
//!                      band 1 [ · · ]   ──┼─▶ dequeue
//!                      band 2 [ · · · ] ──┘  only when the others are empty or wait
//! ```
//!
//! Time O(bands) to find the first that gives a packet; space one child a band.

use crate::child::Child;
use crate::class_map::ClassMap;
use crate::discipline::{Accepted, Discipline, Drained, Peek, Step};
use crate::fifo::{Fifo, Limit};
use crate::kind::Kind;
use crate::names::Names;
use crate::plan::{Plan, Shape};
use crate::pool::{Backlog, Context, SlotId};
use crate::report::{Counters, Report};
use crate::settings::{settings, within};
use crate::tree::{child, route};
use crate::{ClassId, Error};

/// Linux's map from priority to band: 6 and 7 (interactive, control) first, 1..=3 and 5 (filler,
/// bulk) last.
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

    /// A packet of a band before may still come and go first, unless the band has to take its head
    /// out to know it.
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

    fn spend(&mut self, now_ns: u64) {
        self.bands.iter_mut().for_each(|band| band.spend(now_ns));
    }

    fn report(&self) -> Report {
        let map: Vec<String> = self.priomap.iter().map(u8::to_string).collect();
        let settings = format!("bands {} priomap  {}", self.bands.len(), map.join(" "));
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

settings! {
    /// What `pfifo_fast` can be set to.
    pub struct PfifoFastShape: "pfifo_fast" {
        /// Its name, as in `1:`; one is found if not given.
        handle: maybe ClassId, its_name();
        /// The most packets that wait in each band.
        limit: usual u32 = 1000, within(1, 1 << 24, "1 to 2^24"), tc(&[]);
        /// From priority to band.
        priomap: usual [u8; 16] = LINUX_PRIOMAP, tc(&[]);
    }
}

impl Plan for PfifoFastShape {
    fn handle(&self) -> Option<ClassId> {
        self.handle
    }

    fn limit_packets(&self) -> u64 {
        3 * u64::from(self.limit)
    }

    fn check(&self, _: &mut Names) -> Result<(), Error> {
        check_map("pfifo_fast", &self.priomap, 3)
    }

    fn build(&self, _: u32) -> Result<Kind, Error> {
        let band = |_| Child::new(Kind::Fifo(Fifo::new(Limit::of_packets(self.limit))));
        let bands = (0..3).map(band).collect();
        // No packet can name a class of the last major number.
        let classes = ClassMap::new(u16::MAX);
        Ok(Kind::Prio(Box::new(Prio::new("pfifo_fast", bands, self.priomap, classes))))
    }
}

settings! {
    /// What `prio` can be set to.
    pub struct PrioShape: "prio" {
        /// Its name; band 0 is class `handle:1`.
        handle: usual ClassId = ClassId::new(1, 0), its_name();
        /// From priority to band, for packets that no filter put into a band.
        priomap: usual [u8; 16] = LINUX_PRIOMAP;
        with /// The bands, the first served first.
        bands: Vec<Shape> = vec![Shape::pfifo(1000); 3];
    }
}

impl PrioShape {
    /// These bands, and Linux's map as far as there are bands for it.
    pub fn of_bands(bands: Vec<Shape>) -> Self {
        let last = bands.len().saturating_sub(1).min(255) as u8;
        Self { priomap: LINUX_PRIOMAP.map(|band| band.min(last)), bands, ..Self::default() }
    }
}

impl Plan for PrioShape {
    fn leaves(&self) -> Vec<Option<&Shape>> {
        self.bands.iter().map(Some).collect()
    }

    fn handle(&self) -> Option<ClassId> {
        Some(self.handle)
    }

    fn count_classes(&self) -> usize {
        self.bands.len()
    }

    fn holds_back(&self) -> bool {
        self.bands.iter().any(|band| band.plan().holds_back())
    }

    fn check(&self, names: &mut Names) -> Result<(), Error> {
        let bands = self.bands.len();
        within("prio", "bands", bands as u64, 1, 16, "1 to 16")?;
        check_map("prio", &self.priomap, bands)?;
        (1..).zip(&self.bands).for_each(|(minor, _)| {
            names.add_leaf(ClassId::new(self.handle.major(), minor));
        });
        Ok(())
    }

    fn build(&self, mtu_bytes: u32) -> Result<Kind, Error> {
        let mut map = ClassMap::new(self.handle.major());
        for (at, band) in (0..).zip(&self.bands) {
            let id = ClassId::new(self.handle.major(), at as u16 + 1);
            route(&mut map, id, Some(band), at);
        }
        let bands = self.bands.iter().map(|band| child(band, mtu_bytes));
        let bands = bands.collect::<Result<_, _>>()?;
        Ok(Kind::Prio(Box::new(Prio::new("prio", bands, self.priomap, map))))
    }
}

fn check_map(kind: &'static str, priomap: &[u8; 16], bands: usize) -> Result<(), Error> {
    let most = bands as u64 - 1;
    priomap
        .iter()
        .try_for_each(|&band| within(kind, "priomap band", u64::from(band), 0, most, "the bands"))
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
        if let Shape::PfifoFast(fast) = &mut shape {
            fast.limit = 2;
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
