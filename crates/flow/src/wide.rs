//! What packets that begin again came to lately, proved by their bytes under a megaflow's mask.
//!
//! ```text
//!  number of the way ─▶ four of its megaflows: mask, value of seven words │ the megaflow's number
//! ```
//! Behind connection tracking a few megaflows have nearly all packets, since what decided there is
//! the connection's state. So one line, that all packets read, tells what a line for each would.
//! Where it seldom does, it is not asked for a while.

use crate::key::Key;
use crate::plain::Plain;

/// Megaflows of a way that are known so.
const WAYS: usize = 4;
/// Of so many packets at least a quarter is to be found; else so many more are not looked for.
const WATCHED: u32 = 256;
const REST: u32 = 16 * WATCHED;
/// A megaflow comes in by the first packet of so many that were not found.
const SELDOM: u32 = 16;

/// Those of one way.
#[derive(Clone, Default, Debug)]
pub(crate) struct Wide {
    ways: [Way; WAYS],
    /// Whose place the next takes.
    next: usize,
    looked: u32,
    found: u32,
    rests: u32,
    missed: u32,
}

#[derive(Clone, Copy, Default, Debug)]
struct Way {
    mask: [u64; 7],
    words: [u64; 7],
    /// 0: there is none.
    id: u64,
}

impl Way {
    #[inline(always)]
    fn is_of(&self, plain: &Plain) -> bool {
        let words = plain.words();
        let differs = (0..7).fold(0, |all, n| all | (words[n] ^ self.words[n]) & self.mask[n]);
        differs == 0 && self.id != 0
    }
}

impl Wide {
    /// The number of a packet's megaflow, 0 where none is known. It may be gone.
    #[inline(always)]
    pub(crate) fn find(&mut self, plain: &Plain) -> u64 {
        if self.rests != 0 {
            self.rests -= 1;
            return 0;
        }
        let id = self.ways.iter().find(|way| way.is_of(plain)).map_or(0, |way| way.id);
        (self.looked, self.found) = (self.looked + 1, self.found + u32::from(id != 0));
        if self.looked == WATCHED {
            self.rests = if self.found < WATCHED / 4 { REST } else { 0 };
            (self.looked, self.found) = (0, 0);
        }
        id
    }

    /// A packet that was not found is of a megaflow, all of whose packets are alike under this
    /// mask.
    #[inline]
    pub(crate) fn miss(&mut self, plain: &Plain, mask: &Key, id: u64) {
        self.missed += 1;
        if self.missed % SELDOM == 1
            && let Some(mask) = Plain::mask(mask)
        {
            // One that is gone has another number now.
            let again = self.ways.iter().position(|way| way.is_of(plain));
            let at = again.unwrap_or(self.next);
            self.ways[at] = Way { mask, words: *plain.words(), id };
            self.next = if again.is_none() { (at + 1) % WAYS } else { self.next };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::tests::udp;
    use openflow::Field;

    fn of(source: u8) -> Plain {
        Plain::of(&udp(source, 1), 1).unwrap()
    }

    #[test]
    fn packets_that_are_alike_under_the_mask_are_found_by_one_of_them() {
        let (mut wide, mut mask) = (Wide::default(), Key::default());
        mask.set(Field::IpProto, 0xff, 0xff);
        assert_eq!(wide.find(&of(1)), 0);
        wide.miss(&of(1), &mask, 9);
        assert_eq!([wide.find(&of(1)), wide.find(&of(2))], [9, 9]);
        // Another of the same packets takes its place.
        (0..SELDOM).for_each(|_| wide.miss(&of(3), &mask, 10));
        assert_eq!([wide.find(&of(1)), wide.find(&of(2))], [10, 10]);
        // Those that hang on who began the connection are known by no bytes.
        mask.set(Field::CtSrc, 1, 1);
        let mut wide = Wide::default();
        wide.miss(&of(1), &mask, 9);
        assert_eq!(wide.find(&of(1)), 0);
    }

    #[test]
    fn where_hardly_any_is_found_none_is_looked_for_for_a_while() {
        let (mut wide, mut mask) = (Wide::default(), Key::default());
        mask.set(Field::IpSrc, 0xff, 0xff);
        wide.miss(&of(1), &mask, 9);
        assert_eq!(wide.find(&of(1)), 9);
        (1..WATCHED).for_each(|_| assert_eq!(wide.find(&of(2)), 0));
        (0..REST).for_each(|_| assert_eq!(wide.find(&of(1)), 0));
        assert_eq!(wide.find(&of(1)), 9);
    }
}
