//! Giving a port's queues to the workers, and getting them back.

use crate::start::{Dataplane, DataplaneError};
use nodes::tables::{RxAttachment, TxAttachment};
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
        self.attach_tx(port, queues.tx)?;
        self.attach_rx(interface, queues.rx);
        Ok(())
    }

    /// The transmitting half of [`Dataplane::attach_port`].
    pub fn attach_tx(
        &self,
        port: u16,
        queues: Vec<Box<dyn TxQueue>>,
    ) -> Result<(), DataplaneError> {
        let workers = self.workers.len();
        if queues.len() < workers {
            let queues = queues.len();
            return Err(DataplaneError::TooFewQueues { port, queues, workers });
        }
        for (worker, queue) in self.workers.iter().zip(queues) {
            worker.setup.tx.add(TxAttachment { port, queue });
        }
        self.wake_all();
        Ok(())
    }

    /// The receiving half: from here on packets come in, so all that says what becomes of them
    /// should be in place.
    pub fn attach_rx(&self, interface: u16, queues: Vec<Box<dyn RxQueue>>) {
        for (worker, queue) in self.workers.iter().cycle().zip(queues) {
            worker.setup.rx.add(RxAttachment { interface, queue });
        }
        self.wake_all();
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
