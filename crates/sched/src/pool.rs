//! The packets that wait: one slab of slots shared by a whole scheduler tree, linked into queues in
//! place.
//!
//! ```text
//!   slot (32 bytes, two to a cache line when T is 8 bytes)
//!   | handle 8 | note 8 | flow_hash 4 | length_bytes 4 | next 4 | priority 1, ecn 1, mark 1, DSCP 1 |
//!
//!   queue:  head ─▶ slot ─▶ slot ─▶ slot ◀─ tail
//!   free:   head ─▶ slot ─▶ slot ─▶ slot ◀─ tail          freed to the front, or to the back
//! ```
//!
//! With many queues a freed slot comes first again: it is warm. With one queue it comes last: so
//! slots are taken and freed in the order of their addresses, which the processor sees coming.
//! Memory is reserved when the scheduler is built and never grows; taking and freeing a slot is
//! O(1), one cache line each.

use std::hint::select_unpredictable as select;

use crate::packet::{DropReason, Dropped, Drops, Offer, Packet, Sent};
use crate::prefetch::prefetch;

/// Index of a slot in the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlotId(pub(crate) u32);

impl SlotId {
    pub(crate) const NIL: SlotId = SlotId(u32::MAX);

    pub(crate) fn is_nil(self) -> bool {
        self == Self::NIL
    }
}

pub(crate) struct Slot<T> {
    pub(crate) handle: T,
    /// What the discipline that holds the packet remembers of it: its arrival in ns, or for SFQ the
    /// slot before it.
    pub(crate) note: u64,
    pub(crate) flow_hash: u32,
    pub(crate) length_bytes: u32,
    pub(crate) next: SlotId,
    pub(crate) priority: u8,
    pub(crate) ecn_capable: bool,
    pub(crate) mark: bool,
    pub(crate) code_point: u8,
}

/// Where a freed slot goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reuse {
    Soonest,
    InOrder,
}

pub(crate) struct Pool<T> {
    slots: Vec<Slot<T>>,
    capacity: usize,
    free: SlotId,
    last_free: SlotId,
    reuse: Reuse,
    packets: u32,
}

impl<T: Copy> Pool<T> {
    pub(crate) fn new(capacity: u32, reuse: Reuse) -> Self {
        let capacity = capacity as usize;
        Self {
            slots: Vec::with_capacity(capacity),
            capacity,
            free: SlotId::NIL,
            last_free: SlotId::NIL,
            reuse,
            packets: 0,
        }
    }

    /// Packets held, over all queues.
    pub(crate) fn packets(&self) -> u32 {
        self.packets
    }

    #[inline(always)]
    pub(crate) fn take(&mut self, packet: &Packet<T>, arrived_ns: u64) -> Option<SlotId> {
        let id = self.free;
        let Some(slot) = self.slots.get_mut(id.0 as usize) else {
            return self.take_fresh(packet, arrived_ns);
        };
        self.free = slot.next;
        self.packets += 1;
        // Field by field: a slot made on the stack and copied would be read back wider than it was
        // written, which stalls.
        slot.handle = packet.handle;
        slot.note = arrived_ns;
        slot.flow_hash = packet.flow_hash;
        slot.length_bytes = packet.length_bytes;
        slot.next = SlotId::NIL;
        slot.priority = packet.priority;
        slot.ecn_capable = packet.ecn_capable;
        slot.mark = false;
        slot.code_point = packet.code_point;
        Some(id)
    }

    /// A slot that was never used: the slab is touched page by page, as far as the backlog ever
    /// reached.
    #[cold]
    fn take_fresh(&mut self, packet: &Packet<T>, arrived_ns: u64) -> Option<SlotId> {
        if self.slots.len() >= self.capacity {
            return None;
        }
        self.packets += 1;
        self.slots.push(Slot {
            handle: packet.handle,
            note: arrived_ns,
            flow_hash: packet.flow_hash,
            length_bytes: packet.length_bytes,
            next: SlotId::NIL,
            priority: packet.priority,
            ecn_capable: packet.ecn_capable,
            mark: false,
            code_point: packet.code_point,
        });
        Some(SlotId(self.slots.len() as u32 - 1))
    }

    /// Frees a slot, and tells what it held.
    #[inline(always)]
    pub(crate) fn free(&mut self, id: SlotId) -> Sent<T> {
        self.packets -= 1;
        let slot = &mut self.slots[id.0 as usize];
        let Slot { handle, length_bytes, mark, .. } = *slot;
        if self.reuse == Reuse::InOrder && !self.free.is_nil() {
            slot.next = SlotId::NIL;
            self.slots[self.last_free.0 as usize].next = id;
        } else {
            slot.next = self.free;
            self.free = id;
        }
        self.last_free = id;
        Sent { handle, length_bytes, mark }
    }

    /// The packets of two slots change places: each stands where the other stood, and came when
    /// the other came.
    pub(crate) fn swap_packets(&mut self, one: SlotId, other: SlotId) {
        let place = |pool: &Self, id: SlotId| (pool.get(id).next, pool.get(id).note);
        let [of_one, of_other] = [place(self, one), place(self, other)];
        self.slots.swap(one.0 as usize, other.0 as usize);
        for (id, (next, note)) in [(one, of_one), (other, of_other)] {
            let slot = self.get_mut(id);
            (slot.next, slot.note) = (next, note);
        }
    }

    /// Asks for a slot's cache line.
    #[inline(always)]
    pub(crate) fn prefetch(&self, id: SlotId) {
        prefetch(&self.slots, id.0 as usize);
    }

    #[inline]
    pub(crate) fn get(&self, id: SlotId) -> &Slot<T> {
        &self.slots[id.0 as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: SlotId) -> &mut Slot<T> {
        &mut self.slots[id.0 as usize]
    }
}

/// Packets and bytes that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Backlog {
    /// How many packets.
    pub packets: u32,
    /// Their bytes.
    pub bytes: u64,
}

