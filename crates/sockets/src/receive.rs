//! Frames out of a ring, and from its socket those that are longer than a slot.
//!
//! ```text
//!  slots   ▪ ▪ ▪ L ▪ L ▪        L: a part of it; the whole waits at the socket, in the same order
//!          │     └▶ fetched into a large buffer, or beside ▸ cut: packets of the link's size
//!          └▶ copied into an ordinary buffer, its tag put back, its checksum finished
//! ```

use crate::counts::add;
use crate::large;
use crate::ring::Slot;
use crate::socket::Socket;
use crate::virtio::{Came, Header, take_in};
use packet::{Burst, Large, PacketBuf, PacketCache, RxQueue, Wakes};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wire::cut::Cut;

/// Writes the time at which the kernel took a frame, in nanoseconds, into its packet.
pub type Stamp = Box<dyn Fn(&mut PacketBuf, u64) + Send>;

/// Slots looked at in one go, whose buffers are fetched at once.
const BATCH: usize = 64;
/// The largest frame there is, with tags.
const MOST_BYTES: usize = (1 << 16) + 64;
/// Where the first tag of a frame stands.
const TAG_AT: usize = 12;
const TAG_BYTES: usize = 4;
/// A frame has at least its Ethernet header.
const LEAST_BYTES: usize = 14;

/// One receive queue.
pub struct Receiver {
    socket: Arc<Socket>,
    large: Option<Box<dyn PacketCache>>,
    stamp: Option<Stamp>,
    /// A large frame that is being cut.
    beside: Box<[u8]>,
    rest: Option<Rest>,
    fresh: Vec<PacketBuf>,
}

/// What is left of the frame that lies beside.
struct Rest {
    cut: Cut,
    length: usize,
    number: usize,
    time_ns: u64,
}

/// How a frame fared.
enum Fate {
    Packet(PacketBuf),
    /// It lies beside, to be cut.
    Beside(Rest),
    Wrong,
    Lost,
    NoBuffer,
}

impl Receiver {
    pub(crate) fn new(
        socket: Arc<Socket>,
        large: Option<Box<dyn PacketCache>>,
        stamp: Option<Stamp>,
    ) -> Self {
        Self { socket, large, stamp, beside: Box::new([]), rest: None, fresh: Vec::new() }
    }

    /// Whether large frames go on as they are.
    #[inline]
    fn keeps_whole(&self) -> bool {
        self.large.is_some() && self.socket.keeps_whole.load(Ordering::Relaxed)
    }

    /// Slots that are filled, at most so many.
    fn waiting(&self, most: usize) -> usize {
        let next = self.socket.next.load(Ordering::Relaxed);
        (0..most).take_while(|&ahead| self.socket.ring.is_filled(next + ahead as u32)).count()
    }

