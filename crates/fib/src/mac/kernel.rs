//! The passes over a vector of keys, with the registers that the processor has.
//!
//! ```text
//!  line   key0 key1 key2 key3   key4    data0 … data4  spilled
//!           │    │    │    │      │        0  …   4       5
//!           compared at once     beside ─▶ which of them; none: 5
//! ```
//! So what a line has of a key is one word, without a branch: the data, or else whether to look
//! further.

#![allow(unsafe_code)] // SIMD loads take raw addresses, and kernels of a processor are unsafe.

use super::MacTable;
use super::entry::{Data, MacKey};
use super::line::{Hash, Line};
use crate::prefetch::prefetch;
use crate::sync::Ordering;

/// A line of the processor's atomics.
const LINE_BYTES: usize = 64;

/// The line where each key is looked for first.
#[inline]
pub(super) fn first_lines(hash: Hash, keys: &[MacKey], lines: &mut [u32]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
        // SAFETY: the processor has these.
        return unsafe { x86::first_lines(hash, keys, lines) };
    }
    each_first_line(hash, keys, lines);
}

#[inline(always)]
fn each_first_line(hash: Hash, keys: &[MacKey], lines: &mut [u32]) {
    for (key, line) in keys.iter().zip(lines) {
        *line = hash.first(*key) as u32;
    }
}

/// What its line has of each key: its data, or else whether the line has spilled.
#[inline]
pub(super) fn words(all: &[Line], keys: &[MacKey], lines: &[u32], words: &mut [u32]) {
    // A model of the atomics has others, which are larger.
    #[cfg(target_arch = "x86_64")]
    if size_of::<Line>() == LINE_BYTES && is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, and a line is as it is drawn.
        return unsafe { x86::words(all, keys, lines, words) };
    }
    for (place, (key, word)) in keys.iter().zip(words).enumerate() {
        ask_ahead(all, lines, place);
        *word = all[lines[place] as usize].word(*key);
    }
}

/// How many lines before its turn a line is asked for.
pub(super) const AHEAD: usize = 24;

#[inline(always)]
fn ask_ahead(all: &[Line], lines: &[u32], place: usize) {
    if let Some(ahead) = lines.get(place + AHEAD) {
        prefetch(all.as_ptr(), *ahead as usize);
    }
}

/// The port of each word that is alive, and [`MacTable::UNKNOWN`] of others. Says whether one of
/// those says more than that nobody is there.
#[inline]
pub(super) fn ports(words: &[u32], now: u32, max_age: u32, out: &mut [u32]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { x86::ports(words, now, max_age, out) };
    }
    each_port(words, now, max_age, out)
}

#[inline(always)]
fn each_port(words: &[u32], now: u32, max_age: u32, out: &mut [u32]) -> bool {
    let mut more = 0;
    for (&word, out) in words.iter().zip(out) {
        let data = Data(word);
        let dead = u32::from(data.is_live(now, max_age)).wrapping_sub(1);
        *out = data.port() | dead & MacTable::UNKNOWN;
        more |= word & dead;
    }
    more != 0
}

/// Whether each word is `seen` with the port in the same place.
#[inline]
pub(super) fn are_all(words: &[u32], ports: &[u16], seen: u32) -> bool {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { x86::are_all(words, ports, seen) };
    }
    each_is(words, ports, seen)
}

