//! Next hops that routes resolve through other routes: what each resolved to, and who uses it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::route::Path;
use crate::{Address, Prefix};

/// What an address resolves to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Length of the route that matched.
    pub(super) length: u8,
    /// The neighbours that lead there; none if the route that matched leads nowhere.
    pub(super) paths: Option<Arc<[Path]>>,
}

/// A next hop in use.
#[derive(Debug)]
pub(super) struct Hop<A: Address> {
    pub(super) found: Option<Found>,
    users: BTreeSet<Prefix<A>>,
}

/// All next hops in use, by address.
#[derive(Debug)]
pub(super) struct Hops<A: Address>(BTreeMap<A, Hop<A>>);

impl<A: Address> Hops<A> {
    pub(super) fn new() -> Hops<A> {
        Hops(BTreeMap::new())
    }

    /// What `address` resolves to, as last found.
    pub(super) fn found(&self, address: A) -> Option<&Found> {
        self.0.get(&address)?.found.as_ref()
    }

    /// Says that `user` has `address` as next hop; true if nobody had.
    pub(super) fn join(&mut self, address: A, user: Prefix<A>) -> bool {
        let new = !self.0.contains_key(&address);
        let hop = self.0.entry(address).or_insert(Hop { found: None, users: BTreeSet::new() });
        hop.users.insert(user);
        new
    }

    /// Says that `user` has `address` as next hop no longer.
    pub(super) fn leave(&mut self, address: A, user: Prefix<A>) {
        if let Some(hop) = self.0.get_mut(&address) {
            hop.users.remove(&user);
            if hop.users.is_empty() {
                self.0.remove(&address);
            }
        }
    }

    /// The next hops that lie in `prefix`.
    pub(super) fn within(&self, prefix: Prefix<A>) -> Vec<A> {
        let last = prefix.address() | !A::mask(prefix.length());
        self.0.range(prefix.address()..=last).map(|(address, _)| *address).collect()
    }

    /// Stores what `address` resolves to; true if that is new.
    pub(super) fn set_found(&mut self, address: A, found: Option<Found>) -> bool {
        match self.0.get_mut(&address) {
            Some(hop) if hop.found != found => {
                hop.found = found;
                true
            }
            _ => false,
        }
    }

    /// The next `most` users of `address` from `from` on, and where to go on.
    pub(super) fn users(
        &self,
        address: A,
        from: Prefix<A>,
        most: usize,
    ) -> (Vec<Prefix<A>>, Option<Prefix<A>>) {
        let Some(hop) = self.0.get(&address) else { return (Vec::new(), None) };
        let mut users = hop.users.range(from..).copied();
        (users.by_ref().take(most).collect(), users.next())
    }
}
