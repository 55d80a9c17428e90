//! Packets of the usual form that came lately, and the megaflow of each: a line of cache an entry.
//!
//! ```text
//!  hash ─▶ one of two lines: seven words of the packet │ the megaflow's number
//! ```
//! An entry proves itself: its words are the packet's. Its megaflow may be gone; then nobody has
//! that number any more. Where both lines are taken the newest stands first, and what stood there
//! takes the other's place.
//!
//! It begins small. Where packets take each other's lines there are four times as many from then
//! on, until it is large, and what it knew is found again. Where hardly any packet is found it
//! costs more than it saves: then few of them are looked for, to see whether that changed.

use crate::plain::Plain;

/// Lines at first, a megabyte, and of a large one, sixteen.
const SMALL: usize = 1 << 14;
const LARGE: usize = 1 << 18;
/// How much it grows at once.
const GROWTH: usize = 4;
/// Of so many packets an eighth is to be found; where it was not, so many tell whether it is again.
const WATCHED: [u32; 2] = [SMALL as u32, 128];
/// Groups of packets that are not looked for then, between two that are.
const REST: u32 = 15;
/// Words of a line.
const WORDS: usize = 8;

/// See the module.
#[derive(Debug)]
pub(crate) struct Exact {
    lines: Lines,
    looked: u32,
    missed: u32,
    /// Entries that were overwritten since as many were looked for as are watched.
    lost: u32,
    is_in_vain: bool,
    rests: u32,
}

/// Lines of zeroes at first, which take memory as they are written, and none of whose words is in
/// another line of the processor's cache.
#[derive(Debug)]
struct Lines {
    words: Box<[u64]>,
    /// Where the first begins.
    start: usize,
    /// One less than how many, a power of two.
    mask: usize,
}

/// The packet's words, and the number behind them.
type Line = [u64; WORDS];

impl Lines {
    fn new(many: usize) -> Self {
        let words: Box<[u64]> = vec![0; (many + 1) * WORDS].into();
        let start = words.as_ptr().align_offset(WORDS * size_of::<u64>()).min(WORDS);
        Self { words, start, mask: many - 1 }
    }

    fn len(&self) -> usize {
        self.mask + 1
    }

    /// The line that is looked at first, and the other one.
    #[inline(always)]
    fn pair(&self, hash: u64) -> [usize; 2] {
        let place = hash as usize & self.mask;
        [place, place ^ 1].map(|place| self.start + place * WORDS)
    }

    #[inline(always)]
    fn at(&self, at: usize) -> Option<&Line> {
        self.words.get(at..)?.first_chunk()
    }

    fn put(&mut self, at: usize, line: Line) {
        if let Some(own) = self.words.get_mut(at..).and_then(<[u64]>::first_chunk_mut) {
            *own = line;
        }
    }
}

impl Exact {
    pub(crate) fn new() -> Self {
        Self {
            lines: Lines::new(SMALL),
            looked: 0,
            missed: 0,
            lost: 0,
            is_in_vain: false,
            rests: 0,
        }
    }

    /// Whether the next group of packets is worth looking for.
    #[inline(always)]
    pub(crate) fn looks(&mut self) -> bool {
        let looks = self.rests == 0;
        self.rests = self.rests.saturating_sub(1);
        looks
    }

    /// So many were looked for, of which so many were not found.
    #[inline(always)]
    pub(crate) fn looked(&mut self, many: u32, missed: u32) {
        self.looked += many;
        self.missed += missed;
        if self.looked >= WATCHED[usize::from(self.is_in_vain)] {
            self.judge();
        }
        self.rests = if self.is_in_vain { REST } else { 0 };
    }

    #[cold]
    fn judge(&mut self) {
        if self.lost > self.looked / 8 && self.lines.len() < LARGE {
            self.lines = Lines::new(self.lines.len() * GROWTH);
            self.is_in_vain = false;
        } else {
            self.is_in_vain = self.missed > self.looked - self.looked / 8;
        }
        (self.looked, self.missed, self.lost) = (0, 0, 0);
    }

    /// The line that is looked at first.
    #[inline(always)]
    pub(crate) fn address(&self, hash: u64) -> *const u8 {
        self.lines.words.as_ptr().wrapping_add(self.lines.pair(hash)[0]).cast()
    }

    /// The number of a packet's megaflow, 0 where none is known.
    #[inline(always)]
    pub(crate) fn find(&self, plain: &Plain, hash: u64) -> u64 {
        let words = plain.words();
        for at in self.lines.pair(hash) {
            let Some(line) = self.lines.at(at) else { return 0 };
            if line.iter().zip(words).fold(0, |sum, (own, other)| sum | own ^ other) == 0 {
                return line[WORDS - 1];
            }
        }
        0
    }