#[inline(always)]
fn each_is(words: &[u32], ports: &[u16], seen: u32) -> bool {
    let differing = |(&word, &port): (&u32, &u16)| word ^ (seen | u32::from(port));
    words.iter().zip(ports).fold(0, |all, its| all | differing(its)) == 0
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::*;
    use crate::mac::line::SLOTS;
    use std::arch::x86_64::*;

    /// # Safety
    /// The processor has AVX-512F and DQ.
    #[target_feature(enable = "avx512f,avx512dq")]
    pub(super) unsafe fn first_lines(hash: Hash, keys: &[MacKey], lines: &mut [u32]) {
        each_first_line(hash, keys, lines);
    }

    /// # Safety
    /// The processor has AVX2, and a line is 64 octets.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn words(all: &[Line], keys: &[MacKey], lines: &[u32], words: &mut [u32]) {
        for (place, (key, word)) in keys.iter().zip(words).enumerate() {
            ask_ahead(all, lines, place);
            let line = &all[lines[place] as usize];
            // SAFETY: the line's keys begin with 32 octets. Other threads store whole keys
            // meanwhile: each lane is an aligned one, which the processor reads in one piece, and
            // before the data, whose place depends on it.
            let four = unsafe { _mm256_load_si256(line.keys.as_ptr().cast()) };
            let same = _mm256_cmpeq_epi64(four, _mm256_set1_epi64x(key.bits() as i64));
            let first = _mm256_movemask_pd(_mm256_castsi256_pd(same)) as u32;
            let last = u32::from(line.keys[SLOTS - 1].load(Ordering::Relaxed) == key.bits());
            let found = first | last << (SLOTS - 1) | 1 << SLOTS;
            *word = line.data[found.trailing_zeros() as usize].load(Ordering::Acquire);
        }
    }

    /// # Safety
    /// The processor has AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn ports(words: &[u32], now: u32, max_age: u32, out: &mut [u32]) -> bool {
        each_port(words, now, max_age, out)
    }

    /// # Safety
    /// The processor has AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn are_all(words: &[u32], ports: &[u16], seen: u32) -> bool {
        each_is(words, ports, seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mac::MacFlush;
    use crate::pages::PageSize;
    use crate::quiesce::Quiescence;

    const MAX_AGE: u32 = 300;

    /// A table with stations that were learned from tick 0 to 800, some of them configured, some
    /// gone, some on their second line; and 256 keys, those of groups and nobody among them.
    fn known_and_not(round: u32) -> (MacTable, Vec<MacKey>) {
        let station = |number: u32| {
            let [a, b, c, d] = number.to_be_bytes();
            MacKey::new(3, [2, 0, a, b, c, d])
        };
        let table = MacTable::with_seed(400, PageSize::Small, &Quiescence::new(), 9).unwrap();
        for number in 0..380 {
            table.learn(station(number), number % 7, 2 * number + round);
        }
        for number in (0..380).step_by(31) {
            table.insert_static(station(number), number % 5).unwrap();
        }
        table.flush(MacFlush::Port(4));
        let others = [MacKey::NOBODY, MacKey::new(3, [0xff; 6]), MacKey::new(4, [2; 6])];
        let keys = (0..).map(|number| match others.get(number as usize % 41) {
            Some(key) => *key,
            None => station(number * 2 % 420),
        });
        (table, keys.take(256).collect())
    }

    /// By what any processor does; on one that has no more it says nothing.
    #[test]
    fn each_pass_finds_what_it_does_one_by_one() {
        // `tests/mac_claims.rs` has these tests, too, and a model's atomics outside of its runs.
        if size_of::<Line>() != LINE_BYTES {
            return;
        }
        for count in [0, 1, 3, 8, 13, 24, 25, 64, 255, 256] {
            let (table, keys) = known_and_not(count as u32);
            let keys = &keys[..count];
            let mut lines = vec![0; count];
            first_lines(table.hash, keys, &mut lines);
            assert!(
                keys.iter().zip(&lines).all(|(key, line)| table.hash.first(*key) == *line as usize)
            );

            let (all, mut found) = (table.lines.items(), vec![7; count]);
            words(all, keys, &lines, &mut found);
            let alone = keys.iter().zip(&lines).map(|(key, line)| all[*line as usize].word(*key));
            assert_eq!(found, alone.collect::<Vec<_>>());

            let now = 2 * 380 + count as u32;
            let (mut out, mut other) = (vec![7; count], vec![8; count]);
            let more = ports(&found, now, MAX_AGE, &mut out);
            assert_eq!(each_port(&found, now, MAX_AGE, &mut other), more);
            assert_eq!(out, other);
            let alone = |word: u32| {
                let live = Some(Data(word)).filter(|data| data.is_live(now, MAX_AGE));
                live.map_or(MacTable::UNKNOWN, Data::port)
            };
            assert_eq!(out, found.iter().map(|word| alone(*word)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn all_are_as_seen_or_one_is_not() {
        let seen = |port: u16| Data::new(port.into(), false, 55).0;
        for count in [0, 1, 7, 8, 9, 100, 256] {
            let ports: Vec<u16> = (0..count).map(|place| place * 3).collect();
            let mut words: Vec<u32> = ports.iter().map(|port| seen(*port)).collect();
            assert!(are_all(&words, &ports, seen(0)));
            for place in 0..words.len() {
                words[place] ^= 1 << (place % 32);
                assert!(!are_all(&words, &ports, seen(0)), "{place} of {count}");
                words[place] ^= 1 << (place % 32);
            }
        }
    }
}
