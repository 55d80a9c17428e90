//! A port's queues as workers hold them.

use crate::driver::{Sink, Source, TakesLarge};
use crate::gate::Gate;
use crate::{checksum, ffi, merging, shared_pool, thread};
use packet::{Burst, Mbuf, PacketBuf, PacketCache, RxQueue, TxQueue, Wakes};
use sockets::cut_of;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What a port and the holder of one of its queues share.
#[derive(Default)]
pub(crate) struct Queue {
    pub(crate) gate: Gate,
    /// A handle is out: a queue has one user.
    taken: AtomicBool,
}

/// A port's queue in a worker's hands. It may outlive the port: then it is silent.
struct Handle<T> {
    queue: Arc<Queue>,
    way: T,
}

impl<T> Handle<T> {
    fn take(queue: &Arc<Queue>, way: impl FnOnce() -> Option<T>) -> Option<Self> {
        if queue.taken.swap(true, Ordering::AcqRel) {
            return None;
        }
        match way() {
            Some(way) => Some(Self { queue: Arc::clone(queue), way }),
            None => {
                queue.taken.store(false, Ordering::Release);
                None
            }
        }
    }
}

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        self.queue.taken.store(false, Ordering::Release);
    }
}

/// One receive queue.
pub struct RxHandle {
    handle: Handle<Source>,
    /// Frames may come with their checksums left out (see `checksum`).
    completes_checksums: bool,
    /// While the port runs, of a driver that does not say so itself.
    wakes: Wakes,
}

/// One transmit queue.
pub struct TxHandle {
    handle: Handle<Sink>,
    /// Of large frames that are in no tunnel those that leave as they are.
    takes_large: TakesLarge,
    counts: Arc<LargeCounts>,
    /// What a large frame was cut into.
    pieces: Vec<PacketBuf>,
    /// What lies in memory of memifs' peers is sent as a copy.
    copies_shared: bool,
    copies: Vec<PacketBuf>,
    /// Room for packets that are put together, of a port that takes large frames.
    large: Option<Box<dyn PacketCache>>,
}

/// Large frames of a port that were cut on their way out, or were made there.
#[derive(Default)]
pub(crate) struct LargeCounts {
    /// Packets are put together.
    merges: AtomicBool,
    cut: AtomicU64,
    lost: AtomicU64,
    merged: AtomicU64,
}

impl LargeCounts {
    /// Has packets put together from now on, or not.
    pub(crate) fn merge(&self, merges: bool) {
        self.merges.store(merges, Ordering::Relaxed);
    }

    /// Packets that were put together.
    pub(crate) fn merged(&self) -> u64 {
        self.merged.load(Ordering::Relaxed)
    }

    /// Large frames that were cut.
    pub(crate) fn cut(&self) -> u64 {
        self.cut.load(Ordering::Relaxed)
    }

    /// Packets that were lost in either: there was no buffer, or the port took no more.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

impl RxHandle {
    pub(crate) fn take(
        queue: &Arc<Queue>,
        source: impl FnOnce() -> Option<Source>,
        completes_checksums: bool,
        wakes: Wakes,
    ) -> Option<Self> {
        let handle = Handle::take(queue, source)?;
        Some(Self { handle, completes_checksums, wakes })
    }