    /// Appends packets of the frame that is being cut, at most so many.
    fn go_on_cutting(
        &mut self,
        cache: &mut dyn PacketCache,
        most: usize,
        into: &mut Vec<PacketBuf>,
    ) {
        let Some(mut rest) = self.rest.take() else { return };
        let counts = &self.socket.received;
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

    /// What becomes of the frame in a slot.
    #[inline]
    fn take(&mut self, slot: &Slot<'_>) -> Fate {
        if slot.is_elsewhere() {
            return self.fetch(slot);
        }
        if !slot.is_whole() {
            return Fate::Lost;
        }
        if slot.frame.len() < LEAST_BYTES {
            return Fate::Wrong;
        }
        let Some(mut packet) = self.fresh.pop() else { return Fate::NoBuffer };
        let tag = slot.tag();
        let length = slot.frame.len() + if tag.is_some() { TAG_BYTES } else { 0 };
        if length > packet.capacity_bytes() {
            self.fresh.push(packet);
            return self.long(slot.header, tag, slot.time_ns(), |room| {
                room[..slot.frame.len()].copy_from_slice(slot.frame);
                Some((slot.header, slot.frame.len()))
            });
        }
        packet.fill_by(|room| write_tagged(slot.frame, tag, room));
        let shift = tag.map_or(0, |_| TAG_BYTES);
        let told = take_in(&slot.header, packet.bytes_mut(), shift);
        self.settle(packet, told, slot.header, slot.time_ns())
    }

    /// A packet in an ordinary buffer, as its header tells it.
    #[inline]
    fn settle(
        &mut self,
        mut packet: PacketBuf,
        told: Option<Came>,
        header: Header,
        time_ns: u64,
    ) -> Fate {
        match told {
            Some(Came::Ordinary) => Fate::Packet(packet),
            Some(Came::Large(cut)) if self.keeps_whole() => {
                if packet.set_large(Some(large_of(&cut, header))) {
                    add(&self.socket.received.large, 1);
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

    /// A frame whose whole waits at the socket.
    #[cold]
    fn fetch(&mut self, slot: &Slot<'_>) -> Fate {
        let socket = Arc::clone(&self.socket);
        self.long(slot.header, slot.tag(), slot.time_ns(), |room| socket.fetch(room).ok())
    }

    fn room_beside(&mut self) -> &mut [u8] {
        if self.beside.is_empty() {
            self.beside = vec![0; MOST_BYTES].into_boxed_slice();
        }
        &mut self.beside
    }

    /// A frame that is longer than an ordinary buffer, which `bring` brings.
    #[cold]
    fn long(
        &mut self,
        told: Header,
        tag: Option<[u8; 4]>,
        time_ns: u64,
        bring: impl FnOnce(&mut [u8]) -> Option<(Header, usize)>,
    ) -> Fate {
        let tag_bytes = tag.map_or(0, |_| TAG_BYTES);
        // It must be fetched into something, if only to get the next one.
        let is_kept = told[1] == 0 || self.keeps_whole();
        let large = self.large.as_mut().filter(|_| is_kept);
        let buffer = large.and_then(|large| large.allocate_one());
        let Some(mut packet) = buffer else {
            let room = self.room_beside();
            let brought = bring(&mut room[tag_bytes..]);
            let Some((header, length)) = brought else { return Fate::Lost };
            if length < LEAST_BYTES || length + tag_bytes > room.len() {
                return Fate::Wrong;
            }
            put_tag(room, tag);
            let length = length + tag_bytes;
            return match take_in(&header, &mut room[..length], tag_bytes) {
                Some(Came::Large(cut)) => Fate::Beside(Rest { cut, length, number: 0, time_ns }),
                Some(Came::Ordinary) => Fate::NoBuffer,
                None => Fate::Wrong,
            };
        };
        let mut brought = None;
        packet.fill_by(|room| {
            let place = room.get_mut(tag_bytes..).unwrap_or_default();
            let fits = LEAST_BYTES..=place.len();
            brought = bring(place).filter(|(_, length)| fits.contains(length));
            put_tag(room, tag);
            brought.map_or(0, |(_, length)| length + tag_bytes)
        });
        let came = brought.and_then(|(header, _)| {
            Some((take_in(&header, packet.bytes_mut(), tag_bytes)?, header))
        });
        let kept = match came {
            Some((Came::Ordinary, _)) => true,
            Some((Came::Large(cut), header)) => {
                add(&self.socket.received.large, 1);
                packet.set_large(Some(large_of(&cut, header)))
            }
            None => false,
        };
        match (kept, &mut self.large) {
            (true, _) => Fate::Packet(packet),
            (false, Some(large)) => {
                large.release_one(packet);
                Fate::Wrong
            }
            (false, None) => Fate::Wrong,
        }
    }
}

/// Writes a frame with its tag; says how long it is.
#[inline]
fn write_tagged(frame: &[u8], tag: Option<[u8; 4]>, room: &mut [u8]) -> usize {
    match tag {
        None => {
            room[..frame.len()].copy_from_slice(frame);
            frame.len()
        }
        Some(tag) => {
            let (addresses, rest) = frame.split_at(TAG_AT);
            room[..TAG_AT].copy_from_slice(addresses);
            room[TAG_AT..TAG_AT + TAG_BYTES].copy_from_slice(&tag);
            room[TAG_AT + TAG_BYTES..TAG_BYTES + frame.len()].copy_from_slice(rest);
            frame.len() + TAG_BYTES
        }
    }
}

/// Puts a tag into a frame that has so many bytes free in front.
fn put_tag(room: &mut [u8], tag: Option<[u8; 4]>) {
    if let (Some(tag), true) = (tag, room.len() >= TAG_AT + TAG_BYTES) {
        room.copy_within(TAG_BYTES..TAG_BYTES + TAG_AT, 0);
        room[TAG_AT..TAG_AT + TAG_BYTES].copy_from_slice(&tag);
    }
}

/// What the packet is to keep of how it is cut. Places that are too far are none: they are refused.
fn large_of(cut: &Cut, header: Header) -> Large {
    let place = |at: usize| u16::try_from(at).unwrap_or(u16::MAX);
    let size = u16::from_ne_bytes([header[4], header[5]]);
    Large { transport: place(cut.transport_at()), payload: place(cut.payload_at()), size }
}

impl RxQueue for Receiver {
    fn receive(&mut self, cache: &mut dyn PacketCache, most: usize, into: &mut Vec<PacketBuf>) {
        let first = into.len();
        loop {
            let left = most - (into.len() - first);
            self.go_on_cutting(cache, left, into);
            let left = most - (into.len() - first);
            if left == 0 || self.rest.is_some() {
                break;
            }
            let waiting = self.waiting(left.min(BATCH));
            if waiting == 0 {
                break;
            }
            // Some may be too few: those that get none are told as such.
            let mut room = waiting;
            while room != 0 && !cache.allocate(room, &mut self.fresh) {
                room /= 2;
            }
            self.take_some(waiting, into);
            let mut unused = core::mem::take(&mut self.fresh);
            if !unused.is_empty() {
                cache.release(Burst::of(&mut unused));
            }
            self.fresh = unused;
        }
    }

    fn before_rest(&mut self) -> Wakes {
        if self.rest.is_some() {
            return Wakes::Unseen;
        }
        self.socket.forget_error();
        Wakes::Readable(self.socket.fd.as_raw_fd())
    }
}

impl Receiver {
    /// Takes so many slots, or those up to a frame that must be cut.
    fn take_some(&mut self, waiting: usize, into: &mut Vec<PacketBuf>) {
        let socket = Arc::clone(&self.socket);
        let counts = &socket.received;
        let (mut packets, mut bytes) = (0, 0);
        for _ in 0..waiting {
            let Some(slot) = socket.ring.slot(socket.next.load(Ordering::Relaxed)) else { break };
            let fate = self.take(&slot);
            let time_ns = slot.time_ns();
            slot.give_back();
            socket.step();
            match fate {
                Fate::Packet(mut packet) => {
                    if let Some(stamp) = &self.stamp {
                        stamp(&mut packet, time_ns);
                    }
                    packets += 1;
                    bytes += packet.bytes().len() as u64;
                    into.push(packet);
                }
                Fate::Beside(rest) => {
                    add(&counts.large, 1);
                    self.rest = Some(rest);
                    break;
                }
                Fate::Wrong => add(&counts.wrong, 1),
                Fate::Lost => add(&counts.lost, 1),
                Fate::NoBuffer => add(&counts.no_buffers, 1),
            }
        }
        add(&counts.packets, packets);
        add(&counts.bytes, bytes);
    }
}
