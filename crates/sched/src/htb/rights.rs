//! The leaves that may send by their own rates, and have something to send: a queue a priority.
//!
//! ```text
//!   a packet comes, or the rate's bucket is paid ─▶ [ · · leaf leaf leaf · · ] ─▶ sends a visit: stays first until its
//!                                                    ▲                            turn is over; is gone if empty or owing
//!                                                    └─ its turn is over ◀────────┘
//! ```
//!
//! Who stands here can only leave by sending: so nobody is ever taken out of the middle. And those
//! here send before all that borrow, whatever the priorities.

use super::PRIORITIES;
use crate::turns::Turns;

pub(super) struct Rights {
    queues: [Turns; PRIORITIES],
    /// The queues that are not empty, a bit each.
    held: u32,
}

impl Rights {
    /// For so many leaves of each priority.
    pub(super) fn new(leaves: [u32; PRIORITIES]) -> Self {
        // One more has room for who is written down and does not come.
        Self { queues: leaves.map(|leaves| Turns::new(leaves + 1)), held: 0 }
    }

    /// Whose turn it is.
    #[inline(always)]
    pub(super) fn first(&self) -> Option<u32> {
        if self.held == 0 {
            return None;
        }
        self.queues[self.held.trailing_zeros() as usize % PRIORITIES].front()
    }

    /// Whose turns come then, or some leaves whose turns they once were.
    #[inline(always)]
    pub(super) fn next_two(&self) -> [u32; 2] {
        let queue = &self.queues[self.held.trailing_zeros() as usize % PRIORITIES];
        [queue.at(1), queue.at(2)]
    }

    /// A leaf comes last in its queue, or it does not: without a branch, as nobody foresees which.
    #[inline(always)]
    pub(super) fn join(&mut self, priority: u8, leaf: u32, comes: bool) {
        let priority = usize::from(priority) % PRIORITIES;
        self.queues[priority].push_if(leaf, comes);
        self.held |= u32::from(comes) << priority;
    }

    /// The first of a queue has sent: whether it may go on, and whether its turn is over.
    #[inline(always)]
    pub(super) fn sent(&mut self, priority: u8, leaf: u32, goes_on: bool, is_over: bool) {
        let priority = usize::from(priority) % PRIORITIES;
        let queue = &mut self.queues[priority];
        queue.pop_if(is_over || !goes_on);
        queue.push_if(leaf, is_over && goes_on);
        self.held = self.held & !(1 << priority) | u32::from(queue.len() != 0) << priority;
    }

    /// Nobody has anything to send.
    pub(super) fn clear(&mut self) {
        self.queues.iter_mut().for_each(Turns::clear);
        self.held = 0;
    }
}
