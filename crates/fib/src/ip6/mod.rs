//! The IPv6 table.

mod bucket;
mod build;
mod lookup;
mod store;
mod update;
mod word;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use self::build::Route;
use self::lookup::Kernel;
use self::store::{Memory, ROUTE, Store};
use self::word::{Link, Word, half_of};
use crate::pages::PageSize;
use crate::quiesce::Quiescence;
use crate::{FibError, Forward, Ip6Prefix};

/// How much IPv6 tables may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip6Limits {
    /// Routes of all tables together.
    pub routes: usize,
    /// Bytes of all tables together.
    pub bytes: usize,
}

/// One VRF's IPv6 routes, as workers read them.
#[derive(Debug)]
pub struct Ip6Table {
    root: AtomicU32,
    default_route: AtomicU32,
    memory: Arc<Memory>,
    kernel: Kernel,
}

impl Ip6Table {
    /// What the longest route that matches `address` yields.
    pub fn lookup(&self, address: u128) -> Forward {
        let mut word = Word(self.root.load(Ordering::Acquire));
        loop {
            word = match word.link() {
                Link::Leaf(forward) => return Forward::from_bits(forward),
                Link::Bucket(index) => {
                    self.memory.bucket(index).find(half_of(address, word.is_low()))
                }
                Link::Node(node) => {
                    let slot = node.slot_of(address) as usize;
                    Word(self.memory.slots(node)[slot].load(Ordering::Acquire))
                }
            }
        }
    }

    /// x
    pub fn steps(&self, a: &[u128]) -> [f64; 6] {
        let mut r = [0.0; 6];
        for a in a { let mut word = Word(self.root.load(Ordering::Acquire)); let mut d = 0;
            loop { word = match word.link() { Link::Leaf(_) => break, Link::Bucket(i) => { r[0] += 1.0; self.memory.bucket(i).find(half_of(*a, word.is_low())) }
                Link::Node(node) => { r[1] += 1.0; Word(self.memory.slots(node)[node.slot_of(*a) as usize].load(Ordering::Acquire)) } }; d += 1; }
            r[2 + (d as usize).min(6) / 2] += 1.0; }
        r.map(|x| x / a.len() as f64)
    }
    /// Looks each address up, writing the bits of its [`Forward`] to `out`.
    pub fn lookup_bulk(&self, addresses: &[u128], out: &mut [u32]) {
        let root = Word(self.root.load(Ordering::Acquire));
        lookup::lookup_bulk(self.kernel, &self.memory, root, addresses, out);
    }
}

/// The one writer of some IPv6 tables that share their memory.
#[derive(Debug)]
pub struct Ip6Writer {
    store: Store,
    limits: Ip6Limits,
    routes: usize,
}

impl Ip6Writer {
    /// A writer without tables.
    pub fn new(
        limits: Ip6Limits,
        page_size: PageSize,
        quiescence: Arc<Quiescence>,
    ) -> Result<Ip6Writer, FibError> {
        let store = Store::new(limits.bytes, page_size, quiescence)?;
        Ok(Ip6Writer { store, limits, routes: 0 })
    }

    /// A new, empty table.
    pub fn table(&self) -> Arc<Ip6Table> {
        Arc::new(Ip6Table {
            root: AtomicU32::new(0),
            default_route: AtomicU32::new(0),
            memory: Arc::clone(self.store.memory()),
            kernel: Kernel::best(),
        })
    }

    /// Adds or replaces.
    pub fn insert(
        &mut self,
        table: &Ip6Table,
        prefix: Ip6Prefix,
        forward: Forward,
    ) -> Result<Option<Forward>, FibError> {
        if prefix.length() == 0 {
            let old = table.default_route.swap(forward.bits() | ROUTE, Ordering::Relaxed);
            self.store.set_default(&table.root, forward.bits());
            self.routes += usize::from(old == 0);
            return Ok((old != 0).then(|| Forward::from_bits(old)));
        }
        let route = Route {
            key: prefix.address(),
            length: u32::from(prefix.length()),
            forward: forward.bits(),
        };
        let old = self.store.insert_at(&table.memory, &table.root, 0, &route)?;
        self.routes += usize::from(old.is_none());
        Ok(old.map(Forward::from_bits))
    }

    /// Takes.
    pub fn remove(&mut self, table: &Ip6Table, prefix: Ip6Prefix) -> Option<Forward> {
        if prefix.length() == 0 {
            let old = table.default_route.swap(0, Ordering::Relaxed);
            if old == 0 {
                return None;
            }
            self.store.set_default(&table.root, 0);
            self.routes -= 1;
            return Some(Forward::from_bits(old));
        }
        let (key, length) = (prefix.address(), u32::from(prefix.length()));
        let old = self.store.remove_at(&table.memory, &table.root, 0, key, length)?;
        self.routes -= 1;
        Some(Forward::from_bits(old))
    }

    /// stats
    pub fn reader_bytes(&self) -> (usize, usize) {
        (self.store.reader_bytes(), self.store.used_bytes())
    }
}
