//! Where networks of other sites are, as the configuration or an answer said (RFC 9300, section 3).
//!
//! What is given hides what was learned of the same network. What was learned is forgotten when its
//! time is over, and what is not used makes no room: when as many are known as are allowed, no more
//! are learned.

use crate::MINUTE;
use std::collections::BTreeMap;
use wire::lisp::{Action, Eid, Locator, MapRecord, ttl};

/// The longest that an answer is believed: a day.
const MOST_MINUTES: u32 = 24 * 60;

/// How a network is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Given.
    Static,
    /// Answered.
    Learned,
}

/// What is known of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where it is reached.
    pub locators: Vec<Locator>,
    /// What becomes of packets where it is reached nowhere.
    pub action: Action,
    /// When it is forgotten; never, if none.
    pub expires_ns: Option<u64>,
}

/// What an answer brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learned {
    /// Something else than was known.
    Changed,
    /// What was known.
    Same,
    /// Nothing: there is no room.
    Full,
}

/// The networks of all instances.
#[derive(Default)]
pub struct MapCache {
    given: BTreeMap<Eid, Entry>,
    learned: BTreeMap<Eid, Entry>,
}

impl MapCache {
    /// Other networks are given from now on. Says whether that changes anything.
    pub fn give(&mut self, given: BTreeMap<Eid, Entry>) -> bool {
        let differs = self.given != given;
        self.given = given;
        differs
    }

    /// Learns what an answer said, if `most` allow it.
    pub fn learn(&mut self, now_ns: u64, record: &MapRecord, most: usize) -> Learned {
        if record.ttl_minutes == 0 {
            let was = self.learned.remove(&record.eid);
            return if was.is_some() { Learned::Changed } else { Learned::Same };
        }
        let known = self.learned.get_mut(&record.eid);
        let minutes = match record.ttl_minutes {
            ttl::ANY => MOST_MINUTES,
            minutes => minutes.min(MOST_MINUTES),
        };
        let expires_ns = Some(now_ns + u64::from(minutes) * MINUTE);
        if let Some(known) = known {
            known.expires_ns = expires_ns;
            if known.locators == record.locators && known.action == record.action {
                return Learned::Same;
            }
            (known.locators, known.action) = (record.locators.clone(), record.action);
            return Learned::Changed;
        }
        if self.learned.len() >= most {
            return Learned::Full;
        }
        let (locators, action) = (record.locators.clone(), record.action);
        self.learned.insert(record.eid, Entry { locators, action, expires_ns });
        Learned::Changed
    }

    /// Knows again what another process had learned, if `most` allow it and its time is not over.
    /// What was learned since counts.
    pub fn recall(
        &mut self,
        now_ns: u64,
        eid: Eid,
        left_ns: u64,
        entry: Entry,
        most: usize,
    ) -> bool {
        let longest = u64::from(MOST_MINUTES) * MINUTE;
        if left_ns == 0 || self.learned.len() >= most || self.learned.contains_key(&eid) {
            return false;
        }
        let expires_ns = Some(now_ns + left_ns.min(longest));
        self.learned.insert(eid, Entry { expires_ns, ..entry });
        true
    }

    /// What was learned, hidden or not.
    pub fn learned(&self) -> impl Iterator<Item = (&Eid, &Entry)> {
        self.learned.iter()
    }

    /// Forgets what is too old; says whether anything was.
    pub fn expire(&mut self, now_ns: u64) -> bool {
        let before = self.learned.len();
        self.learned.retain(|_, it| it.expires_ns.is_none_or(|expires| expires > now_ns));
        self.learned.len() != before
    }

    /// Forgets what was learned of other instances than these; says whether anything was.
    pub fn keep(&mut self, is_kept: impl Fn(u32) -> bool) -> bool {
        let before = self.learned.len();
        self.learned.retain(|eid, _| is_kept(eid.instance()));
        self.learned.len() != before
    }

    /// When something is forgotten next.
    pub fn next_due_ns(&self) -> Option<u64> {
        self.learned.values().filter_map(|it| it.expires_ns).min()
    }

    /// Every network, as what is known of it now.
    pub fn each(&self) -> impl Iterator<Item = (&Eid, Origin, &Entry)> {
        let learned = self.learned.iter().filter(|(eid, _)| !self.given.contains_key(eid));
        let given = self.given.iter().map(|(eid, entry)| (eid, Origin::Static, entry));
        given.chain(learned.map(|(eid, entry)| (eid, Origin::Learned, entry)))
    }

