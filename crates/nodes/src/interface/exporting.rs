//! Notes of packets for who tells collectors of them: flows, or first octets (RFC 7011, sFlow 5).
//!
//! ```text
//!  a worker's features ─▶ a tally ─┐ one of two: who tells has at most one of them, for as long
//!                         a tally ─┘ as it takes to exchange it for an empty one
//! ```
//! A worker never waits and never asks for memory. What finds no room in either is counted. A
//! number of an interface is told as one more, as 0 is none.

use crate::tables::{Run, Setup, Side, Work};
use export::{Begins, Packet, Place, Sampled, Tally};
use graph::{Context, Exits, Handed, NoExit, add};
use openflow::action::Sample;
use packet::Frame;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Flows that a worker notes between two times that somebody asks.
const FLOWS: usize = 8_192;
/// The same of packets' first octets.
const SAMPLES: usize = 512;

/// What an exporter wants of packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// Flows.
    Flows,
    /// So many octets of each.
    Octets(usize),
}

/// Who is told of packets, as workers know it.
pub struct Exporter {
    wanted: Wanted,
    one_of: u32,
    workers: Box<[Noted]>,
}

impl std::fmt::Debug for Exporter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exporter").field("wanted", &self.wanted).finish_non_exhaustive()
    }
}

/// What one worker noted for it.
pub struct Noted {
    tallies: [Handed<Tally>; 2],
    /// Which packets are taken, where not all are.
    chosen: Handed<Chosen>,
    /// Packets that were looked at.
    pub seen: AtomicU64,
    /// Those of them that were noted.
    pub noted: AtomicU64,
    /// Those that no room was for.
    pub missed: AtomicU64,
}

/// Which packets are taken: of each interface how many are left to the next, and of how many that
/// is one.
struct Chosen {
    of: Vec<(u32, u32)>,
    chance: u64,
}

impl Chosen {
    /// Whether one of an interface's is taken, and of how many it is one. On an average it is one
    /// of `one_of`, and nobody outside knows which.
    fn takes(&mut self, id: u16, one_of: u32) -> Option<u32> {
        let at = usize::from(id);
        if self.of.len() <= at {
            // Once for each interface: it has the room.
            self.of.resize(at + 1, (0, 0));
        }
        let (left, of) = self.of[at];
        let (left, of) = if left == 0 { self.draw(one_of) } else { (left, of) };
        let is_taken = left == 1;
        self.of[at] = if is_taken { self.draw(one_of) } else { (left - 1, of) };
        is_taken.then_some(of)
    }

    fn throw(&mut self) {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
    }

    /// Whether this one is among so many of 65,535.
    fn hits(&mut self, probability: u16) -> bool {
        self.throw();
        probability == u16::MAX || (self.chance >> 48) < u64::from(probability)
    }

    fn draw(&mut self, one_of: u32) -> (u32, u32) {
        self.throw();
        // Evenly from 1 to 2 n - 1, whose average is n.
        let most = u64::from(one_of.saturating_mul(2).saturating_sub(1).max(1));
        let drawn = 1 + (((self.chance >> 32) * most) >> 32) as u32;
        (drawn, drawn)
    }
}

impl Exporter {
    /// One that so many workers tell, of one in so many packets. Nobody outside knows `chance`.
    pub fn new(wanted: Wanted, one_of: u32, workers: usize, chance: u64) -> Self {
        let noted = |worker: u64| {
            let chance = chance ^ (worker + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let of = Vec::with_capacity(crate::tables::MOST_INTERFACES);
            Noted {
                tallies: [tally(wanted, chance), tally(wanted, chance.rotate_left(9))]
                    .map(Handed::new),
                chosen: Handed::new(Chosen { of, chance: chance | 1 }),
                seen: AtomicU64::new(0),
                noted: AtomicU64::new(0),
                missed: AtomicU64::new(0),
            }
        };
        Self { wanted, one_of, workers: (0..workers as u64).map(noted).collect() }
    }

    /// What each worker noted.
    pub fn noted(&self) -> &[Noted] {
        &self.workers
    }

    /// Notes a packet that a flow of a switch has sampled, if it is one of those; false: it is not
    /// noted. It stands for those that are not taken.
    pub fn sample(&self, worker: u16, bytes: &[u8], place: Place, said: &Sample, now: u64) -> bool {
        let Some(noted) = self.workers.get(usize::from(worker)) else { return false };
        add(&noted.seen, 1);
        let is_hit = noted.chosen.take().is_some_and(|mut it| it.hits(said.probability));
        let read = || Packet::read(bytes, bytes.len() as u32, place);
        let Some(mut packet) = is_hit.then(read).flatten() else { return false };
        packet.key.observed = (said.domain, said.point);
        let many = u32::from(u16::MAX / said.probability.max(1));
        let count = |tally: &Handed<Tally>| {
            tally.take().is_some_and(|mut tally| tally.count_as(now, &packet, many))
        };
        let is_noted = noted.tallies.iter().any(count);
        add(if is_noted { &noted.noted } else { &noted.missed }, 1);
        is_noted
    }

    /// An empty tally, as workers have them.
    pub fn spare(&self, chance: u64) -> Tally {
        tally(self.wanted, chance)
    }
}

fn tally(wanted: Wanted, chance: u64) -> Tally {
    match wanted {
        Wanted::Flows => Tally::of_flows(FLOWS, chance),
        Wanted::Octets(octets) => Tally::of_samples(SAMPLES, octets),
    }
}

impl Noted {
    /// Exchanges each tally for an empty one, and shows it. False where the worker has one at the
    /// moment: that is to be asked for again.
    pub fn collect(&self, spare: &mut Tally, mut show: impl FnMut(&Tally)) -> bool {
        let mut had_all = true;
        for tally in &self.tallies {
            match tally.take() {
                Some(mut taken) => std::mem::swap(&mut *taken, spare),
                None => {
                    had_all = false;
                    continue;
                }
            }
            show(spare);
            spare.clear();
        }
        had_all
    }
}

/// Who is told of an interface's packets.
#[derive(Clone, Debug)]
pub struct ExportTo(pub Vec<Arc<Exporter>>);

impl PartialEq for ExportTo {
    fn eq(&self, other: &Self) -> bool {
        let mut both = self.0.iter().zip(&other.0);
        self.0.len() == other.0.len() && both.all(|(own, other)| Arc::ptr_eq(own, other))
    }
}

/// A side that packets are noted on.
pub trait Exported: Side {
    /// Whether packets leave there.
    const IS_SENT: bool;
}

impl Exported for crate::tables::Received {
    const IS_SENT: bool = false;
}

impl Exported for crate::tables::Sent {
    const IS_SENT: bool = true;
}

/// Notes packets; they themselves go on.
pub struct Exporting<S>(PhantomData<S>);

impl<S: Exported> Work for Exporting<S> {
    type Setting = ExportTo;
    type Exit = NoExit;

