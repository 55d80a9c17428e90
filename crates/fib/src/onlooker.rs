//! A thread that only looks: what others note in tables when they read them, it does not.
//!
//! ```text
//!  worker     leaves by an adjacency ─▶ marks it used       hears a station ─▶ learns it
//!  onlooker   leaves by an adjacency                        hears a station ─▶ says what would be learned
//! ```
//! Tables ask only where they are about to write, which is rare: workers pay nothing for it.

use std::cell::Cell;
use std::marker::PhantomData;

thread_local! {
    static LOOKS: Cell<u32> = const { Cell::new(0) };
}

/// As long as it is there, its thread only looks.
#[derive(Debug)]
pub struct Onlooker {
    /// It stays on its thread.
    not_send: PhantomData<*const ()>,
}

impl Onlooker {
    /// From now on this thread only looks.
    #[must_use]
    pub fn new() -> Self {
        LOOKS.with(|looks| looks.set(looks.get() + 1));
        Self { not_send: PhantomData }
    }
}

impl Default for Onlooker {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Onlooker {
    fn drop(&mut self) {
        LOOKS.with(|looks| looks.set(looks.get() - 1));
    }
}

/// Whether this thread only looks. To be asked where something is about to be written, or once for
/// many packets.
#[cold]
#[inline(never)]
pub fn only_looks() -> bool {
    LOOKS.with(Cell::get) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_looks_until_its_last_onlooker_goes_and_others_do_not() {
        assert!(!only_looks());
        let outer = Onlooker::new();
        {
            let _inner = Onlooker::default();
            assert!(only_looks());
            assert!(!std::thread::spawn(only_looks).join().unwrap());
        }
        assert!(only_looks());
        drop(outer);
        assert!(!only_looks());
    }
}
