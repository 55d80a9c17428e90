//! Where buckets and nodes live: arrays that never move, one a kind, within one budget of bytes.
//!
//! ```text
//!  Memory (readers)      buckets   64 B each          | |B|B|B|.....
//!                        nodes     64 B << 4*class    |    N    |....   five classes
//!  Store (writer)        ledgers   twice the node     |       L       |....
//! ```
//!
//! A node's *ledger* is what the writer knows about it, never read by lookups: a heap of the
//! routes that end inside the node.
//!
//! ```text
//!   [0] routes below   [1] what covers the whole node   [2] 0… [3] 1…   [4] 00… [5] 01… …
//! ```

use super::bucket::{Bucket, Entry};
use super::word::{CLASSES, Link, MAX_BUCKETS, MAX_NODES, Node, Word, stride};
use crate::FibError;
use crate::pages::{PageSize, PagedArray};
use crate::quiesce::{Quiescence, Retired};
use crate::sync::{Arc, AtomicU32, Ordering};

/// Marks a place of a ledger that holds a route.
pub(super) const ROUTE: u32 = 1 << 31;

const BUCKET_BYTES: usize = size_of::<Bucket>();
/// How many retired things may wait before the writer asks whether readers have passed.
const RECLAIM_EVERY: usize = 64;

/// What lookups read.
#[derive(Debug)]
pub(super) struct Memory {
    pub(super) buckets: PagedArray<Bucket>,
    pub(super) nodes: [PagedArray<AtomicU32>; CLASSES],
}

impl Memory {
    pub(super) fn bucket(&self, index: u32) -> &Bucket {
        &self.buckets.items()[index as usize]
    }

    pub(super) fn slots(&self, node: Node) -> &[AtomicU32] {
        let size = 1 << node.stride();
        &self.nodes[node.class as usize].items()[node.index as usize * size..][..size]
    }
}

/// Indices handed out: those given back first, then fresh ones.
#[derive(Debug, Default)]
struct Indices {
    free: Vec<u32>,
    fresh: u32,
}

/// Something unlinked that readers may still hold.
#[derive(Debug)]
enum Gone {
    /// A bucket whose links live on in its successor.
    Bucket(u32),
    /// All that hangs below a word.
    Tree(Word),
}

/// Gives out buckets and nodes, and takes them back when every reader has passed.
#[derive(Debug)]
pub(super) struct Store {
    memory: Arc<Memory>,
    ledgers: [PagedArray<AtomicU32>; CLASSES],
    buckets: Indices,
    nodes: [Indices; CLASSES],
    retired: Retired<Gone>,
    /// What a failing build must not free: it still hangs elsewhere.
    kept: Vec<Word>,
    limit_bytes: usize,
    used_bytes: usize,
}

/// Bytes of a node and its ledger.
fn node_bytes(class: usize) -> usize {
    12 << stride(class)
}

fn per_class(
    limit_bytes: usize,
    words_per_slot: usize,
    page_size: PageSize,
) -> Result<[PagedArray<AtomicU32>; CLASSES], FibError> {
    let reserve = |class: usize| {
        let nodes = (limit_bytes / node_bytes(class)).clamp(1, MAX_NODES);
        PagedArray::reserve("ip6 table", (words_per_slot * nodes) << stride(class), page_size)
    };
    Ok([reserve(0)?, reserve(1)?, reserve(2)?, reserve(3)?, reserve(4)?])
}

impl Store {
    pub(super) fn new(
        limit_bytes: usize,
        page_size: PageSize,
        quiescence: Arc<Quiescence>,
    ) -> Result<Store, FibError> {
        let buckets = (limit_bytes / BUCKET_BYTES).clamp(1, MAX_BUCKETS);
        let memory = Memory {
            buckets: PagedArray::reserve("ip6 table", buckets, page_size)?,
            nodes: per_class(limit_bytes, 1, page_size)?,
        };
        Ok(Store {
            memory: Arc::new(memory),
            ledgers: per_class(limit_bytes, 2, page_size)?,
            buckets: Indices::default(),
            nodes: Default::default(),
            retired: Retired::new(quiescence),
            kept: Vec::new(),
            limit_bytes,
            used_bytes: 0,
        })
    }

    pub(super) fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    pub(super) fn limit_bytes(&self) -> usize {
        self.limit_bytes
    }

    /// Bytes of all buckets, nodes and ledgers in use or waiting for readers.
    pub(super) fn used_bytes(&self) -> usize {
        self.used_bytes
    }

    /// Bytes that lookups can touch.
    pub(super) fn reader_bytes(&self) -> usize {
        let in_use = |indices: &Indices| indices.fresh as usize - indices.free.len();
        let nodes = (0..CLASSES).map(|class| in_use(&self.nodes[class]) * (4 << stride(class)));
        nodes.sum::<usize>() + in_use(&self.buckets) * BUCKET_BYTES
    }

