//! Wakes one worker from another thread, at the price of a locked instruction a ring.
//!
//! ```text
//!  who rings:   hand something over ─▶ rung = true ─▶ resting? write to its event file
//!  the worker:  resting = true ─▶ rung? do not rest after all
//! ```
//! Both sides write, then read what the other writes, in one order that all threads agree on: one
//! of them sees the other, so nothing handed over waits for the end of a rest.
// The event file.
#![allow(unsafe_code)]

use crate::sync::{AtomicBool, Ordering};
use crate::watch::{Ended, Watch};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::sync::Arc;
use std::time::Duration;

/// A worker's bell. Clone it to whoever may ring. One by default wakes nobody: its worker is turned
/// by somebody who rests elsewhere.
#[derive(Clone, Debug, Default)]
pub struct Doorbell(Arc<Bell>);

#[derive(Debug, Default)]
struct Bell {
    rung: AtomicBool,
    resting: AtomicBool,
    event: Option<File>,
}

impl Doorbell {
    /// One that ends a rest.
    pub(crate) fn that_wakes() -> io::Result<Self> {
        // SAFETY: makes a descriptor, which is ours alone.
        let event = unsafe {
            match libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) {
                -1 => return Err(io::Error::last_os_error()),
                fd => File::from_raw_fd(fd),
            }
        };
        Ok(Self(Arc::new(Bell { event: Some(event), ..Bell::default() })))
    }

    /// Has the worker call its timed nodes in its next pass, and that pass begin now.
    pub fn ring(&self) {
        self.0.rung.store(true, Ordering::SeqCst);
        if self.0.resting.load(Ordering::SeqCst)
            && let Some(mut event) = self.0.event.as_ref()
        {
            // It fails only when it was rung 2^64 times since it was answered: then it is heard.
            let _is_heard = event.write(&1_u64.to_ne_bytes());
        }
    }

    /// Whether it rang since it was answered last. What was handed over before is seen after.
    #[inline]
    pub fn answer(&self) -> bool {
        self.0.rung.load(Ordering::Relaxed) && self.0.rung.swap(false, Ordering::AcqRel)
    }

    /// Waits for what is watched, or for the time, unless it rang meanwhile.
    pub(crate) fn rest(&self, watch: &mut Watch, longest: Duration) -> Ended {
        self.0.resting.store(true, Ordering::SeqCst);
        let ended = if self.0.rung.load(Ordering::SeqCst) {
            Ended::Bell
        } else {
            watch.wait(self.0.event.as_ref().map(AsRawFd::as_raw_fd), longest)
        };
        self.0.resting.store(false, Ordering::Relaxed);
        if ended == Ended::Bell
            && let Some(mut event) = self.0.event.as_ref()
        {
            // Who rang may not have written yet: then the next rest ends at once, and that is all.
            let _silent = event.read(&mut [0; 8]);
        }
        ended
    }
}
