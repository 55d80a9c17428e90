//! Packets of the usual form that came lately, and the megaflow of each: a line of cache an entry.
//!
//! ```text
//!  hash ─▶ one of two lines: seven words of the packet │ the megaflow's number
//! ```
//! An entry proves itself: its words are the packet's. Its megaflow may be gone; then nobody has
//! that number any more. Where both lines are taken the newest stands first, and what stood there
//! takes the other's place.
//! Where hardly any packet is found it costs more than it saves: then few of them are looked for,
//! to see whether that changed.

use crate::plain::Plain;

/// Lines: a megabyte.
const PLACES: usize = 1 << 14;
/// Of as many packets as there is room for an eighth is to be found; where it was not, so many tell
/// whether it is again.
const WATCHED: [u32; 2] = [PLACES as u32, 128];
/// Groups of packets that are not looked for then, between two that are.
const REST: u32 = 15;

/// See the module.
#[derive(Debug)]
pub(crate) struct Exact {
    lines: Box<[Line]>,
    looked: u32,
    missed: u32,
    is_in_vain: bool,
    rests: u32,
}

#[derive(Clone, Debug)]
#[repr(align(64))]
struct Line {
    words: [u64; 7],
    id: u64,
}

impl Exact {
    pub(crate) fn new() -> Self {
        let lines = vec![Line { words: [0; 7], id: 0 }; PLACES].into();
        Self { lines, looked: 0, missed: 0, is_in_vain: false, rests: 0 }
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
            self.is_in_vain = self.missed > self.looked - self.looked / 8;
            (self.looked, self.missed) = (0, 0);
        }
        self.rests = if self.is_in_vain { REST } else { 0 };
    }

    #[inline(always)]
    fn place(hash: u64) -> usize {
        hash as usize % PLACES
    }

    /// The line that is looked at first.
    #[inline(always)]
    pub(crate) fn address(&self, hash: u64) -> *const u8 {
        (&raw const self.lines[Self::place(hash)]).cast()
    }

    /// The number of a packet's megaflow, 0 where none is known.
    #[inline(always)]
    pub(crate) fn find(&self, plain: &Plain, hash: u64) -> u64 {
        let place = Self::place(hash);
        let differs = |line: &Line| {
            line.words.iter().zip(plain.words()).fold(0, |sum, (own, other)| sum | own ^ other)
        };
        let line = &self.lines[place];
        if differs(line) == 0 {
            return line.id;
        }
        let line = &self.lines[place ^ 1];
        if differs(line) == 0 { line.id } else { 0 }
    }

    /// Remembers one, in place of an older one.
    pub(crate) fn remember(&mut self, plain: &Plain, hash: u64, id: u64) {
        let place = Self::place(hash);
        let line = &self.lines[place];
        if line.id != 0 && line.words != *plain.words() {
            self.lines[place ^ 1] = self.lines[place].clone();
        }
        self.lines[place] = Line { words: *plain.words(), id };
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
        let all = PLACES / 32;
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
}
