//! Packets of the usual form that came lately, and the megaflow of each: a line of cache an entry.
//!
//! ```text
//!  hash ─▶ one of two lines: seven words of the packet │ the megaflow's number
//! ```
//! An entry proves itself: its words are the packet's. Its megaflow may be gone; then nobody has
//! that number any more. Where both lines are taken the newest stands first, and what stood there
//! takes the other's place.

use crate::plain::Plain;

/// Lines: a megabyte.
const PLACES: usize = 1 << 14;

/// See the module.
#[derive(Debug)]
pub(crate) struct Exact(Box<[Line]>);

#[derive(Clone, Debug)]
#[repr(align(64))]
struct Line {
    words: [u64; 7],
    id: u64,
}

impl Exact {
    pub(crate) fn new() -> Self {
        Self(vec![Line { words: [0; 7], id: 0 }; PLACES].into())
    }

    #[inline(always)]
    fn place(hash: u64) -> usize {
        hash as usize % PLACES
    }

    /// The line that is looked at first.
    #[inline(always)]
    pub(crate) fn address(&self, hash: u64) -> *const u8 {
        (&raw const self.0[Self::place(hash)]).cast()
    }

    /// The number of a packet's megaflow, 0 where none is known.
    #[inline(always)]
    pub(crate) fn find(&self, plain: &Plain, hash: u64) -> u64 {
        let place = Self::place(hash);
        let differs = |line: &Line| {
            line.words.iter().zip(plain.words()).fold(0, |sum, (own, other)| sum | own ^ other)
        };
        let line = &self.0[place];
        if differs(line) == 0 {
            return line.id;
        }
        let line = &self.0[place ^ 1];
        if differs(line) == 0 { line.id } else { 0 }
    }

    /// Remembers one, in place of an older one.
    pub(crate) fn remember(&mut self, plain: &Plain, hash: u64, id: u64) {
        let place = Self::place(hash);
        let line = &self.0[place];
        if line.id != 0 && line.words != *plain.words() {
            self.0[place ^ 1] = self.0[place].clone();
        }
        self.0[place] = Line { words: *plain.words(), id };
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
