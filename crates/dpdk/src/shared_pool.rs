//! Buffers that peers of memifs without a copy see, one pool for all such ports.
//!
//! It is made when the first such port is opened, and goes with the last who uses it. Headers are
//! in DPDK's memory, packets are not: whoever tells a device, or a program, where a packet lies
//! (`Kind::tells_addresses`) sends a copy.

use crate::DpdkPool;
use memif::{SharedBuffers, WeakSharedBuffers};
use packet::{PacketBuf, Pool};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Bytes that each of its buffers takes of DPDK's memory: header, private area, and room that is
/// not used.
pub const SHARED_HEADER_BYTES: u64 = 512;

static SHARED: Mutex<Option<WeakSharedBuffers>> = Mutex::new(None);
/// Where its packets lie, or lay: from here on, so many bytes.
static PLACE: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// The buffers, as many and as long as those of the pool beside them, as far as there is room.
pub(crate) fn shared(beside: &DpdkPool) -> io::Result<SharedBuffers> {
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(buffers) = shared.as_ref().and_then(WeakSharedBuffers::upgrade) {
        return Ok(buffers);
    }
    let frame_bytes = beside.frame_bytes();
    let count = (beside.usage().total as u32).min(SharedBuffers::most(frame_bytes));
    let headers = DpdkPool::new(beside.eal(), count, 0)
        .map_err(|error| io::Error::new(io::ErrorKind::OutOfMemory, error.to_string()))?;
    let buffers = SharedBuffers::new(Box::new(headers), frame_bytes)?;
    for (place, value) in PLACE.iter().zip([buffers.start(), buffers.bytes() as usize]) {
        place.store(value, Ordering::Relaxed);
    }
    *shared = Some(buffers.downgrade());
    Ok(buffers)
}

/// The buffers, where a port has made them.
pub(crate) fn there() -> Option<SharedBuffers> {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.upgrade()
}

/// Whether a packet lies in there.
#[inline]
pub(crate) fn has(packet: &PacketBuf) -> bool {
    let [start, bytes] = [&PLACE[0], &PLACE[1]].map(|it| it.load(Ordering::Relaxed));
    (packet.start() as usize).wrapping_sub(start) < bytes
}
