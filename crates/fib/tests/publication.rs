//! Every interleaving, within bounds, of the writer that links, unlinks and reuses table nodes with
//! readers that follow them: the real code, built upon the model checker's atomics.

#![allow(clippy::unwrap_used, clippy::panic)] // A test fails by panicking.
#![allow(dead_code, unreachable_pub)] // Modules are taken in whole; publication alone is run.

pub use error::FibError;

#[path = "../src/error.rs"]
mod error;

#[path = "../src/quiesce.rs"]
mod quiesce;

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
    pub(crate) use loom::sync::{Mutex, MutexGuard};
    pub(crate) use std::sync::Arc; // Counting references is not what is checked.
}

/// Stands in for the mapped memory, which the model checker cannot see into.
mod pages {
    use crate::FibError;
    use crate::sync::AtomicU32;

    /// What a model uses at most of an array: each item costs every run its making.
    const MOST: usize = 2;

    #[derive(Clone, Copy)]
    pub enum PageSize {
        Small,
    }

    /// # Safety
    /// None here: items are made, not zeroed.
    #[allow(unsafe_code)]
    pub unsafe trait Zeroed: Default {}
    #[allow(unsafe_code)]
    // SAFETY: as above.
    unsafe impl Zeroed for AtomicU32 {}

    #[derive(Debug)]
    pub struct PagedArray<T>(Vec<T>);

    impl<T: Default> PagedArray<T> {
        pub fn reserve(_: &str, capacity: usize, _: PageSize) -> Result<Self, FibError> {
            Ok(PagedArray((0..capacity.min(MOST)).map(|_| T::default()).collect()))
        }
    }

    impl<T> PagedArray<T> {
        pub fn grow(&self, _: usize) -> Result<(), FibError> {
            Ok(())
        }

        pub fn get(&self, index: usize) -> Option<&T> {
            self.0.get(index)
        }

        pub fn items(&self) -> &[T] {
            &self.0
        }

        pub fn base(&self) -> *const T {
            self.0.as_ptr()
        }

        pub fn capacity(&self) -> usize {
            self.0.len()
        }

        pub fn resident_bytes(&self) -> usize {
            size_of_val(&self.0[..])
        }
    }
}

#[path = "../src/ip4"]
mod ip4 {
    mod nodes;

    use loom::thread;
    use nodes::{EXTENDED, Ip4Nodes};

    use crate::pages::PageSize;
    use crate::quiesce::{Quiescence, Reader};
    use crate::sync::{Arc, AtomicU32, Ordering};

    /// Words of a route that covers the node's addresses, of one inside it, and of one elsewhere.
    const COVER: u32 = 7;
    const INSIDE: u32 = 8;
    const ELSEWHERE: u32 = 9;

    struct World {
        pool: Arc<Ip4Nodes>,
        entry: AtomicU32,
        elsewhere: AtomicU32,
    }

    impl World {
        fn new(readers: &Arc<Quiescence>) -> Arc<World> {
            let pool = Ip4Nodes::new(1, PageSize::Small, readers).unwrap();
            let (entry, elsewhere) = (AtomicU32::new(COVER), AtomicU32::new(ELSEWHERE));
            Arc::new(World { pool, entry, elsewhere })
        }

        /// A reader's lookup: the root word, then the node's if there is one.
        fn lookup(&self, entry: &AtomicU32, place: usize) -> u32 {
            let word = entry.load(Ordering::Acquire);
            match self.pool.node(word) {
                Some(node) => node[place].load(Ordering::Acquire),
                None => word,
            }
        }

        /// Adds a route inside the entry, removes it again, and hands the node on to another
        /// entry as soon as the pool gives it out.
        fn write(&self) {
            let node = self.pool.take(1).unwrap()[0];
            self.pool.link(&self.entry, node);
            let linked = self.entry.load(Ordering::Relaxed);
            self.pool.node(linked).unwrap()[3].store(INSIDE, Ordering::Release);
            self.pool.unlink(&self.entry, COVER);
            if let Ok(nodes) = self.pool.take(1) {
                self.pool.link(&self.elsewhere, nodes[0]);
            }
        }

        fn read(&self) {
            let changing = self.lookup(&self.entry, 3);
            assert!(changing == COVER || changing == INSIDE, "read {changing:#x}");
        }
    }

