//! What an interface has done to its frames by a policer and by marks.
//!
//! ```text
//!  frame ─▶ its colour by DSCP ─▶ Limits, shared by all workers ─▶ colour ─▶ drop │ mark, pass
//! ```

use crate::filter::marking::{Mark, Place, colour_of};
use crate::tables::{Run, Setup, Work};
use graph::{Context, Exits};
use packet::{Frame, PacketView};
use police::{Colour, ColourCounters, Limits, Moments};
use std::sync::Arc;

/// What becomes of packets of a colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Treatment {
    /// They are dropped.
    Drop,
    /// They go on, marked perhaps.
    Pass(Mark),
}

/// A policer of the configuration: interfaces that name the same one share what was agreed.
#[derive(Debug)]
pub struct NamedPolicer {
    /// Colours packets.
    pub policer: Limits,
    /// What becomes of them, in the order of [`Colour::ALL`].
    pub treatments: [Treatment; 3],
    /// One set a worker.
    pub counters: Box<[ColourCounters]>,
}

/// What an interface's frames are held to, and what is written into them. Two are the same that
/// have one policer and one mark.
#[derive(Clone, Debug)]
pub struct Policed {
    /// The policer, if there is one.
    pub policer: Option<Arc<NamedPolicer>>,
    /// What is written where the policer writes nothing else.
    pub mark: Mark,
}

impl PartialEq for Policed {
    fn eq(&self, other: &Self) -> bool {
        let same = match (&self.policer, &other.policer) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (own, other) => own.is_none() && other.is_none(),
        };
        same && self.mark == other.mark
    }
}

graph::exits! {
    /// Why a frame goes no further.
    pub enum Exceeds {
        /// It is above what the interface's policer bears with.
        Exceeding => drop "`volley show policers` tells rates; raise the policer's `rate` or \
            `burst`, or have the sender send less.",
    }
}

/// Holds frames to what was agreed, and marks them.
pub struct Policing;

impl Work for Policing {
    const CHANGES: bool = true;
    type Setting = Policed;
    type Exit = Exceeds;

    fn new(_: &Setup) -> Self {
        Self
    }

    fn hold(
        &mut self,
        run: Run<'_, Policed>,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exceeds>,
        context: &mut Context<'_>,
    ) {
        let (place, policed) = (Place::of(run.row), run.setting);
        let Some(named) = &policed.policer else {
            run.slots.for_each(|slot| policed.mark.write_at(&mut frame.view(slot), place));
            return;
        };
        if fib::only_looks() {
            only_ask(run, policed, named, named.policer.at(context.now_tsc), frame, exits);
            return;
        }
        // Most count octets alone, and are asked for nothing else.
        if let Some(octets) = named.policer.octets_alone() {
            let moment = octets.at(context.now_tsc);
            let colour = |bytes, before| octets.colour(moment, bytes, before);
            return treat(run, (policed, named), frame, exits, context.worker, colour);
        }
        let moments = named.policer.at(context.now_tsc);
        let colour = |bytes, before| named.policer.colour(moments, bytes, before);
        treat(run, (policed, named), frame, exits, context.worker, colour);
    }
}

/// Gives each frame a colour, and has become of it what becomes of that.
#[inline(always)]
fn treat(
    run: Run<'_, Policed>,
    (policed, named): (&Policed, &NamedPolicer),
    frame: &mut Frame,
    exits: &mut Exits<'_, Exceeds>,
    worker: u16,
    colour: impl Fn(u32, Colour) -> Colour,
) {
    let (place, is_aware) = (Place::of(run.row), named.policer.is_colour_aware());
    for slot in run.slots {
        let bytes = frame.lengths()[slot];
        let mut packet = frame.view(slot);
        let colour = colour(bytes, said(is_aware, &packet, place));
        if let Some(counters) = named.counters.get(usize::from(worker)) {
            counters.add(colour, bytes);
        }
        match named.treatments[colour as usize] {
            Treatment::Drop => exits.set(slot, Exceeds::Exceeding),
            Treatment::Pass(mark) => mark.or(policed.mark).write_at(&mut packet, place),
        }
    }
}

/// The colour that a packet says it has, where somebody wants to know.
#[inline(always)]
fn said(is_aware: bool, packet: &PacketView<'_>, place: Place) -> Colour {
    match is_aware {
        true => colour_of(packet.header(), place == Place::Packet),
        false => Colour::Green,
    }
}

/// The same with frames of a question: nothing is taken, nor counted. Apart from those that pass,
/// which it would cost a look each.
#[cold]
#[inline(never)]
fn only_ask(
    run: Run<'_, Policed>,
    policed: &Policed,
    named: &NamedPolicer,
    moment: Moments,
    frame: &mut Frame,
    exits: &mut Exits<'_, Exceeds>,
) {
    let (place, is_aware) = (Place::of(run.row), named.policer.is_colour_aware());
    for slot in run.slots {
        let bytes = frame.lengths()[slot];
        let mut packet = frame.view(slot);
        let before = said(is_aware, &packet, place);
        match named.treatments[named.policer.would_be(moment, bytes, before) as usize] {
            Treatment::Drop => exits.set(slot, Exceeds::Exceeding),
            Treatment::Pass(mark) => mark.or(policed.mark).write_at(&mut packet, place),
        }
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::testing::{FAR, HOST};
    use graph::tsc_hz;
    use police::{Agreement, PacketAgreement, Policer, Rate};
    use wire::craft;

    /// The mark of voice.
    pub(crate) const EF: Mark = Mark { dscp: Some(46), pcp: None };

    /// A frame of 60 bytes.
    pub(crate) fn frame(dscp: u8) -> Vec<u8> {
        let packet = craft::ethernet([2; 6], [4; 6]).ipv4(HOST, FAR).tos(dscp << 2);
        packet.udp(1, 2).payload_len(18).build()
    }

    /// A byte a second, and a burst of two frames of 60 bytes, then of one more; yellow ones become
    /// AF12, red ones go.
    pub(crate) fn policed(mark: Mark, colour_aware: bool) -> Policed {
        let rate = Rate::new(8, tsc_hz()).unwrap();
        let agreement = Agreement::SingleRate { rate, burst_bytes: 120, excess_bytes: Some(60) };
        let yellow = Treatment::Pass(Mark { dscp: Some(12), pcp: None });
        let named = NamedPolicer {
            policer: Policer::new(agreement, colour_aware).unwrap().into(),
            treatments: [Treatment::Pass(Mark::default()), yellow, Treatment::Drop],
            counters: [ColourCounters::default()].into(),
        };
        Policed { policer: Some(Arc::new(named)), mark }
    }

    /// A packet a second, and three at once, whatever their length; the others go.
    pub(crate) fn few_packets() -> Policed {
        let rate = Rate::of_packets(1, tsc_hz()).unwrap();
        let packets = Some(PacketAgreement { rate, burst: 3 });
        let pass = Treatment::Pass(Mark::default());
        let named = NamedPolicer {
            policer: Limits::new(None, packets, false).unwrap(),
            treatments: [pass, pass, Treatment::Drop],
            counters: [ColourCounters::default()].into(),
        };
        Policed { policer: Some(Arc::new(named)), mark: Mark::default() }
    }

    /// Packets of each colour, and bytes.
    pub(crate) fn counted(policed: &Policed) -> [(u64, u64); 3] {
        policed.policer.as_ref().unwrap().counters[0].read()
    }
}