    /// To be called with the gate open.
    #[inline(always)]
    fn burst(&mut self, cache: &mut dyn PacketCache, most: usize, into: &mut Vec<PacketBuf>) {
        let (port, queue, gatherer) = match &mut self.handle.way {
            Source::Dpdk { port, queue, gatherer } => (*port, *queue, gatherer),
            Source::Ours(ours) => return ours.receive(cache, most, into),
        };
        // Drivers take buffers from their pool in here.
        thread::register();
        into.reserve(most);
        let length = into.len();
        let out = into.spare_capacity_mut().as_mut_ptr().cast::<*mut Mbuf>();
        let room = most.min(usize::from(u16::MAX)) as u16;
        // SAFETY: the gate is open: the port runs and has this queue, and we are its one user. A
        // PacketBuf is a pointer to an mbuf; the driver writes so many, buffers of the port's pool
        // that it gives up.
        unsafe {
            let count = usize::from(ffi::volley_rx_burst(port, queue, out, room));
            into.set_len(length + count);
        }
        if let Some(gatherer) = gatherer {
            gatherer.gather(cache, into, length);
        }
    }
}

impl TxHandle {
    pub(crate) fn take(
        queue: &Arc<Queue>,
        sink: impl FnOnce() -> Option<Sink>,
        (takes_large, copies_shared): (TakesLarge, bool),
        counts: &Arc<LargeCounts>,
        large: Option<Box<dyn PacketCache>>,
    ) -> Option<Self> {
        let handle = Handle::take(queue, sink)?;
        let counts = Arc::clone(counts);
        let (pieces, copies) = (Vec::new(), Vec::new());
        Some(Self { handle, takes_large, counts, pieces, copies_shared, copies, large })
    }

    /// Sends packets of whatever kind. To be called with the gate open.
    #[inline]
    fn transmit_all(&mut self, cache: &mut dyn PacketCache, packets: &mut Burst<'_>) {
        if packets.iter().any(PacketBuf::may_be_large) {
            self.transmit_large(cache, packets);
        } else if self.merges(packets) {
            self.transmit_merged(cache, packets);
        } else {
            self.handle.way.transmit(cache, packets);
        }
    }

    /// Sends packets of which some lie where nobody but us and memifs' peers reaches them. To be
    /// called with the gate open.
    #[cold]
    fn transmit_copies(&mut self, cache: &mut dyn PacketCache, packets: &mut Burst<'_>) {
        let mut ready = core::mem::take(&mut self.copies);
        while let Some(packet) = packets.pop() {
            if !shared_pool::has(&packet) {
                ready.push(packet);
                continue;
            }
            let copy = cache.copy_of(packet.bytes());
            self.counts.lost.fetch_add(copy.is_none().into(), Ordering::Relaxed);
            ready.extend(copy);
            cache.release_one(packet);
        }
        Burst::offer(&mut ready, |burst| self.transmit_all(cache, burst));
        self.lose(cache, Burst::of(&mut ready));
        self.copies = ready;
    }

    /// Sends packets of which some are large, and may have to be cut. To be called with the gate
    /// open.
    #[cold]
    fn transmit_large(&mut self, cache: &mut dyn PacketCache, packets: &mut Burst<'_>) {
        while !packets.is_empty() {
            let stays = |packet: &PacketBuf| match cut_of(packet) {
                Some(cut) => cut.is_plain() && (self.takes_large)(&cut, packet),
                None => true,
            };
            let count = packets.iter().take_while(|packet| stays(packet)).count();
            if count != 0 {
                let mut whole = packets.take_front(count);
                self.handle.way.transmit(cache, &mut whole);
                self.lose(cache, whole);
            }
            if let Some(packet) = packets.pop() {
                self.cut(cache, &packet);
                cache.release_one(packet);
            }
        }
    }

    /// Sends packets, those of a stream in a row as one. To be called with the gate open.
    fn transmit_merged(&mut self, cache: &mut dyn PacketCache, packets: &mut Burst<'_>) {
        let Some(large) = &mut self.large else { return };
        let mut ready = core::mem::take(&mut self.pieces);
        let mut merged = 0;
        while !packets.is_empty() {
            let before = packets.len();
            let whole = match merging::goes_on(packets, &self.takes_large) {
                true => merging::put_together(packets, cache, &mut **large),
                false => None,
            };
            merged += if whole.is_some() { before - packets.len() } else { 0 };
            ready.extend(whole.or_else(|| packets.pop()));
        }
        self.counts.merged.fetch_add(merged as u64, Ordering::Relaxed);
        Burst::offer(&mut ready, |burst| self.handle.way.transmit(cache, burst));
        self.lose(cache, Burst::of(&mut ready));
        self.pieces = ready;
    }

