//! Wakes somebody through an eventfd.
//!
//! ```text
//!  worker ─ ring ─▶ our eventfd ─▶ ringer (a thread of the connection's own) ─▶ the peer's eventfd
//! ```
//! A peer has its eventfd too: it can fill it and make writing wait, whatever we set before. So no
//! worker writes it: who waits is a thread of that connection's own, made when a peer wants to be
//! woken for the first time. When the connection ends, reading the eventfd empty lets it go.

use crate::region::owned;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// An eventfd of our own, which nobody else has: writing it never waits.
#[derive(Debug)]
pub(crate) struct Bell {
    rung: AtomicBool,
    fd: OwnedFd,
}

impl Bell {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { rung: AtomicBool::new(false), fd: eventfd()? })
    }

    pub(crate) fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// Wakes whoever waits for it. One system call, and none while it is already rung.
    #[inline]
    pub(crate) fn ring(&self) {
        if !self.rung.swap(true, Ordering::AcqRel) {
            write_one(&self.fd);
        }
    }

    /// Whether it was rung since the last time.
    pub(crate) fn take(&self) -> bool {
        // Emptied first: a ring in between is heard again, not lost.
        drain(&self.fd);
        self.rung.swap(false, Ordering::AcqRel)
    }
}

/// A fresh eventfd.
pub(crate) fn eventfd() -> io::Result<OwnedFd> {
    // SAFETY: a fresh descriptor.
    unsafe { owned(libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK)) }
}

/// Whether a descriptor that a peer sent is an eventfd. To anything else eight bytes written with
/// our rights might mean something.
pub(crate) fn is_eventfd(fd: &OwnedFd) -> bool {
    let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
    std::fs::read_link(path).is_ok_and(|target| target.as_os_str() == "anon_inode:[eventfd]")
}

fn write_one(fd: &OwnedFd) {
    let one = 1u64.to_ne_bytes();
    // SAFETY: eight bytes, read only.
    unsafe { libc::write(fd.as_raw_fd(), one.as_ptr().cast(), one.len()) };
}

/// Empties an eventfd, and never waits, whatever flags it has.
pub(crate) fn drain(fd: &OwnedFd) {
    let mut count = [0u8; 8];
    let mut place = libc::iovec { iov_base: count.as_mut_ptr().cast(), iov_len: count.len() };
    // SAFETY: eight bytes of ours.
    unsafe { libc::preadv2(fd.as_raw_fd(), &raw mut place, 1, -1, libc::RWF_NOWAIT) };
}

fn wait_for(fd: &OwnedFd) {
    let mut waited = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry of ours.
    unsafe { libc::poll(&mut waited, 1, -1) };
}

/// The bells of one connection's peer.
#[derive(Debug)]
pub(crate) struct Bells {
    shared: Arc<Shared>,
    ringer: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    wanted: Arc<Bell>,
    peers: Vec<OwnedFd>,
    ended: AtomicBool,
}

impl Bells {
    /// Of a peer with these eventfds.
    pub(crate) fn of(peers: Vec<OwnedFd>) -> io::Result<Self> {
        let wanted = Arc::new(Bell::new()?);
        let shared = Shared { wanted, peers, ended: AtomicBool::new(false) };
        Ok(Self { shared: Arc::new(shared), ringer: None })
    }

    /// What workers ring.
    pub(crate) fn wanted(&self) -> &Arc<Bell> {
        &self.shared.wanted
    }

    /// Whether somebody must look whether it was rung, and then call `begin`.
    pub(crate) fn is_silent(&self) -> bool {
        self.ringer.is_none()
    }

    /// From now on a thread passes on what is rung.
    pub(crate) fn begin(&mut self) {
        if self.ringer.is_some() {
            return;
        }
        let shared = Arc::clone(&self.shared);
        let made = std::thread::Builder::new().name("memif-bell".to_owned()).spawn(move || {
            while !shared.ended.load(Ordering::Acquire) {
                wait_for(&shared.wanted.fd);
                if shared.wanted.take() {
                    // Which ring it was for is not told: who polls sees at once that it is empty.
                    shared.peers.iter().for_each(write_one);
                }
            }
        });
        match made {
            Ok(thread) => self.ringer = Some(thread),
            Err(error) => {
                self.shared.wanted.take();
                tracing::warn!(fault = "memif-bell", %error, "a peer is not woken");
            }
        }
    }

    /// Ends the thread; false as long as a full eventfd holds it up: then call again.
    pub(crate) fn end(&mut self) -> bool {
        let Some(ringer) = &self.ringer else { return true };
        self.shared.ended.store(true, Ordering::Release);
        write_one(&self.shared.wanted.fd);
        self.shared.peers.iter().for_each(drain);
        ringer.is_finished()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn a_peer_that_fills_its_eventfd_holds_up_one_thread_which_ends_with_the_connection() {
        let peers = eventfd().unwrap();
        let full = (u64::MAX - 1).to_ne_bytes();
        // SAFETY: a descriptor and eight bytes of ours.
        unsafe {
            // What a peer can do at any time.
            libc::fcntl(peers.as_raw_fd(), libc::F_SETFL, 0);
            libc::write(peers.as_raw_fd(), full.as_ptr().cast(), 8);
        }
        let mut bells = Bells::of(vec![peers]).unwrap();
        bells.begin();
        let began = Instant::now();
        while !bells.wanted().rung.load(Ordering::Relaxed) || began.elapsed().as_millis() < 20 {
            bells.wanted().ring();
        }
        while !bells.end() {
            assert!(began.elapsed() < Duration::from_secs(20), "it hangs");
            std::thread::yield_now();
        }
    }

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
