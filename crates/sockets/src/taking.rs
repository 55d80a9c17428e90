//! What becomes of a frame that the kernel or a virtual machine brought, by whichever way it came.
//!
//! ```text
//!  frame, what was said of it ─▶ settle ┬▶ an ordinary packet, its checksum finished
//!                                       ├▶ a large one, whole
//!                                       └▶ beside ─▶ go_on_cutting ─▶ packets of the link's size, some a call
//! ```

use crate::counts::{Counts, add};
use crate::large;
use crate::virtio::Came;
use packet::{Burst, PacketBuf, PacketCache};
use wire::cut::Cut;

/// Writes the time at which the kernel took a frame, in nanoseconds, into its packet.
pub type Stamp = Box<dyn Fn(&mut PacketBuf, u64) + Send>;

/// The largest frame there is, with tags.
pub const MOST_BYTES: usize = (1 << 16) + 64;
/// A frame has at least its Ethernet header.
pub const LEAST_BYTES: usize = 14;

/// What is left of the frame that lies beside.
pub struct Rest {
    cut: Cut,
    length: usize,
    number: usize,
    time_ns: u64,
}

/// How a frame fared.
pub enum Fate {
    /// It is a packet.
    Packet(PacketBuf),
    /// It lies beside, to be cut.
    Beside(Rest),
    /// It is not what was said of it.
    Wrong,
    /// A part of it alone is there.
    Lost,
    /// There is no buffer for it.
    NoBuffer,
}

/// A receive queue's buffers, and the frame that is being cut.
pub struct Taking {
    pub(crate) large: Option<Box<dyn PacketCache>>,
    pub(crate) stamp: Option<Stamp>,
    pub(crate) rest: Option<Rest>,
    /// Ordinary buffers at hand.
    pub(crate) fresh: Vec<PacketBuf>,
    beside: Box<[u8]>,
}

impl Taking {
    /// Of a queue with these large buffers, where it keeps frames whole, whose packets are stamped
    /// so.
    pub fn new(large: Option<Box<dyn PacketCache>>, stamp: Option<Stamp>) -> Self {
        Self { large, stamp, rest: None, fresh: Vec::new(), beside: Box::new([]) }
    }

    /// Whether a frame lies beside, to be cut.
    pub fn is_cutting(&self) -> bool {
        self.rest.is_some()
    }

    /// A large buffer, if there are such, and one is free.
    pub fn large_buffer(&mut self) -> Option<PacketBuf> {
        self.large.as_mut()?.allocate_one()
    }

    /// A buffer that is of no use any more: it goes back with those that are at hand.
    pub fn put_aside(&mut self, packet: PacketBuf) {
        self.fresh.push(packet);
    }

    /// Gives back the buffers at hand.
    pub fn give_back(&mut self, cache: &mut dyn PacketCache) {
        if !self.fresh.is_empty() {
            cache.release(Burst::of(&mut self.fresh));
        }
    }

    /// What comes of a frame: a packet more in `into`, one that is to be cut, or a count.
    pub fn keep(&mut self, fate: Fate, counts: &Counts, into: &mut Vec<PacketBuf>) {
        match fate {
            Fate::Packet(packet) => {
                add(&counts.packets, 1);
                add(&counts.bytes, packet.bytes().len() as u64);
                into.push(packet);
            }
            Fate::Beside(rest) => {
                add(&counts.large, 1);
                self.rest = Some(rest);
            }
            Fate::Wrong => add(&counts.wrong, 1),
            Fate::Lost => add(&counts.lost, 1),
            Fate::NoBuffer => add(&counts.no_buffers, 1),
        }
    }

    /// Room for the largest frame there is.
    pub fn room_beside(&mut self) -> &mut [u8] {
        if self.beside.is_empty() {
            self.beside = vec![0; MOST_BYTES].into_boxed_slice();
        }
        &mut self.beside
    }

    /// A packet in an ordinary buffer, as what was said of it turned out; where one is large,
    /// `keeps_whole` says whether it goes on as it is.
    #[inline]
    pub fn settle(
        &mut self,
        mut packet: PacketBuf,
        told: Option<Came>,
        time_ns: u64,
        (keeps_whole, counts): (bool, &Counts),
    ) -> Fate {
        match told {
            Some(Came::Ordinary) => Fate::Packet(packet),
            Some(Came::Large(cut)) if keeps_whole => {
                if packet.set_large(Some(large::mark_of(&cut))) {
                    add(&counts.large, 1);
                    return Fate::Packet(packet);
                }
                self.fresh.push(packet);
                Fate::Wrong
            }
            Some(Came::Large(cut)) => {
                let length = packet.bytes().len();
                self.room_beside()[..length].copy_from_slice(packet.bytes());
                self.fresh.push(packet);
                Fate::Beside(Rest { cut, length, number: 0, time_ns })
            }
            None => {
                self.fresh.push(packet);
                Fate::Wrong
            }
        }
    }

    /// A frame in a large buffer, of which `take` makes what was said of it.
    pub fn settle_large(
        &mut self,
        mut packet: PacketBuf,
        take: impl FnOnce(&mut [u8]) -> Option<Came>,
        counts: &Counts,
    ) -> Fate {
        let kept = match take(packet.bytes_mut()) {
            Some(Came::Ordinary) => true,
            Some(Came::Large(cut)) => {
                add(&counts.large, 1);
                packet.set_large(Some(large::mark_of(&cut)))
            }
            None => false,
        };
        if kept {
            return Fate::Packet(packet);
        }
        if let Some(large) = &mut self.large {
            large.release_one(packet);
        }
        Fate::Wrong
    }

    /// A frame that lies beside, so long, of which `take` makes what was said of it.
    pub fn settle_beside(
        &mut self,
        length: usize,
        take: impl FnOnce(&mut [u8]) -> Option<Came>,
        time_ns: u64,
    ) -> Fate {
        match self.room_beside().get_mut(..length).and_then(take) {
            Some(Came::Large(cut)) => Fate::Beside(Rest { cut, length, number: 0, time_ns }),
            Some(Came::Ordinary) => Fate::NoBuffer,
            None => Fate::Wrong,
        }
    }

    /// Appends packets of the frame that is being cut, at most so many.
    pub fn go_on_cutting(
        &mut self,
        counts: &Counts,
        cache: &mut dyn PacketCache,
        most: usize,
        into: &mut Vec<PacketBuf>,
    ) {
        let Some(mut rest) = self.rest.take() else { return };
        let frame = &self.beside[..rest.length];
        for _ in 0..most {
            if rest.number == rest.cut.packets() {
                return;
            }
            let made = cache.allocate_one().map(|mut packet| {
                (large::write(&rest.cut, frame, rest.number, &mut packet), packet)
            });
            match made {
                Some((true, mut packet)) => {
                    if let Some(stamp) = &self.stamp {
                        stamp(&mut packet, rest.time_ns);
                    }
                    add(&counts.packets, 1);
                    add(&counts.bytes, packet.bytes().len() as u64);
                    into.push(packet);
                }
                Some((false, packet)) => {
                    cache.release_one(packet);
                    return add(&counts.wrong, 1);
                }
                None => return add(&counts.no_buffers, 1),
            }
            rest.number += 1;
        }
        if rest.number < rest.cut.packets() {
            self.rest = Some(rest);
        }
    }
}
