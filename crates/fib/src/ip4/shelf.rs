//! The routes of eight prefix lengths below one point of the address space.
//!
//! ```text
//!   present: one bit per prefix,          list: one word per member,
//!   numbered as a heap                    in the order of the bits
//!              1
//!          2       3        length +1     [ 3 | 6 | 13 | .. | child of 256 | child of 259 | .. ]
//!        4   5   6   7      length +2
//!        :   :   :   :
//!      256 ......... 511    length +8  -> then the children: a shelf below each, likewise ranked
//! ```
//!
//! "Is there a route here, what covers it, is there one beneath" are bit tests in one cache line; a
//! shelf is two.

use std::collections::TryReserveError;

use super::bits;
use crate::prefetch::prefetch;

/// Prefix lengths of one shelf.
pub(super) const STRIDE: u8 = 8;
/// First heap place of the last length.
pub(super) const LEAVES: usize = 1 << STRIDE;

/// See the module's drawing. Place 1 is used by the topmost shelf alone, for the default route.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(super) struct Shelf {
    present: [u64; 8],
    child_present: [u64; 4],
    list: Vec<u32>,
    /// How many of the list are values.
    values: usize,
}

impl Shelf {
    /// The value at heap place `place`.
    #[inline]
    pub(super) fn get(&self, place: usize) -> Option<u32> {
        bits::contains(&self.present, place).then(|| self.list[bits::rank(&self.present, place)])
    }

    /// Asks for the memory of a call that follows.
    #[inline]
    pub(super) fn prefetch(&self) {
        prefetch(&raw const self.present, 0);
        prefetch(&raw const self.child_present, 0);
    }

    /// Asks for the value of `place`; the shelf itself should be at hand.
    #[inline]
    pub(super) fn prefetch_value(&self, place: usize) {
        prefetch(self.list.as_ptr(), bits::rank(&self.present, place));
    }

    /// Stores `value` and returns what was there; on an error nothing changed.
    pub(super) fn insert(
        &mut self,
        place: usize,
        value: u32,
    ) -> Result<Option<u32>, TryReserveError> {
        let rank = bits::rank(&self.present, place);
        if bits::contains(&self.present, place) {
            return Ok(Some(std::mem::replace(&mut self.list[rank], value)));
        }
        reserve_quarter(&mut self.list)?;
        self.list.insert(rank, value);
        self.values += 1;
        bits::set(&mut self.present, place);
        Ok(None)
    }

    /// Takes the value at `place` away.
    pub(super) fn remove(&mut self, place: usize) -> Option<u32> {
        if !bits::contains(&self.present, place) {
            return None;
        }
        bits::clear(&mut self.present, place);
        self.values -= 1;
        let value = self.list.remove(bits::rank(&self.present, place));
        shrink_half(&mut self.list);
        Some(value)
    }

    /// The nearest value at `place` or above it, with its place.
    #[inline]
    pub(super) fn at_or_above(&self, mut place: usize) -> Option<(usize, u32)> {
        while place > 0 {
            if let Some(value) = self.get(place) {
                return Some((place, value));
            }
            place >>= 1;
        }
        None
    }

    /// Whether nothing longer than `place` lies beneath it, here or in a child.
    pub(super) fn is_bare_beneath(&self, place: usize) -> bool {
        let (mut low, mut high) = (place, place + 1);
        while low < LEAVES {
            (low, high) = (low * 2, high * 2);
            if bits::any(&self.present, low..high) {
                return false;
            }
        }
        !bits::any(&self.child_present, low - LEAVES..high - LEAVES)
    }

    /// The child below leaf number `leaf`.
    #[inline]
    pub(super) fn child(&self, leaf: usize) -> Option<u32> {
        bits::contains(&self.child_present, leaf)
            .then(|| self.list[self.values + bits::rank(&self.child_present, leaf)])
    }

    /// Hangs `child` below `leaf`, where there is none.
    pub(super) fn add_child(&mut self, leaf: usize, child: u32) -> Result<(), TryReserveError> {
        reserve_quarter(&mut self.list)?;
        self.list.insert(self.values + bits::rank(&self.child_present, leaf), child);
        bits::set(&mut self.child_present, leaf);
        Ok(())
    }

    /// Unhooks the child below `leaf`.
    pub(super) fn remove_child(&mut self, leaf: usize) {
        if bits::contains(&self.child_present, leaf) {
            bits::clear(&mut self.child_present, leaf);
            self.list.remove(self.values + bits::rank(&self.child_present, leaf));
            shrink_half(&mut self.list);
        }
    }

    /// Whether it holds no route and no child.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Each route's place and value.
    pub(super) fn routes(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        bits::members(&self.present).zip(self.list[..self.values].iter().copied())
    }

    /// Each child's leaf and index.
    pub(super) fn child_shelves(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        bits::members(&self.child_present).zip(self.list[self.values..].iter().copied())
    }

    /// Bytes of its list.
    pub(super) fn list_bytes(&self) -> usize {
        self.list.capacity() * size_of::<u32>()
    }
}

/// Makes room for one more, growing by a quarter: a full table has some 65,000 of these lists, and
/// doubling would leave a third of them empty.
fn reserve_quarter(list: &mut Vec<u32>) -> Result<(), TryReserveError> {
    if list.len() == list.capacity() {
        list.try_reserve_exact((list.len() / 4).max(2))?;
    }
    Ok(())
}

/// Gives memory back once half is unused, far from where `reserve_quarter` asks for it again.
fn shrink_half(list: &mut Vec<u32>) {
    if list.len() <= list.capacity() / 2 {
        list.shrink_to(list.len() + list.len() / 4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_route_above_is_found() {
        let mut shelf = Shelf::default();
        shelf.insert(2, 20).unwrap();
        shelf.insert(300, 30).unwrap();
        assert_eq!(shelf.at_or_above(300), Some((300, 30)));
        assert_eq!(shelf.at_or_above(150), Some((2, 20)));
        assert_eq!(shelf.at_or_above(511), None);
    }

    #[test]
    fn children_and_routes_count_as_beneath() {
        let mut shelf = Shelf::default();
        assert!(shelf.is_bare_beneath(1));
        shelf.insert(300, 30).unwrap();
        assert!(!shelf.is_bare_beneath(150) && shelf.is_bare_beneath(300));
        shelf.remove(300);
        shelf.add_child(300 - LEAVES, 9).unwrap();
        assert!(!shelf.is_bare_beneath(150) && !shelf.is_bare_beneath(300));
        assert!(shelf.is_bare_beneath(151));
        shelf.remove_child(300 - LEAVES);
        assert!(shelf.is_bare_beneath(1) && shelf.is_empty());
    }
}
