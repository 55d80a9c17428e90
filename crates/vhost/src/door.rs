//! How a peer comes: it connects to a socket of ours, or we connect to one of its, and again
//! whenever it is gone.
//!
//! ```text
//!  Listens   the peer ─▶ ours
//!  Calls     ours ─▶ the peer's     20 ms, 40 ms … 1 s between two tries, as long as nobody stays
//! ```
//! Neither waits for anybody: who is not there yet, or has no room for us, is called later.

use crate::inside::{held, path_of};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Between the first two tries, and between any two at most. Who stayed for so long is called at
/// once when it is gone.
const FIRST: Duration = Duration::from_millis(20);
const MOST: Duration = Duration::from_secs(1);

/// See the module.
#[derive(Debug)]
pub(crate) enum Door {
    Listens(UnixListener),
    Calls(Calls),
}

/// Who is called, and when next.
#[derive(Debug)]
pub(crate) struct Calls {
    path: PathBuf,
    pause: Duration,
    not_before: Instant,
    /// When somebody was there last, from when on.
    since: Option<Instant>,
}

impl Calls {
    /// Calls whoever listens at a path.
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), pause: FIRST, not_before: Instant::now(), since: None }
    }

    /// Time until the next try.
    pub(crate) fn rests(&self, now: Instant) -> Duration {
        self.not_before.saturating_duration_since(now)
    }

    /// Tries, if it is time.
    pub(crate) fn call(&mut self, now: Instant) -> Option<io::Result<UnixStream>> {
        if now < self.not_before {
            return None;
        }
        let called = connect(&self.path);
        match &called {
            Ok(_) => self.since = Some(now),
            Err(_) => self.rest(now),
        }
        Some(called)
    }

    /// Who was there is gone.
    pub(crate) fn is_left(&mut self, now: Instant) {
        let since = self.since.take();
        if since.is_some_and(|since| now.saturating_duration_since(since) >= MOST) {
            self.pause = FIRST;
        }
        self.rest(now);
    }

    fn rest(&mut self, now: Instant) {
        self.not_before = now + self.pause;
        self.pause = (self.pause * 2).min(MOST);
    }
}

impl Door {
    /// What is readable when somebody comes.
    pub(crate) fn fd(&self) -> Option<RawFd> {
        match self {
            Self::Listens(listener) => Some(listener.as_raw_fd()),
            Self::Calls(_) => None,
        }
    }

    /// Time after which there is something to do, though nobody says so.
    pub(crate) fn rests(&self) -> Option<Duration> {
        match self {
            Self::Listens(_) => None,
            Self::Calls(calls) => Some(calls.rests(Instant::now())),
        }
    }

    /// Who was let in is gone.
    pub(crate) fn is_left(&mut self) {
        if let Self::Calls(calls) = self {
            calls.is_left(Instant::now());
        }
    }
}

/// Connects without waiting: a listener that has no room for us is an error as others are. A link
/// is not followed: whoever may write the folder would have us connect to what it may not.
fn connect(path: &Path) -> io::Result<UnixStream> {
    let held = held(path)?;
    if !held.metadata()?.file_type().is_socket() {
        return Err(io::Error::other("it is no socket"));
    }
    // SAFETY: zeroes are a valid address.
    let mut address: libc::sockaddr_un = unsafe { core::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let by = path_of(&held);
    // Far shorter than the room, so that a zero is behind it.
    for (to, from) in address.sun_path.iter_mut().zip(by.as_os_str().as_bytes()) {
        *to = *from as libc::c_char;
    }
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: no pointers.
    let raw = unsafe { libc::socket(libc::AF_UNIX, kind, 0) };
    if raw < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a fresh descriptor, of ours alone.
    let socket = unsafe { OwnedFd::from_raw_fd(raw) };
    let length = size_of::<libc::sockaddr_un>() as libc::socklen_t;
    // SAFETY: the address is of the size given.
    let code = unsafe { libc::connect(raw, (&raw const address).cast(), length) };
    if code == 0 { Ok(socket.into()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: Instant, ms: u64) -> Instant {
        start + Duration::from_millis(ms)
    }

    #[test]
    fn pauses_grow_until_somebody_stays() {
        let path = std::env::temp_dir().join(format!("vhost-door-{}", std::process::id()));
        let mut calls = Calls::new(&path);
        let mut now = calls.not_before;
        for pause in [20, 40, 80, 160, 320, 640, 1000, 1000] {
            assert!(calls.call(now).unwrap().is_err());
            assert_eq!(calls.rests(now), Duration::from_millis(pause));
            assert!(calls.call(at(now, pause - 1)).is_none());
            now = at(now, pause);
        }
        // Who comes and goes at once is as one who does not come.
        let listener = UnixListener::bind(&path).unwrap();
        assert!(calls.call(now).unwrap().is_ok());
        calls.is_left(at(now, 999));
        assert_eq!(calls.rests(at(now, 999)), Duration::from_secs(1));
        now = at(now, 1999);
        assert!(calls.call(now).unwrap().is_ok());
        calls.is_left(at(now, 1000));
        assert_eq!(calls.rests(at(now, 1000)), Duration::from_millis(20));
        drop(listener);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_listener_without_room_is_not_waited_for() {
        let path = std::env::temp_dir().join(format!("vhost-room-{}", std::process::id()));
        let listener = UnixListener::bind(&path).unwrap();
        // SAFETY: a socket of ours, that has room for one now.
        assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 0) }, 0);
        let _first = connect(&path).unwrap();
        assert_eq!(connect(&path).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_link_to_a_socket_is_none() {
        let path = std::env::temp_dir().join(format!("vhost-link-{}", std::process::id()));
        let there = path.with_extension("there");
        let listener = UnixListener::bind(&there).unwrap();
        listener.set_nonblocking(true).unwrap();
        std::os::unix::fs::symlink(&there, &path).unwrap();
        assert!(connect(&path).unwrap_err().to_string().contains("it is no socket"));
        assert!(listener.accept().is_err());
        assert!(connect(&there).is_ok() && listener.accept().is_ok());
        [path, there].iter().for_each(|it| std::fs::remove_file(it).unwrap());
    }
}
