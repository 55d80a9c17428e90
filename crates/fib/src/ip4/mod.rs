//! The IPv4 forwarding table: longest prefix match in one cache line for almost every address.
//!
//! ```text
//!  address  | a a a a a a a a  b b b b b b b b  c c c c c c c c | d d d d | e e e e |
//!           |<------------- root: 24 bits -------------------->|  node   |  node   |
//!
//!  root, 2^24 words          node, 16 words        node, 16 words
//!  +---------+               +---------+           +---------+
//!  | Forward |               | Forward |           | Forward |
//!  | X|node ---------------->| X|node ------------>| Forward |
//!  | Forward |               | Forward |           |   ...   |
//!  +---------+               +---------+           +---------+
//!  a word of 0: no route but a short one, up to /4. Of those there is a word for each /4: a change
//!  of a short route, as the default one is, touches a few words instead of millions
//! ```
//!
//! [`Ip4Layout::Compact`] has a root of 20 bits and one more node step: 4 MiB instead of 64.
//!
//! Threads: one writer at a time (a lock that only writers take), any number of readers, who never
//! wait. A route changes by atomic stores of single words; nodes are linked when complete, and used
//! again when every reader has passed ([`crate::quiesce`]).
//!
//! Cost of a lookup: 1 cache line up to /24, 2 up to /28, 3 up to /32 (compact: one more). Bytes:
//! the root as far as routes touch it, 64 for each /24 and /28 that holds longer routes, and 8 (16M
//! routes) to 40 a route in the writer's record (`routes.rs`).

mod bits;
mod explain;
mod gather;
mod lookup;
mod nodes;
mod pass;
mod routes;
mod shelf;
mod write;

#[cfg(test)]
mod nodes_tests;

use std::sync::PoisonError;

use crate::pages::{PageSize, PagedArray};
use crate::sync::{Arc, AtomicU32, Mutex, MutexGuard};
use crate::{FibError, Forward, Ip4Prefix};

pub use explain::Ip4Match;
pub use lookup::Ip4Kernel;
pub use nodes::Ip4Nodes;

use routes::Routes;

/// How many address bits the first step decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ip4Layout {
    /// 24 bits: at most 64 MiB, one cache line up to /24.
    Wide,
    /// 20 bits: at most 4 MiB, one cache line up to /20, two up to /24.
    Compact,
}

impl Ip4Layout {
    /// Address bits that the root decides.
    pub const fn root_bits(self) -> u8 {
        match self {
            Ip4Layout::Wide => 24,
            Ip4Layout::Compact => 20,
        }
    }
}

/// What an IPv4 table is made with.
#[derive(Clone, Copy, Debug)]
pub struct Ip4Options {
    /// The shape of the first step.
    pub layout: Ip4Layout,
    /// Pages of the root.
    pub page_size: PageSize,
    /// The most routes it may hold.
    pub max_routes: usize,
}

impl Ip4Options {
    /// For one of many tables that hold few routes each: it takes memory where those are, 32 KiB
    /// for the martian networks and 4 MiB at the very most, and one step more for long ones.
    pub const fn sparse(max_routes: usize) -> Ip4Options {
        Ip4Options { layout: Ip4Layout::Compact, page_size: PageSize::Small, max_routes }
    }
}

impl Default for Ip4Options {
    fn default() -> Ip4Options {
        let (layout, page_size) = (Ip4Layout::Wide, PageSize::Huge);
        Ip4Options { layout, page_size, max_routes: 16 << 20 }
    }
}

/// See the module's drawing. Shared by `Arc`: all its calls take `&self`.
#[derive(Debug)]
pub struct Ip4Table {
    root: PagedArray<AtomicU32>,
    /// Routes up to /4, by the first bits of an address.
    short: [AtomicU32; pass::SHORT],
    /// The same without the default one.
    short_specific: [AtomicU32; pass::SHORT],
    nodes: Arc<Ip4Nodes>,
    options: Ip4Options,
    routes: Mutex<Routes>,
}

/// What a table holds and takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip4Memory {
    /// Routes in it.
    pub routes: usize,
    /// The most it may hold.
    pub max_routes: usize,
    /// Bytes of the root that have memory: it is given where routes are.
    pub root_bytes: usize,
    /// Bytes of the writer's record.
    pub record_bytes: usize,
    /// Pages asked for.
    pub page_size: PageSize,
}

impl Ip4Table {
    /// An empty table that extends into `nodes`.
    pub fn new(nodes: &Arc<Ip4Nodes>, options: Ip4Options) -> Result<Ip4Table, FibError> {
        let entries = 1 << options.layout.root_bits();
        Ok(Ip4Table {
            root: PagedArray::filled("an IPv4 table", entries, options.page_size)?,
            short: std::array::from_fn(|_| AtomicU32::new(0)),
            short_specific: std::array::from_fn(|_| AtomicU32::new(0)),
            nodes: Arc::clone(nodes),
            options,
            routes: Mutex::new(Routes::new()),
        })
    }

    /// How many routes it holds.
    pub fn len(&self) -> usize {
        self.record().len()
    }

    /// The most routes it may hold.
    pub fn max_routes(&self) -> usize {
        self.options.max_routes
    }

    /// Whether it holds no route.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What exactly `prefix` forwards to, if it is a route.
    pub fn get(&self, prefix: Ip4Prefix) -> Option<Forward> {
        self.record().get(prefix).map(Forward::from_bits)
    }

    /// Calls `visit` with every route. Writers wait meanwhile, readers do not.
    pub fn for_each(&self, mut visit: impl FnMut(Ip4Prefix, Forward)) {
        self.record().for_each(&mut |prefix, bits| visit(prefix, Forward::from_bits(bits)));
    }

    /// What it holds and takes; the shared node pool is asked by itself.
    pub fn memory(&self) -> Ip4Memory {
        let record = self.record();
        Ip4Memory {
            routes: record.len(),
            max_routes: self.options.max_routes,
            root_bytes: self.root.resident_bytes(),
            record_bytes: record.bytes(),
            page_size: self.options.page_size,
        }
    }

    /// The writer's record; whoever holds it is the writer.
    fn record(&self) -> MutexGuard<'_, Routes> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