    /// Those that were learned and have an address in common with a network.
    pub fn learned_in(&self, network: &Eid) -> Vec<Eid> {
        self.learned.keys().filter(|eid| eid.overlaps(network)).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eid(second: u8) -> Eid {
        Eid::new(0, [10, second, 0, 0].into(), 16).unwrap()
    }

    fn record(second: u8, ttl_minutes: u32, last: u8) -> MapRecord {
        MapRecord {
            ttl_minutes,
            eid: eid(second),
            action: Action::None,
            is_authoritative: true,
            locators: vec![Locator::new([192, 0, 2, last].into(), 1, 1)],
        }
    }

    fn locators(cache: &MapCache) -> Vec<(Origin, String)> {
        let text = |it: &Entry| it.locators[0].address.unwrap().to_string();
        cache.each().map(|(_, origin, entry)| (origin, text(entry))).collect()
    }

    #[test]
    fn what_is_learned_is_forgotten_when_its_time_is_over_and_not_before() {
        let mut cache = MapCache::default();
        assert_eq!(cache.learn(0, &record(2, 3, 2), 9), Learned::Changed);
        assert_eq!(cache.next_due_ns(), Some(3 * MINUTE));
        assert!(!cache.expire(3 * MINUTE - 1));
        // Said again it lasts longer.
        assert_eq!(cache.learn(MINUTE, &record(2, 3, 2), 9), Learned::Same);
        assert!(!cache.expire(3 * MINUTE) && cache.expire(4 * MINUTE));
        assert_eq!(cache.each().count(), 0);
        cache.learn(0, &record(2, ttl::ANY, 2), 9);
        assert_eq!(cache.next_due_ns(), Some(24 * 60 * MINUTE));
        assert_eq!(cache.learn(0, &record(2, 0, 2), 9), Learned::Changed);
        assert_eq!(cache.each().count(), 0);
    }

    #[test]
    fn what_is_given_hides_what_was_learned_and_gives_way_to_it_again() {
        let mut cache = MapCache::default();
        cache.learn(0, &record(2, 3, 2), 9);
        let given = Entry {
            locators: vec![Locator::new([192, 0, 2, 9].into(), 1, 1)],
            action: Action::None,
            expires_ns: None,
        };
        assert!(cache.give(BTreeMap::from([(eid(2), given.clone())])));
        assert!(!cache.give(BTreeMap::from([(eid(2), given)])));
        assert_eq!(locators(&cache), [(Origin::Static, "192.0.2.9".to_owned())]);
        assert!(cache.give(BTreeMap::new()));
        assert_eq!(locators(&cache), [(Origin::Learned, "192.0.2.2".to_owned())]);
    }

    #[test]
    fn what_another_process_learned_is_known_for_the_rest_of_its_time_and_no_longer() {
        let mut cache = MapCache::default();
        let entry = |last| Entry {
            locators: vec![Locator::new([192, 0, 2, last].into(), 1, 1)],
            action: Action::None,
            expires_ns: None,
        };
        assert!(cache.recall(MINUTE, eid(2), 2 * MINUTE, entry(2), 9));
        assert!(!cache.recall(MINUTE, eid(3), 0, entry(2), 9), "its time was over");
        assert!(!cache.recall(MINUTE, eid(2), MINUTE, entry(4), 9), "it is known");
        assert!(!cache.recall(MINUTE, eid(4), MINUTE, entry(4), 1), "there is no room");
        assert_eq!(locators(&cache), [(Origin::Learned, "192.0.2.2".to_owned())]);
        assert_eq!(cache.next_due_ns(), Some(3 * MINUTE));
        // Whoever says that it lasts for ever is believed for a day.
        assert!(cache.recall(MINUTE, eid(5), u64::MAX, entry(5), 9));
        assert!(cache.expire(24 * 60 * MINUTE + MINUTE));
        assert_eq!(cache.learned().count(), 0);
    }

    #[test]
    fn no_more_are_learned_than_are_allowed_and_those_known_may_change() {
        let mut cache = MapCache::default();
        assert_eq!(cache.learn(0, &record(2, 3, 2), 1), Learned::Changed);
        assert_eq!(cache.learn(0, &record(3, 3, 2), 1), Learned::Full);
        assert_eq!(cache.learn(0, &record(2, 3, 4), 1), Learned::Changed);
        assert_eq!(locators(&cache), [(Origin::Learned, "192.0.2.4".to_owned())]);
        assert!(cache.keep(|_| false));
    }
}
