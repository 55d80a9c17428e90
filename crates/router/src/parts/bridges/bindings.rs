//! Who has which address in bridges that answer ARP or neighbour solicitations: configured, and
//! learned from what passes.
//!
//! ```text
//!  configuration ─┐
//!  workers' punts ┴▶ Binding ── at most ten times a second, if anything changed ──▶ workers
//! ```
//! A bridge that is full gives up the bindings of stations that it does not know any more.

use control::config::objects::bridge::Bridge;
use fib::mac::MacKey;
use nodes::tables::{BindingHeard, Bindings, Bound, BridgeId};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};
use wire::nd::flag;

/// Most learned bindings of a bridge, of each family.
const MOST_LEARNED: usize = 4096;
/// Between two publications.
const PERIOD: Duration = Duration::from_millis(100);

/// The bindings of all bridges.
#[derive(Default)]
pub(super) struct Binding {
    fixed: BTreeMap<(BridgeId, IpAddr), Bound>,
    learned: BTreeMap<(BridgeId, IpAddr), Bound>,
    /// By routing daemons, of stations beyond tunnels.
    told: BTreeMap<(BridgeId, IpAddr), Bound>,
    changed: bool,
    published: Option<Instant>,
}

impl Binding {
    /// Makes the bindings of a bridge those of its configuration; of a family that it does not
    /// answer for any more, none.
    pub(super) fn set(&mut self, bridge: BridgeId, config: Option<&Bridge>) {
        self.fixed.retain(|key, _| key.0 != bridge);
        let answers = |address: IpAddr| config.is_some_and(|config| config.answers_for(address));
        for binding in config.into_iter().flat_map(|config| &config.bindings) {
            if answers(binding.address) {
                let flags = flag::OVERRIDE | if binding.router { flag::ROUTER } else { 0 };
                let bound = Bound { mac: binding.mac.0, flags, is_fixed: true };
                self.fixed.insert((bridge, binding.address), bound);
            }
        }
        self.learned.retain(|key, _| key.0 != bridge || answers(key.1));
        self.told.retain(|key, _| key.0 != bridge || answers(key.1));
        self.changed = true;
    }

    /// Makes what a routing daemon tells of a bridge this.
    pub(super) fn set_told(&mut self, bridge: BridgeId, told: BTreeMap<IpAddr, Bound>) {
        self.told.retain(|key, _| key.0 != bridge);
        self.told.extend(told.into_iter().map(|(address, bound)| ((bridge, address), bound)));
        self.changed = true;
    }

    /// What is known of a bridge, but for what a routing daemon tells.
    pub(super) fn own(&self, bridge: BridgeId) -> impl Iterator<Item = (IpAddr, Bound)> {
        let all = [true, false].map(|is_ipv4| alike(bridge, is_ipv4));
        let (learned, fixed) = (&self.learned, &self.fixed);
        // What is configured comes last: it overrides what was heard.
        all.clone()
            .into_iter()
            .flat_map(|range| learned.range(range))
            .chain(all.into_iter().flat_map(|range| fixed.range(range)))
            .map(|(key, bound)| (key.1, *bound))
    }

    /// Learns a binding, if there is room: `is_known` tells whether a station still is.
    pub(super) fn learn(&mut self, punt: &BindingHeard, is_known: impl Fn(MacKey) -> bool) {
        let key = (punt.bridge, punt.address);
        let alike = alike(punt.bridge, punt.address.is_ipv4());
        let is_full = || self.learned.range(alike.clone()).count() >= MOST_LEARNED;
        if !self.learned.contains_key(&key) && is_full() {
            let stays = |bridge: BridgeId, mac: [u8; 6]| {
                bridge != punt.bridge || is_known(MacKey::new(bridge.0, mac))
            };
            self.learned.retain(|key, bound| stays(key.0, bound.mac));
            if self.learned.range(alike).count() >= MOST_LEARNED {
                return;
            }
        }
        self.changed |= self.learned.insert(key, punt.bound) != Some(punt.bound);
    }

    /// How many bindings of a family a bridge has.
    pub(super) fn count(&self, bridge: BridgeId, is_ipv4: bool) -> usize {
        let alike = alike(bridge, is_ipv4);
        let new = |(key, _): &(&(BridgeId, IpAddr), &Bound)| !self.fixed.contains_key(key);
        let told = self
            .told
            .range(alike.clone())
            .filter(|(key, _)| !self.fixed.contains_key(key) && !self.learned.contains_key(key));
        let own = self.learned.range(alike.clone()).filter(new).count();
        self.fixed.range(alike).count() + own + told.count()
    }

    /// What workers are to know, if that changed and it is time.
    pub(super) fn due(&mut self, now: Instant) -> Option<Bindings> {
        let early = self.published.is_some_and(|last| now.duration_since(last) < PERIOD);
        if !self.changed || early {
            return None;
        }
        (self.changed, self.published) = (false, Some(now));
        // What is configured overrides what is told, and that what was heard.
        let all = self.learned.iter().chain(&self.told).chain(&self.fixed);
        Some(all.map(|(key, bound)| (*key, *bound)).collect())
    }
}

