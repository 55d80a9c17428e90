//! Who has which address in bridges that answer ARP: configured, and learned from what passes.
//!
//! ```text
//!  configuration ─┐
//!  workers' news ─┴▶ Binding ── at most ten times a second, if anything changed ──▶ workers
//! ```
//! A bridge that is full gives up the bindings of stations that it does not know any more.

use crate::router::Router;
use control::config::objects::bridge::Bridge;
use fib::mac::{MacKey, MacTable};
use nodes::plumbing::{BindingNews, Bindings, BridgeId};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Most learned bindings of a bridge.
pub(crate) const MOST_LEARNED: usize = 4096;
/// Between two publications.
const PERIOD: Duration = Duration::from_millis(100);

/// The bindings of all bridges.
#[derive(Default)]
pub(crate) struct Binding {
    fixed: BTreeMap<(BridgeId, u32), [u8; 6]>,
    learned: BTreeMap<(BridgeId, u32), [u8; 6]>,
    changed: bool,
    published: Option<Instant>,
}

impl Binding {
    /// Makes the bindings of a bridge those of its configuration; of one that answers no ARP any
    /// more, none.
    pub(crate) fn set(&mut self, bridge: BridgeId, config: Option<&Bridge>) {
        self.fixed.retain(|key, _| key.0 != bridge);
        let config = config.filter(|config| config.answer_arp);
        for binding in config.into_iter().flat_map(|config| &config.bindings) {
            self.fixed.insert((bridge, binding.address.into()), binding.mac.0);
        }
        if config.is_none() {
            self.learned.retain(|key, _| key.0 != bridge);
        }
        self.changed = true;
    }

    /// Learns a binding, if there is room: `is_known` tells whether a station still is.
    pub(crate) fn learn(&mut self, news: &BindingNews, is_known: impl Fn(MacKey) -> bool) {
        let key = (news.bridge, news.address);
        let of_bridge = (news.bridge, 0)..=(news.bridge, u32::MAX);
        let is_full = || self.learned.range(of_bridge.clone()).count() >= MOST_LEARNED;
        if !self.learned.contains_key(&key) && is_full() {
            let stays = |bridge: BridgeId, mac: [u8; 6]| {
                bridge != news.bridge || is_known(MacKey::new(bridge.0, mac))
            };
            self.learned.retain(|key, mac| stays(key.0, *mac));
            if self.learned.range(of_bridge).count() >= MOST_LEARNED {
                return;
            }
        }
        self.changed |= self.learned.insert(key, news.mac) != Some(news.mac);
    }

    /// How many bindings a bridge has.
    pub(crate) fn count(&self, bridge: BridgeId) -> usize {
        let of = |key: &(BridgeId, u32)| key.0 == bridge;
        let new = self.learned.keys().filter(|key| !self.fixed.contains_key(key));
        self.fixed.keys().filter(|key| of(key)).count() + new.filter(|key| of(key)).count()
    }

    /// What workers are to know, if that changed and it is time.
    fn due(&mut self, now: Instant) -> Option<Bindings> {
        let early = self.published.is_some_and(|last| now.duration_since(last) < PERIOD);
        if !self.changed || early {
            return None;
        }
        (self.changed, self.published) = (false, Some(now));
        // What is configured overrides what was heard.
        let all = self.learned.iter().chain(&self.fixed);
        Some(all.map(|(key, mac)| (*key, *mac)).collect())
    }
}

impl Router {
    /// Learns who has an address.
    pub(crate) fn binding_heard(&mut self, news: &BindingNews) {
        let answers =
            self.bridging.bridges.values().any(|it| it.id == news.bridge && it.config.answer_arp);
        if answers {
            let stations = &self.dataplane.stations;
            let is_known = |key| is_known(&stations.table, key, stations.now());
            self.binding.learn(news, is_known);
        }
    }

    /// Tells workers what changed.
    pub(crate) fn publish_bindings(&mut self, now: Instant) {
        if let Some(bindings) = self.binding.due(now) {
            self.dataplane.set_bindings(bindings);
        }
    }
}

fn is_known(table: &MacTable, station: MacKey, tick: u32) -> bool {
    table.lookup(station, tick).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::config::objects::bridge::BoundAddress;
    use wire::MacAddr;

    const LAN: BridgeId = BridgeId(1);

    fn news(address: u32, last: u8) -> BindingNews {
        BindingNews { bridge: LAN, address, mac: [2, 0, 0, 0, 0, last] }
    }

    fn published(binding: &mut Binding, address: u32) -> Option<u8> {
        let later = Instant::now() + PERIOD * 2;
        binding.published = None;
        binding.changed = true;
        binding.due(later).unwrap().get(LAN, address).map(|mac| mac[5])
    }

    #[test]
    fn what_is_configured_overrides_what_is_heard() {
        let mut binding = Binding::default();
        binding.learn(&news(7, 1), |_| true);
        assert_eq!(published(&mut binding, 7), Some(1));
        binding.learn(&news(7, 2), |_| true);
        assert_eq!((published(&mut binding, 7), binding.count(LAN)), (Some(2), 1));
        let mac = MacAddr([2, 0, 0, 0, 0, 9]);
        let fixed = BoundAddress { address: 7.into(), mac };
        let config = Bridge { answer_arp: true, bindings: vec![fixed], ..Bridge::default() };
        binding.set(LAN, Some(&config));
        assert_eq!((published(&mut binding, 7), binding.count(LAN)), (Some(9), 1));
        binding.set(LAN, Some(&Bridge::default()));
        assert_eq!((published(&mut binding, 7), binding.count(LAN)), (None, 0));
    }

    #[test]
    fn nothing_is_published_twice_nor_too_often() {
        let mut binding = Binding::default();
        let start = Instant::now();
        assert!(binding.due(start).is_none());
        binding.learn(&news(7, 1), |_| true);
        assert!(binding.due(start).is_some() && binding.due(start + PERIOD).is_none());
        binding.learn(&news(8, 1), |_| true);
        assert!(binding.due(start + PERIOD / 2).is_none() && binding.due(start + PERIOD).is_some());
    }

    #[test]
    fn a_full_bridge_gives_up_stations_that_are_gone() {
        let mut binding = Binding::default();
        for address in 0..MOST_LEARNED as u32 {
            binding.learn(&news(address + 1, address as u8), |_| true);
        }
        binding.learn(&news(1 << 20, 1), |_| true);
        assert_eq!((published(&mut binding, 1 << 20), binding.count(LAN)), (None, MOST_LEARNED));
        binding.learn(&news(1 << 20, 1), |station| station.address()[5] != 3);
        assert_eq!(published(&mut binding, 1 << 20), Some(1));
        assert!(binding.count(LAN) < MOST_LEARNED);
    }
}