    /// Remembers one, in place of an older one.
    pub(crate) fn remember(&mut self, plain: &Plain, hash: u64, id: u64) {
        let [first, second] = self.lines.pair(hash);
        let (words, zero) = (plain.words(), [0; WORDS]);
        let had = *self.lines.at(first).unwrap_or(&zero);
        if had[WORDS - 1] != 0 && had[..WORDS - 1] != *words {
            let other = self.lines.at(second).unwrap_or(&zero);
            self.lost += u32::from(other[WORDS - 1] != 0 && other[..WORDS - 1] != *words);
            self.lines.put(second, had);
        }
        let mut line = [id; WORDS];
        line[..WORDS - 1].copy_from_slice(words);
        self.lines.put(first, line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::tests::udp;

    #[test]
    fn a_free_line_takes_no_other_ones_place() {
        let mut exact = Exact::new();
        let [a, b] = [1, 2].map(|source| Plain::of(&udp(source, 1), 1).unwrap());
        exact.remember(&a, 6, 10);
        exact.remember(&b, 7, 20);
        assert_eq!([(&a, 6), (&b, 7)].map(|(it, hash)| exact.find(it, hash)), [10, 20]);
    }

    #[test]
    fn where_all_is_in_vain_one_group_of_sixteen_is_looked_for_until_that_changes() {
        let mut exact = Exact::new();
        let mut groups = |many: usize, missed: u32| {
            let looks = |exact: &mut Exact| {
                let looks = exact.looks();
                if looks {
                    exact.looked(32, missed);
                }
                usize::from(looks)
            };
            (0..many).map(|_| looks(&mut exact)).sum::<usize>()
        };
        // So many are looked for before it is told, and one of sixteen groups since.
        let all = SMALL / 32;
        assert_eq!(groups(all, 16), all);
        assert_eq!(groups(all, 32), all);
        assert_eq!(groups(256, 32), 16);
        // That some are found is told by four groups.
        assert_eq!(groups(64, 20), 4);
        assert_eq!(groups(256, 20), 256);
    }

    #[test]
    fn two_of_a_pair_are_known_and_a_third_takes_the_place_of_the_older() {
        let mut exact = Exact::new();
        let [a, b, c] = [1, 2, 3].map(|source| Plain::of(&udp(source, 1), 1).unwrap());
        // As if all had one hash.
        exact.remember(&a, 7, 10);
        exact.remember(&b, 7, 20);
        assert_eq!([&a, &b, &c].map(|it| exact.find(it, 7)), [10, 20, 0]);
        exact.remember(&b, 7, 21);
        assert_eq!([&a, &b, &c].map(|it| exact.find(it, 7)), [10, 21, 0]);
        exact.remember(&c, 7, 30);
        assert_eq!([&a, &b, &c].map(|it| exact.find(it, 7)), [0, 21, 30]);
    }

    #[test]
    fn where_packets_take_each_others_lines_there_are_more_of_them_from_then_on() {
        let packets: Vec<_> = (0..2 * SMALL as u16)
            .map(|number| Plain::of(&udp((number >> 8) as u8, number), 1).unwrap())
            .map(|plain| (plain, plain.hash()))
            .collect();
        let mut exact = Exact::new();
        let mut pass = |packets: &[(Plain, u64)]| {
            let mut found = 0;
            for (id, (plain, hash)) in (1..).zip(packets) {
                let had = exact.find(plain, *hash);
                assert!(had == 0 || had == id);
                found += usize::from(had != 0);
                exact.looked(1, u32::from(had == 0));
                if had == 0 {
                    exact.remember(plain, *hash, id);
                }
            }
            (found, exact.lines.len())
        };
        // A quarter of as many as there are lines: hardly any takes another's.
        let few = &packets[..SMALL / 4];
        assert_eq!(pass(few), (0, SMALL));
        (0..8).for_each(|_| _ = pass(few));
        let (found, lines) = pass(few);
        assert!(found > few.len() * 9 / 10 && lines == SMALL, "{found}");
        (0..4).for_each(|_| _ = pass(&packets));
        let (found, lines) = pass(&packets);
        assert!(found > packets.len() * 8 / 10 && lines > SMALL, "{found} of {lines}");
    }

    #[test]
    fn no_line_lies_in_two_of_the_processors() {
        for many in [SMALL, LARGE] {
            let lines = Lines::new(many);
            let first = lines.words.as_ptr().wrapping_add(lines.start) as usize;
            assert_eq!(first % 64, 0);
            assert!(lines.at(lines.start + (many - 1) * WORDS).is_some());
        }
    }
}
