//! The tree of a [`Book`](super::book::Book): what goes through it is not packets but leases, which
//! workers spend on packets of theirs.
//!
//! A lease is charged as a packet of its length would be, so rates, ceils, priorities and quanta
//! are those of the one tree. What a worker gives back of it goes to whoever paid.

use super::claims::Claims;
use super::deficits::spend;
use super::{Htb, Turn};

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

    /// The next lease: as `visit`, with claims in the place of packets. It is written twice, since
    /// what both would call takes seven instructions more a packet.
    pub(super) fn grant(&mut self, now_ns: u64, claims: &mut [Claims]) -> Granted {
        self.run_due(now_ns);
        loop {
            if let Some(lease) = self.grant_next(claims) {
                return Granted::Lease(lease);
            }
            if self.active_leaves == 0 {
                return Granted::Nothing;
            }
            if !self.run_today() {
                return self.soonest().map_or(Granted::Nothing, Granted::Wait);
            }
        }
    }

    fn grant_next(&mut self, claims: &mut [Claims]) -> Option<Lease> {
        let Turn { leaf, level, feed } = self.next()?;
        let claims = claims.get_mut(leaf as usize)?;
        let (worker, bytes) = claims.take()?;
        let class = &mut self.classes[leaf as usize];
        class.charge(level as u8, bytes, 1, self.clock.now);
        let deficit = self.deep_deficits.of(&mut class.deficits, leaf, level);
        let is_over = spend(deficit, bytes, class.quantum_bytes);
        let parent = class.parent;
        if level != 0 {
            self.feeds.advance(feed, is_over);
        }
        self.settle(leaf, level == 0, is_over, claims.is_empty());
        self.charge(parent, level as u8, (bytes, 1));
        Some(Lease { class: leaf, bytes, worker: worker as u16, level: level as u8 })
    }

    /// Some of a lease was not needed: the tokens go back to the buckets that they came from, as
    /// far as those have room.
    pub(super) fn take_back(&mut self, lease: Lease, now_ns: u64) {
        self.run_due(now_ns);
        let mut at = lease.class;
        while let Some(class) = self.classes.get_mut(at as usize) {
            class.refund(lease.level, lease.bytes);
            let parent = class.parent;
            self.hasten(at);
            at = parent;
        }
    }
}
