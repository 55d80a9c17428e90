//! What was said and heard, counted.

use std::collections::BTreeMap;

/// Messages, by what they are and what became of them.
#[derive(Default)]
pub(super) struct Told(BTreeMap<&'static str, u64>);

impl Told {
    /// One more.
    pub(super) fn count(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }

    /// All, by name.
    pub(super) fn each(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.0.iter().map(|(what, count)| (*what, *count))
    }
}
