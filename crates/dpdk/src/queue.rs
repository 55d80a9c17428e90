//! A port's queues as workers hold them.

use crate::driver::{Sink, Source};
use crate::gate::Gate;
use crate::packet_rings::PacketRings;
use crate::packet_slots::{self, PacketSlots, Slot};
use crate::receive_times::ReceiveTimes;
use crate::{checksum, ffi, thread};
use packet::{Burst, Mbuf, PacketBuf, PacketCache, RxQueue, TxQueue, Wakes};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
    /// Of an af_packet port: what its driver does not say of packets.
    slots: Option<Arc<PacketSlots>>,
    /// Where times go that the slots tell, if they are wanted.
    times: Option<ReceiveTimes>,
    /// While the port runs.
    wakes: Wakes,
}

/// One transmit queue.
pub struct TxHandle {
    handle: Handle<Sink>,
    rings: Arc<PacketRings>,
    /// Passes after a burst until the rings are looked after; 0 where there are none.
    patience: u8,
    /// Passes until the rings are looked after; 0 when nothing can be left in them.
    passes_left: u8,
}

/// Passes after a burst in which the next one may come, which pushes just as well.
const PATIENT_PASSES: u8 = 16;

impl RxHandle {
    pub(crate) fn take(
        queue: &Arc<Queue>,
        source: impl FnOnce() -> Option<Source>,
        completes_checksums: bool,
        slots: Option<Arc<PacketSlots>>,
        times: Option<ReceiveTimes>,
        wakes: Wakes,
    ) -> Option<Self> {
        let handle = Handle::take(queue, source)?;
        Some(Self { handle, completes_checksums, slots, times, wakes })
    }

    /// Bursts whose packets are as they were on the wire, and carry the time at which the kernel
    /// took them if that is wanted.
    fn receive_by_slots(
        &mut self,
        slots: &PacketSlots,
        cache: &mut dyn PacketCache,
        most: usize,
        into: &mut Vec<PacketBuf>,
    ) {
        let mut read = [Slot::default(); packet_slots::BURST];
        let mut left = most;
        while left != 0 {
            let asked = left.min(read.len());
            // SAFETY: called with the gate open: the port runs, and we are its one user.
            let waiting = unsafe { slots.read(&mut read[..asked]) };
            if waiting == 0 {
                return;
            }
            let first = into.len();
            self.burst(cache, waiting, into);
            let came = &mut into[first..];
            slots.put(&read[..came.len()], came, self.times);
            if came.len() < asked {
                return;
            }
            left -= came.len();
        }
    }

    /// To be called with the gate open.
    #[inline(always)]
    fn burst(&mut self, cache: &mut dyn PacketCache, most: usize, into: &mut Vec<PacketBuf>) {
        let (port, queue) = match &mut self.handle.way {
            Source::Dpdk { port, queue } => (*port, *queue),
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
    }
}

impl TxHandle {
    pub(crate) fn take(
        queue: &Arc<Queue>,
        sink: impl FnOnce() -> Option<Sink>,
        rings: &Arc<PacketRings>,
    ) -> Option<Self> {
        let handle = Handle::take(queue, sink)?;
        let patience = if rings.are_none() { 0 } else { PATIENT_PASSES };
        Some(Self { handle, rings: Arc::clone(rings), patience, passes_left: 0 })
    }
}

impl RxQueue for RxHandle {
    #[inline]
    fn receive(&mut self, cache: &mut dyn PacketCache, most: usize, into: &mut Vec<PacketBuf>) {
        if !self.handle.queue.gate.enter() {
            return;
        }
        let first = into.len();
        match self.slots.clone() {
            None => self.burst(cache, most, into),
            Some(slots) => self.receive_by_slots(&slots, cache, most, into),
        }
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
        gate.leave();
        self.wakes
    }
}

impl TxQueue for TxHandle {
    #[inline]
    fn transmit(&mut self, cache: &mut dyn PacketCache, packets: &mut Burst<'_>) {
        let Handle { queue, way } = &mut self.handle;
        if !queue.gate.enter() {
            return;
        }
        match way {
            Sink::Dpdk { port, queue } => {
                thread::register();
                let list = packets.as_ptr().cast::<*mut Mbuf>().cast_mut();
                let count = packets.len().min(usize::from(u16::MAX)) as u16;
                // SAFETY: as above; drivers read the list and own the buffers of its first `taken`
                // slots.
                let taken = unsafe { ffi::volley_tx_burst(*port, *queue, list, count) };
                let _the_drivers = packets.take_front(usize::from(taken));
            }
            Sink::Ours(ours) => ours.transmit(cache, packets),
        }
        queue.gate.leave();
        self.passes_left = self.patience;
    }

    #[inline]
    fn push(&mut self) {
        let Self { handle: Handle { queue, .. }, rings, patience, passes_left } = self;
        if *passes_left > 1 {
            *passes_left -= 1;
        } else if *passes_left == 1 && queue.gate.enter() {
            *passes_left = if rings.push() { *patience } else { 0 };
            queue.gate.leave();
        }
    }

    fn must_push(&self) -> bool {
        self.passes_left != 0
    }
}
