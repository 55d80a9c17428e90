//! The MAC table as plainly as it can be said: what the fast one must agree with.

use std::collections::HashMap;

use super::{Learned, MacEntry, MacFlush, MacKey};

/// Entries in a hash map, each with the tick it was last seen at.
#[derive(Debug, Default)]
pub struct NaiveMac {
    entries: HashMap<MacKey, (MacEntry, u32)>,
    max_age_ticks: Option<u32>,
    limits: HashMap<u16, u32>,
}

impl NaiveMac {
    /// An empty table.
    pub fn new() -> NaiveMac {
        NaiveMac::default()
    }

    /// Sets for how many ticks an entry holds.
    pub fn set_max_age(&mut self, ticks: Option<u32>) {
        self.max_age_ticks = ticks;
    }

    /// Sets how many entries `domain` may have.
    pub fn set_domain_limit(&mut self, domain: u16, limit: u32) {
        self.limits.insert(domain, limit);
    }

    /// How many entries `domain` has.
    pub fn domain_len(&self, domain: u16) -> u32 {
        self.entries.keys().filter(|key| key.domain() == domain).count() as u32
    }

    fn is_live(&self, (entry, seen): &(MacEntry, u32), now: u32) -> bool {
        entry.is_static || self.max_age_ticks.is_none_or(|age| now - seen <= age)
    }

    /// Where `key` is, at tick `now`.
    pub fn lookup(&self, key: MacKey, now: u32) -> Option<MacEntry> {
        let held = self.entries.get(&key).filter(|held| self.is_live(held, now));
        held.map(|(entry, _)| *entry)
    }

    /// Notes that `key` was seen on `port`.
    pub fn learn(&mut self, key: MacKey, port: u32, now: u32) -> Learned {
        if !key.is_station() {
            return Learned::NoStation;
        }
        let learned = match self.entries.get(&key) {
            Some((old, _)) if old.is_static && old.port == port => return Learned::Known,
            Some((old, _)) if old.is_static => return Learned::Fixed { on: old.port },
            Some(held) if !self.is_live(held, now) => Learned::New,
            Some((old, _)) if old.port == port => Learned::Known,
            Some((old, _)) => Learned::Moved { from: old.port },
            None => {
                let limit = self.limits.get(&key.domain()).copied().unwrap_or(u32::MAX);
                if self.domain_len(key.domain()) >= limit {
                    return Learned::DomainFull;
                }
                Learned::New
            }
        };
        self.entries.insert(key, (MacEntry { port, is_static: false }, now));
        learned
    }

    /// Adds or replaces a configured entry, and returns what was there.
    pub fn insert_static(&mut self, key: MacKey, port: u32) -> Option<MacEntry> {
        let old = self.entries.insert(key, (MacEntry { port, is_static: true }, 0));
        old.map(|(entry, _)| entry)
    }

    /// Takes one entry out, and returns it.
    pub fn remove(&mut self, key: MacKey) -> Option<MacEntry> {
        self.entries.remove(&key).map(|(entry, _)| entry)
    }

    /// Takes out what expired; says how many.
    pub fn sweep(&mut self, now: u32) -> usize {
        self.retain(|twin, _, held| twin.is_live(held, now))
    }

    /// Takes out all learned entries that `flush` names; says how many.
    pub fn flush(&mut self, flush: MacFlush) -> usize {
        self.retain(|_, key, (entry, _)| {
            entry.is_static
                || match flush {
                    MacFlush::Port(port) => entry.port != port,
                    MacFlush::Domain(domain) => key.domain() != domain,
                    MacFlush::All => false,
                }
        })
    }

    fn retain(&mut self, keep: impl Fn(&NaiveMac, MacKey, &(MacEntry, u32)) -> bool) -> usize {
        let mut entries = std::mem::take(&mut self.entries);
        let before = entries.len();
        entries.retain(|key, held| keep(self, *key, held));
        self.entries = entries;
        before - self.entries.len()
    }

    /// All entries, in no order.
    pub fn entries(&self) -> impl Iterator<Item = (MacKey, MacEntry)> + '_ {
        self.entries.iter().map(|(key, (entry, _))| (*key, *entry))
    }

    /// How many entries it has.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it has no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
