//! Taking entries out: expired ones, one, or all of a port, a domain or the table.
//!
//! ```text
//!   sweep(64 lines)  sweep(64 lines)  sweep(…)      a step is bounded; the caller sets the pace
//!   |---------------|----------------|------ … end, and round again
//! ```
//!
//! Only the control thread empties slots: first the data, so that lookups miss, then the key. The
//! slot comes free when every reader has passed.

use super::MacTable;
use super::entry::{Data, MacEntry, MacKey, emptied, emptied_in};
use super::learn::GIVEN_UP;
use super::line::SLOTS;
use crate::quiesce::Retired;
use crate::sync::Ordering;

/// Marks a slot that waits for readers.
const WAITING: u32 = 0;

/// Which learned entries to take out; configured ones stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MacFlush {
    /// Those of one port.
    Port(u32),
    /// Those of one bridge domain.
    Domain(u16),
    /// Every entry of the table.
    All,
}

/// How far a sweep has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MacSweep {
    next_line: usize,
}

impl MacTable {
    /// Takes out what expired by tick `now`, in the next `lines` cache lines; says how many entries
    /// went, and starts again at the end of the table. Workers go on meanwhile.
    pub fn sweep(&self, sweep: &mut MacSweep, lines: usize, now: u32) -> usize {
        let first = sweep.next_line.min(self.line_count);
        let end = first.saturating_add(lines).min(self.line_count);
        sweep.next_line = if end == self.line_count { 0 } else { end };
        self.take_out(first..end, |key, data| !data.is_live(now, self.max_age_of(key.domain())))
    }

    /// Takes out all learned entries that `flush` names; says how many. Workers go on meanwhile,
    /// and may learn the same entries anew.
    pub fn flush(&self, flush: MacFlush) -> usize {
        let unwanted = |key: MacKey, data: Data| {
            !data.is_static()
                && match flush {
                    MacFlush::Port(port) => data.port() == port,
                    MacFlush::Domain(domain) => key.domain() == domain,
                    MacFlush::All => true,
                }
        };
        self.pieces().map(|lines| self.take_out(lines, unwanted)).sum()
    }

    /// The lines, so many at a time that whoever else wants to be the control thread waits for a
    /// moment only.
    fn pieces(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        const LINES: usize = 1024;
        let end = self.line_count;
        (0..end).step_by(LINES).map(move |first| first..(first + LINES).min(end))
    }

    /// Takes one entry out, configured or learned, and returns it.
    pub fn remove(&self, key: MacKey) -> Option<MacEntry> {
        let mut control = self.control();
        let mut emptied = Vec::new();
        let mut removed = None;
        while let Some((line, slot)) = self.place_of(key) {
            let data = Data(self.line(line).data[slot].swap(0, Ordering::AcqRel));
            removed = removed.or(Some(data).filter(|data| !data.is_none()).map(Data::entry));
            self.empty_key(line, slot, key, &mut emptied);
        }
        self.retire(&mut control, emptied);
        removed
    }

    /// Calls `visit` with every entry that is live at tick `now`, and the ticks since it was seen.
    /// Workers go on meanwhile.
    pub fn for_each(&self, now: u32, mut visit: impl FnMut(MacKey, MacEntry, u32)) {
        for lines in self.pieces() {
            let _control = self.control();
            for line in &self.lines.items()[lines] {
                for slot in 0..SLOTS {
                    let key = MacKey::from_bits(line.keys[slot].load(Ordering::Acquire));
                    let data = line.data_of(slot);
                    let live = |key: &MacKey| data.is_live(now, self.max_age_of(key.domain()));
                    if let Some(key) = key.filter(live) {
                        visit(key, data.entry(), data.age(now));
                    }
                }
            }
        }
    }

    /// Calls `visit` with every entry of the next `lines` cache lines that is live at tick `now`;
    /// says whether that was the end of the table. It starts again there.
    pub fn look(
        &self,
        sweep: &mut MacSweep,
        lines: usize,
        now: u32,
        mut visit: impl FnMut(MacKey, MacEntry),
    ) -> bool {
        let first = sweep.next_line.min(self.line_count);
        let end = first.saturating_add(lines).min(self.line_count);
        let is_end = end == self.line_count;
        sweep.next_line = if is_end { 0 } else { end };
        let _control = self.control();
        for line in &self.lines.items()[first..end] {
            for slot in 0..SLOTS {
                let key = MacKey::from_bits(line.keys[slot].load(Ordering::Acquire));
                let data = line.data_of(slot);
                let live = |key: &MacKey| data.is_live(now, self.max_age_of(key.domain()));
                if let Some(key) = key.filter(live) {
                    visit(key, data.entry());
                }
            }
        }
        is_end
    }

    /// Takes a learned entry out, if it is on this port still. Workers go on meanwhile.
    pub fn forget(&self, key: MacKey, port: u32) {
        let Some((line, _)) = self.place_of(key) else { return };
        let gone =
            |other: MacKey, data: Data| other == key && data.port() == port && !data.is_static();
        self.take_out(line..line + 1, gone);
    }

    fn take_out(
        &self,
        lines: std::ops::Range<usize>,
        unwanted: impl Fn(MacKey, Data) -> bool,
    ) -> usize {
        let mut control = self.control();
        let (mut waiting, mut count) = (Vec::new(), 0);
        for index in lines {
            let line = self.line(index);
            for slot in 0..SLOTS {
                let bits = line.keys[slot].load(Ordering::Acquire);
                if emptied_in(bits) == Some(GIVEN_UP) {
                    line.keys[slot].store(emptied(WAITING), Ordering::Relaxed);
                    waiting.push((index * SLOTS + slot) as u32);
                }
                let Some(key) = MacKey::from_bits(bits) else { continue };
                let mut data = line.data_of(slot);
                // Data of none is a claim whose data is on the way.
                while !data.is_none() && unwanted(key, data) {
                    let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
                    match line.data[slot].compare_exchange(data.0, 0, success, failure) {
                        Ok(_) => {
                            count += 1;
                            self.empty_key(index, slot, key, &mut waiting);
                            break;
                        }
                        Err(newer) => data = Data(newer),
                    }
                }
            }
        }
        self.retire(&mut control, waiting);
        count
    }

    fn empty_key(&self, index: usize, slot: usize, key: MacKey, waiting: &mut Vec<u32>) {
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        let mark = emptied(WAITING);
        let place = &self.line(index).keys[slot];
        // It fails where a worker gave the slot up: then a later sweep takes it.
        if place.compare_exchange(key.bits(), mark, success, failure).is_ok() {
            self.count_out(key.domain());
            waiting.push((index * SLOTS + slot) as u32);
        }
    }

    fn retire(&self, control: &mut Retired<Vec<u32>>, waiting: Vec<u32>) {
        if !waiting.is_empty() {
            control.retire(waiting);
        }
        control.reclaim(|slots| {
            for place in slots {
                let (line, slot) = (self.line(place as usize / SLOTS), place as usize % SLOTS);
                // A worker that wrote late, into a slot it had lost, has passed by now.
                line.data[slot].store(0, Ordering::Relaxed);
                line.keys[slot].store(0, Ordering::Release);
            }
        });
    }
}
