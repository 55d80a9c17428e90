//! Connections of packets that are to be tracked, asked for some tens at a time: they are on their
//! way from memory while others are looked at.

use crate::tables::Tracking;
use conntrack::{Asked, usual4};
use flow::{Cache, Found, Step};
use packet::{Frame, prefetch_read};
use std::ops::Range;

/// Packets that are looked at together.
pub(super) const TOGETHER: usize = 32;
/// Octets in front of the packet of a frame without tags, which alone is asked for.
pub(super) const IN_FRONT: usize = 14;

/// See the module.
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

/// In which zone packets of a megaflow are tracked, if that is their first step.
fn zone_of(cache: &Cache, found: Found) -> Option<u16> {
    match cache.verdict(found)?.steps.first()? {
        Step::Track(step) => Some(step.zone),
        _ => None,
    }
}
