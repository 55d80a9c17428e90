//! Network namespaces: what is opened inside one stays of it, wherever it is used from.
//!
//! ```text
//!  our thread ──▶ a thread that enters the namespace, opens, ends ──▶ what it opened
//! ```

use crate::KernelError;
use rustix::fs::{Mode, OFlags};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fmt;
use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;

/// Where `ip netns` keeps them.
const NAMED: &str = "/run/netns";

/// A network namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Namespace(Option<String>);

impl Namespace {
    /// The one of this name (as `ip netns` lists it), or at this path; none: our own.
    pub fn new(name: Option<&str>) -> Self {
        Self(name.map(str::to_owned))
    }

    /// Its name, if it is not our own.
    pub fn name(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// Does `work` inside it.
    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, KernelError> {
        let Some(name) = &self.0 else { return Ok(work()) };
        let path = if name.contains('/') { name.into() } else { PathBuf::from(NAMED).join(name) };
        let inside = || {
            // Of a pipe there may be nobody at the other end to wait for.
            let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
            let namespace = rustix::fs::open(&path, flags, Mode::empty())?;
            move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
            Ok::<T, io::Error>(work())
        };
        let ended = || Err(io::Error::other("the thread that was to enter it ended"));
        let outcome =
            std::thread::scope(|scope| scope.spawn(inside).join().unwrap_or_else(|_| ended()));
        outcome.map_err(|why| KernelError::Namespace { name: name.clone(), why })
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_deref().unwrap_or("-"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_needs_no_entering_and_one_that_is_not_there_is_told() {
        assert_eq!(Namespace::default().run(|| 7).unwrap(), 7);
        let missing = Namespace::new(Some("no-such-namespace")).run(|| 7).unwrap_err().to_string();
        assert!(missing.starts_with("network namespace `no-such-namespace`: No such file"));
    }
}
