//! Gets back what a driver took out of a pool for a port that it then failed to open.
//!
//! The af_xdp driver (22.11 to 24.11) takes 2,048 buffers for a queue, then asks the kernel for a
//! socket, and where there is none it forgets them: eight such ports empty a pool of 16,384.
//! What a thread takes and gives back while a port is opened is noted (`shim/taken.c`); of a port
//! that was not opened, all that is missing goes back.

use crate::{DpdkPool, ffi};
use core::marker::PhantomData;

/// As long as it is there, what this thread takes out of the pool and gives back is noted.
pub(crate) struct Taken {
    pool: DpdkPool,
    /// Of one thread: what others take is not noted.
    of_this_thread: PhantomData<*const ()>,
}

impl Taken {
    /// From here on; what was noted of another pool before is forgotten.
    pub(crate) fn from(pool: &DpdkPool) -> Self {
        // SAFETY: a live pool.
        unsafe { ffi::volley_pool_watch(pool.as_ptr()) };
        Self { pool: pool.clone(), of_this_thread: PhantomData }
    }

    /// Puts back what was taken and not given back, and says how many buffers that were. The port
    /// that they were taken for is closed.
    pub(crate) fn put_back(self) -> u32 {
        // SAFETY: a live pool, and of its buffers those of a driver that has no port any more.
        unsafe { ffi::volley_pool_unwatch(self.pool.as_ptr()) }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        // SAFETY: no pool: nothing is put back.
        unsafe { ffi::volley_pool_unwatch(core::ptr::null_mut()) };
    }
}
