//! A receive queue of a vhost port whose worker may rest until the peer kicks.
//!
//! ```text
//!  before_rest   have the peer kick ─▶ forget the kicks there were ─▶ wait for its eventfd, or the bell
//!  after_rest    have it not kick any more
//! ```
//! The order is what makes it safe: what came before it was asked to kick is found by the look that
//! the worker takes before it rests.

use crate::attached::Attached;
use crate::ffi;
use memif::bell::drain;
use packet::{PacketBuf, PacketCache, RxQueue, Wakes};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use vhost::Kicks;

/// See the module.
pub(crate) struct RestingQueue {
    pub(crate) queue: Box<dyn RxQueue>,
    /// DPDK's port, and the queue.
    pub(crate) place: (u16, u16),
    pub(crate) kicks: Arc<Kicks>,
    pub(crate) attached: Arc<Attached>,
    /// During a rest, of a peer that was asked to kick.
    pub(crate) kick: Option<Arc<OwnedFd>>,
}

impl RestingQueue {
    /// Of the pair of rings the one that the peer fills.
    fn ring(&self) -> usize {
        2 * usize::from(self.place.1) + 1
    }

    /// Whether it could be said; none where nobody is there.
    fn have_kicked(&self, kicks: bool) -> Option<bool> {
        let (port, queue) = self.place;
        // SAFETY: an open port with that queue; who is attached stays meanwhile.
        let code = self.attached.while_there(|| unsafe {
            match kicks {
                true => ffi::rte_eth_dev_rx_intr_enable(port, queue),
                false => ffi::rte_eth_dev_rx_intr_disable(port, queue),
            }
        })?;
        Some(code == 0)
    }
}

impl RxQueue for RestingQueue {
    #[inline]
    fn receive(&mut self, cache: &mut dyn PacketCache, most: usize, into: &mut Vec<PacketBuf>) {
        self.queue.receive(cache, most, into);
    }

    fn before_rest(&mut self) -> Wakes {
        let ring = self.ring();
        let Some(changed) = self.kicks.changed(ring) else { return Wakes::Unseen };
        // What changes from here on rings again.
        changed.take();
        let changed = changed.fd().as_raw_fd();
        let kick = self.kicks.of(ring);
        match (kick, self.have_kicked(true)) {
            // Whoever comes rings.
            (_, None) => Wakes::Readable(changed),
            (Some(kick), Some(true)) => {
                drain(&kick);
                fence(Ordering::SeqCst);
                let fd = kick.as_raw_fd();
                self.kick = Some(kick);
                Wakes::Either(changed, fd)
            }
            (None, _) | (_, Some(false)) => Wakes::Unseen,
        }
    }

    fn after_rest(&mut self) {
        if self.kick.take().is_some() {
            self.have_kicked(false);
        }
    }
}
