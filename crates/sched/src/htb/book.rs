//! The accounts of one tree that several workers serve: who may send how much of which class.
//!
//! ```text
//!   worker 0: Part ── asks, gives back ─▶ ┌──────────── Book ────────────┐ ◀─ asks ── worker 1: Part
//!             leaves ◀─ leases ────────── │ claims ─▶ the tree's buckets │ ─ leases ─▶     leaves
//!                                         └──────────────────────────────┘
//! ```
//! It is under a lock that nobody waits for: a worker that finds it taken comes again in its next
//! round. Who has it makes out what may be lent by now to all workers alike, so no claim waits for
//! its own worker. It says until when nothing more can be lent, but for what somebody gives back:
//! who has nothing new to ask looks again then.

use super::Htb;
use super::claims::Claims;
use super::lend::{Granted, Lease};
use crate::discipline::Discipline;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// The most leases that one turn makes out, so that others soon have theirs.
const LEASES_A_TURN: usize = 256;

/// What a worker asks for a class.
#[derive(Clone, Copy)]
pub(super) struct Ask {
    pub(super) class: u32,
    pub(super) bytes: u32,
    pub(super) flows: u32,
}

/// See the module.
pub(crate) struct Book(Mutex<Accounts>);

pub(super) struct Accounts {
    tree: Htb,
    claims: Vec<Claims>,
    /// What was lent to each worker that it has not looked at yet.
    lent: Vec<Vec<Lease>>,
    /// The latest time of any worker.
    now_ns: u64,
}

impl Book {
    /// The tree has no packets of its own; `pieces` are what is lent of each class at a time.
    pub(super) fn new(tree: Htb, workers: usize, pieces: &[u32]) -> Self {
        let claims = pieces.iter().map(|&bytes| Claims::new(workers, bytes)).collect();
        // Of what a worker asked for, three pieces at most are not looked at.
        let lent = (0..workers).map(|_| Vec::with_capacity(3 * pieces.len())).collect();
        Self(Mutex::new(Accounts { tree, claims, lent, now_ns: 0 }))
    }

    /// The accounts, unless another worker has them just now.
    pub(super) fn try_open(&self) -> Option<MutexGuard<'_, Accounts>> {
        match self.0.try_lock() {
            Ok(accounts) => Some(accounts),
            Err(TryLockError::Poisoned(accounts)) => Some(accounts.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The accounts, even if that means waiting: where something is changed or told.
    pub(super) fn open(&self) -> MutexGuard<'_, Accounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Accounts {
    pub(super) fn tree(&mut self) -> &mut Htb {
        &mut self.tree
    }

    /// What a worker does not need after all.
    pub(super) fn take_back(&mut self, lease: Lease) {
        self.tree.take_back(lease, self.now_ns);
    }

    /// No tokens are left.
    pub(super) fn spend(&mut self, now_ns: u64) {
        self.now_ns = self.now_ns.max(now_ns);
        self.tree.spend(self.now_ns);
    }

    /// A worker's turn: takes back what it returns, writes down what it asks for, makes out what
    /// may be lent by now, and moves what is this worker's to `into`. Says when to look again.
    pub(super) fn turn(
        &mut self,
        worker: usize,
        now_ns: u64,
        returned: &mut Vec<Lease>,
        asks: &mut Vec<Ask>,
        into: &mut Vec<Lease>,
    ) -> u64 {
        self.now_ns = self.now_ns.max(now_ns);
        let Self { tree, claims, lent, now_ns } = self;
        tree.run_due(*now_ns);
        for lease in returned.drain(..) {
            tree.take_back(lease, *now_ns);
        }
        for ask in asks.drain(..) {
            if let Some(claims) = claims.get_mut(ask.class as usize) {
                claims.ask(worker, ask.bytes, ask.flows);
                tree.is_asked(ask.class);
            }
        }
        let mut until_ns = *now_ns;
        for _ in 0..LEASES_A_TURN {
            match tree.grant(*now_ns, claims) {
                Granted::Lease(lease) => {
                    if let Some(lent) = lent.get_mut(usize::from(lease.worker)) {
                        lent.push(lease);
                    }
                }
                Granted::Wait(at_ns) => {
                    until_ns = at_ns;
                    break;
                }
                Granted::Nothing => {
                    until_ns = u64::MAX;
                    break;
                }
            }
        }
        if let Some(lent) = lent.get_mut(worker) {
            into.append(lent);
        }
        until_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class_map::ClassMap;
    use crate::htb::{ClassSettings, HtbSettings};
    use crate::rate::{Link, Price};
    use crate::units::Rate;
    use crate::{ClassId, LinkLayer};

    const BYTES_A_MS: u64 = 1_000;

    /// The accounts of one class, of a byte a microsecond, for one worker.
    fn of_one_class() -> Book {
        let price = Price::new(Rate(8_000 * BYTES_A_MS), Link::new(0, 0, LinkLayer::Ethernet));
        let class = ClassSettings {
            id: ClassId::new(1, 1),
            rate: price,
            ceil: price,
            burst_bytes: 1,
            cburst_bytes: 1,
            priority: 0,
            quantum_bytes: 1500,
            piece_bytes: 1000,
            text: String::new(),
        };
        let settings = HtbSettings {
            handle: ClassId::new(1, 0),
            text: String::new(),
            direct_packets: 1,
            classes: vec![(class, None)],
            leaves: Vec::new(),
            map: ClassMap::new(1),
            default: None,
            visit_bytes: 0,
        };
        Book::new(Htb::new(settings), 1, &[1000])
    }

    #[test]
    fn what_is_given_back_is_lent_so_much_sooner() {
        let (book, mut lent) = (of_one_class(), Vec::new());
        let mut accounts = book.open();
        let ask = |bytes| vec![Ask { class: 0, bytes, flows: 1 }];
        let again_ns = accounts.turn(0, 0, &mut Vec::new(), &mut ask(2000), &mut lent);
        assert_eq!((lent.len(), again_ns), (1, 999_000));
        // It needs but 100 of the thousand.
        let rest = Lease { bytes: 900, ..lent.remove(0) };
        let again_ns = accounts.turn(0, 10, &mut vec![rest], &mut Vec::new(), &mut lent);
        assert_eq!((lent.len(), again_ns), (0, 99_000));
        let mut turn = |now_ns| {
            accounts.turn(0, now_ns, &mut Vec::new(), &mut Vec::new(), &mut lent);
            lent.len()
        };
        assert_eq!((turn(98_999), turn(99_000)), (0, 1));
    }
}
