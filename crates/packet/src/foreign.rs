//! What DPDK finds as the pool of a buffer that is not of its own.
//!
//! DPDK frees a buffer into the pool that its header names. Those of other pools name this one, so
//! that nothing is lost but the buffer itself, should one of them go to a driver or to DPDK's end
//! of a pool.

use core::cell::UnsafeCell;
use core::ffi::c_void;

/// Bytes that DPDK may take: more than its `rte_mempool` has, as the `dpdk` crate sees to.
pub const FOREIGN_POOL_BYTES: usize = 1024;

#[repr(C, align(64))]
struct Place(UnsafeCell<[u8; FOREIGN_POOL_BYTES]>);

// SAFETY: nobody here looks into it; DPDK writes it once, when it starts.
unsafe impl Sync for Place {}

static PLACE: Place = Place(UnsafeCell::new([0; FOREIGN_POOL_BYTES]));

/// Where it is: for the `dpdk` crate to make a pool there that takes buffers and gives none.
pub fn foreign_pool() -> *mut c_void {
    PLACE.0.get().cast()
}
