//! Walks that are kept back until they have what somebody asked for, then told from their
//! beginning.
//!
//! ```text
//!  step ─▶ kept with its walk ─▶ the walk has all that was asked for ─▶ told, and each step after it
//!               └▶ forgotten when so many walks began after it
//! ```
//! Walks are numbered in a row, so that each is found by its number.

use crate::trace::{TraceRecord, TraceRequest, WalkWanted};
use std::collections::VecDeque;

/// Walks that are kept at a time: those of some frames. One whose packet waits in a queue for
/// longer than so many others took is lost.
const KEPT: usize = 1024;
/// Steps of a walk that are kept: more than the graph is deep.
const STEPS: usize = 64;

/// See the module.
pub(crate) struct Walks {
    wanted: WalkWanted,
    /// How many more are told.
    left: u32,
    /// Number of the first that is kept.
    first: u32,
    kept: VecDeque<Walk>,
}

#[derive(Default)]
struct Walk {
    came_by: bool,
    left_by: bool,
    is_told: bool,
    steps: Vec<TraceRecord>,
}

impl Walks {
    /// Where the request asks for something of walks.
    pub(crate) fn of(request: &TraceRequest) -> Option<Self> {
        let wanted = request.walk.clone();
        let asks = wanted.by.is_some() || wanted.exits.is_some();
        asks.then_some(Self { wanted, left: request.count, first: 1, kept: VecDeque::new() })
    }

    /// Whether more walks may be told.
    pub(crate) fn has_room(&self) -> bool {
        self.left > 0
    }

    /// Keeps a step, or tells it.
    pub(crate) fn step(&mut self, record: TraceRecord, mut tell: impl FnMut(TraceRecord)) {
        let Some(at) = self.place(record.packet) else { return };
        let Some(walk) = self.kept.get_mut(at) else { return };
        walk.came_by |= self.wanted.by.is_none_or(|by| by == record.rx);
        let exit = (record.slot, record.exit);
        walk.left_by |= self.wanted.exits.as_ref().is_none_or(|exits| exits.contains(&exit));
        if walk.is_told {
            return tell(record);
        }
        if walk.steps.len() < STEPS {
            walk.steps.push(record);
        }
        if walk.came_by && walk.left_by && self.left > 0 {
            self.left -= 1;
            walk.is_told = true;
            std::mem::take(&mut walk.steps).into_iter().for_each(tell);
        }
    }

    /// Where the walk of this number is; none if it is forgotten.
    fn place(&mut self, number: u32) -> Option<usize> {
        let at = number.wrapping_sub(self.first) as usize;
        // One of before the first, or of a trace that was given up.
        if at > u32::MAX as usize / 2 {
            return None;
        }
        if at >= self.kept.len() + KEPT {
            self.kept.clear();
            self.first = number;
            self.kept.push_back(Walk::default());
            return Some(0);
        }
        while self.kept.len() <= at {
            self.kept.push_back(Walk::default());
        }
        let too_many = self.kept.len().saturating_sub(KEPT);
        self.kept.drain(..too_many);
        self.first = self.first.wrapping_add(too_many as u32);
        at.checked_sub(too_many)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn step(packet: u32, slot: usize, exit: u8, rx: u16) -> TraceRecord {
        TraceRecord {
            packet,
            slot,
            exit,
            made: false,
            tsc: 0,
            call_cycles: 0,
            call_packets: 1,
            rx,
            tx: 0,
            adjacency: 0,
            remote: None,
            local: None,
            length: 0,
            consumed: 0,
            bytes: Vec::new(),
        }
    }

    fn walks(by: Option<u16>, exits: Option<&[(usize, u8)]>, count: u32) -> Walks {
        let walk = WalkWanted { by, exits: exits.map(Arc::from) };
        Walks::of(&TraceRequest { walk, count, ..TraceRequest::default() }).unwrap()
    }

    fn told(walks: &mut Walks, steps: &[TraceRecord]) -> Vec<(u32, usize)> {
        let mut told = Vec::new();
        for record in steps {
            walks.step(record.clone(), |it| told.push((it.packet, it.slot)));
        }
        told
    }

    #[test]
    fn a_walk_is_told_whole_once_it_has_what_was_asked_for() {
        let mut walks = walks(None, Some(&[(1, 4)]), 9);
        let steps = [step(1, 0, 0, 3), step(2, 0, 0, 3), step(1, 1, 3, 3), step(2, 1, 4, 3)];
        assert_eq!(told(&mut walks, &steps), [(2, 0), (2, 1)]);
        assert_eq!(told(&mut walks, &[step(1, 2, 255, 3), step(2, 2, 255, 3)]), [(2, 2)]);
    }

    #[test]
    fn both_must_be_so_and_no_more_are_told_than_were_wanted() {
        let mut walks = walks(Some(7), Some(&[(1, 4)]), 1);
        let off = [step(1, 0, 0, 3), step(1, 1, 4, 3)];
        let on = |number| [step(number, 0, 0, 3), step(number, 1, 4, 7)];
        assert_eq!(told(&mut walks, &off), []);
        assert_eq!(told(&mut walks, &on(2)), [(2, 0), (2, 1)]);
        assert!(!walks.has_room());
        assert_eq!(told(&mut walks, &on(3)), []);
        // What else becomes of the one that was told is told.
        assert_eq!(told(&mut walks, &[step(2, 9, 255, 7)]), [(2, 9)]);
    }

    #[test]
    fn what_is_kept_is_bounded_and_numbers_may_begin_again() {
        let mut walks = walks(None, Some(&[(1, 4)]), 9);
        for number in 1..=5_000 {
            assert_eq!(told(&mut walks, &[step(number, 0, 0, 3)]), []);
        }
        assert_eq!(walks.kept.len(), KEPT);
        assert_eq!(told(&mut walks, &[step(1, 1, 4, 3)]), []);
        assert_eq!(told(&mut walks, &[step(4_999, 1, 4, 3)]), [(4_999, 0), (4_999, 1)]);
        assert_eq!(told(&mut walks, &[step(1 << 30, 1, 4, 3)]), [(1 << 30, 1)]);
        assert_eq!(walks.kept.len(), 1);
        for _ in 0..500 {
            told(&mut walks, &[step(1 << 30 | 1, 0, 0, 3)]);
        }
        assert_eq!(walks.kept[1].steps.len(), STEPS);
    }
}
