//! How long another thread of this process has had a processor: what the machine gives to others
//! meanwhile does not count.

#![allow(unsafe_code)] // Reading a thread's clock is a call that the compiler cannot check.

use std::time::Duration;
use std::{fs, io};

/// A thread's processor-time clock.
#[derive(Clone, Copy)]
pub(crate) struct ThreadTime(libc::clockid_t);

impl ThreadTime {
    /// The clock of the thread that has this name; of several, that of the latest.
    pub(crate) fn of(name: &str) -> io::Result<Self> {
        let mut latest = None;
        for thread in fs::read_dir("/proc/self/task")? {
            let folder = thread?.path();
            let number = folder.file_name().and_then(|number| number.to_str()?.parse::<i32>().ok());
            if let Some(number) = number
                // One that ended meanwhile has no name any more.
                && fs::read_to_string(folder.join("comm")).is_ok_and(|comm| comm.trim() == name)
            {
                latest = latest.max(Some(number));
            }
        }
        // As Linux numbers them: the thread's id inverted, then "of one thread", "scheduled".
        latest.map(|number| Self((!number << 3) | 0b110)).ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, format!("no thread is named {name}"))
        })
    }

    /// That of the thread that asks.
    pub(crate) fn of_this() -> Self {
        Self(libc::CLOCK_THREAD_CPUTIME_ID)
    }

    /// What it has had.
    pub(crate) fn now(self) -> Duration {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the call writes the structure it is given, and nothing else.
        unsafe { libc::clock_gettime(self.0, &mut time) };
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_thread_has_time_while_it_works_and_none_while_it_waits() {
        let (go_on, until) = mpsc::channel::<Duration>();
        let (done, worked) = mpsc::channel();
        let thread = std::thread::Builder::new().name("clocked".into()).spawn(move || {
            let clock = ThreadTime::of("clocked").unwrap();
            for wanted in until {
                let start = clock.now();
                while clock.now() - start < wanted {
                    std::hint::spin_loop();
                }
                done.send(()).unwrap();
            }
        });
        let work = Duration::from_millis(5);
        go_on.send(Duration::ZERO).unwrap();
        worked.recv().unwrap();
        let clock = ThreadTime::of("clocked").unwrap();
        let before = clock.now();
        go_on.send(work).unwrap();
        worked.recv().unwrap();
        assert!(clock.now() - before >= work);
        drop(go_on);
        thread.unwrap().join().unwrap();
        assert!(ThreadTime::of("nobody").is_err());
    }
}
