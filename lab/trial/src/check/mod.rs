//! Does a device do what its function says? At a rate that anything carries, every packet is looked
//! at.
//!
//! ```text
//! probes ─▶ ends ─▶ device ─▶ ends, watched ─▶ judge ─▶ check
//!   what must come out, and how                  octet for octet, none lost, none that must not come
//!   what must not
//! ```
//! Nothing here is timed, so nothing here is short of time: frames are copied as they come and
//! judged when all is over.

pub(crate) mod captures;
mod expected;
mod judge;
mod witness;

use judge::{Order, Span, judge};
use lab_record::{CheckRecord, Subject};
use lab_traffic::{Plan, Rate, Stream};
use witness::Watch;

use crate::Error;
use crate::load::frames::Load;
use crate::trial::rig::Rig;

/// Packets a second of each stream.
const PPS: f64 = 500.0;
/// Longest check: more packets would show nothing more.
const LONGEST_S: f64 = 10.0;
/// So long without a packet means that none comes any more: a busy host may take its time.
const QUIET_NS: u64 = 500_000_000;

impl Rig<'_> {
    /// Checks the device's function for that long.
    pub(crate) fn check(
        &mut self,
        load: &Load,
        duration_s: f64,
        subject: Subject,
        at_s: f64,
    ) -> Result<CheckRecord, Error> {
        let probes = load.probes(Rate::Pps(PPS));
        let of = |side: usize| -> Vec<Stream> {
            let here = probes.iter().filter(|probe| probe.side == side);
            here.map(|probe| probe.sent.clone()).collect()
        };
        let planned = Plan::new(duration_s.min(LONGEST_S));
        let plan = Plan { quiet_ns: QUIET_NS, seed: load.seed, ..planned };
        let from_ns = self.bench.clock.now_ns();
        let watches: Vec<Watch> = self.ends.iter_mut().map(Watch::begin).collect();
        let outcome = self.carry([of(0), of(1)], plan);
        let mut seen = watches.into_iter().zip(&mut self.ends).map(|(watch, end)| watch.over(end));
        let seen = [seen.next().unwrap_or_default(), seen.next().unwrap_or_default()];
        let sent: Vec<u64> = outcome?.streams.iter().map(|stream| stream.offered).collect();
        let span = Span { from_ns, to_ns: self.bench.clock.now_ns() };
        let judgement = judge(&probes, &sent, &seen, span, Order::Any)?;
        Ok(CheckRecord {
            subject,
            at_s,
            load_pps: PPS,
            streams: judgement.streams,
            strangers: judgement.strangers,
            fault: judgement.fault,
        })
    }
}
