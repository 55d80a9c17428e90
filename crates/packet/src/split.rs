//! A frame divided by its packets' exits: mark the slots of one exit, compress them into a frame.
//!
//! ```text
//!  exits    2 0 2 2 1 2 …     selection of 2:  1 0 1 1 0 1 …  (a bit a slot)
//!  header   a b c d e f …     compressed:      a c d f …
//! ```

use crate::Frame;
use crate::compress::{Avx512, Scalar, Splitter};
use crate::slots::{ExitBytes, Selection};

/// The packets of a frame on their way to their exits: each is in one part, and a part is used
/// once.
///
/// ```compile_fail,E0382
/// use packet::{ExitBytes, Frame, Splitter};
/// let (mut from, exits) = (Frame::new(), ExitBytes::default());
/// let (mut one, mut other) = (Frame::new(), Frame::new());
/// for part in from.parts(&exits) {
///     one.gather(part, Splitter::SCALAR);
///     other.gather(part, Splitter::SCALAR); // the same packets twice
/// }
/// ```
pub struct Parts<'f> {
    frame: &'f Frame,
    exits: &'f ExitBytes,
    rest: Selection,
}

/// The packets of a frame that take one exit. Lost if no frame gathers them.
pub struct Part<'f> {
    frame: &'f Frame,
    exit: u8,
    selected: Selection,
}

impl<'f> Iterator for Parts<'f> {
    type Item = Part<'f>;

    #[inline]
    fn next(&mut self) -> Option<Part<'f>> {
        let exit = self.exits.0[self.rest.lowest()?];
        let selected = self.rest.with_exit(self.exits, exit);
        self.rest.remove(&selected);
        Some(Part { frame: self.frame, exit, selected })
    }
}

impl<'f> Part<'f> {
    /// Number of the exit.
    #[inline]
    pub fn exit(&self) -> u8 {
        self.exit
    }

    /// How many packets, or slots whose packet was taken.
    #[inline]
    pub fn slots(&self) -> usize {
        self.selected.len()
    }
}

impl Frame {
    /// Divides the packets by their exits: what is in no part when the parts are dropped is lost.
    #[inline]
    pub fn parts<'f>(&'f mut self, exits: &'f ExitBytes) -> Parts<'f> {
        let rest = Selection::first(core::mem::take(&mut self.count));
        // The frame counts no packet any more: they are the parts'.
        Parts { frame: self, exits, rest }
    }

    /// Adds the packets of a part, in order. The caller checked [`Frame::room`].
    #[inline]
    pub fn gather(&mut self, part: Part<'_>, splitter: Splitter) {
        let Part { frame: from, selected, .. } = part;
        assert!(selected.len() <= self.room(), "the caller checks the room");
        // SAFETY: there is room, and a splitter names a kernel that this processor has.
        unsafe {
            match splitter {
                Splitter::SCALAR => self.gather_with::<Scalar>(from, &selected),
                _ => self.gather_avx512(from, &selected),
            }
        }
        self.count += selected.len();
        self.mark_like(from);
    }

    #[cfg_attr(
        target_arch = "x86_64",
        target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,popcnt")
    )]
    /// # Safety
    /// The processor has these features, and there is room.
    unsafe fn gather_avx512(&mut self, from: &Frame, selected: &Selection) {
        // SAFETY: the caller's word.
        unsafe { self.gather_with::<Avx512>(from, selected) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::VECTOR;
    use proptest::prelude::*;

    /// A frame whose slot n has length n, so that each packet can be told.
    fn numbered(count: usize) -> Box<Frame> {
        let mut frame = Frame::new();
        frame.count = count;
        for slot in 0..count {
            frame.packet[slot] = core::ptr::without_provenance_mut(0x1000 + slot * 64);
            frame.header[slot] = core::ptr::without_provenance_mut(0x9000 + slot);
            frame.length[slot] = slot as u32;
            frame.adjacency[slot] = !(slot as u32);
            (frame.rx[slot], frame.tx[slot]) = (slot as u16, slot as u16 ^ 0x5555);
            frame.consumed[slot] = slot as u16 + 7;
        }
        frame
    }

    fn everything(frame: &Frame) -> impl PartialEq + std::fmt::Debug + use<> {
        let n = frame.count;
        let words = (frame.length[..n].to_vec(), frame.adjacency[..n].to_vec());
        let halves = (frame.rx[..n].to_vec(), frame.tx[..n].to_vec(), frame.consumed[..n].to_vec());
        (frame.packet[..n].to_vec(), frame.header[..n].to_vec(), words, halves)
    }

    proptest! {
        #![proptest_config(crate::testing::cases())]
        #[test]
        fn splitting_gives_every_packet_to_its_exit_in_order(
            chosen in proptest::collection::vec(0u8..5, 1..=VECTOR),
            before in 0usize..40,
        ) {
            let mut exits = ExitBytes::default();
            exits.0[..chosen.len()].copy_from_slice(&chosen);
            let mut results = Vec::new();
            for splitter in [Splitter::SCALAR, Splitter::detect()] {
                let mut from = numbered(chosen.len());
                let mut told = Vec::new();
                for part in from.parts(&exits) {
                    let (exit, slots) = (part.exit(), part.slots());
                    let expected: Vec<u32> =
                        (0..chosen.len() as u32).filter(|&n| chosen[n as usize] == exit).collect();
                    prop_assert_eq!(slots, expected.len());
                    let before = before.min(VECTOR - slots);
                    let mut into = numbered(before);
                    into.gather(part, splitter);
                    prop_assert_eq!(&into.length[before..into.count], &expected[..]);
                    told.push((exit, everything(&into)));
                }
                prop_assert!(from.is_empty());
                prop_assert_eq!(told.len(), (0..5).filter(|exit| chosen.contains(exit)).count());
                results.push(told);
            }
            prop_assert_eq!(&results[0], &results[1]);
        }

    }
}
