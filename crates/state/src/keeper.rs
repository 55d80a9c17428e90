//! The thread that writes.
//!
//! ```text
//!  snapshot(table, make) ──▶ make the bytes here ─▶ .table.new ─ renamed ─▶ table
//!  log.append(bytes) ─────▶ a block more of `routes`
//!  log.begin … commit ────▶ .routes.new grows beside it, and takes its place when it is whole
//! ```
//! Whoever hands over waits for nobody. Where the disk is slower than what comes, or full, the log
//! is given up (what it says would be wrong) and told; the owner begins another.

use crate::file::{MOST_BLOCK, Table, block, header, now_ns, snapshot};
use crate::folder::touch;
use crate::{Boot, Folder, Refused};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Between two notes that what stands there is as good as written now.
const TOUCH: Duration = Duration::from_millis(500);
/// Bytes of a log that may wait to be written.
const MOST_WAITING: usize = 256 << 20;

/// What is kept of a table, made on the keeper's thread.
type Make = Box<dyn FnOnce() -> Vec<u8> + Send>;

enum Order {
    Snapshot(Table, Make),
    GoOn(u64),
    Begin,
    Append { fresh: bool, payload: Vec<u8> },
    Commit,
    GiveUp,
}

/// What both sides know.
#[derive(Default)]
struct Shared {
    waiting: AtomicUsize,
    /// The log is not to be had: its owner begins another.
    is_broken: AtomicBool,
    /// Snapshots that wait.
    snapshots: AtomicUsize,
}

/// The hold on the thread. Dropped, it ends when all is written.
pub struct Keeper {
    orders: Option<Sender<Order>>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// Which of two logs is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Log {
    /// The one that the next process would read.
    Current,
    /// The one that grows beside it.
    Fresh,
}

impl Keeper {
    /// Begins to keep state in a folder.
    pub fn start(folder: Folder) -> io::Result<Self> {
        for table in Table::ALL {
            folder.remove_unnamed(table.name());
        }
        let (orders, inbox) = channel();
        let shared = Arc::new(Shared::default());
        let writer = Writer {
            folder,
            shared: Arc::clone(&shared),
            log: None,
            fresh: None,
            kept: HashMap::new(),
        };
        let thread = std::thread::Builder::new().name("state".into());
        let thread = Some(thread.spawn(move || writer.run(&inbox))?);
        Ok(Self { orders: Some(orders), shared, thread })
    }

    /// Keeps what `make` says of a table, in the place of what was kept.
    pub fn snapshot(&self, table: Table, make: impl FnOnce() -> Vec<u8> + Send + 'static) {
        self.shared.snapshots.fetch_add(1, Ordering::Relaxed);
        self.send(Order::Snapshot(table, Box::new(make)));
    }

    /// Whether snapshots wait that were handed over before.
    pub fn is_behind(&self) -> bool {
        self.shared.snapshots.load(Ordering::Relaxed) > 0
    }

    /// Goes on with the log that was read, behind its last whole block.
    pub fn go_on(&self, end: usize) {
        self.send(Order::GoOn(end as u64));
    }

    /// Begins another log beside the one that is.
    pub fn begin(&self) {
        self.send(Order::Begin);
    }

    /// Appends a block to a log. False where so much waits that the log was given up.
    pub fn append(&self, log: Log, payload: Vec<u8>) -> bool {
        if self.shared.waiting.fetch_add(payload.len(), Ordering::Relaxed) > MOST_WAITING {
            self.shared.waiting.fetch_sub(payload.len(), Ordering::Relaxed);
            self.give_up();
            return false;
        }
        self.send(Order::Append { fresh: log == Log::Fresh, payload });
        true
    }

    /// The log beside is whole: it takes the place of the one that is.
    pub fn commit(&self) {
        self.send(Order::Commit);
    }

    /// What the log says is not so any more: it goes.
    pub fn give_up(&self) {
        self.send(Order::GiveUp);
    }

    /// Whether the log was given up, once.
    pub fn take_broken(&self) -> bool {
        self.shared.is_broken.swap(false, Ordering::Relaxed)
    }

    fn send(&self, order: Order) {
        if let Some(orders) = &self.orders {
            // Gone with its thread, which told why.
            let _gone = orders.send(order);
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.orders = None;
        // One that panicked has told so.
        let _ended = self.thread.take().map(JoinHandle::join);
    }
}

struct Writer {
    folder: Folder,
    shared: Arc<Shared>,
    log: Option<File>,
    fresh: Option<File>,
    /// What stands in the files of snapshots: their length and checksum.
    kept: HashMap<Table, (File, usize, u32)>,
}

impl Writer {
    fn run(mut self, inbox: &Receiver<Order>) {
        let mut touched_ns = now_ns();
        loop {
            match inbox.recv_timeout(TOUCH) {
                Ok(order) => self.carry_out(order),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    self.touch();
                    return;
                }
            }
            if now_ns().saturating_sub(touched_ns) >= TOUCH.as_nanos() as u64 {
                touched_ns = now_ns();
                self.touch();
            }
        }
    }

