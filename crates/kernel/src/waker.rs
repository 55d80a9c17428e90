//! Ends the rest of who waits for file descriptors.

use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// Clone it to whoever may wake.
#[derive(Clone, Debug)]
pub struct Waker(Arc<OwnedFd>);

impl Waker {
    /// One that nobody used yet.
    pub fn new() -> io::Result<Self> {
        Ok(Self(Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)))
    }

    /// Has whoever waits on the other end look at its work.
    pub fn wake(&self) {
        // It fails only when it was called 2^64 times since it was answered: then it rings already.
        let _rings = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }

    /// Forgets that it was called.
    pub(crate) fn answer(&self) {
        let _nobody_called = rustix::io::read(&self.0, &mut [0; 8]);
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
