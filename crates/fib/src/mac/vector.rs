//! A vector of keys at once: their lines are asked for, and when all are under way, looked at.
//!
//! ```text
//!  keys ─ hash, eight at once ─▶ lines ─▶ asked for
//!   │                              │
//!   └──── what each line has of its key, by SIMD (`kernel`) ─▶ words ─┬▶ live: the port
//!                                                                     ├▶ as if learned again: known
//!                                                                     └▶ else, one by one
//! ```

use super::entry::{Data, MacKey};
use super::{Learned, MacTable, kernel};
use crate::prefetch::prefetch;
use crate::sync::Ordering;

/// The most keys that are looked for at once.
pub const MOST_SOUGHT: usize = 256;

/// Keys of a vector, and where they are looked for.
#[derive(Debug)]
pub struct Sought {
    keys: [MacKey; MOST_SOUGHT],
    lines: [u32; MOST_SOUGHT],
    /// What was found of each.
    words: [u32; MOST_SOUGHT],
}

impl Default for Sought {
    fn default() -> Self {
        let (lines, words) = ([0; MOST_SOUGHT], [0; MOST_SOUGHT]);
        Self { keys: [MacKey::NOBODY; MOST_SOUGHT], lines, words }
    }
}

impl Sought {
    /// Whom it is looked for: to be written before [`MacTable::seek`].
    #[inline(always)]
    pub fn keys_mut(&mut self) -> &mut [MacKey; MOST_SOUGHT] {
        &mut self.keys
    }

    /// Whom it is looked for.
    #[inline(always)]
    pub fn keys(&self) -> &[MacKey; MOST_SOUGHT] {
        &self.keys
    }

    /// Looks for nobody in one place.
    pub fn forget(&mut self, place: usize) {
        self.keys[place] = MacKey::NOBODY;
    }
}

impl MacTable {
    /// Starts fetching the lines of the first `count` keys. To be called before they are looked up
    /// or learned.
    #[inline]
    pub fn seek(&self, sought: &mut Sought, count: usize) {
        let (keys, lines) = (&sought.keys[..count], &mut sought.lines[..count]);
        kernel::first_lines(self.hash, keys, lines);
        for &line in lines.iter().take(kernel::AHEAD) {
            prefetch(self.lines.base(), line as usize);
        }
    }

    /// The port of each of the first keys at tick `now`, or [`MacTable::UNKNOWN`], into the same
    /// place of `out`, which says how many.
    #[inline]
    pub fn lookup_sought(&self, sought: &mut Sought, now: u32, out: &mut [u32]) {
        let max_age = self.max_age_ticks.load(Ordering::Relaxed);
        let count = out.len();
        let (keys, lines) = (&sought.keys[..count], &sought.lines[..count]);
        let words = &mut sought.words[..count];
        kernel::words(self.lines.items(), keys, lines, words);
        if kernel::ports(words, now, max_age, out) {
            self.look_further(keys, words, now, max_age, out);
        }
    }

    /// Those that their first lines have, but not alive, or that may be on others.
    #[inline(never)]
    fn look_further(
        &self,
        keys: &[MacKey],
        words: &[u32],
        now: u32,
        max_age: u32,
        out: &mut [u32],
    ) {
        for ((key, word), out) in keys.iter().zip(words).zip(out) {
            if *word != 0 && *out == MacTable::UNKNOWN {
                let data = self.find(*key, now, max_age);
                *out = if data.is_none() { MacTable::UNKNOWN } else { data.port() };
            }
        }
    }

    /// As [`MacTable::lookup_sought`], of keys that nobody sought yet.
    pub fn lookup_bulk(&self, keys: &[MacKey], now: u32, out: &mut [u32]) {
        let mut sought = Sought::default();
        for (keys, out) in keys.chunks(MOST_SOUGHT).zip(out.chunks_mut(MOST_SOUGHT)) {
            sought.keys[..keys.len()].copy_from_slice(keys);
            self.seek(&mut sought, keys.len());
            self.lookup_sought(&mut sought, now, out);
        }
    }

    /// Learns the first keys, each seen on the port in the same place of `ports`; calls `report`
    /// with the place of each that was not [`Learned::Known`].
    #[inline]
    pub fn learn_sought(
        &self,
        sought: &mut Sought,
        ports: &[u16],
        now: u32,
        mut report: impl FnMut(usize, Learned),
    ) {
        let count = ports.len();
        let (keys, lines) = (&sought.keys[..count], &sought.lines[..count]);
        let words = &mut sought.words[..count];
        kernel::words(self.lines.items(), keys, lines, words);
        let as_seen = |port: u16| Data::new(port.into(), false, now).0;
        if kernel::are_all(words, ports, as_seen(0)) {
            return;
        }
        for (place, ((key, word), &port)) in keys.iter().zip(words).zip(ports).enumerate() {
            if *word != as_seen(port) {
                let learned = self.learn_slowly(*key, port.into(), now);
                if learned != Learned::Known {
                    report(place, learned);
                }
            }
        }
    }
}