    fn carry_out(&mut self, order: Order) {
        match order {
            Order::Snapshot(table, make) => {
                let outcome = self.write(table, &make());
                self.told(table, outcome);
                self.shared.snapshots.fetch_sub(1, Ordering::Relaxed);
            }
            Order::GoOn(end) => match self.folder.go_on(Table::Routes.name(), end) {
                Ok(log) => self.log = Some(log),
                Err(refused) => self.broken(&refused),
            },
            Order::Begin => {
                let begin = || {
                    let mut file = self.folder.make(Table::Routes.name())?;
                    file.write_all(&header(Table::Routes, &Boot::now()))?;
                    Ok::<_, io::Error>(file)
                };
                match begin() {
                    Ok(file) => self.fresh = Some(file),
                    Err(error) => self.broken(&error.into()),
                }
            }
            Order::Append { fresh, payload } => {
                self.shared.waiting.fetch_sub(payload.len(), Ordering::Relaxed);
                let log = if fresh { &mut self.fresh } else { &mut self.log };
                let Some(log) = log else { return };
                if let Err(error) = append(log, &payload) {
                    self.broken(&error.into());
                }
            }
            Order::Commit => {
                let Some(fresh) = self.fresh.take() else { return };
                match self.folder.name_it(Table::Routes.name()) {
                    Ok(()) => self.log = Some(fresh),
                    Err(error) => self.broken(&error.into()),
                }
            }
            Order::GiveUp => self.broken(&io::Error::other("more than can be written").into()),
        }
    }

    /// Writes a snapshot, if it differs from what stands there.
    fn write(&mut self, table: Table, payload: &[u8]) -> io::Result<()> {
        let (length, checksum) = (payload.len(), crc32fast::hash(payload));
        if let Some((file, had_length, had)) = self.kept.get(&table)
            && (*had_length, *had) == (length, checksum)
        {
            return touch(file);
        }
        let file = self.folder.write(table.name(), &snapshot(table, &Boot::now(), payload))?;
        self.kept.insert(table, (file, length, checksum));
        Ok(())
    }

    /// What is not written is void: nobody knows any more whether it is so.
    fn told(&mut self, table: Table, outcome: io::Result<()>) {
        let Err(error) = outcome else { return };
        self.kept.remove(&table);
        self.folder.remove(table.name());
        let table = table.name();
        tracing::warn!(fault = "state-unwritten", table, %error, "what a next router would take over cannot be written");
    }

    fn broken(&mut self, why: &Refused) {
        (self.log, self.fresh) = (None, None);
        self.folder.remove_unnamed(Table::Routes.name());
        self.folder.remove(Table::Routes.name());
        self.shared.is_broken.store(true, Ordering::Relaxed);
        let table = Table::Routes.name();
        tracing::warn!(fault = "state-unwritten", table, error = %why, "what a next router would take over cannot be written");
    }

    fn touch(&mut self) {
        // Snapshots are written anew, or touched, in their turn.
        if let Some(log) = &self.log
            && let Err(error) = touch(log)
        {
            self.broken(&error.into());
        }
    }
}

fn append(log: &mut File, payload: &[u8]) -> io::Result<()> {
    log.seek(SeekFrom::End(0))?;
    payload.chunks(MOST_BLOCK).try_for_each(|piece| log.write_all(&block(piece)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Blocks;
    use crate::folder::tests::Place;

    fn log(folder: &Folder) -> Result<(Vec<Vec<u8>>, usize), Refused> {
        let bytes = folder.read("routes")?;
        let mut seen = Vec::new();
        let blocks = Blocks::of(&bytes, Table::Routes, &Boot::now(), 60)?;
        let end = blocks.log(|payload| {
            seen.push(payload.to_vec());
            Ok(())
        })?;
        Ok((seen, end))
    }

    #[test]
    fn a_log_goes_on_in_the_next_process_and_another_takes_its_place_when_it_is_whole() {
        let place = Place::new("log");
        let path = place.0.join("state");
        let open = || Folder::open(&path).unwrap();
        let keeper = Keeper::start(open()).unwrap();
        keeper.begin();
        keeper.append(Log::Fresh, b"one".to_vec());
        keeper.commit();
        keeper.append(Log::Current, b"two".to_vec());
        // Killed in the middle of the next: it has no name.
        keeper.begin();
        keeper.append(Log::Fresh, b"three".to_vec());
        drop(keeper);
        let (seen, end) = log(&open()).unwrap();
        assert_eq!(seen, [b"one".to_vec(), b"two".to_vec()]);
        // A block that was torn.
        let file = File::options().append(true).open(path.join("routes")).unwrap();
        (&file).write_all(&[9, 0, 0, 0, 1]).unwrap();
        let keeper = Keeper::start(open()).unwrap();
        keeper.go_on(end);
        keeper.append(Log::Current, b"four".to_vec());
        drop(keeper);
        assert_eq!(log(&open()).unwrap().0, [&b"one"[..], b"two", b"four"]);
        assert!(!path.join(".routes.new").exists());
    }

    #[test]
    fn a_log_that_is_given_up_leaves_nothing_to_be_believed() {
        let place = Place::new("broken");
        let path = place.0.join("state");
        let keeper = Keeper::start(Folder::open(&path).unwrap()).unwrap();
        keeper.begin();
        keeper.commit();
        keeper.give_up();
        keeper.snapshot(Table::Counters, || b"counters".to_vec());
        while keeper.is_behind() {
            std::thread::yield_now();
        }
        assert!(keeper.take_broken() && !keeper.take_broken());
        drop(keeper);
        assert!(!path.join("routes").exists());
        let folder = Folder::open(&path).unwrap();
        let bytes = folder.read("counters").unwrap();
        let counters = Blocks::of(&bytes, Table::Counters, &Boot::now(), 60).unwrap();
        assert_eq!(counters.snapshot().unwrap(), b"counters");
    }
}
