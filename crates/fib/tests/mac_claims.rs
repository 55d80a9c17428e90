//! Every interleaving, within bounds, of workers that learn the same station while the control
//! thread frees slots: the real code, built upon the model checker's atomics.

#![allow(dead_code, unreachable_pub, unused_imports)] // Modules are taken in whole.
#![allow(clippy::unwrap_used)] // In tests a panic is the report.
#![allow(unsafe_code)] // They say that their memory may start zeroed.

pub use error::FibError;

#[path = "../src/error.rs"]
mod error;

#[path = "../src/quiesce.rs"]
mod quiesce;

#[path = "../src/mac/mod.rs"]
mod mac;

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
    pub(crate) use loom::sync::{Mutex, MutexGuard};
    pub(crate) use std::sync::Arc; // Counting references is not what is checked.
}

mod prefetch {
    pub(crate) fn prefetch<T>(_: *const T, _: usize) {}
}

/// All learn here, and nobody only looks.
mod onlooker {
    pub(crate) fn only_looks() -> bool {
        false
    }
}

/// Stands in for the mapped memory, which the model checker cannot see into.
mod pages {
    use crate::FibError;

    #[derive(Clone, Copy)]
    pub enum PageSize {
        Small,
    }

    /// # Safety
    /// None is needed here: items are made, not mapped.
    pub unsafe trait Zeroed {}

    #[derive(Debug)]
    pub struct PagedArray<T>(Vec<T>);

    impl<T: Default> PagedArray<T> {
        /// The few items that a model can afford.
        pub fn filled(_: &str, capacity: usize, _: PageSize) -> Result<Self, FibError> {
            Ok(PagedArray((0..capacity.min(2)).map(|_| T::default()).collect()))
        }

        pub fn items(&self) -> &[T] {
            &self.0
        }

        pub fn base(&self) -> *const T {
            self.0.as_ptr()
        }
    }
}

use loom::thread;
use mac::{Learned, MacKey, MacTable};
use pages::PageSize;
use quiesce::Quiescence;
use sync::Arc;

fn station(number: u8) -> MacKey {
    MacKey::new(1, [2, 0, 0, 0, 0, number])
}

/// Runs `control` beside two workers that learn station 9, after `before`; then there is one entry
/// of it, and the counts are right.
fn every_interleaving(
    before: impl Fn(&MacTable) + Send + Sync + 'static,
    control: impl Fn(&MacTable) + Send + Sync + 'static,
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(move || {
        let readers = Quiescence::new();
        let table = Arc::new(MacTable::with_seed(5, PageSize::Small, &readers, 7).unwrap());
        before(&table);
        let worker = |port| {
            let table = Arc::clone(&table);
            thread::spawn(move || {
                let learned = table.learn(station(9), port, 0);
                let fine = matches!(learned, Learned::New | Learned::Known | Learned::Moved { .. });
                assert!(fine, "{learned:?}");
            })
        };
        let workers = [worker(3), worker(4)];
        control(&table);
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        let mut listed = Vec::new();
        table.for_each(0, |key, entry, _| listed.push((key, entry.port)));
        let (keys, ports): (Vec<_>, Vec<_>) = listed.into_iter().unzip();
        assert_eq!(keys, [station(9)], "{ports:?}");
        assert!([3, 4].contains(&ports[0]));
        assert_eq!((table.len(), table.domain_len(1)), (1, 1));
    });
}

#[test]
fn two_workers_make_one_entry() {
    every_interleaving(|_| {}, |_| {});
}

#[test]
fn two_workers_make_one_entry_while_a_slot_before_theirs_comes_free() {
    every_interleaving(
        |table| assert_eq!(table.learn(station(1), 1, 0), Learned::New),
        |table| assert!(table.remove(station(1)).is_some()),
    );
}