    /// Whether packets in a row are of one stream, and may leave as one.
    #[inline]
    fn merges(&self, packets: &[PacketBuf]) -> bool {
        self.large.is_some()
            && merging::pays(packets)
            && self.counts.merges.load(Ordering::Relaxed)
            && (0..packets.len()).any(|at| merging::goes_on(&packets[at..], &self.takes_large))
    }

    /// Sends what a large frame is cut into.
    fn cut(&mut self, cache: &mut dyn PacketCache, packet: &PacketBuf) {
        let Some(cut) = cut_of(packet) else { return };
        let mut pieces = core::mem::take(&mut self.pieces);
        let made = sockets::cut_into(&cut, packet.bytes(), cache, &mut pieces);
        self.counts.cut.fetch_add(1, Ordering::Relaxed);
        self.counts.lost.fetch_add((cut.packets() - made) as u64, Ordering::Relaxed);
        Burst::offer(&mut pieces, |burst| self.handle.way.transmit(cache, burst));
        self.lose(cache, Burst::of(&mut pieces));
        self.pieces = pieces;
    }

    /// What the port did not take: there is no way back for it, as others went by its place.
    fn lose(&self, cache: &mut dyn PacketCache, packets: Burst<'_>) {
        if !packets.is_empty() {
            self.counts.lost.fetch_add(packets.len() as u64, Ordering::Relaxed);
            cache.release(packets);
        }
    }
}

impl RxQueue for RxHandle {
    #[inline]
    fn receive(&mut self, cache: &mut dyn PacketCache, most: usize, into: &mut Vec<PacketBuf>) {
        if !self.handle.queue.gate.enter() {
            return;
        }
        let first = into.len();
        self.burst(cache, most, into);
        self.handle.queue.gate.leave();
        if self.completes_checksums {
            for packet in &mut into[first..] {
                checksum::complete(packet.bytes_mut());
            }
        }
    }

    fn before_rest(&mut self) -> Wakes {
        let gate = &self.handle.queue.gate;
        // A port that is stopped may be another when it starts again.
        if !gate.enter() {
            return Wakes::Unseen;
        }
        let wakes = match &mut self.handle.way {
            Source::Ours(ours) => ours.before_rest(),
            Source::Dpdk { .. } => self.wakes,
        };
        gate.leave();
        wakes
    }

    fn after_rest(&mut self) {
        if let Source::Ours(ours) = &mut self.handle.way {
            ours.after_rest();
        }
    }
}

impl Sink {
    /// To be called with the gate open.
    #[inline(always)]
    pub(crate) fn transmit(&mut self, cache: &mut dyn PacketCache, packets: &mut Burst<'_>) {
        match self {
            Self::Dpdk { port, queue } => {
                thread::register();
                let list = packets.as_ptr().cast::<*mut Mbuf>().cast_mut();
                let count = packets.len().min(usize::from(u16::MAX)) as u16;
                // SAFETY: the gate is open, as said: the port runs and has this queue, and we are
                // its one user. Drivers read the list and own the buffers of its first `taken`
                // slots.
                let taken = unsafe { ffi::volley_tx_burst(*port, *queue, list, count) };
                let _the_drivers = packets.take_front(usize::from(taken));
            }
            Self::Ours(ours) => ours.transmit(cache, packets),
        }
    }
}

impl TxQueue for TxHandle {
    #[inline]
    fn transmit(&mut self, cache: &mut dyn PacketCache, packets: &mut Burst<'_>) {
        if !self.handle.queue.gate.enter() {
            return;
        }
        if self.copies_shared && packets.iter().any(shared_pool::has) {
            self.transmit_copies(cache, packets);
        } else {
            self.transmit_all(cache, packets);
        }
        self.handle.queue.gate.leave();
    }
}
