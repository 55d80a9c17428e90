//! The IPv6 forwarding table: a trie whose steps are as wide as the routes below are many.
//!
//! ```text
//!  address |<---------- high 64 bits ---------->|<---------- low 64 bits ---------->|
//!
//!   root ─▶ node, 16 bits ─▶ node, 4 bits ─▶ bucket ─▶ answer
//!            65536 words      16 words        4 routes of any length
//!                  │
//!                  └───────▶ bucket with one entry, past 20 shared bits ─▶ node, 12 bits ─▶ …
//! ```
//!
//! A *node* is an array indexed by 4 to 20 bits of the address, wide enough for two or three routes
//! a slot; a *bucket* compares up to four prefixes of any lengths on one cache line. So the number
//! of steps follows from how many routes there are and how they lie, hardly from their lengths.
//! `docs/adr/0004-ip6-table.md` says what was measured against.
//!
//! Threads: one writer at a time (a lock of the pool that only writers take), any number of
//! readers, who never wait. A route changes by atomic stores of single words; buckets and nodes are
//! linked when complete, and used again when every reader has passed ([`crate::quiesce`]).
//!
//! Cost of a lookup: one cache line a step; with one route 1 step, with 255k or 1M random routes 2
//! to 3, in a real table about 4. Bytes that lookups read: 52 a route at 255k random routes, 61 at
//! 1M, 77 in a real table; the writer's ledgers take twice a node's bytes beside.

mod bucket;
mod build;
mod collect;
mod explain;
mod lookup;
mod store;
mod update;
mod word;

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use explain::{Ip6Match, Ip6Step};
pub use lookup::{Ip6Ahead, Ip6Kernel};

use self::build::Item;
use self::store::{Memory, Store};
use self::word::Word;
use crate::pages::PageSize;
use crate::quiesce::Quiescence;
use crate::{FibError, Forward, Ip6Prefix, Prefix};

/// Memory that IPv6 tables share.
#[derive(Debug)]
pub struct Ip6Pool {
    memory: Arc<Memory>,
    store: Mutex<Store>,
}

/// What a pool takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip6PoolMemory {
    /// Bytes that lookups may touch.
    pub lookup_bytes: usize,
    /// Those, and the writer's ledgers, and what waits for readers to pass.
    pub used_bytes: usize,
    /// The most that `used_bytes` may become.
    pub max_bytes: usize,
}

impl Ip6Pool {
    /// A pool that grows to at most `max_bytes`, for tables whose readers are `readers`.
    pub fn new(
        max_bytes: usize,
        page_size: PageSize,
        readers: &Arc<Quiescence>,
    ) -> Result<Arc<Ip6Pool>, FibError> {
        let store = Store::new(max_bytes, page_size, Arc::clone(readers))?;
        Ok(Arc::new(Ip6Pool { memory: Arc::clone(store.memory()), store: Mutex::new(store) }))
    }

    /// What it takes.
    pub fn memory(&self) -> Ip6PoolMemory {
        let store = self.store();
        Ip6PoolMemory {
            lookup_bytes: store.reader_bytes(),
            used_bytes: store.used_bytes(),
            max_bytes: store.limit_bytes(),
        }
    }

    /// Takes back what every reader has let go of. Updates do so by themselves as they go on.
    pub fn reclaim(&self) {
        self.store().reclaim();
    }

    /// The writer's side; whoever holds it is the writer.
    fn store(&self) -> MutexGuard<'_, Store> {
        // An update that panicked left words that readers may follow, so the data is sound.
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One VRF's IPv6 routes. Shared by `Arc`: all its calls take `&self`.
#[derive(Debug)]
pub struct Ip6Table {
    root: AtomicU32,
    /// The default route: apart, so that changing it touches one word instead of thousands.
    default: AtomicU32,
    pool: Arc<Ip6Pool>,
    kernel: Ip6Kernel,
    routes: AtomicUsize,
    max_routes: usize,
}

impl Ip6Table {
    /// An empty table of at most `max_routes` that lives in `pool`.
    pub fn new(pool: &Arc<Ip6Pool>, max_routes: usize) -> Ip6Table {
        Ip6Table {
            root: AtomicU32::new(0),
            default: AtomicU32::new(0),
            pool: Arc::clone(pool),
            kernel: Ip6Kernel::best(),
            routes: AtomicUsize::new(0),
            max_routes,
        }
    }

    /// What `address` forwards to.
    pub fn lookup(&self, address: u128) -> Forward {
        let root = Word(self.root.load(Ordering::Acquire));
        match lookup::lookup(&self.pool.memory, root, address) {
            0 => Forward::from_bits(self.default.load(Ordering::Acquire)),
            bits => Forward::from_bits(bits),
        }
    }

    /// To ask for memory ahead of [`Ip6Table::lookup_bulk`].
    pub fn ahead(&self) -> Ip6Ahead {
        Ip6Ahead::new(&self.pool.memory, Word(self.root.load(Ordering::Acquire)))
    }

