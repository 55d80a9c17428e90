//! Signals an eventfd that a peer has, too, and never waits.
//!
//! ```text
//!  worker ─ io_submit: write an octet to /dev/null, and signal that eventfd when done
//!                             kernel ─ done at once ─▶ the peer's eventfd
//! ```
//! A peer may fill its eventfd and make writing it wait, whatever we set before: it could stop a
//! worker that wrote it. The kernel's own signal for an operation that is done adds to it without
//! waiting, full or not, and costs one system call.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

/// Operations whose ends the kernel keeps until they are asked for: it has room for more.
const ENDS: usize = 32;

/// `struct iocb` of the kernel (`linux/aio_abi.h`), of little-endian machines.
#[repr(C)]
#[derive(Default)]
struct Operation {
    data: u64,
    key: u32,
    rw_flags: i32,
    opcode: u16,
    priority: i16,
    fd: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    signals: u32,
}

/// `IOCB_CMD_PWRITE`.
const WRITE: u16 = 1;
/// `IOCB_FLAG_RESFD`: signals an eventfd at its end.
const SIGNALS: u32 = 1;

/// What signals the eventfds of one connection; any number of threads may.
#[derive(Debug)]
pub struct Signals {
    /// The kernel's name for what it keeps of us.
    context: u64,
    nowhere: File,
}

/// One eventfd of a peer's.
#[derive(Debug)]
pub struct Signal {
    signals: Arc<Signals>,
    to: OwnedFd,
}

impl Signals {
    /// Whatever it takes of the kernel.
    pub fn new() -> io::Result<Self> {
        let nowhere = OpenOptions::new().write(true).open("/dev/null")?;
        let mut context = 0u64;
        // SAFETY: the kernel writes its name for it there.
        let done = unsafe { libc::syscall(libc::SYS_io_setup, ENDS, &raw mut context) };
        if done == 0 { Ok(Self { context, nowhere }) } else { Err(io::Error::last_os_error()) }
    }

    /// Signals an eventfd.
    fn signal(&self, to: &OwnedFd) {
        let octet = 0u8;
        let mut operation = Operation {
            opcode: WRITE,
            fd: self.nowhere.as_raw_fd() as u32,
            buffer: (&raw const octet) as u64,
            bytes: 1,
            flags: SIGNALS,
            signals: to.as_raw_fd() as u32,
            ..Operation::default()
        };
        let mut submit = || {
            let list = [&raw mut operation];
            // SAFETY: one operation of ours, which reads one octet of ours and ends before the
            // call does: /dev/null takes whatever it is given at once.
            unsafe { libc::syscall(libc::SYS_io_submit, self.context, 1, list.as_ptr()) }
        };
        // Where there is no room for another end. If it fails then, too, there is no way to tell
        // the peer, which looks of its own accord as every peer must.
        if submit() != 1 {
            self.forget_ends();
            let _ = submit();
        }
    }

    /// Takes the ends that the kernel kept.
    #[cold]
    fn forget_ends(&self) {
        // Each is four words (`struct io_event`).
        let mut ends = [[0u64; 4]; ENDS];
        let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        loop {
            // SAFETY: room for so many, and a time, of ours.
            let taken = unsafe {
                libc::syscall(
                    libc::SYS_io_getevents,
                    self.context,
                    0,
                    ENDS,
                    ends.as_mut_ptr(),
                    &raw const at_once,
                )
            };
            if taken < ENDS as i64 {
                break;
            }
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // SAFETY: the name was given to us, and nobody uses it any more.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
    }
}

impl Signal {
    /// An eventfd that `signals` signals.
    pub fn new(signals: &Arc<Signals>, to: OwnedFd) -> Self {
        Self { signals: Arc::clone(signals), to }
    }

    /// Signals it.
    #[inline]
    pub fn send(&self) {
        self.signals.signal(&self.to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bell::eventfd;

    fn signal() -> (Signal, OwnedFd) {
        let to = eventfd().unwrap();
        (Signal::new(&Arc::new(Signals::new().unwrap()), to.try_clone().unwrap()), to)
    }

    /// What an eventfd came to; it is empty then.
    fn count(of: &OwnedFd) -> u64 {
        let mut count = [0u8; 8];
        // SAFETY: eight octets of ours.
        let read = unsafe { libc::read(of.as_raw_fd(), count.as_mut_ptr().cast(), 8) };
        if read == 8 { u64::from_ne_bytes(count) } else { 0 }
    }

    #[test]
    fn each_signal_arrives_however_many_there_were() {
        let (signal, to) = signal();
        assert_eq!(count(&to), 0);
        for sent in [1, 10, 10_000] {
            (0..sent).for_each(|_| signal.send());
            assert_eq!(count(&to), sent);
        }
    }

    #[test]
    fn one_that_is_full_and_makes_writing_wait_holds_up_nobody() {
        let (signal, to) = signal();
        let full = (u64::MAX - 1).to_ne_bytes();
        // SAFETY: a descriptor and eight octets of ours.
        unsafe {
            // What a peer can do at any time.
            libc::fcntl(to.as_raw_fd(), libc::F_SETFL, 0);
            libc::write(to.as_raw_fd(), full.as_ptr().cast(), 8);
        }
        (0..1000).for_each(|_| signal.send());
        assert!(count(&to) >= u64::MAX - 1);
    }

    #[test]
    fn threads_signal_side_by_side() {
        let (signal, to) = signal();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| signal.send()));
            }
        });
        assert_eq!(count(&to), 4000);
    }
}
