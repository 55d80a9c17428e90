//! Words of the forwarding table in front of their routes, which follow: what a router before this
//! one forwarded goes on before its million routes are in the RIB.
//!
//! ```text
//!  target 7 ── resolved once, by what the RIB knows ──▶ word ─▶ table, for each of its prefixes
//! ```
//! A word has its users counted as any other. When its route comes and says the same, nothing is
//! written; a word whose route does not come is taken out by whoever foretold it.

use super::family::{Family, Table};
use super::vrf::InVrf;
use fib::rib::{Route, Target};
use fib::{FibError, Forward, Prefix};
use std::collections::HashMap;

/// The words of targets, by number.
pub(crate) struct Foretold<A: Family> {
    words: HashMap<u32, Option<Forward>>,
    last: Option<Prefix<A>>,
}

impl<A: Family> Default for Foretold<A> {
    fn default() -> Self {
        Self { words: HashMap::new(), last: None }
    }
}

impl<A: Family> InVrf<'_, A> {
    /// Writes what a route to this target will come to, unless the prefix has a route, or the one
    /// foretold just before was for it: of several the best comes first.
    pub(crate) fn foretell(
        &mut self,
        prefix: Prefix<A>,
        (number, target): (u32, &Target),
        foretold: &mut Foretold<A>,
    ) -> Result<(), FibError> {
        if foretold.last == Some(prefix) || self.routes.rib.active(prefix).is_some() {
            return Ok(());
        }
        let holds = |hop: &fib::rib::NextHop| {
            hop.address.and_then(A::from_ip).is_some_and(|address| prefix.contains(address))
        };
        // A next hop in the prefix itself is none by the prefix.
        let word = match foretold.words.get(&number) {
            Some(word) if !target.hops().iter().any(holds) => *word,
            _ => {
                let resolved = self.routes.rib.resolve(prefix, &Route { target: target.clone() });
                let word = match &resolved {
                    Some(to) => self.ways.to(to, || self.routes.table.get(prefix), self.link)?,
                    None => None,
                };
                foretold.words.insert(number, word);
                word
            }
        };
        if word.is_some() {
            foretold.last = Some(prefix);
            self.write(prefix, word, false)?;
        }
        Ok(())
    }
}