    /// What each of `addresses` forwards to, as [`Forward::bits`], into the same place of `out`;
    /// the shorter of the two decides how many.
    pub fn lookup_bulk(&self, addresses: &[u128], out: &mut [u32]) {
        self.lookup_bulk_with(self.kernel, addresses, out);
    }

    /// The same by a kernel of the caller's choice, to test and to compare.
    pub fn lookup_bulk_with(&self, kernel: Ip6Kernel, addresses: &[u128], out: &mut [u32]) {
        let default = self.default.load(Ordering::Acquire);
        self.lookup_in(kernel.or_scalar(), addresses, out);
        for bits in out.iter_mut().take(addresses.len()) {
            *bits = if *bits == 0 { default } else { *bits };
        }
    }

    /// The same by all routes but the default one.
    pub fn lookup_bulk_specific(&self, addresses: &[u128], out: &mut [u32]) {
        self.lookup_in(self.kernel, addresses, out);
    }

    fn lookup_in(&self, kernel: Ip6Kernel, addresses: &[u128], out: &mut [u32]) {
        let root = Word(self.root.load(Ordering::Acquire));
        lookup::lookup_bulk(kernel, &self.pool.memory, root, addresses, out);
    }

    /// Adds or replaces a route, and returns what it forwarded to before. On an error the table is
    /// as it was.
    pub fn insert(&self, prefix: Ip6Prefix, to: Forward) -> Result<Option<Forward>, FibError> {
        if to.is_none() {
            return Err(FibError::NothingToForwardTo { prefix: prefix.to_string() });
        }
        let mut store = self.pool.store();
        if self.len() >= self.max_routes && self.get_in(&store, prefix).is_none() {
            let capacity = self.max_routes;
            return Err(FibError::Full { table: "an IPv6 table", unit: "routes", capacity });
        }
        let before = if prefix.length() == 0 {
            Some(self.default.swap(to.bits(), Ordering::Release)).filter(|bits| *bits != 0)
        } else {
            let item = Item::route(prefix.address(), u32::from(prefix.length()), to.bits());
            store.insert_at(&self.pool.memory, &self.root, 0, &item)?
        };
        if before.is_none() {
            self.routes.fetch_add(1, Ordering::Relaxed);
        }
        Ok(before.map(Forward::from_bits))
    }

    /// Removes a route, so that what covers it holds again, and returns what it forwarded to.
    pub fn remove(&self, prefix: Ip6Prefix) -> Option<Forward> {
        let mut store = self.pool.store();
        let before = if prefix.length() == 0 {
            Some(self.default.swap(0, Ordering::Release)).filter(|bits| *bits != 0)?
        } else {
            let (key, length) = (prefix.address(), u32::from(prefix.length()));
            store.remove_at(&self.pool.memory, &self.root, 0, key, length)?
        };
        self.routes.fetch_sub(1, Ordering::Relaxed);
        Some(Forward::from_bits(before))
    }

    /// What exactly `prefix` forwards to, if it is a route.
    pub fn get(&self, prefix: Ip6Prefix) -> Option<Forward> {
        self.get_in(&self.pool.store(), prefix)
    }

    fn get_in(&self, store: &Store, prefix: Ip6Prefix) -> Option<Forward> {
        let bits = match prefix.length() {
            0 => Some(self.default.load(Ordering::Relaxed)).filter(|bits| *bits != 0),
            length => {
                let root = Word(self.root.load(Ordering::Relaxed));
                store.get_below(root, 0, prefix.address(), u32::from(length))
            }
        };
        bits.map(Forward::from_bits)
    }

    /// Calls `visit` with every route, by address and then length. Writers wait meanwhile, readers
    /// do not.
    pub fn for_each(&self, mut visit: impl FnMut(Ip6Prefix, Forward)) {
        let store = self.pool.store();
        let default = self.default.load(Ordering::Relaxed);
        if default != 0 {
            visit(Prefix::all(), Forward::from_bits(default));
        }
        let root = Word(self.root.load(Ordering::Relaxed));
        store.for_each_below(root, 0, 0, &mut |item| {
            // Lengths in the table never exceed those of the prefixes that were put in.
            if let Ok(prefix) = Prefix::new(item.key, item.length as u8) {
                visit(prefix, Forward::from_bits(item.word.0));
            }
        });
    }

    /// How many routes it holds.
    pub fn len(&self) -> usize {
        self.routes.load(Ordering::Relaxed)
    }

    /// Whether it holds no route.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the pool that it lives in takes.
    pub fn memory(&self) -> Ip6PoolMemory {
        self.pool.memory()
    }

    /// The most routes it may hold.
    pub fn max_routes(&self) -> usize {
        self.max_routes
    }
}

impl Drop for Ip6Table {
    fn drop(&mut self) {
        let root = Word(self.root.swap(0, Ordering::Relaxed));
        self.pool.store().retire_tree(root);
    }
}
