//! Large frames as DPDK's drivers have them: in chains of buffers, with the length of a piece in
//! the first one's header.
//!
//! ```text
//!  driver ─▶ ▪ ▪ ▪ ▪ a chain, a size ─▶ ChainReceiver ─▶ ▪▪▪▪ one large buffer with its mark, or cut as it comes
//!  driver ◀─ ▪ Ethernet │ ▪▪▪ the rest  ◀─ ChainSender ◀─ ▪▪▪▪
//! ```
//! The driver asks for nothing but what stands in the headers, so that what leaves is told apart in
//! the last moment: until then a large frame has the mark of crate `packet`.
//!
//! What leaves is a chain of two. DPDK's vhost writes the pseudo header's sum into the TCP header,
//! without its length as Intel's cards want it, where virtio wants it with it (1.3 section
//! 5.1.6.2); it leaves alone what it cannot reach from the first buffer, and there it is right.

use crate::driver::Sink;
use crate::{checksum, ffi, thread};
use core::mem::MaybeUninit;
use packet::{Burst, PacketBuf, PacketCache, RxQueue, TxQueue};
use sockets::taking::{Fate, LEAST_BYTES, MOST_BYTES, Taking};
use sockets::virtio::{Came, take_in_pieces};
use sockets::{Counters, Counts, cut_of};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What a port and its queues share.
pub(crate) struct LargeFrames {
    /// Large frames go on as they are.
    pub(crate) keeps_whole: AtomicBool,
    /// By receive queue.
    received: Box<[Counts]>,
    /// Large frames that were sent.
    pub(crate) sent: AtomicU64,
    /// Packets that were lost among them: there was no buffer, or the port took no more.
    pub(crate) lost: AtomicU64,
}

impl LargeFrames {
    pub(crate) fn new(queues: u16, keeps_whole: bool) -> Self {
        Self {
            keeps_whole: AtomicBool::new(keeps_whole),
            received: (0..queues).map(|_| Counts::default()).collect(),
            sent: AtomicU64::new(0),
            lost: AtomicU64::new(0),
        }
    }

    /// What all queues received.
    pub(crate) fn received(&self) -> Counters {
        self.received.iter().fold(Counters::default(), |mut sum, queue| {
            sum += queue.told();
            sum
        })
    }
}

/// A receive queue of a driver that brings chains.
pub(crate) struct ChainReceiver {
    port: u16,
    queue: u16,
    shared: Arc<LargeFrames>,
    taking: Taking,
    /// What the driver brought and nobody has looked at yet, the next one last.
    waiting: Vec<PacketBuf>,
    /// Of the port's pool, for what waits when the queue goes.
    cache: Box<dyn PacketCache>,
}

impl ChainReceiver {
    pub(crate) fn new(
        (port, queue): (u16, u16),
        shared: &Arc<LargeFrames>,
        large: Option<Box<dyn PacketCache>>,
        cache: Box<dyn PacketCache>,
    ) -> Self {
        let taking = Taking::new(large, None);
        Self { port, queue, shared: Arc::clone(shared), taking, waiting: Vec::new(), cache }
    }

    /// Appends what the driver has; whether there is more to it than packets.
    #[inline]
    fn burst(&mut self, most: usize, into: &mut Vec<PacketBuf>) -> bool {
        thread::register();
        into.reserve(most);
        let (length, mut unusual) = (into.len(), 0);
        let out = into.spare_capacity_mut().as_mut_ptr().cast::<*mut packet::Mbuf>();
        let room = most.min(usize::from(u16::MAX)) as u16;
        // SAFETY: whoever receives from a queue has its gate open: the port runs and has this
        // queue, and we are its one user. The driver writes so many pointers to buffers of the
        // port's pool that it gives up, which is what a PacketBuf is.
        unsafe {
            let count = ffi::volley_rx_burst_seen(self.port, self.queue, out, room, &mut unusual);
            into.set_len(length + usize::from(count));
        }
        unusual != 0
    }

    /// What becomes of a packet as the driver brought it.
    fn take(&mut self, mut packet: PacketBuf) -> Fate {
        let mut told = MaybeUninit::<ffi::Told>::uninit();
        // SAFETY: a live packet; all of the result is written.
        let told = unsafe {
            ffi::volley_packet_told(packet.as_ptr(), told.as_mut_ptr());
            told.assume_init()
        };
        let came = |frame: &mut [u8]| came(told, frame);
        let shared = Arc::clone(&self.shared);
        let counts = &shared.received[usize::from(self.queue)];
        let keeps_whole = shared.keeps_whole.load(Ordering::Relaxed);
        if told.is_chain == 0 {
            let came = came(packet.bytes_mut());
            return self.taking.settle(packet, came, 0, (keeps_whole, counts));
        }
        let length = told.bytes as usize;
        if !(LEAST_BYTES..=MOST_BYTES).contains(&length) {
            self.taking.put_aside(packet);
            return Fate::Wrong;
        }
        let is_kept = told.piece_bytes == 0 || keeps_whole;
        let large = if is_kept { self.taking.large_buffer() } else { None };
        let Some(mut large) = large else {
            let read = read(&packet, &mut self.taking.room_beside()[..length]);
            self.taking.put_aside(packet);
            return self.taking.settle_beside(read, came, 0);
        };
        large.fill_by(|room| if length <= room.len() { read(&packet, room) } else { 0 });
        self.taking.put_aside(packet);
        self.taking.settle_large(large, came, counts)
    }
}

