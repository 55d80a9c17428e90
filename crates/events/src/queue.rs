//! The way of events to the thread that writes them: who tells never waits here.

use crate::{Event, Sink};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Lines that wait.
const QUEUE: usize = 1024;

/// What the thread is to do.
pub(crate) enum Order {
    Write(Arc<Event>),
    /// Something was held back.
    LookAgain,
    Answer(SyncSender<()>),
}

/// The way to the thread.
#[derive(Default)]
pub(crate) struct Queue {
    orders: OnceLock<SyncSender<Order>>,
    /// What the log is to be written to from the next line on.
    sink: Mutex<Option<Box<dyn Sink>>>,
    /// Lines lost since that was told.
    lost: AtomicU64,
}

impl Queue {
    /// False if there is no room. Without a thread nothing is written, and nothing lost.
    pub(crate) fn put(&self, order: Order) -> bool {
        let Some(orders) = self.orders.get() else { return true };
        let is_line = matches!(order, Order::Write(_));
        let taken = orders.try_send(order).is_ok();
        if !taken && is_line {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        taken
    }

    /// The thread's end; a log has one.
    pub(crate) fn open(&self) -> io::Result<Receiver<Order>> {
        let (orders, queue) = sync_channel(QUEUE);
        let first = self.orders.set(orders);
        first.map_err(|_| io::Error::other("the log is written already"))?;
        Ok(queue)
    }

    /// The sink that was set since this was asked last.
    pub(crate) fn new_sink(&self) -> Option<Box<dyn Sink>> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Lines lost since this was asked last.
    pub(crate) fn newly_lost(&self) -> u64 {
        self.lost.swap(0, Ordering::Relaxed)
    }

    pub(crate) fn write_as(&self, sink: Box<dyn Sink>) {
        *self.sink.lock().unwrap_or_else(PoisonError::into_inner) = Some(sink);
    }

    pub(crate) fn flush(&self, at_most: Duration) {
        let (done, written) = sync_channel(1);
        let end = Instant::now() + at_most;
        let Some(orders) = self.orders.get() else { return };
        let mut order = Order::Answer(done);
        // A full queue moves on, or its reader has stopped.
        while let Err(error) = orders.try_send(order) {
            let TrySendError::Full(back) = error else { return };
            order = back;
            if Instant::now() >= end {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let left = end.saturating_duration_since(Instant::now());
        // Not written in time: then it is not written.
        let _late = written.recv_timeout(left);
    }
}
