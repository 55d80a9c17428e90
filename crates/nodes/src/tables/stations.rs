//! The stations of all bridges: one table that every worker reads and writes, its clock, and who
//! announced itself a moment ago.

use fib::mac::{MacKey, MacTable};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The MAC table with the ticks that its ages are counted in.
#[derive(Clone)]
pub struct Stations {
    /// Who is where. The port of an entry is the number of an interface.
    pub table: Arc<MacTable>,
    /// Who announced itself.
    pub announced: Arc<Announced>,
    now: Arc<AtomicU32>,
}

impl Stations {
    /// A table at tick 0.
    pub fn new(table: MacTable) -> Self {
        Self { table: Arc::new(table), announced: Arc::default(), now: Arc::default() }
    }

    /// The tick it is.
    #[inline]
    pub fn now(&self) -> u32 {
        self.now.load(Ordering::Relaxed)
    }

    /// For the control thread: it is `tick` now. A tick is a second.
    pub fn set_now(&self, tick: u32) {
        self.now.store(tick, Ordering::Relaxed);
    }
}

/// Stations that announced themselves in the last seconds where nothing comes back: an announcement
/// of theirs that is heard elsewhere then is the same one, and says nothing of a move.
///
/// Any worker writes, any reads. 8 KiB; a station that falls into the slot of another puts it out.
pub struct Announced {
    /// The upper 48 bits tell which station, the lower 16 when.
    slots: Box<[AtomicU64]>,
}

const SLOTS: usize = 1024;
/// Ticks for which an announcement is remembered.
const TICKS: u16 = 5;

impl Default for Announced {
    fn default() -> Self {
        Self { slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect() }
    }
}

impl Announced {
    /// A station announced itself.
    pub fn note(&self, key: MacKey, tick: u32) {
        let mixed = mix(key);
        self.slots[slot_of(mixed)].store(mixed << 16 | u64::from(tick as u16), Ordering::Relaxed);
    }

    /// Whether it did a moment ago.
    pub fn is_recent(&self, key: MacKey, tick: u32) -> bool {
        let mixed = mix(key);
        let noted = self.slots[slot_of(mixed)].load(Ordering::Relaxed);
        noted >> 16 == mixed << 16 >> 16 && (tick as u16).wrapping_sub(noted as u16) <= TICKS
    }
}

/// Its lower 48 bits are stored, the upper ones say where.
fn mix(key: MacKey) -> u64 {
    let [a, b, c, d, e, f] = key.address();
    let [g, h] = key.domain().to_be_bytes();
    let mixed = u64::from_be_bytes([g, h, a, b, c, d, e, f]).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 32
}

fn slot_of(mixed: u64) -> usize {
    (mixed >> 48) as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_announcement_is_remembered_for_some_seconds_and_of_its_station_alone() {
        let announced = Announced::default();
        let station = |domain, last| MacKey::new(domain, [2, 0, 0, 0, 0, last]);
        assert!(!announced.is_recent(station(1, 1), 0) && !announced.is_recent(station(1, 1), 3));
        announced.note(station(1, 1), 65_534);
        for (key, tick, is_recent) in [
            (station(1, 1), 65_534, true),
            (station(1, 1), 65_539, true),
            (station(1, 1), 65_540, false),
            (station(2, 1), 65_534, false),
            (station(1, 2), 65_534, false),
        ] {
            assert_eq!(announced.is_recent(key, tick), is_recent, "{key} at {tick}");
        }
        // Of as many as there is room for hardly one is put out.
        (0..100).for_each(|last| announced.note(station(7, last), 9));
        let known = (0..100).filter(|last| announced.is_recent(station(7, *last), 9)).count();
        assert!(known > 85, "{known}");
    }
}