/// A chain's bytes.
fn read(packet: &PacketBuf, into: &mut [u8]) -> usize {
    // SAFETY: a live packet, of whose chain as much is read as there is room.
    unsafe { ffi::volley_packet_read(packet.as_ptr(), into.as_mut_ptr().cast(), into.len()) }
}

/// What a frame is that the driver said this of.
fn came(told: ffi::Told, frame: &mut [u8]) -> Option<Came> {
    if frame.len() < LEAST_BYTES {
        return None;
    }
    if told.piece_bytes != 0 {
        return take_in_pieces(told.piece_bytes, frame);
    }
    if told.lacks_checksum != 0 {
        checksum::complete(frame);
    }
    Some(Came::Ordinary)
}

impl RxQueue for ChainReceiver {
    fn receive(&mut self, cache: &mut dyn PacketCache, most: usize, into: &mut Vec<PacketBuf>) {
        let first = into.len();
        if self.waiting.is_empty() && !self.taking.is_cutting() {
            if !self.burst(most, into) {
                return;
            }
            self.waiting.extend(into.drain(first..).rev());
        }
        let shared = Arc::clone(&self.shared);
        let counts = &shared.received[usize::from(self.queue)];
        loop {
            let left = most - (into.len() - first);
            self.taking.go_on_cutting(counts, cache, left, into);
            if into.len() - first == most || self.taking.is_cutting() {
                break;
            }
            let Some(packet) = self.waiting.pop() else { break };
            let fate = self.take(packet);
            self.taking.keep(fate, counts, into);
        }
        self.taking.give_back(cache);
    }
}

impl Drop for ChainReceiver {
    fn drop(&mut self) {
        if !self.waiting.is_empty() {
            self.cache.release(Burst::of(&mut self.waiting));
        }
    }
}

/// A transmit queue of a driver that takes chains.
pub(crate) struct ChainSender {
    way: Sink,
    shared: Arc<LargeFrames>,
    /// What a burst of which some are large becomes.
    ready: Vec<PacketBuf>,
}

impl ChainSender {
    pub(crate) fn new((port, queue): (u16, u16), shared: &Arc<LargeFrames>) -> Self {
        let way = Sink::Dpdk { port, queue };
        Self { way, shared: Arc::clone(shared), ready: Vec::new() }
    }

    /// Whatever was asked whether it may leave as it is leaves as it is, or is lost.
    #[cold]
    fn transmit_large(&mut self, cache: &mut dyn PacketCache, packets: &mut Burst<'_>) {
        let (mut large, mut lost) = (0, 0);
        while let Some(packet) = packets.pop() {
            match for_a_driver(packet, cache) {
                Ok((packet, is_large)) => {
                    large += u64::from(is_large);
                    self.ready.push(packet);
                }
                Err(packet) => {
                    cache.release_one(packet);
                    lost += 1;
                }
            }
        }
        Burst::offer(&mut self.ready, |burst| self.way.transmit(cache, burst));
        let is_large = |packet: &&PacketBuf| packet.mbuf().nb_segs != 1;
        large -= self.ready.iter().filter(is_large).count() as u64;
        lost += self.ready.len() as u64;
        if !self.ready.is_empty() {
            cache.release(Burst::of(&mut self.ready));
        }
        self.shared.sent.fetch_add(large, Ordering::Relaxed);
        self.shared.lost.fetch_add(lost, Ordering::Relaxed);
    }
}

/// A packet for a driver, and whether it is large; itself again where there is no buffer, or others
/// hold it.
fn for_a_driver(
    mut packet: PacketBuf,
    cache: &mut dyn PacketCache,
) -> Result<(PacketBuf, bool), PacketBuf> {
    let Some(cut) = cut_of(&packet).filter(|cut| cut.is_plain() && cut.packets() > 1) else {
        // The mark means something to drivers.
        packet.set_large(None);
        return if packet.may_be_large() { Err(packet) } else { Ok((packet, false)) };
    };
    let link = cut.network_at().unwrap_or_default();
    let Some(mut first) = cache.copy_of(&packet.bytes()[..link]) else { return Err(packet) };
    let size = |length: usize| u16::try_from(length).unwrap_or(u16::MAX);
    let how = ffi::Cut {
        link_bytes: size(link),
        network_bytes: size(cut.transport_at() - link),
        transport_bytes: size(cut.payload_at() - cut.transport_at()),
        piece_bytes: size(cut.size()),
        is_ip6: cut.is_ip6().into(),
    };
    if !packet.set_large(None) {
        cache.release_one(first);
        return Err(packet);
    }
    // SAFETY: nobody else holds either, and what is taken off the front is in the frame.
    unsafe {
        let mbuf = packet.mbuf_mut();
        mbuf.data_off += how.link_bytes;
        mbuf.data_len -= how.link_bytes;
        mbuf.pkt_len -= u32::from(how.link_bytes);
        ffi::volley_packet_cut(first.as_ptr(), &how);
    }
    match first.chain(packet) {
        Ok(()) => Ok((first, true)),
        Err(packet) => {
            cache.release_one(first);
            Err(packet)
        }
    }
}

impl TxQueue for ChainSender {
    #[inline]
    fn transmit(&mut self, cache: &mut dyn PacketCache, packets: &mut Burst<'_>) {
        if packets.iter().any(PacketBuf::may_be_large) {
            self.transmit_large(cache, packets);
        } else {
            self.way.transmit(cache, packets);
        }
    }
}
