//! Buffers for frames of up to 64 KiB, one pool for all ports that keep such whole.
//!
//! It is made when the first such port is opened, and goes with the last who uses it. Where there
//! is no memory for it, large frames are cut as they come.

use crate::DpdkPool;
use packet::{PacketBuf, Pool};
use std::sync::{Mutex, PoisonError};

/// Buffers: those of a few vectors. A worker has the one used last again, which its processor's
/// cache still holds: hardly more memory is touched than there are frames on their way.
const BUFFERS: u32 = 256;
const CACHE: u32 = 32;
/// As long as a buffer can be.
const FRAME_BYTES: u16 = u16::MAX - packet::HEADROOM_BYTES as u16;

/// MiB that the pool of large buffers takes, once a port has use for it.
pub const LARGE_POOL_MIB: u64 = ((BUFFERS as u64) << 16).div_ceil(1 << 20) + 1;

static SHARED: Mutex<Option<crate::pool::WeakPool>> = Mutex::new(None);

/// The pool, beside the ordinary one; none where there is no memory.
pub(crate) fn shared(beside: &DpdkPool) -> Option<DpdkPool> {
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = shared.as_ref().and_then(crate::pool::WeakPool::upgrade) {
        return Some(pool);
    }
    match DpdkPool::with_cache(beside.eal(), BUFFERS, FRAME_BYTES, CACHE) {
        Ok(pool) => {
            *shared = Some(pool.downgrade());
            Some(pool)
        }
        Err(error) => {
            tracing::warn!(fault = "no-large-buffers", %error, "large frames are cut as they come, and those that a card cut are lost");
            None
        }
    }
}

/// The pool, where a port has made it.
pub(crate) fn there() -> Option<DpdkPool> {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.upgrade()
}

/// A copy in a large buffer, if there are some.
#[cold]
pub(crate) fn copy_of(bytes: &[u8]) -> Option<PacketBuf> {
    let pool = there()?;
    let mut cache = pool.cache();
    let mut packet = cache.allocate_one()?;
    if packet.fill(bytes) {
        return Some(packet);
    }
    cache.release_one(packet);
    None
}
