//! The tree of a [`Book`](super::book::Book): what goes through it is not packets but leases, which
//! workers spend on packets of theirs.
//!
//! A lease is charged as a packet of its length would be, so rates, ceils, priorities and quanta
//! are those of the one tree. What a worker gives back of it goes to whoever paid.

use super::claims::Claims;
use super::{Htb, PRIORITIES, ROWS_A_WORD};

/// So many bytes of a class for a worker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lease {
    pub(super) class: u32,
    pub(super) bytes: u32,
    pub(super) worker: u16,
    /// That of the class whose tokens it took: 0 for the leaf's own.
    pub(super) level: u8,
}

/// What comes of asking for one.
pub(super) enum Granted {
    Lease(Lease),
    Wait(u64),
    Nothing,
}

impl Htb {
    /// Somebody asked for some of a leaf.
    pub(super) fn is_asked(&mut self, leaf: u32) {
        if self.classes[leaf as usize].active == 0 {
            self.activate(leaf);
        }
    }

    /// The next lease: as `dequeue`, with claims in the place of packets. It is written twice,
    /// since what both would call takes seven instructions more a packet.
    pub(super) fn grant(&mut self, now_ns: u64, claims: &mut [Claims]) -> Granted {
        self.run_due(now_ns);
        for word in 0..self.rows_held.len() {
            let mut rows = self.rows_held[word];
            while rows != 0 {
                let row = word * ROWS_A_WORD + rows.trailing_zeros() as usize;
                rows &= rows - 1;
                if let Some(lease) = self.grant_at(row, now_ns, claims) {
                    return Granted::Lease(lease);
                }
            }
        }
        if self.active_leaves == 0 {
            return Granted::Nothing;
        }
        self.waiting.soonest().map_or(Granted::Nothing, Granted::Wait)
    }

    fn grant_at(&mut self, row: usize, now_ns: u64, claims: &mut [Claims]) -> Option<Lease> {
        let level = row / PRIORITIES;
        let (feed, at) = self.turn(row)?;
        let claims = claims.get_mut(at as usize)?;
        let (worker, bytes) = claims.take()?;
        let deficit = &mut self.deficits[at as usize * self.levels + level];
        let class = &mut self.classes[at as usize];
        class.fill(now_ns);
        class.charge(level as u8, bytes, 1);
        *deficit -= bytes as i32;
        let is_over = *deficit < 0;
        if is_over {
            *deficit += class.quantum_bytes;
        }
        let (parent, mode) = (class.parent, class.mode_by_buckets());
        let mode_changes = mode != class.mode;
        self.feeds.advance(feed, is_over);
        if claims.is_empty() {
            self.deactivate(at);
        }
        if mode_changes {
            self.change_mode(at, mode, now_ns);
        }
        self.charge(parent, level as u8, (bytes, 1), now_ns);
        Some(Lease { class: at, bytes, worker: worker as u16, level: level as u8 })
    }

    /// Some of a lease was not needed: the tokens go back to the buckets that they came from, as
    /// far as those have room.
    pub(super) fn take_back(&mut self, lease: Lease, now_ns: u64) {
        let mut at = lease.class;
        while let Some(class) = self.classes.get_mut(at as usize) {
            class.fill(now_ns);
            class.refund(lease.level, lease.bytes);
            let (parent, mode, debt) = (class.parent, class.mode_by_buckets(), class.debt());
            if mode == class.mode {
                self.wait(at, now_ns, debt);
            } else {
                self.change_mode(at, mode, now_ns);
            }
            at = parent;
        }
    }
}