    fn every_interleaving(reader: impl Fn(&World, &Reader) + Copy + Send + Sync + 'static) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(4);
        model.check(move || {
            let readers = Quiescence::new();
            let world = World::new(&readers);
            let reading = {
                let (world, readers) = (Arc::clone(&world), Arc::clone(&readers));
                thread::spawn(move || reader(&world, &readers.reader()))
            };
            world.write();
            reading.join().unwrap();
            assert_eq!(world.entry.load(Ordering::Relaxed), COVER);
            let elsewhere = world.elsewhere.load(Ordering::Relaxed);
            assert!(elsewhere == ELSEWHERE || elsewhere & EXTENDED != 0);
        });
    }

    #[test]
    fn a_reader_sees_the_old_or_the_new_word_and_never_anothers() {
        every_interleaving(|world, reader| {
            world.read();
            reader.pass();
            world.read();
        });
    }

    #[test]
    fn a_reader_that_slept_is_waited_for_again() {
        every_interleaving(|world, reader| {
            reader.away();
            reader.back();
            world.read();
        });
    }
}

#[path = "../src/ip6"]
mod ip6 {
    mod bucket;
    mod store;
    mod word;

    use loom::thread;

    use crate::pages::PageSize;
    use crate::quiesce::{Quiescence, Reader};
    use crate::sync::{Arc, AtomicU32, Ordering};
    use bucket::{Bucket, Entry};
    use store::{Memory, Store};
    use word::Word;

    /// Words of a route that covers the address, of one that holds it, and of one elsewhere.
    const COVER: u32 = 7;
    const INSIDE: u32 = 8;
    const ELSEWHERE: u32 = 9;
    /// The half of the address that the reader looks up.
    const HALF: u64 = 0x2001_0db8 << 32;

    struct World {
        memory: Arc<Memory>,
        slot: AtomicU32,
        elsewhere: AtomicU32,
    }

    fn route(forward: u32, shift: u8) -> Entry {
        Entry { key: HALF, shift, owned: true, word: Word::leaf(forward) }
    }

    impl World {
        /// A slot that leads to a bucket of the covering route.
        fn new(store: &mut Store) -> Arc<World> {
            let bucket = store.make_bucket(&mut [route(COVER, 32)], 0, false).unwrap();
            let (slot, elsewhere) = (AtomicU32::new(bucket.0), AtomicU32::new(ELSEWHERE));
            Arc::new(World { memory: Arc::clone(store.memory()), slot, elsewhere })
        }

        /// Adds a route inside: a new bucket in the old one's stead, which serves elsewhere as
        /// soon as the store gives it out again.
        fn write(&self, store: &mut Store) {
            let old = Word(self.slot.load(Ordering::Relaxed));
            let mut both = [route(COVER, 32), route(INSIDE, 0)];
            let bucket = store.make_bucket(&mut both, 0, false).unwrap();
            self.slot.store(bucket.0, Ordering::Release);
            store.retire_bucket(old.as_bucket());
            store.reclaim();
            if let Ok(bucket) = store.make_bucket(&mut [route(ELSEWHERE, 32)], ELSEWHERE, false) {
                self.elsewhere.store(bucket.0, Ordering::Release);
            }
        }

        fn read(&self) {
            let word = Word(self.slot.load(Ordering::Acquire));
            let found = self.memory.bucket(word.as_bucket()).find(HALF).0;
            assert!(found == COVER || found == INSIDE, "read {found:#x}");
        }
    }

    fn every_interleaving(reader: impl Fn(&World, &Reader) + Copy + Send + Sync + 'static) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(move || {
            let readers = Quiescence::new();
            // Room for two buckets and no more.
            let bytes = 2 * size_of::<Bucket>();
            let mut store = Store::new(bytes, PageSize::Small, Arc::clone(&readers)).unwrap();
            let world = World::new(&mut store);
            let reading = {
                let (world, readers) = (Arc::clone(&world), Arc::clone(&readers));
                thread::spawn(move || reader(&world, &readers.reader()))
            };
            world.write(&mut store);
            reading.join().unwrap();
            let word = Word(world.slot.load(Ordering::Relaxed));
            assert_eq!(world.memory.bucket(word.as_bucket()).find(HALF).0, INSIDE);
        });
    }

    #[test]
    fn a_reader_finds_the_old_bucket_or_the_new_one_whole() {
        every_interleaving(|world, reader| {
            world.read();
            reader.pass();
            world.read();
        });
    }

    #[test]
    fn a_reader_that_slept_finds_no_bucket_that_serves_elsewhere() {
        every_interleaving(|world, reader| {
            reader.away();
            reader.back();
            world.read();
        });
    }
}
