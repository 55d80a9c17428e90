//! Stations of our own that a routing daemon was told of, and their addresses.
//!
//! ```text
//!  MAC table, a part of it a turn ─▶ seen ─▶ new ones are told
//!  its end ─▶ those not seen in the round are told gone
//! ```

use super::remote::Owner;
use super::take_out;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Stations, or addresses, told in one turn: the others wait for the next one.
pub(super) const MOST_AT_ONCE: usize = 256;

/// A station that was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Station {
    is_sticky: bool,
    /// The round in which it was last seen.
    round: u32,
}

/// See the module.
#[derive(Default)]
pub(super) struct Local {
    stations: BTreeMap<[u8; 6], Station>,
    addresses: BTreeMap<IpAddr, Owner>,
}

/// Addresses to be told, and those to be taken back.
pub(super) type Addresses = (Vec<(IpAddr, Owner)>, Vec<IpAddr>);

impl Local {
    /// How many stations were told.
    pub(super) fn stations(&self) -> usize {
        self.stations.len()
    }

    /// How many of their addresses.
    pub(super) fn addresses(&self) -> usize {
        self.addresses.len()
    }

    /// A station is seen; whether it is to be told.
    pub(super) fn see(&mut self, mac: [u8; 6], is_sticky: bool, round: u32) -> bool {
        match self.stations.get_mut(&mac).filter(|station| station.is_sticky == is_sticky) {
            Some(station) => {
                station.round = round;
                false
            }
            None => true,
        }
    }

    /// It was told.
    pub(super) fn told(&mut self, mac: [u8; 6], is_sticky: bool, round: u32) {
        self.stations.insert(mac, Station { is_sticky, round });
    }

    /// It is not ours any more, or not known to be.
    pub(super) fn forget(&mut self, mac: [u8; 6]) {
        self.stations.remove(&mac);
    }

    /// Nobody was told of an address.
    pub(super) fn forget_address(&mut self, address: IpAddr) {
        self.addresses.remove(&address);
    }

    /// Those that were not seen in the round are forgotten: they are to be taken back.
    pub(super) fn end_round(&mut self, round: u32) -> Vec<[u8; 6]> {
        let gone = take_out(&mut self.stations, MOST_AT_ONCE, |_, it| it.round != round);
        gone.into_iter().map(|(mac, _)| mac).collect()
    }

    /// What is to be told of these addresses, if their stations are ours and were told.
    pub(super) fn differing(&self, bound: impl Iterator<Item = (IpAddr, Owner)>) -> Addresses {
        let ours = bound.filter(|(_, owner)| self.stations.contains_key(&owner.mac));
        let ours: BTreeMap<IpAddr, Owner> = ours.collect();
        let news =
            ours.iter().filter(|(address, owner)| self.addresses.get(address) != Some(owner));
        let news = news.take(MOST_AT_ONCE).map(|(address, owner)| (*address, *owner)).collect();
        let gone = self.addresses.keys().filter(|address| !ours.contains_key(address));
        (news, gone.take(MOST_AT_ONCE).copied().collect())
    }

    /// An address was told.
    pub(super) fn told_address(&mut self, address: IpAddr, owner: Owner) {
        self.addresses.insert(address, owner);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAC: [u8; 6] = [6, 0, 0, 0, 0, 1];

    #[test]
    fn a_station_is_told_once_and_taken_back_when_it_is_not_seen() {
        let mut local = Local::default();
        assert!(local.see(MAC, false, 1));
        assert!(local.see(MAC, false, 1), "nobody was told yet");
        local.told(MAC, false, 1);
        assert!(!local.see(MAC, false, 2));
        assert!(local.end_round(2).is_empty());
        assert_eq!(local.end_round(3), [MAC]);
        assert!(local.see(MAC, false, 4));
    }

    #[test]
    fn a_station_that_is_fixed_by_now_is_told_again() {
        let mut local = Local::default();
        local.told(MAC, false, 1);
        assert!(local.see(MAC, true, 1));
    }

    #[test]
    fn an_address_goes_with_its_station() {
        let mut local = Local::default();
        let (address, owner) = (IpAddr::from([10, 0, 0, 7]), Owner { mac: MAC, is_router: false });
        let bound = || std::iter::once((address, owner));
        assert_eq!(local.differing(bound()), (vec![], vec![]));
        local.told(MAC, false, 1);
        assert_eq!(local.differing(bound()), (vec![(address, owner)], vec![]));
        local.told_address(address, owner);
        assert_eq!(local.differing(bound()), (vec![], vec![]));
        let router = Owner { is_router: true, ..owner };
        let changed = local.differing(std::iter::once((address, router)));
        assert_eq!(changed, (vec![(address, router)], vec![]));
        local.forget(MAC);
        assert_eq!(local.differing(bound()), (vec![], vec![address]));
        local.forget_address(address);
        assert_eq!(local.differing(bound()), (vec![], vec![]));
    }
}