impl Backlog {
    pub(crate) fn add(&mut self, length_bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(length_bytes);
    }

    /// Others of it went.
    pub(crate) fn lose(&mut self, gone: Backlog) {
        self.packets -= gone.packets;
        self.bytes -= gone.bytes;
    }

    pub(crate) fn remove(&mut self, length_bytes: u32) {
        self.packets -= 1;
        self.bytes -= u64::from(length_bytes);
    }
}

/// A first-in first-out queue of slots.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Queue {
    pub(crate) head: SlotId,
    tail: SlotId,
}

impl Queue {
    pub(crate) const EMPTY: Queue = Queue { head: SlotId::NIL, tail: SlotId::NIL };

    /// Drops from the head, up to half of the queue's bytes or so many packets; tells how much
    /// went, and each slot to `gone` before it is free.
    pub(crate) fn drop_half<T: Copy>(
        &mut self,
        cx: &mut Context<'_, T>,
        bytes: u32,
        most_packets: u32,
        mut gone: impl FnMut(SlotId),
    ) -> Backlog {
        let mut dropped = Backlog::default();
        while dropped.packets < most_packets
            && (dropped.packets == 0 || dropped.bytes < u64::from(bytes / 2))
        {
            let Some(id) = self.pop(cx.pool) else { break };
            dropped.add(cx.length_bytes(id));
            gone(id);
            cx.drop_packet(id, DropReason::LongestQueue);
        }
        dropped
    }

    /// Appends a slot. Without a branch, as nobody foresees which of many queues are empty: the
    /// first of one comes after itself for a moment.
    #[inline]
    pub(crate) fn push<T: Copy>(&mut self, pool: &mut Pool<T>, id: SlotId) {
        let is_first = self.head.is_nil();
        pool.get_mut(select(is_first, id, self.tail)).next = id;
        pool.get_mut(id).next = SlotId::NIL;
        self.head = select(is_first, id, self.head);
        self.tail = id;
    }

    /// Asks for what `push` will touch.
    #[inline(always)]
    pub(crate) fn prefetch_tail<T: Copy>(&self, pool: &Pool<T>) {
        if !self.head.is_nil() {
            pool.prefetch(self.tail);
        }
    }

    #[inline]
    pub(crate) fn pop<T: Copy>(&mut self, pool: &Pool<T>) -> Option<SlotId> {
        self.pop_slot(pool).map(|(id, _)| id)
    }

    /// Takes the first out, and tells what is in its slot, which is at hand.
    #[inline(always)]
    pub(crate) fn pop_slot<'a, T: Copy>(
        &mut self,
        pool: &'a Pool<T>,
    ) -> Option<(SlotId, &'a Slot<T>)> {
        let id = self.head;
        if id.is_nil() {
            return None;
        }
        let slot = pool.get(id);
        self.head = slot.next;
        Some((id, slot))
    }
}

/// What a discipline works with in one call: the time, the packets, and where the dropped ones go.
pub(crate) struct Context<'a, T> {
    pub(crate) now_ns: u64,
    pub(crate) pool: &'a mut Pool<T>,
    pub(crate) drops: Drops<'a, T>,
    /// Of the packet that is offered.
    pub(crate) offer: Offer,
}

impl<T: Copy> Context<'_, T> {
    /// Frees the slot and reports its packet as dropped.
    pub(crate) fn drop_packet(&mut self, id: SlotId, reason: DropReason) {
        let Sent { handle, length_bytes, .. } = self.pool.free(id);
        (self.drops)(Dropped { handle, length_bytes, reason });
    }

    #[inline]
    pub(crate) fn length_bytes(&self, id: SlotId) -> u32 {
        self.pool.get(id).length_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_pool_gives_no_slot_until_one_is_freed() {
        let mut pool = Pool::new(2, Reuse::Soonest);
        let packet = Packet::new(7u64, 100, 1);
        let first = pool.take(&packet, 0).unwrap();
        pool.take(&packet, 0).unwrap();
        assert!(pool.take(&packet, 0).is_none());
        pool.free(first);
        assert_eq!(pool.packets(), 1);
        assert_eq!(pool.take(&packet, 0), Some(first));
    }

    #[test]
    fn with_one_queue_slots_are_taken_in_the_order_in_which_they_are_freed() {
        for (reuse, order) in [(Reuse::InOrder, [0, 1, 2]), (Reuse::Soonest, [2, 1, 0])] {
            let mut pool = Pool::new(3, reuse);
            let packet = Packet::new(7u64, 100, 1);
            let taken: Vec<SlotId> = (0..3).map(|_| pool.take(&packet, 0).unwrap()).collect();
            taken.iter().for_each(|&id| _ = pool.free(id));
            assert_eq!(order.map(SlotId), [0; 3].map(|_| pool.take(&packet, 0).unwrap()));
            assert!(pool.take(&packet, 0).is_none());
        }
    }

    #[test]
    fn a_slot_is_half_a_cache_line() {
        assert_eq!(size_of::<Slot<u64>>(), 32);
    }

    #[test]
    fn a_queue_gives_slots_in_the_order_they_came() {
        let mut pool = Pool::new(3, Reuse::InOrder);
        let mut queue = Queue::EMPTY;
        for handle in 0..3u64 {
            let id = pool.take(&Packet::new(handle, 60, 0), 0).unwrap();
            queue.push(&mut pool, id);
        }
        let mut order = Vec::new();
        while let Some(id) = queue.pop(&pool) {
            order.push(pool.get(id).handle);
        }
        assert_eq!(order, [0, 1, 2]);
    }
}