/// All bindings of a bridge and a family.
fn alike(bridge: BridgeId, is_ipv4: bool) -> RangeInclusive<(BridgeId, IpAddr)> {
    let (first, last): (IpAddr, IpAddr) = match is_ipv4 {
        true => (Ipv4Addr::UNSPECIFIED.into(), Ipv4Addr::BROADCAST.into()),
        false => (Ipv6Addr::UNSPECIFIED.into(), Ipv6Addr::from(u128::MAX).into()),
    };
    (bridge, first)..=(bridge, last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::config::objects::bridge::BoundAddress;
    use wire::MacAddr;

    const LAN: BridgeId = BridgeId(1);

    fn punt(address: u32, last: u8) -> BindingHeard {
        punt_of(Ipv4Addr::from(address).into(), last, 0)
    }

    fn punt_of(address: IpAddr, last: u8, flags: u8) -> BindingHeard {
        let bound = Bound { mac: [2, 0, 0, 0, 0, last], flags, is_fixed: false };
        BindingHeard { bridge: LAN, address, bound }
    }

    fn published(binding: &mut Binding, address: u32) -> Option<u8> {
        published_of(binding, Ipv4Addr::from(address).into()).map(|bound| bound.mac[5])
    }

    fn published_of(binding: &mut Binding, address: IpAddr) -> Option<Bound> {
        let later = Instant::now() + PERIOD * 2;
        binding.published = None;
        binding.changed = true;
        binding.due(later).unwrap().get(LAN, address)
    }

    #[test]
    fn what_is_configured_overrides_what_is_heard() {
        let mut binding = Binding::default();
        binding.learn(&punt(7, 1), |_| true);
        assert_eq!(published(&mut binding, 7), Some(1));
        binding.learn(&punt(7, 2), |_| true);
        assert_eq!((published(&mut binding, 7), binding.count(LAN, true)), (Some(2), 1));
        let mac = MacAddr([2, 0, 0, 0, 0, 9]);
        let address = Ipv4Addr::from(7).into();
        let fixed = BoundAddress { address, mac, router: false };
        let config = Bridge { answer_arp: true, bindings: vec![fixed], ..Bridge::default() };
        binding.set(LAN, Some(&config));
        assert_eq!((published(&mut binding, 7), binding.count(LAN, true)), (Some(9), 1));
        binding.set(LAN, Some(&Bridge::default()));
        assert_eq!((published(&mut binding, 7), binding.count(LAN, true)), (None, 0));
    }

    #[test]
    fn nothing_is_published_twice_nor_too_often() {
        let mut binding = Binding::default();
        let start = Instant::now();
        assert!(binding.due(start).is_none());
        binding.learn(&punt(7, 1), |_| true);
        assert!(binding.due(start).is_some() && binding.due(start + PERIOD).is_none());
        binding.learn(&punt(8, 1), |_| true);
        assert!(binding.due(start + PERIOD / 2).is_none() && binding.due(start + PERIOD).is_some());
    }

    #[test]
    fn a_full_bridge_gives_up_stations_that_are_gone() {
        let mut binding = Binding::default();
        for address in 0..MOST_LEARNED as u32 {
            binding.learn(&punt(address + 1, address as u8), |_| true);
        }
        binding.learn(&punt(1 << 20, 1), |_| true);
        assert_eq!(
            (published(&mut binding, 1 << 20), binding.count(LAN, true)),
            (None, MOST_LEARNED)
        );
        binding.learn(&punt(1 << 20, 1), |station| station.address()[5] != 3);
        assert_eq!(published(&mut binding, 1 << 20), Some(1));
        assert!(binding.count(LAN, true) < MOST_LEARNED);
    }

    #[test]
    fn each_family_is_answered_for_by_itself() {
        let mut binding = Binding::default();
        let (v4, v6) = (Ipv4Addr::from(7).into(), IpAddr::from(Ipv6Addr::from(7)));
        let mac = MacAddr([2, 0, 0, 0, 0, 9]);
        let fixed = [v4, v6].map(|address| BoundAddress { address, mac, router: address == v6 });
        let config = Bridge { bindings: fixed.to_vec(), ..Bridge::default() };
        let heard = IpAddr::from(Ipv6Addr::from(8));
        binding.set(LAN, Some(&Bridge { answer_nd: true, ..config.clone() }));
        binding.learn(&punt_of(heard, 1, flag::ROUTER), |_| true);
        assert_eq!((binding.count(LAN, true), binding.count(LAN, false)), (0, 2));
        let bound =
            |last, flags| Some(Bound { mac: [2, 0, 0, 0, 0, last], flags, is_fixed: last == 9 });
        let both = flag::ROUTER | flag::OVERRIDE;
        assert_eq!(published_of(&mut binding, v6), bound(9, both));
        assert_eq!(published_of(&mut binding, heard), bound(1, flag::ROUTER));
        binding.set(LAN, Some(&Bridge { answer_arp: true, ..config }));
        assert_eq!((binding.count(LAN, true), binding.count(LAN, false)), (1, 0));
        assert_eq!(published_of(&mut binding, v4), bound(9, flag::OVERRIDE));
        assert_eq!(published_of(&mut binding, heard), None);
    }
}
