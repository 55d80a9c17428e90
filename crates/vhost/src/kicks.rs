//! What a peer kicks its rings by, for workers that rest until it does.
//!
//! ```text
//!  guard ─ the peer's eventfds, as they come and go ─▶ Kicks ─▶ a worker that rests: its ring's eventfd,
//!                                                              and a bell for when that is another
//! ```
//! The library reads none of them: it is polled.

use memif::bell::Bell;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};

/// See the module.
#[derive(Debug)]
pub struct Kicks(Box<[Kick]>);

#[derive(Debug)]
struct Kick {
    fd: Mutex<Option<Arc<OwnedFd>>>,
    changed: Bell,
}

impl Kicks {
    /// Of so many rings, by which nobody kicks yet.
    pub(crate) fn new(rings: u32) -> io::Result<Self> {
        let kick = |_| Ok(Kick { fd: Mutex::default(), changed: Bell::new()? });
        (0..rings).map(kick).collect::<io::Result<_>>().map(Self)
    }

    /// What a ring is kicked by, if by anything.
    pub fn of(&self, ring: usize) -> Option<Arc<OwnedFd>> {
        let kick = self.0.get(ring)?;
        kick.fd.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Rung when that is another, or something else is to be seen to.
    pub fn changed(&self, ring: usize) -> Option<&Bell> {
        self.0.get(ring).map(|kick| &kick.changed)
    }

    /// Has all who rest look again.
    pub fn ring_all(&self) {
        self.0.iter().for_each(|kick| kick.changed.ring());
    }

    pub(crate) fn set(&self, ring: u32, fd: Option<OwnedFd>) {
        if let Some(kick) = self.0.get(ring as usize) {
            *kick.fd.lock().unwrap_or_else(PoisonError::into_inner) = fd.map(Arc::new);
            kick.changed.ring();
        }
    }

    pub(crate) fn clear(&self) {
        (0..self.0.len() as u32).for_each(|ring| self.set(ring, None));
    }
}
