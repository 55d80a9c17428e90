//! Giving a port's queues to the workers, and getting them back.

use crate::start::{Dataplane, DataplaneError};
use nodes::plumbing::{RxAttachment, TxAttachment};
use packet::{RxQueue, TxQueue};
use std::time::{Duration, Instant};

/// The queues of one port.
#[derive(Default)]
pub struct PortQueues {
    /// Receive queues; each goes to one worker, in turn.
    pub rx: Vec<Box<dyn RxQueue>>,
    /// Transmit queues; each worker gets one.
    pub tx: Vec<Box<dyn TxQueue>>,
}

impl Dataplane {
    /// Spreads the queues over the workers. Receive queue n goes to worker n, from the start again
    /// when there are more queues than workers.
    pub fn attach_port(
        &self,
        port: u16,
        interface: u16,
        queues: PortQueues,
    ) -> Result<(), DataplaneError> {
        let workers = self.workers.len();
        if queues.tx.len() < workers {
            let queues = queues.tx.len();
            return Err(DataplaneError::TooFewQueues { port, queues, workers });
        }
        for (worker, queue) in self.workers.iter().zip(queues.tx) {
            worker.setup.tx.add(TxAttachment { port, queue });
        }
        for (worker, queue) in self.workers.iter().cycle().zip(queues.rx) {
            worker.setup.rx.add(RxAttachment { interface, queue });
        }
        self.wake_all();
        Ok(())
    }

    /// Gets a port's queues back from the workers; `turn` is called while waiting for them (where
    /// the caller turns the worker, it does so there). Queues that a worker does not give back
    /// within `patience` are lost with it.
    pub fn detach_port(
        &self,
        port: u16,
        interface: u16,
        patience: Duration,
        mut turn: impl FnMut(),
    ) -> PortQueues {
        for worker in &self.workers {
            worker.setup.rx.ask_back(interface);
            worker.setup.tx.ask_back(port);
        }
        self.wake_all();
        let start = Instant::now();
        let unread = || {
            self.workers
                .iter()
                .any(|worker| !worker.setup.rx.is_read() || !worker.setup.tx.is_read())
        };
        while unread() && start.elapsed() < patience {
            turn();
        }
        let mut queues = PortQueues::default();
        for worker in &self.workers {
            let rx = worker.setup.rx.take_returned().into_iter();
            queues.rx.extend(rx.map(|attachment| attachment.queue));
            let tx = worker.setup.tx.take_returned().into_iter();
            queues.tx.extend(tx.map(|attachment| attachment.queue));
        }
        queues
    }

    fn wake_all(&self) {
        for worker in &self.workers {
            worker.handle.wake();
        }
    }
}
