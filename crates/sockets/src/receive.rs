//! Frames out of a ring, and from its socket those that are longer than a slot.
//!
//! ```text
//!  slots   ▪ ▪ ▪ L ▪ L ▪        L: a part of it; the whole waits at the socket, in the same order
//!          │     └▶ fetched into a large buffer, or beside ▸ cut: packets of the link's size
//!          └▶ copied into an ordinary buffer, its tag put back, its checksum finished
//! ```

use crate::counts::add;
use crate::ring::Slot;
use crate::socket::Socket;
use crate::taking::{Fate, LEAST_BYTES, Stamp, Taking};
use crate::virtio::{Header, take_in};
use packet::{PacketBuf, PacketCache, RxQueue, Wakes};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Slots looked at in one go, whose buffers are fetched at once.
const BATCH: usize = 64;
/// Where the first tag of a frame stands.
const TAG_AT: usize = 12;
const TAG_BYTES: usize = 4;

/// One receive queue.
pub struct Receiver {
    socket: Arc<Socket>,
    taking: Taking,
}

impl Receiver {
    pub(crate) fn new(
        socket: Arc<Socket>,
        large: Option<Box<dyn PacketCache>>,
        stamp: Option<Stamp>,
    ) -> Self {
        Self { socket, taking: Taking::new(large, stamp) }
    }

    /// Whether large frames go on as they are.
    #[inline]
    fn keeps_whole(&self) -> bool {
        self.taking.large.is_some() && self.socket.keeps_whole.load(Ordering::Relaxed)
    }

    /// Slots that are filled, at most so many.
    fn waiting(&self, most: usize) -> usize {
        let next = self.socket.next.load(Ordering::Relaxed);
        (0..most).take_while(|&ahead| self.socket.ring.is_filled(next + ahead as u32)).count()
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
        let Some(mut packet) = self.taking.fresh.pop() else { return Fate::NoBuffer };
        let tag = slot.tag();
        let length = slot.frame.len() + if tag.is_some() { TAG_BYTES } else { 0 };
        if length > packet.capacity_bytes() {
            self.taking.fresh.push(packet);
            return self.long(slot.header, tag, slot.time_ns(), |room| {
                room[..slot.frame.len()].copy_from_slice(slot.frame);
                Some((slot.header, slot.frame.len()))
            });
        }
        packet.fill_by(|room| write_tagged(slot.frame, tag, room));
        let shift = tag.map_or(0, |_| TAG_BYTES);
        let told = take_in(&slot.header, packet.bytes_mut(), shift);
        let kept = (self.keeps_whole(), &self.socket.received);
        self.taking.settle(packet, told, slot.time_ns(), kept)
    }

    /// A frame whose whole waits at the socket.
    #[cold]
    fn fetch(&mut self, slot: &Slot<'_>) -> Fate {
        let socket = Arc::clone(&self.socket);
        self.long(slot.header, slot.tag(), slot.time_ns(), |room| socket.fetch(room).ok())
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
        let large = self.taking.large.as_mut().filter(|_| is_kept);
        let buffer = large.and_then(|large| large.allocate_one());
        let Some(mut packet) = buffer else {
            let room = self.taking.room_beside();
            let brought = bring(&mut room[tag_bytes..]);
            let Some((header, length)) = brought else { return Fate::Lost };
            if length < LEAST_BYTES || length + tag_bytes > room.len() {
                return Fate::Wrong;
            }
            put_tag(room, tag);
            let length = length + tag_bytes;
            let take = |frame: &mut [u8]| take_in(&header, frame, tag_bytes);
            return self.taking.settle_beside(length, take, time_ns);
        };
        let mut brought = None;
        packet.fill_by(|room| {
            let place = room.get_mut(tag_bytes..).unwrap_or_default();
            let fits = LEAST_BYTES..=place.len();
            brought = bring(place).filter(|(_, length)| fits.contains(length));
            put_tag(room, tag);
            brought.map_or(0, |(_, length)| length + tag_bytes)
        });
        let take = |frame: &mut [u8]| take_in(&brought?.0, frame, tag_bytes);
        self.taking.settle_large(packet, take, &self.socket.received)
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

impl RxQueue for Receiver {
    fn receive(&mut self, cache: &mut dyn PacketCache, most: usize, into: &mut Vec<PacketBuf>) {
        let first = into.len();
        loop {
            let left = most - (into.len() - first);
            self.taking.go_on_cutting(&self.socket.received, cache, left, into);
            let left = most - (into.len() - first);
            if left == 0 || self.taking.rest.is_some() {
                break;
            }
            let waiting = self.waiting(left.min(BATCH));
            if waiting == 0 {
                break;
            }
            // Some may be too few: those that get none are told as such.
            let mut room = waiting;
            while room != 0 && !cache.allocate(room, &mut self.taking.fresh) {
                room /= 2;
            }
            self.take_some(waiting, into);
            self.taking.give_back(cache);
        }
    }

    fn before_rest(&mut self) -> Wakes {
        if self.taking.rest.is_some() {
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
                    if let Some(stamp) = &self.taking.stamp {
                        stamp(&mut packet, time_ns);
                    }
                    packets += 1;
                    bytes += packet.bytes().len() as u64;
                    into.push(packet);
                }
                Fate::Beside(rest) => {
                    add(&counts.large, 1);
                    self.taking.rest = Some(rest);
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