    pub(super) fn bucket(&self, index: u32) -> &Bucket {
        self.memory.bucket(index)
    }

    pub(super) fn slots(&self, node: Node) -> &[AtomicU32] {
        self.memory.slots(node)
    }

    pub(super) fn ledger(&self, node: Node) -> &[AtomicU32] {
        let size = 2 << node.stride();
        &self.ledgers[node.class as usize].items()[node.index as usize * size..][..size]
    }

    /// What an address gets at `word` when no route below it matches.
    pub(super) fn default_of(&self, word: Word) -> u32 {
        match word.link() {
            Link::Leaf(forward) => forward,
            Link::Bucket(index) => self.bucket(index).default_word().load(Ordering::Relaxed),
            Link::Node(node) => self.ledger(node)[1].load(Ordering::Relaxed),
        }
    }

    /// Makes a bucket that no reader can find yet.
    pub(super) fn make_bucket(
        &mut self,
        entries: &mut [Entry],
        default: u32,
        low: bool,
    ) -> Result<Word, FibError> {
        self.reserve_bytes(BUCKET_BYTES)?;
        let index = match self.buckets.free.pop() {
            Some(index) => index,
            None => {
                self.memory.buckets.grow(self.buckets.fresh as usize + 1)?;
                self.buckets.fresh += 1;
                self.buckets.fresh - 1
            }
        };
        self.used_bytes += BUCKET_BYTES;
        self.bucket(index).fill(entries, default);
        Ok(Word::bucket(index, low))
    }

    /// Makes a node of zeros, with a ledger of zeros, that no reader can find yet.
    pub(super) fn make_node(&mut self, class: usize, depth: u32) -> Result<Node, FibError> {
        self.reserve_bytes(node_bytes(class))?;
        let index = match self.nodes[class].free.pop() {
            Some(index) => index,
            None => {
                let index = self.nodes[class].fresh;
                let nodes = index as usize + 1;
                self.memory.nodes[class].grow(nodes << stride(class))?;
                self.ledgers[class].grow(nodes << (stride(class) + 1))?;
                self.nodes[class].fresh += 1;
                index
            }
        };
        self.used_bytes += node_bytes(class);
        Ok(Node { class: class as u32, depth, index })
    }

    /// Takes a bucket that was unlinked, but not what it links to.
    pub(super) fn retire_bucket(&mut self, index: u32) {
        self.retire(Gone::Bucket(index));
    }

    /// Takes all that hangs below `word`, which was unlinked.
    pub(super) fn retire_tree(&mut self, word: Word) {
        if !word.is_leaf() {
            self.retire(Gone::Tree(word));
        }
    }

    /// Frees at once what no reader ever saw, but not what is kept.
    pub(super) fn discard_tree(&mut self, word: Word) {
        self.free_tree(word);
    }

    /// Keeps `words` from [`Store::discard_tree`] until the next call.
    pub(super) fn keep(&mut self, words: impl Iterator<Item = Word>) {
        self.kept.clear();
        self.kept.extend(words.filter(|word| !word.is_leaf()));
    }

    /// Takes back what every reader has let go of.
    pub(super) fn reclaim(&mut self) {
        let mut gone = Vec::new();
        self.retired.reclaim(|item| gone.push(item));
        for item in gone {
            match item {
                Gone::Bucket(index) => self.free_bucket(index),
                Gone::Tree(word) => self.free_tree(word),
            }
        }
    }

    fn retire(&mut self, gone: Gone) {
        self.retired.retire(gone);
        if self.retired.waiting() >= RECLAIM_EVERY {
            self.reclaim();
        }
    }

    fn reserve_bytes(&mut self, bytes: usize) -> Result<(), FibError> {
        if self.used_bytes + bytes > self.limit_bytes {
            self.reclaim();
        }
        if self.used_bytes + bytes > self.limit_bytes {
            let capacity = self.limit_bytes;
            return Err(FibError::Full { table: "ip6 table", unit: "bytes", capacity });
        }
        Ok(())
    }

    fn free_bucket(&mut self, index: u32) {
        self.buckets.free.push(index);
        self.used_bytes -= BUCKET_BYTES;
    }

    fn free_tree(&mut self, word: Word) {
        if self.kept.contains(&word) {
            return;
        }
        match word.link() {
            Link::Leaf(_) => {}
            Link::Bucket(index) => {
                let links = self.bucket(index).entries().map(|entry| entry.word);
                for link in links.collect::<Vec<_>>() {
                    self.free_tree(link);
                }
                self.free_bucket(index);
            }
            Link::Node(node) => {
                for slot in 0..1 << node.stride() {
                    let below = Word(self.slots(node)[slot].swap(0, Ordering::Relaxed));
                    self.free_tree(below);
                }
                for place in self.ledger(node) {
                    place.store(0, Ordering::Relaxed);
                }
                self.nodes[node.class as usize].free.push(node.index);
                self.used_bytes -= node_bytes(node.class as usize);
            }
        }
    }
}