    fn new(_: &Setup) -> Self {
        Self(PhantomData)
    }

    fn hold(
        &mut self,
        run: Run<'_, ExportTo>,
        frame: &mut Frame,
        _: &mut Exits<'_, NoExit>,
        context: &mut Context<'_>,
    ) {
        // Who only asks where a packet would go is not told of.
        if fib::only_looks() {
            return;
        }
        for exporter in &run.setting.0 {
            if let Some(noted) = exporter.workers.get(usize::from(context.worker)) {
                Noting { exporter, noted, run: &run, now: context.now_tsc }.all::<S>(frame);
            }
        }
    }
}

/// A run of packets that are noted for one exporter.
struct Noting<'a> {
    exporter: &'a Exporter,
    noted: &'a Noted,
    run: &'a Run<'a, ExportTo>,
    now: u64,
}

impl Noting<'_> {
    fn all<S: Exported>(&self, frame: &mut Frame) {
        let Self { exporter, noted, run, .. } = self;
        let [first, second] = &noted.tallies;
        let (mut tally, mut other) = (first.take(), None);
        let mut chosen = if exporter.one_of > 1 { noted.chosen.take() } else { None };
        let (mut kept, mut missed) = (0, 0);
        for slot in run.slots.clone() {
            let of = match &mut chosen {
                Some(chosen) => chosen.takes(run.id, exporter.one_of),
                None => Some(1),
            };
            let Some(of) = of else { continue };
            let input = told(frame.rx()[slot]);
            let place = match S::IS_SENT {
                true => Place { input, output: told(run.id), is_sent: true },
                false => Place { input: told(run.id), output: 0, is_sent: false },
            };
            let packet = frame.view(slot);
            let note = |tally: &mut Tally| self.note(tally, packet.header(), place, of);
            let is_noted = tally.as_mut().is_some_and(|tally| note(tally))
                || other.get_or_insert_with(|| second.take()).as_mut().is_some_and(|it| note(it));
            *(if is_noted { &mut kept } else { &mut missed }) += 1;
        }
        add(&noted.seen, run.slots.len() as u64);
        add(&noted.noted, kept);
        if missed != 0 {
            add(&noted.missed, missed);
        }
    }

    /// Notes a packet; false where there is no room.
    fn note(&self, tally: &mut Tally, bytes: &[u8], place: Place, of: u32) -> bool {
        let is_packet = self.run.row.carries_packets();
        match self.exporter.wanted {
            Wanted::Flows => {
                let length = bytes.len() as u32;
                let read = match is_packet {
                    true => Packet::read_ip(bytes, place),
                    false => Packet::read(bytes, length, place),
                };
                // What is no frame at all is dropped and counted elsewhere.
                let Some(mut packet) = read else { return true };
                if let (0, Some(vlan)) = (packet.key.vlan, self.run.row.outer_vlan()) {
                    packet.key.vlan = vlan;
                }
                tally.count(self.now, &packet)
            }
            Wanted::Octets(most) => {
                let begins = match (is_packet, bytes.first().map(|first| first >> 4)) {
                    (false, _) => Begins::Ethernet,
                    (true, Some(6)) => Begins::Ip6,
                    (true, _) => Begins::Ip4,
                };
                let (input, output) = (place.input as u16, place.output as u16);
                let source = if place.is_sent { output } else { input };
                let length = bytes.len() as u32;
                let sampled = Sampled { source, input, output, of, begins, length, kept: 0 };
                tally.sample(sampled, &bytes[..bytes.len().min(most)])
            }
        }
    }
}

/// The number by which collectors know an interface.
pub fn told(id: u16) -> u32 {
    u32::from(id) + 1
}

#[cfg(test)]
#[path = "exporting_tests.rs"]
mod tests;
