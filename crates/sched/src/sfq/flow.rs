//! One SFQ flow: a queue of slots that packets leave at either end.
//!
//! ```text
//!   head ─▶ slot ─▶ slot ─▶ slot ◀─ tail        forward by the slots' `next`, backward by their `note`
//! ```
//!
//! Its number of packets says where it ends: what the last slots point to beyond is never read.

use crate::pool::{Pool, SlotId};

#[derive(Clone, Copy)]
pub(super) struct Flow {
    pub(super) head: SlotId,
    pub(super) tail: SlotId,
    /// Bytes that it may still send in its turn.
    pub(super) allotment: i32,
    pub(super) bucket: u16,
    pub(super) packets: u16,
    /// When `packets` changed last: the count of changes then.
    pub(super) changed: u32,
}

impl Flow {
    pub(super) const IDLE: Flow = Flow {
        head: SlotId::NIL,
        tail: SlotId::NIL,
        allotment: 0,
        bucket: 0,
        packets: 0,
        changed: 0,
    };

    #[inline]
    pub(super) fn push<T: Copy>(&mut self, pool: &mut Pool<T>, id: SlotId) {
        pool.get_mut(id).note = u64::from(self.tail.0);
        if self.packets == 0 {
            self.head = id;
        } else {
            pool.get_mut(self.tail).next = id;
        }
        self.tail = id;
        self.packets += 1;
    }

    /// The oldest packet of a flow that has one.
    #[inline]
    pub(super) fn pop_head<T: Copy>(&mut self, pool: &Pool<T>) -> SlotId {
        let id = self.head;
        self.head = pool.get(id).next;
        self.packets -= 1;
        id
    }

    /// The youngest packet of a flow that has one.
    pub(super) fn pop_tail<T: Copy>(&mut self, pool: &Pool<T>) -> SlotId {
        let id = self.tail;
        self.tail = SlotId(pool.get(id).note as u32);
        self.packets -= 1;
        id
    }
}
