//! Wakes a peer that has rings, without waiting for it.
//!
//! ```text
//!  worker ─ in DPDK's library, write ─▶ ours ─ poll ─▶ guard ─ signal ─▶ the peer's eventfd
//! ```
//! The library writes the eventfd that it is given, in the midst of a burst. A peer's can be full,
//! so that writing it waits until the peer likes to read. So it is given one of ours, which the
//! guard's thread empties, and the kernel signals the peer's (`memif::signal`), full or not. It
//! costs who rests one more thread between; who polls asks for no calls.

use memif::bell::{drain, eventfd};
use memif::signal::{Signal, Signals};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;

/// The calls of one ring.
#[derive(Debug)]
pub(crate) struct Call {
    ours: OwnedFd,
    to: Option<Signal>,
}

impl Call {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { ours: eventfd()?, to: None })
    }

    /// Whom it calls from now on; the descriptor for the library. It is the same each time, so
    /// that none is lost between two.
    pub(crate) fn lead_to(&mut self, signals: &Arc<Signals>, to: OwnedFd) -> io::Result<OwnedFd> {
        self.to = Some(Signal::new(signals, to));
        self.ours.try_clone()
    }

    /// What is readable when the library called.
    pub(crate) fn fd(&self) -> RawFd {
        self.ours.as_raw_fd()
    }

    /// Hands a call on.
    pub(crate) fn pass_on(&self) {
        drain(&self.ours);
        if let Some(to) = &self.to {
            to.send();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(of: &OwnedFd) -> u64 {
        let mut count = [0u8; 8];
        // SAFETY: eight octets of ours.
        let read = unsafe { libc::read(of.as_raw_fd(), count.as_mut_ptr().cast(), 8) };
        if read == 8 { u64::from_ne_bytes(count) } else { 0 }
    }

    #[test]
    fn what_the_library_writes_is_handed_to_whoever_is_called_now() {
        let signals = Arc::new(Signals::new().unwrap());
        let (first, second) = (eventfd().unwrap(), eventfd().unwrap());
        let mut call = Call::new().unwrap();
        let library = call.lead_to(&signals, first.try_clone().unwrap()).unwrap();
        let one = 1u64.to_ne_bytes();
        // SAFETY: eight octets of ours.
        let write = || unsafe { libc::write(library.as_raw_fd(), one.as_ptr().cast(), 8) };
        write();
        call.pass_on();
        assert_eq!((count(&first), count(&call.ours)), (1, 0));
        write();
        call.lead_to(&signals, second.try_clone().unwrap()).unwrap();
        call.pass_on();
        assert_eq!((count(&first), count(&second)), (0, 1));
    }
}
