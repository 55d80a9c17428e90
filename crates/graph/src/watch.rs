//! What ends the rest of a worker: descriptors of what its nodes read, its bell, and the time.
//!
//! ```text
//!  nodes    before_rest ─▶ readable(descriptor) · look()     before each rest, anew
//!  worker   once more a pass ─▶ nothing came? ─▶ ppoll(bell, descriptors, until what is due)
//! ```
//! The list is made anew for each rest, so that none outlives its port by more than that: who takes
//! a port away rings. A descriptor that wakes for nothing (its port is being closed, its number is
//! another's) costs some passes, then a nap each: see [`Futile`].
// ppoll, and the error of a socket.
#![allow(unsafe_code)]

use crate::idle::Patience;
use std::os::fd::RawFd;
use std::time::Duration;

/// What a worker waits for.
#[derive(Default)]
pub struct Watch {
    descriptors: Vec<libc::pollfd>,
    must_look: bool,
    patience: Patience,
}

/// What ended a rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ended {
    /// Its time was over, or a signal came.
    Time,
    /// Somebody rang.
    Bell,
    /// There is something to read, it is said.
    Readable,
}

impl Watch {
    /// The rest ends when this is readable, which it is as long as there are packets.
    pub fn readable(&mut self, descriptor: RawFd) {
        self.descriptors.push(entry(descriptor));
    }

    /// There is something of which nobody tells: the rest is to be a short one.
    pub fn look(&mut self) {
        self.must_look = true;
    }

    /// For how long the worker is to poll before it rests.
    pub fn wait_with(&mut self, patience: Patience) {
        self.patience = patience;
    }

    /// As it was told.
    pub fn patience(&self) -> Patience {
        self.patience
    }

    /// Whether nobody tells of something.
    pub fn must_look(&self) -> bool {
        self.must_look
    }

    pub(crate) fn clear(&mut self) {
        self.descriptors.clear();
        self.must_look = false;
        self.patience = Patience::default();
    }

    /// Waits, for so long at most; what is watched is as before.
    pub(crate) fn wait(&mut self, bell: Option<RawFd>, longest: Duration) -> Ended {
        let watched = self.descriptors.len();
        self.descriptors.extend(bell.map(entry));
        poll(&mut self.descriptors, longest);
        let rang = self.descriptors.drain(watched..).any(|bell| bell.revents != 0);
        let told = self.descriptors.iter().filter(|told| told.revents != 0);
        let readable = told.inspect(|told| forget_error(told)).count() != 0;
        match (rang, readable) {
            (true, _) => Ended::Bell,
            (false, true) => Ended::Readable,
            (false, false) => Ended::Time,
        }
    }
}

fn entry(fd: RawFd) -> libc::pollfd {
    libc::pollfd { fd, events: libc::POLLIN, revents: 0 }
}

fn poll(list: &mut [libc::pollfd], longest: Duration) {
    list.iter_mut().for_each(|entry| entry.revents = 0);
    let time = libc::timespec {
        tv_sec: longest.as_secs().min(i32::MAX as u64) as libc::time_t,
        tv_nsec: libc::c_long::from(longest.subsec_nanos() as i32),
    };
    // SAFETY: the list is ours and as long as we say; descriptors may be anything.
    unsafe { libc::ppoll(list.as_mut_ptr(), list.len() as u64, &time, core::ptr::null()) };
}

/// A socket tells of an error until somebody asks for it (a device that went down, of packet
/// sockets), and the rest would end at once every time.
fn forget_error(told: &libc::pollfd) {
    if told.revents & libc::POLLERR == 0 {
        return;
    }
    let (mut error, mut size) = (0_i32, size_of::<i32>() as libc::socklen_t);
    let (level, name) = (libc::SOL_SOCKET, libc::SO_ERROR);
    // SAFETY: the kernel writes at most four bytes into the number; what is no socket is refused.
    unsafe { libc::getsockopt(told.fd, level, name, (&raw mut error).cast(), &mut size) };
}

/// Counts how often in a row the worker was woken for nothing, and slows it down.
#[derive(Default)]
pub(crate) struct Futile {
    woken: bool,
    times: u32,
}

/// Wakes for nothing that cost no nap: a signal of a driver may come later than the packet.
const FORGIVEN: u32 = 16;

impl Futile {
    /// A rest ended so.
    pub(crate) fn ended(&mut self, ended: Ended) {
        self.woken = ended == Ended::Readable;
    }

    /// A pass received so many packets.
    #[inline]
    pub(crate) fn passed(&mut self, received: usize) {
        if received != 0 {
            self.times = 0;
        } else if self.woken {
            self.times = self.times.saturating_add(1);
        }
        self.woken = false;
    }

    /// It was woken for nothing so often that descriptors are not to be believed.
    pub(crate) fn must_nap(&self) -> bool {
        self.times > FORGIVEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write, pipe};
    use std::os::fd::AsRawFd;

    const LONG: Duration = Duration::from_secs(600);

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no ppoll")]
    fn a_rest_ends_while_there_is_something_to_read_and_by_its_time_otherwise() {
        let ((mut from, mut into), mut watch) = (pipe().unwrap(), Watch::default());
        watch.readable(from.as_raw_fd());
        assert_eq!(watch.wait(None, Duration::from_millis(1)), Ended::Time);
        into.write_all(b"x").unwrap();
        assert_eq!(watch.wait(None, LONG), Ended::Readable);
        assert_eq!(watch.wait(None, LONG), Ended::Readable);
        from.read_exact(&mut [0]).unwrap();
        assert_eq!(watch.wait(None, Duration::ZERO), Ended::Time);
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no ppoll")]
    fn the_bell_is_told_from_what_is_watched() {
        let ((from, mut into), (_quiet, _end)) = (pipe().unwrap(), pipe().unwrap());
        let mut watch = Watch::default();
        watch.readable(_quiet.as_raw_fd());
        into.write_all(b"x").unwrap();
        assert_eq!(watch.wait(Some(from.as_raw_fd()), LONG), Ended::Bell);
        assert_eq!(watch.wait(None, Duration::ZERO), Ended::Time);
    }

    #[test]
    fn wakes_for_nothing_are_forgiven_a_while_and_a_packet_makes_up_for_them() {
        let mut futile = Futile::default();
        for _ in 0..FORGIVEN {
            futile.ended(Ended::Readable);
            futile.passed(0);
            futile.passed(0);
        }
        assert!(!futile.must_nap());
        futile.ended(Ended::Time);
        futile.passed(0);
        assert!(!futile.must_nap());
        futile.ended(Ended::Readable);
        futile.passed(0);
        assert!(futile.must_nap());
        futile.passed(1);
        assert!(!futile.must_nap());
    }
}
