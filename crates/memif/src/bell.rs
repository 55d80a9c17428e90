//! Wakes somebody of ours through an eventfd: the service, or a worker. Peers are woken by
//! `signal`.

use crate::region::owned;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// An eventfd of our own, which nobody else has: writing it never waits.
#[derive(Debug)]
pub struct Bell {
    rung: AtomicBool,
    fd: OwnedFd,
}

impl Bell {
    /// One that is not rung.
    pub fn new() -> io::Result<Self> {
        Ok(Self { rung: AtomicBool::new(false), fd: eventfd()? })
    }

    /// What is readable while it is rung.
    pub fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// Wakes whoever waits for it. One system call, and none while it is already rung.
    #[inline]
    pub fn ring(&self) {
        if !self.rung.swap(true, Ordering::AcqRel) {
            write_one(&self.fd);
        }
    }

    /// Whether it was rung since the last time.
    pub fn take(&self) -> bool {
        // Emptied first: a ring in between is heard again, not lost.
        drain(&self.fd);
        self.rung.swap(false, Ordering::AcqRel)
    }
}

/// A fresh eventfd.
pub fn eventfd() -> io::Result<OwnedFd> {
    // SAFETY: a fresh descriptor.
    unsafe { owned(libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK)) }
}

/// Whether a descriptor that a peer sent is an eventfd. To anything else eight bytes written with
/// our rights might mean something.
pub fn is_eventfd(fd: &OwnedFd) -> bool {
    let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
    std::fs::read_link(path).is_ok_and(|target| target.as_os_str() == "anon_inode:[eventfd]")
}

fn write_one(fd: &OwnedFd) {
    let one = 1u64.to_ne_bytes();
    // SAFETY: eight bytes, read only.
    unsafe { libc::write(fd.as_raw_fd(), one.as_ptr().cast(), one.len()) };
}

/// Empties an eventfd, and never waits, whatever flags it has.
pub fn drain(fd: &OwnedFd) {
    let mut count = [0u8; 8];
    let mut place = libc::iovec { iov_base: count.as_mut_ptr().cast(), iov_len: count.len() };
    // SAFETY: eight bytes of ours.
    unsafe { libc::preadv2(fd.as_raw_fd(), &raw mut place, 1, -1, libc::RWF_NOWAIT) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_eventfd_is_one() {
        assert!(is_eventfd(&eventfd().unwrap()));
        assert!(!is_eventfd(&OwnedFd::from(std::fs::File::open("/dev/null").unwrap())));
    }

    #[test]
    fn a_ring_is_heard_once() {
        let bell = Bell::new().unwrap();
        bell.ring();
        bell.ring();
        assert!(bell.take());
        assert!(!bell.take());
    }
}
