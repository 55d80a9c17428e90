//! Frames that a card cuts into several buffers as they come, put together again: the graph knows
//! no chains.
//!
//! ```text
//!  driver ─▶ ▪ ▪▪▪▪▪ ▪ some are chains ─▶ Gatherer ─▶ ▪ ▬ ▪ each in one buffer, in their order
//! ```
//! Cards cut what does not fit a buffer as they count its size: in KiB, or by powers of two. So a
//! frame that fits one of the pool's may come in two all the same, and is copied into a large one.
//! Not a bit of it is changed, unlike what `large_frames` has of a virtual machine.
//!
//! Whether a card cuts is decided when it starts. Of one that does not, nobody looks at a packet
//! here.

use crate::receive_times::ReceiveTimes;
use crate::{DpdkPool, ffi, large_pool};
use packet::{Burst, PacketBuf, PacketCache};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Bytes of a buffer that a driver may want beside an MTU: an Ethernet header, two tags, a checksum
/// and a header of virtio's.
const BESIDE_MTU_BYTES: u32 = 14 + 2 * 4 + 4 + 12;
/// A frame has at least its Ethernet header.
const LEAST_BYTES: usize = 14;

/// What a card and its receive queues share.
#[derive(Default)]
pub(crate) struct Scattered {
    /// The card cuts.
    is_cutting: AtomicBool,
    /// Once it does, unless there was no memory.
    large: OnceLock<DpdkPool>,
    /// If packets carry them.
    times: Option<ReceiveTimes>,
    /// Frames that were put together.
    gathered: AtomicU64,
    /// Frames that were lost as there was no buffer.
    no_buffers: AtomicU64,
    /// Frames that were none, or longer than a large buffer.
    wrong: AtomicU64,
}

/// What became of the frames that were cut.
pub(crate) struct Counters {
    pub(crate) gathered: u64,
    pub(crate) no_buffers: u64,
    pub(crate) wrong: u64,
}

impl Scattered {
    /// Of a card whose packets carry these times, if any.
    pub(crate) fn new(times: Option<ReceiveTimes>) -> Self {
        Self { times, ..Self::default() }
    }

    /// The card is about to bring packets, into buffers of `pool`, and cuts some or not.
    pub(crate) fn started(&self, is_cutting: bool, pool: &DpdkPool) {
        if is_cutting
            && self.large.get().is_none()
            && let Some(large) = large_pool::shared(pool)
        {
            // Only the control thread starts ports.
            let _ = self.large.set(large);
        }
        self.is_cutting.store(is_cutting, Ordering::Relaxed);
    }

    pub(crate) fn counters(&self) -> Counters {
        Counters {
            gathered: self.gathered.load(Ordering::Relaxed),
            no_buffers: self.no_buffers.load(Ordering::Relaxed),
            wrong: self.wrong.load(Ordering::Relaxed),
        }
    }
}

/// Whether frames of an MTU may have to be cut to fit buffers of `pool`: a driver that has not been
/// told so refuses the MTU then.
pub(crate) fn must_scatter(mtu: u16, pool: &DpdkPool) -> bool {
    u32::from(mtu) + BESIDE_MTU_BYTES > pool.frame_bytes().into()
}

/// One receive queue's part.
pub(crate) struct Gatherer {
    shared: Arc<Scattered>,
    /// From the first frame on that was cut.
    large: Option<Box<dyn PacketCache>>,
    /// What the driver brought.
    came: Vec<PacketBuf>,
    /// Chains that were copied.
    spent: Vec<PacketBuf>,
}

impl Gatherer {
    pub(crate) fn new(shared: &Arc<Scattered>) -> Self {
        Self { shared: Arc::clone(shared), large: None, came: Vec::new(), spent: Vec::new() }
    }

    /// Puts together what was cut among the packets from `first` on; those for which there is no
    /// buffer are lost.
    #[inline]
    pub(crate) fn gather(
        &mut self,
        cache: &mut dyn PacketCache,
        packets: &mut Vec<PacketBuf>,
        first: usize,
    ) {
        if self.shared.is_cutting.load(Ordering::Relaxed) && packets[first..].iter().any(is_chain) {
            self.gather_some(cache, packets, first);
        }
    }

    #[cold]
    fn gather_some(
        &mut self,
        cache: &mut dyn PacketCache,
        packets: &mut Vec<PacketBuf>,
        first: usize,
    ) {
        let mut came = core::mem::take(&mut self.came);
        came.extend(packets.drain(first..));
        for packet in came.drain(..) {
            if is_chain(&packet) {
                packets.extend(self.in_one(&packet));
                self.spent.push(packet);
            } else {
                packets.push(packet);
            }
        }
        self.came = came;
        cache.release(Burst::of(&mut self.spent));
    }

    /// A chain's frame, and when it came, in a large buffer.
    fn in_one(&mut self, chain: &PacketBuf) -> Option<PacketBuf> {
        let count = |counter: &AtomicU64| {
            counter.fetch_add(1, Ordering::Relaxed);
        };
        let shared = &self.shared;
        if self.large.is_none() {
            self.large = shared.large.get().map(packet::Pool::cache);
        }
        let length = chain.mbuf().pkt_len as usize;
        let copy = self.large.as_mut().and_then(|cache| Some((cache.allocate_one()?, cache)));
        let Some((mut packet, cache)) = copy else {
            count(&shared.no_buffers);
            return None;
        };
        packet.fill_by(|room| if length <= room.len() { read(chain, room) } else { 0 });
        if length < LEAST_BYTES || packet.bytes().len() != length {
            cache.release_one(packet);
            count(&shared.wrong);
            return None;
        }
        if let Some(times) = &shared.times
            && let Some(time) = times.of(chain)
        {
            times.put(&mut packet, time);
        }
        count(&shared.gathered);
        Some(packet)
    }
}

fn is_chain(packet: &PacketBuf) -> bool {
    packet.mbuf().nb_segs != 1
}

/// A chain's bytes; how many.
fn read(chain: &PacketBuf, into: &mut [u8]) -> usize {
    // SAFETY: a live packet, of whose chain as much is read as there is room.
    unsafe { ffi::volley_packet_read(chain.as_ptr(), into.as_mut_ptr().cast(), into.len()) }
}
