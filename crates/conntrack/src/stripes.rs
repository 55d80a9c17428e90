//! Small locks for who makes connections, taken by trying.

use std::sync::atomic::{AtomicBool, Ordering};

/// How many there are: two workers that make connections at once seldom want the same.
const STRIPES: usize = 4096;
/// How often one is tried: some microseconds. Who holds one holds it for less, unless its thread
/// was stopped.
const TRIES: usize = 2048;

/// See the module.
#[derive(Debug)]
pub(crate) struct Stripes(Box<[AtomicBool]>);

/// One that is held.
#[derive(Debug)]
pub(crate) struct Held<'a>(Option<&'a AtomicBool>);

impl Stripes {
    pub(crate) fn new() -> Self {
        Self((0..STRIPES).map(|_| AtomicBool::new(false)).collect())
    }

    /// The one of a hash, unless another has it for long. One that `beside` holds is held.
    pub(crate) fn hold(&self, hash: u64, beside: Option<&Held<'_>>) -> Option<Held<'_>> {
        let stripe = &self.0[hash as usize % STRIPES];
        if beside.and_then(|held| held.0).is_some_and(|held| std::ptr::eq(held, stripe)) {
            return Some(Held(None));
        }
        for _ in 0..TRIES {
            let is_free = !stripe.load(Ordering::Relaxed);
            if is_free && !stripe.swap(true, Ordering::Acquire) {
                return Some(Held(Some(stripe)));
            }
            std::hint::spin_loop();
        }
        None
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Some(stripe) = self.0 {
            stripe.store(false, Ordering::Release);
        }
    }
}
