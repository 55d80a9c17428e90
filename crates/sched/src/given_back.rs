//! Packets that were chosen and could not be sent: they come first again.
//!
//! ```text
//!   give_back(third), give_back(second) ──▶ [ second third ] ──▶ take: second, third, then whatever waits behind
//! ```

use std::collections::VecDeque;

use crate::packet::Sent;
use crate::pool::Backlog;
use crate::report::Report;

/// As many packets as one burst to a device: what can be given back at once.
const MOST: usize = 256;

pub(crate) struct GivenBack<T> {
    packets: VecDeque<Sent<T>>,
    bytes: u64,
    requeues: u64,
}

impl<T: Copy> GivenBack<T> {
    pub(crate) fn new() -> Self {
        Self { packets: VecDeque::with_capacity(MOST), bytes: 0, requeues: 0 }
    }

    pub(crate) fn put(&mut self, sent: Sent<T>) -> Result<(), Sent<T>> {
        if self.packets.len() == MOST {
            return Err(sent);
        }
        self.requeues += 1;
        self.bytes += u64::from(sent.length_bytes);
        self.packets.push_front(sent);
        Ok(())
    }

    #[inline]
    pub(crate) fn take(&mut self) -> Option<Sent<T>> {
        let sent = self.packets.pop_front()?;
        self.bytes -= u64::from(sent.length_bytes);
        Some(sent)
    }

    /// Moves as many as there is room for to the end of `out`.
    #[inline]
    pub(crate) fn take_into(&mut self, out: &mut Vec<Sent<T>>, full: usize) {
        while out.len() < full
            && let Some(sent) = self.take()
        {
            out.push(sent);
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.packets.len() as u32
    }

    /// What waits here and behind.
    pub(crate) fn backlog(&self, behind: Backlog) -> Backlog {
        Backlog { packets: behind.packets + self.len(), bytes: behind.bytes + self.bytes }
    }

    /// Adds them to the report of what waits behind.
    pub(crate) fn add_to(&self, report: &mut Report) {
        report.counters.requeues += self.requeues;
        report.backlog = self.backlog(report.backlog);
    }
}
