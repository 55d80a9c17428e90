//! Flows in the order of their turns: a ring that tells without a walk who comes some turns later.
//!
//! ```text
//!   [ · · f5 f1 f7 f2 · · ]        taken at the front, put at the back; a power of two long
//!         ▲front      ▲back
//! ```
//!
//! Space 4 bytes a flow, rounded up to a power of two.

pub(crate) struct Turns {
    ring: Vec<u32>,
    first: usize,
    count: usize,
}

impl Turns {
    /// Room for so many flows, each of them in it once at most.
    pub(crate) fn new(flows: u32) -> Self {
        Self { ring: vec![0; (flows as usize).next_power_of_two()], first: 0, count: 0 }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Whose turn it is.
    #[inline]
    pub(crate) fn front(&self) -> Option<u32> {
        (self.count != 0).then(|| self.at(0))
    }

    /// The flow so many turns later; past the back some flow that once stood there.
    #[inline]
    pub(crate) fn at(&self, turns: usize) -> u32 {
        self.ring[(self.first + turns) & (self.ring.len() - 1)]
    }

    #[inline]
    pub(crate) fn push(&mut self, flow: u32) {
        self.push_if(flow, true);
    }

    /// The same, or nothing, without a branch: the place behind the back is free then.
    #[inline(always)]
    pub(crate) fn push_if(&mut self, flow: u32, comes: bool) {
        let back = (self.first + self.count) & (self.ring.len() - 1);
        self.ring[back] = flow;
        self.count += usize::from(comes);
    }

    /// Takes the front out, if there is one.
    #[inline]
    pub(crate) fn pop(&mut self) {
        let taken = self.count.min(1);
        self.first += taken;
        self.count -= taken;
    }

    /// Takes the front, which is there, out, or does not, without a branch.
    #[inline(always)]
    pub(crate) fn pop_if(&mut self, goes: bool) {
        self.first += usize::from(goes);
        self.count -= usize::from(goes);
    }

    /// Takes all out.
    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn it_agrees_with_a_queue(flows in 1u32..9, moves in prop::collection::vec(0u32..6, 1..200)) {
            // One more has room for who does not come.
            let mut turns = Turns::new(flows + 1);
            let mut queue = VecDeque::new();
            for (step, flow) in moves.into_iter().zip(0..) {
                match step {
                    0 => {
                        turns.pop();
                        queue.pop_front();
                    }
                    1 => turns.pop_if(queue.pop_front().is_some()),
                    2 => turns.push_if(flow, false),
                    _ if queue.len() == flows as usize => {}
                    3 => {
                        turns.push_if(flow, true);
                        queue.push_back(flow);
                    }
                    _ => {
                        turns.push(flow);
                        queue.push_back(flow);
                    }
                }
                prop_assert_eq!(turns.front(), queue.front().copied());
                prop_assert_eq!(turns.len(), queue.len());
                for (later, &flow) in queue.iter().enumerate() {
                    prop_assert_eq!(turns.at(later), flow);
                }
            }
        }
    }
}
