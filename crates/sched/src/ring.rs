//! A first-in first-out ring whose memory is reserved at once and taken into use as far as it
//! fills.
//!
//! ```text
//!   reserved:  |──── in use: a ring ────|··········· not touched yet ···········|
//!              [ 5 6 7 · · · 1 2 3 4 ]                        full: put straight, then as long again
//!                    tail    head
//! ```
//!
//! A ring that went around all of its reserve would bring in cold memory with every item, however
//! few wait in it. Time O(1), a copy of all that wait each time that it becomes twice as long;
//! space is the reserve.

/// The first length in use.
const SHORTEST: usize = 64;

pub(crate) struct Ring<I> {
    items: Vec<I>,
    capacity: usize,
    head: usize,
    waiting: usize,
}

impl<I: Copy> Ring<I> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { items: Vec::with_capacity(capacity), capacity, head: 0, waiting: 0 }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.waiting
    }

    /// Puts an item last, or says that there is no room.
    #[inline(always)]
    pub(crate) fn push(&mut self, item: I) -> Result<(), I> {
        if self.waiting == self.items.len() && !self.lengthen(item) {
            return Err(item);
        }
        let mut tail = self.head + self.waiting;
        if tail >= self.items.len() {
            tail -= self.items.len();
        }
        self.items[tail] = item;
        self.waiting += 1;
        Ok(())
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<I> {
        if self.waiting == 0 {
            return None;
        }
        let item = self.items[self.head];
        self.head += 1;
        if self.head == self.items.len() {
            self.head = 0;
        }
        self.waiting -= 1;
        Some(item)
    }

    /// Takes out the first so many, or all: those up to the end of the memory in use, and those
    /// from its start.
    #[inline]
    pub(crate) fn pop_many(&mut self, count: usize) -> (&[I], &[I]) {
        let count = count.min(self.waiting);
        let to_end = count.min(self.items.len() - self.head);
        let (first, second) = (self.head..self.head + to_end, 0..count - to_end);
        self.head = if first.end == self.items.len() { second.end } else { first.end };
        self.waiting -= count;
        (&self.items[first], &self.items[second])
    }

    /// Takes more of the reserve into use, filled with any item; tells if there is more.
    #[cold]
    fn lengthen(&mut self, filler: I) -> bool {
        self.items.rotate_left(self.head);
        self.head = 0;
        let longer = (2 * self.items.len()).max(SHORTEST).min(self.capacity);
        self.items.resize(longer, filler);
        self.waiting < longer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn it_agrees_with_a_queue_that_may_grow(
            capacity in 0usize..400,
            moves in prop::collection::vec((0u8..3, 0usize..150), 1..60),
        ) {
            let mut ring = Ring::new(capacity);
            let reserved = ring.items.capacity();
            let mut queue = VecDeque::new();
            let mut next = 0;
            for (step, count) in moves {
                match step {
                    0 => for _ in 0..count {
                        let room = queue.len() < capacity;
                        prop_assert_eq!(ring.push(next).is_ok(), room);
                        queue.extend(room.then_some(next));
                        next += 1;
                    },
                    1 => for _ in 0..count / 2 {
                        prop_assert_eq!(ring.pop(), queue.pop_front());
                    },
                    _ => {
                        let (first, second) = ring.pop_many(count);
                        let popped = [first, second].concat();
                        prop_assert_eq!(popped, queue.drain(..count.min(queue.len())).collect::<Vec<_>>());
                    }
                }
                prop_assert_eq!(ring.len(), queue.len());
            }
            prop_assert_eq!(ring.items.capacity(), reserved, "nothing was allocated");
        }
    }
}
