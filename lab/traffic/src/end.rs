//! One end of a link: what sends, what receives, where buffers come from.

use packet::{Burst, PacketBuf, PacketCache, RxQueue, TxQueue};

use super::queues::QueueCounts;

/// Packets moved at once. Small, so that many flows of low rate are not held up by one burst.
pub const BURST: usize = 32;

/// An end that the lab holds.
pub struct End {
    /// Name in results.
    pub name: String,
    /// Packets from the device.
    pub rx: Box<dyn RxQueue>,
    /// What each of several receive queues brought; none of an end that has one.
    pub queues: QueueCounts,
    /// Packets to it.
    pub tx: Box<dyn TxQueue>,
    /// What keeps the port behind it open, if one is. Closed before the buffers go.
    pub port: Option<dpdk::Port>,
    /// Buffers for packets to send. Nobody else fills them: what a template wrote into one is still
    /// there when it comes back.
    pub cache: Box<dyn PacketCache>,
    /// What came in, while it is looked at.
    pub came: Vec<PacketBuf>,
}

impl End {
    /// Packets that the port itself lost on their way to us: our fault, not the device's.
    pub fn missed(&self) -> u64 {
        let stats = self.port.as_ref().and_then(|port| port.stats().ok()).unwrap_or_default();
        stats.rx_missed + stats.rx_no_buffers + stats.rx_errors
    }

    /// Hands each frame that is waiting to `look`, and gives the buffers back. At most a burst.
    #[inline]
    pub fn receive(&mut self, mut look: impl FnMut(&[u8])) -> usize {
        self.receive_packets(|packet| look(packet.bytes()))
    }

    /// As `receive`, with all that the port says of a packet.
    #[inline]
    pub fn receive_packets(&mut self, look: impl FnMut(&PacketBuf)) -> usize {
        self.rx.receive(&mut *self.cache, BURST, &mut self.came);
        self.came.iter().for_each(look);
        let count = self.came.len();
        if count > 0 {
            self.cache.release(Burst::of(&mut self.came));
        }
        count
    }

    /// Throws away what is waiting to be received.
    pub fn drain(&mut self) -> u64 {
        let mut thrown = 0;
        loop {
            match self.receive(|_| {}) {
                0 => return thrown,
                count => thrown += count as u64,
            }
        }
    }
}
