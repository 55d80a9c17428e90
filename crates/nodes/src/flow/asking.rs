//! What is needed of some tens of packets, asked for before the first is looked at, so that it is
//! on its way from memory meanwhile: what is to be done with each, and its connection where that
//! is to be tracked.

use crate::tables::Tracking;
use conntrack::{Asked, usual4};
use flow::{Cache, Found, Step};
use packet::{Frame, prefetch_read};
use std::ops::Range;

/// Packets that are looked at together.
pub(super) const TOGETHER: usize = 32;
/// Octets in front of the packet of a frame without tags, which alone is asked for.
pub(super) const IN_FRONT: usize = 14;

/// So few things that packets come to are at hand already.
const FEW: usize = 2;
/// Turns until all that is done with a packet is asked for.
const TURNS: usize = 3;

/// Connections that were asked for.
pub(super) struct Asking(Vec<Option<Asked>>);

impl Asking {
    pub(super) fn new() -> Self {
        Self(Vec::with_capacity(TOGETHER))
    }

    /// Asks for those whose first step tracks them.
    pub(super) fn ask(
        &mut self,
        frame: &mut Frame,
        slots: Range<usize>,
        tracking: Option<&Tracking>,
        cache: &Cache,
    ) {
        self.0.clear();
        let Some(Tracking { table, .. }) = tracking else { return };
        // Packets of one megaflow come in rows.
        let mut last = None;
        for slot in slots {
            let packet = frame.view(slot);
            let found = packet.adjacency();
            let zone = match last {
                Some((own, zone)) if own == found => zone,
                _ => zone_of(cache, Found(found)),
            };
            last = Some((found, zone));
            let bytes = packet.header();
            let asked = zone
                .filter(|_| packet.tx() == 0 && bytes.get(12..IN_FRONT) == Some(&[8, 0]))
                .and_then(|zone| usual4(&bytes[IN_FRONT..], zone))
                .map(|(tuple, seen)| {
                    let (asked, line) = table.ask(tuple, seen);
                    prefetch_read(line);
                    asked
                });
            self.0.push(asked);
        }
        for asked in self.0.iter_mut().flatten() {
            prefetch_read(table.ask_on(asked));
        }
    }

    /// What was asked for one of them.
    pub(super) fn of(&self, nth: usize) -> Option<&Asked> {
        self.0.get(nth)?.as_ref()
    }
}

/// Asks for what is done with packets, where they come to several things.
pub(super) fn ask_for_steps(frame: &mut Frame, slots: Range<usize>, cache: &Cache) {
    let (mut found, mut many) = ([Found(0); TOGETHER], 0);
    for slot in slots {
        let own = Found(frame.view(slot).adjacency());
        // Packets of one megaflow come in rows.
        if many == 0 || found[many - 1] != own {
            found[many] = own;
            many += 1;
        }
    }
    if many <= FEW {
        return;
    }
    for turn in 0..TURNS {
        found[..many].iter().for_each(|it| cache.ask_for_steps(*it, turn, prefetch_read));
    }
}

/// In which zone packets of a megaflow are tracked, if that is their first step.
fn zone_of(cache: &Cache, found: Found) -> Option<u16> {
    match cache.verdict(found)?.steps.first()? {
        Step::Track(step) => Some(step.zone),
        _ => None,
    }
}
