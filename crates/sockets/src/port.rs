//! The packet sockets of one device.
//!
//! ```text
//!  open ─▶ held back ◀─ start / stop ─▶ receives ─▶ dropped: closed, once no queue is held any more
//! ```

use crate::counts::Counters;
use crate::receive::Receiver;
use crate::ring::SLOTS_A_BLOCK;
use crate::socket::Socket;
use crate::taking::Stamp;
use crate::transmit::Sender;
use packet::PacketCache;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Sizes of a port's queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Queues, each a pair.
    pub queues: u16,
    /// Largest frame that is to fit a slot, without its Ethernet header.
    pub mtu: u16,
    /// Slots of a ring; none: as many as are usual.
    pub slots: Option<u16>,
}

/// A host bursts as fast as it can copy while we may be waiting for its core: 4096 usual frames.
const RING_BYTES: u32 = 8 << 20;

impl Shape {
    /// A slot holds a header of its own, what Linux says of the frame, the frame, and a tag to
    /// spare. Its size is a quarter of something in pages.
    fn slot_bytes(self) -> u32 {
        const HEADERS: u32 = 80;
        (HEADERS + 14 + 4 + u32::from(self.mtu)).next_multiple_of(1024).max(2048)
    }

    fn slots(self) -> u32 {
        let wanted = self.slots.map_or(RING_BYTES / self.slot_bytes(), u32::from);
        wanted.max(1).next_multiple_of(SLOTS_A_BLOCK)
    }
}

/// The sockets of an open port.
pub struct PacketPort {
    sockets: Vec<Arc<Socket>>,
}

impl PacketPort {
    /// On the device of that number in this thread's network namespace.
    pub fn open(device: u32, shape: Shape) -> io::Result<Self> {
        let (slots, slot_bytes) = (shape.slots(), shape.slot_bytes());
        let (mut sockets, mut group) = (Vec::new(), None);
        for _ in 0..shape.queues.max(1) {
            let socket = Socket::open(slots, slot_bytes)?;
            socket.bind(device)?;
            // A single one gains nothing by a group: Linux would hash each packet to choose
            // between one.
            if shape.queues > 1 {
                group = Some(socket.join(group)?);
            }
            sockets.push(Arc::new(socket));
        }
        Ok(Self { sockets })
    }

    /// Receives what comes from here on.
    pub fn start(&self) -> io::Result<()> {
        self.sockets.iter().try_for_each(|socket| {
            socket.empty();
            socket.hold_back(false)
        })
    }

    /// Receives nothing more. No worker is in a queue.
    pub fn stop(&self) -> io::Result<()> {
        self.sockets.iter().try_for_each(|socket| socket.hold_back(true))
    }

    /// Has large frames go on as they are, or be cut as they come. At any time.
    pub fn keep_whole(&self, keep: bool) {
        self.sockets.iter().for_each(|socket| socket.keeps_whole.store(keep, Ordering::Relaxed));
    }

    /// Queues, each way.
    pub fn queues(&self) -> u16 {
        self.sockets.len() as u16
    }

    /// A receive queue, which has one user. Large frames stay whole in buffers of `large`; without
    /// it they are cut. Times go where `stamp` puts them.
    pub fn receiver(
        &self,
        queue: u16,
        large: Option<Box<dyn PacketCache>>,
        stamp: Option<Stamp>,
    ) -> Option<Receiver> {
        Some(Receiver::new(Arc::clone(self.sockets.get(usize::from(queue))?), large, stamp))
    }

    /// A transmit queue, which has one user.
    pub fn sender(&self, queue: u16) -> Option<Sender> {
        Some(Sender::new(Arc::clone(self.sockets.get(usize::from(queue))?)))
    }

    /// What each receive queue did.
    pub fn received(&self) -> impl Iterator<Item = Counters> + Clone + '_ {
        self.sockets.iter().map(|socket| socket.received.told())
    }

    /// What each transmit queue did.
    pub fn sent(&self) -> impl Iterator<Item = Counters> + Clone + '_ {
        self.sockets.iter().map(|socket| socket.sent.told())
    }

    /// Frames for which a ring had no slot.
    pub fn missed(&self) -> u64 {
        self.sockets.iter().map(|socket| socket.missed()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_hold_the_mtu_and_fill_blocks() {
        let of = |mtu, slots| Shape { queues: 1, mtu, slots };
        let sizes = [1500, 1950, 1951, 9000, u16::MAX].map(|mtu| of(mtu, None).slot_bytes());
        assert_eq!(sizes, [2048, 2048, 3072, 9216, 66_560]);
        assert_eq!([None, Some(0), Some(9)].map(|slots| of(1500, slots).slots()), [4096, 4, 12]);
    }
}
