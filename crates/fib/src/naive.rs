//! A table of prefixes as plainly as it can be said: what the fast ones must agree with.

use std::collections::HashMap;

use crate::{Address, Forward, Prefix};

/// Routes in a hash map; a lookup tries every length, longest first.
#[derive(Debug)]
pub struct Naive<A: Address> {
    routes: HashMap<Prefix<A>, Forward>,
}

impl<A: Address> Default for Naive<A> {
    fn default() -> Self {
        Self { routes: HashMap::new() }
    }
}

impl<A: Address> Naive<A> {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds or replaces a route, and returns what it forwarded to before.
    pub fn insert(&mut self, prefix: Prefix<A>, to: Forward) -> Option<Forward> {
        self.routes.insert(prefix, to)
    }

    /// Removes a route, and returns what it forwarded to.
    pub fn remove(&mut self, prefix: Prefix<A>) -> Option<Forward> {
        self.routes.remove(&prefix)
    }

    /// The longest route that holds `address`.
    pub fn find(&self, address: A) -> Option<(Prefix<A>, Forward)> {
        let mut prefix = Some(Prefix::host(address));
        while let Some(tried) = prefix {
            if let Some(to) = self.routes.get(&tried) {
                return Some((tried, *to));
            }
            prefix = tried.parent();
        }
        None
    }

    /// What `address` forwards to.
    pub fn lookup(&self, address: A) -> Forward {
        self.find(address).map_or(Forward::NONE, |(_, to)| to)
    }

    /// How many routes it holds.
    pub fn len(&self) -> usize {
        self.routes.len()
    }

    /// Whether it holds no route.
    pub fn is_empty(&self) -> bool {
        self.routes.is_empty()
    }

    /// All routes, in no order.
    pub fn routes(&self) -> impl Iterator<Item = (Prefix<A>, Forward)> + '_ {
        self.routes.iter().map(|(prefix, to)| (*prefix, *to))
    }
}
