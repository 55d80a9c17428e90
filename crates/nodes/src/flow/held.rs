//! Verdicts of the vector at hand.

use flow::{Cache, Found, Verdict};
use std::sync::Arc;

/// Verdicts that a vector's packets had last, held so that the cache may change meanwhile: most
/// have one of two, before tracking and behind it, and a counter that all workers share is not
/// touched for each.
#[derive(Default)]
pub(super) struct Held {
    verdicts: [Option<Arc<Verdict>>; 2],
    next: usize,
}

impl Held {
    /// What a packet comes to, if that is still known.
    #[inline]
    pub(super) fn verdict(&mut self, cache: &Cache, found: Found) -> Option<&Verdict> {
        let verdict = cache.verdict(found)?;
        let is_it = |held: &Option<Arc<Verdict>>| {
            held.as_ref().is_some_and(|held| Arc::ptr_eq(held, verdict))
        };
        let at = self.verdicts.iter().position(is_it).unwrap_or_else(|| {
            let at = self.next;
            self.next = (at + 1) % self.verdicts.len();
            self.verdicts[at] = Some(Arc::clone(verdict));
            at
        });
        self.verdicts[at].as_deref()
    }
}
