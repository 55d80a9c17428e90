//! What becomes of a frame that the kernel brought, by whichever way it came.
//!
//! ```text
//!  frame, header ─▶ settle ┬▶ an ordinary packet, its checksum finished
//!                          ├▶ a large one, whole
//!                          └▶ beside ─▶ go_on_cutting ─▶ packets of the link's size, some a call
//! ```

use crate::counts::{Counts, add};
use crate::large;
use crate::virtio::{Came, Header, take_in};
use packet::{Large, PacketBuf, PacketCache};
use wire::cut::Cut;

/// Writes the time at which the kernel took a frame, in nanoseconds, into its packet.
pub type Stamp = Box<dyn Fn(&mut PacketBuf, u64) + Send>;

/// The largest frame there is, with tags.
pub(crate) const MOST_BYTES: usize = (1 << 16) + 64;
/// A frame has at least its Ethernet header.
pub(crate) const LEAST_BYTES: usize = 14;

/// What is left of the frame that lies beside.
pub(crate) struct Rest {
    cut: Cut,
    length: usize,
    number: usize,
    time_ns: u64,
}

/// How a frame fared.
pub(crate) enum Fate {
    Packet(PacketBuf),
    /// It lies beside, to be cut.
    Beside(Rest),
    Wrong,
    Lost,
    NoBuffer,
}

/// A receive queue's buffers, and the frame that is being cut.
pub(crate) struct Taking {
    pub(crate) large: Option<Box<dyn PacketCache>>,
    pub(crate) stamp: Option<Stamp>,
    pub(crate) rest: Option<Rest>,
    /// Ordinary buffers at hand.
    pub(crate) fresh: Vec<PacketBuf>,
    beside: Box<[u8]>,
}

impl Taking {
    pub(crate) fn new(large: Option<Box<dyn PacketCache>>, stamp: Option<Stamp>) -> Self {
        Self { large, stamp, rest: None, fresh: Vec::new(), beside: Box::new([]) }
    }

    /// Room for the largest frame there is.
    pub(crate) fn room_beside(&mut self) -> &mut [u8] {
        if self.beside.is_empty() {
            self.beside = vec![0; MOST_BYTES].into_boxed_slice();
        }
        &mut self.beside
    }

    /// A packet in an ordinary buffer, as its header tells it; where one is large, `keeps_whole`
    /// says whether it goes on as it is.
    #[inline]
    pub(crate) fn settle(
        &mut self,
        mut packet: PacketBuf,
        told: Option<Came>,
        header: Header,
        time_ns: u64,
        (keeps_whole, counts): (bool, &Counts),
    ) -> Fate {
        match told {
            Some(Came::Ordinary) => Fate::Packet(packet),
            Some(Came::Large(cut)) if keeps_whole => {
                if packet.set_large(Some(large_of(&cut, header))) {
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

    /// A frame in a large buffer, behind so many octets that were put in front.
    pub(crate) fn settle_large(
        &mut self,
        mut packet: PacketBuf,
        header: Option<Header>,
        shift: usize,
        counts: &Counts,
    ) -> Fate {
        let came =
            header.and_then(|header| Some((take_in(&header, packet.bytes_mut(), shift)?, header)));
        let kept = match came {
            Some((Came::Ordinary, _)) => true,
            Some((Came::Large(cut), header)) => {
                add(&counts.large, 1);
                packet.set_large(Some(large_of(&cut, header)))
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

    /// A frame that lies beside, so long with the octets that were put in front.
    pub(crate) fn settle_beside(
        &mut self,
        length: usize,
        header: &Header,
        shift: usize,
        time_ns: u64,
    ) -> Fate {
        match take_in(header, &mut self.room_beside()[..length], shift) {
            Some(Came::Large(cut)) => Fate::Beside(Rest { cut, length, number: 0, time_ns }),
            Some(Came::Ordinary) => Fate::NoBuffer,
            None => Fate::Wrong,
        }
    }

    /// Appends packets of the frame that is being cut, at most so many.
    pub(crate) fn go_on_cutting(
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

/// What the packet is to keep of how it is cut. Places that are too far are none: they are refused.
fn large_of(cut: &Cut, header: Header) -> Large {
    let place = |at: usize| u16::try_from(at).unwrap_or(u16::MAX);
    let size = u16::from_ne_bytes([header[4], header[5]]);
    Large { transport: place(cut.transport_at()), payload: place(cut.payload_at()), size }
}
