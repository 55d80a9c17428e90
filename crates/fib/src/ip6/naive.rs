//! The IPv6 table as plainly as it can be said: what the fast one must agree with.

use std::collections::HashMap;

use crate::{Forward, Ip6Prefix, Prefix};

/// Routes in a hash map; a lookup tries every length, longest first.
#[derive(Debug, Default)]
pub struct NaiveIp6 {
    routes: HashMap<Ip6Prefix, Forward>,
}

impl NaiveIp6 {
    /// An empty table.
    pub fn new() -> NaiveIp6 {
        NaiveIp6::default()
    }

    /// Adds or replaces a route, and returns what it forwarded to before.
    pub fn insert(&mut self, prefix: Ip6Prefix, to: Forward) -> Option<Forward> {
        self.routes.insert(prefix, to)
    }

    /// Removes a route, and returns what it forwarded to.
    pub fn remove(&mut self, prefix: Ip6Prefix) -> Option<Forward> {
        self.routes.remove(&prefix)
    }

    /// The longest route that holds `address`.
    pub fn find(&self, address: u128) -> Option<(Ip6Prefix, Forward)> {
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
    pub fn lookup(&self, address: u128) -> Forward {
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
    pub fn routes(&self) -> impl Iterator<Item = (Ip6Prefix, Forward)> + '_ {
        self.routes.iter().map(|(prefix, to)| (*prefix, *to))
    }
}
