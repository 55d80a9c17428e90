//! The IPv4 table as plainly as it can be said: what the fast one must agree with.

use std::collections::HashMap;

use crate::{Forward, Ip4Prefix, Prefix};

/// Routes in a hash map; a lookup tries every length, longest first.
#[derive(Debug, Default)]
pub struct NaiveIp4 {
    routes: HashMap<Ip4Prefix, Forward>,
}

impl NaiveIp4 {
    /// An empty table.
    pub fn new() -> NaiveIp4 {
        NaiveIp4::default()
    }

    /// Adds or replaces a route, and returns what it forwarded to before.
    pub fn insert(&mut self, prefix: Ip4Prefix, to: Forward) -> Option<Forward> {
        self.routes.insert(prefix, to)
    }

    /// Removes a route, and returns what it forwarded to.
    pub fn remove(&mut self, prefix: Ip4Prefix) -> Option<Forward> {
        self.routes.remove(&prefix)
    }

    /// The longest route that holds `address`.
    pub fn find(&self, address: u32) -> Option<(Ip4Prefix, Forward)> {
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
    pub fn lookup(&self, address: u32) -> Forward {
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
    pub fn routes(&self) -> impl Iterator<Item = (Ip4Prefix, Forward)> + '_ {
        self.routes.iter().map(|(prefix, to)| (*prefix, *to))
    }
}
