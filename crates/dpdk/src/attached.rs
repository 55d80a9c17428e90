//! Whether somebody is attached to a port of DPDK's, for who relies on it for a moment.
//!
//! ```text
//!  the driver's thread ─ attaches, detaches ─▶ Attached ◀─ while_there ─ a worker
//! ```
//! A driver that lets somebody go waits for packets on their way, not for calls: it tells of the
//! link first, and what was attached is gone when that was heard. So it is heard when no call is
//! under way any more.

use crate::ffi;
use core::ffi::c_void;
use std::sync::{Mutex, PoisonError};

/// See the module.
pub(crate) struct Attached {
    port: u16,
    told: Box<Told>,
    /// As long as the driver tells.
    watch: Mutex<Option<Box<ffi::LinkWatch>>>,
}

struct Told {
    is_there: Mutex<bool>,
    tell: Box<dyn Fn() + Send + Sync>,
}

// SAFETY: the pointers in `watch` lead to `told`, which any thread may look at.
unsafe impl Send for Attached {}
// SAFETY: as above.
unsafe impl Sync for Attached {}

extern "C" fn heard(told: *mut c_void, is_up: u8) {
    // SAFETY: what `of` registered, until `end` has had it forgotten.
    let told = unsafe { &*told.cast::<Told>() };
    *told.is_there.lock().unwrap_or_else(PoisonError::into_inner) = is_up != 0;
    (told.tell)();
}

impl Attached {
    /// Of an open port; `tell` is called, by any thread, whenever somebody came or went.
    pub(crate) fn of(port: u16, tell: Box<dyn Fn() + Send + Sync>) -> Result<Self, i32> {
        let told = Box::new(Told { is_there: Mutex::new(false), tell });
        let argument = (&raw const *told).cast_mut().cast();
        let mut watch = Box::new(ffi::LinkWatch { heard, argument });
        // SAFETY: an open port; the watch, and what it leads to, stay where they are until the
        // driver has forgotten them (`end`).
        match unsafe { ffi::volley_watch_link(port, &mut *watch) } {
            0 => {}
            code => return Err(code),
        }
        {
            // Somebody may have come before it was heard.
            let mut is_there = told.is_there.lock().unwrap_or_else(PoisonError::into_inner);
            let mut link = ffi::Link::default();
            // SAFETY: an open port; the result is ours.
            *is_there = unsafe { ffi::volley_port_link(port, &mut link) } == 0 && link.up != 0;
        }
        Ok(Self { port, told, watch: Mutex::new(Some(watch)) })
    }

    /// The port is about to be closed: nobody is there any more, for whoever still asks.
    pub(crate) fn end(&self) {
        let watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut watch) = watch else { return };
        // SAFETY: what was registered. Again while the driver is telling it something.
        while unsafe { ffi::volley_unwatch_link(self.port, &mut *watch) } == -libc::EAGAIN {
            std::thread::yield_now();
        }
        *self.told.is_there.lock().unwrap_or_else(PoisonError::into_inner) = false;
    }

    /// Does something while somebody is attached; nothing where nobody is, or just comes or goes.
    pub(crate) fn while_there<T>(&self, act: impl FnOnce() -> T) -> Option<T> {
        let is_there = self.told.is_there.try_lock().ok()?;
        is_there.then(act)
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        self.end();
    }
}
