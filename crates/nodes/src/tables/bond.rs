//! Bonds as workers see them: whose frames a member's are, and which members carry what a bond
//! sends.
//!
//! ```text
//!  p1 ─┐ Mode::Member(bond)           bond ── BondWays ─┬▶ p1
//!  p2 ─┴──────────────────▶ bond                        └▶ p2
//! ```

use crate::ip::{ip4_flow, ip6_flow};
use crate::tables::{Interface, InterfaceId, Interfaces, Mode};
use fib::ecmp::flow_hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use wire::MacAddr;
use wire::ethernet::{self, ethertype};
use wire::vlan::{self, Walk};

/// A member's part of a bond.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BondMember {
    /// The bond's interface.
    pub bond: InterfaceId,
    /// Which of its frames are the bond's; others are nobody's.
    pub collects: Collects,
    /// The bond speaks link aggregation control.
    pub speaks: bool,
}

/// Which frames of a member are its bond's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Collects {
    /// None: it does not carry.
    Nothing,
    /// All.
    All,
    /// Those to stations, of an end that knows of no bond: it sends what is for all by every
    /// member.
    Stations,
    /// The same, and what is for all: by one member alone, or it would be there several times.
    StationsAndGroups,
}

/// By which members a bond's frames leave.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BondWays {
    /// Interfaces of those that carry, each as often as it has shares.
    pub members: Vec<u16>,
    /// What keeps frames together.
    pub hash: BondHash,
    /// Who counts what each share carries, if somebody asks.
    pub loads: Option<Arc<ShareLoads>>,
}

/// Octets that left in each share of stations, as each worker counts them.
#[derive(Debug)]
pub struct ShareLoads(Box<[[AtomicU64; SHARES]]>);

impl ShareLoads {
    /// Nothing left yet.
    pub fn new(workers: usize) -> Self {
        let none = || [const { AtomicU64::new(0) }; SHARES];
        Self((0..workers.max(1)).map(|_| none()).collect())
    }

    /// Counts what leaves: each worker for itself.
    #[inline]
    pub fn add(&self, worker: u16, share: usize, bytes: usize) {
        if let Some(count) = self.0.get(usize::from(worker)).and_then(|own| own.get(share)) {
            // Nobody else writes it.
            let sum = count.load(Ordering::Relaxed).wrapping_add(bytes as u64);
            count.store(sum, Ordering::Relaxed);
        }
    }

    /// Octets so far, of all workers.
    pub fn totals(&self) -> [u64; SHARES] {
        let of = |share: usize| self.0.iter().map(move |own| own[share].load(Ordering::Relaxed));
        std::array::from_fn(|share| of(share).fold(0, u64::wrapping_add))
    }
}

/// Each is itself alone: what is counted is no part of a configuration.
impl PartialEq for ShareLoads {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for ShareLoads {}

/// What frames have in common that leave by one member.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BondHash {
    /// Their two stations and ethertype.
    Stations,
    /// Their flow: addresses and ports, where they are of IP.
    #[default]
    Flow,
    /// The station that they are of, in its VLAN.
    Source,
}

/// Shares of members that stations are spread over.
pub const SHARES: usize = 256;

impl BondWays {
    /// Ways by stations: each share of them has the member that fits it best, so that of a member
    /// that comes or goes no other shares than its own move.
    pub fn by_source(members: &[u16]) -> Self {
        let best = |share: usize| {
            let fit = |member: &&u16| flow_hash(0, share as u128, u128::from(**member), 0, 0);
            members.iter().max_by_key(fit).copied()
        };
        let members = (0..SHARES).filter_map(best).collect();
        Self { members, hash: BondHash::Source, loads: None }
    }

    /// The member that a frame leaves by; none where none carries.
    #[inline]
    pub fn member(&self, frame: &[u8]) -> Option<u16> {
        match &self.members[..] {
            [] => None,
            [one] => Some(*one),
            several => several.get(share_of(several, self.hash.of(frame))).copied(),
        }
    }

    /// The same of one of so many octets, which a worker sends now: it is counted where that is
    /// asked for.
    #[inline]
    pub fn member_for(&self, frame: &[u8], bytes: usize, worker: u16) -> Option<u16> {
        let Some(loads) = &self.loads else { return self.member(frame) };
        let share = share_of(&self.members, self.hash.of(frame));
        loads.add(worker, share, bytes);
        self.members.get(share).copied()
    }

    /// The member by which a station's frames leave, in the VLAN that `frame` has.
    pub fn member_of(&self, station: MacAddr, frame: &[u8]) -> Option<u16> {
        let hash = vlan::walk(frame).map_or(0, |walk| by_source(station, &walk));
        self.members.get(share_of(&self.members, hash)).copied()
    }
}

#[inline]
fn share_of(members: &[u16], hash: u32) -> usize {
    ((u64::from(hash) * members.len() as u64) >> 32) as usize
}

/// A number that is one for all frames of a station in a VLAN, that of the outer tag.
fn by_source(station: MacAddr, walk: &Walk) -> u32 {
    let vid = walk.tags().first().map_or(0, |tag| tag.vid());
    flow_hash(0, station.to_bits().into(), vid.into(), 0, 0)
}

impl BondHash {
    /// A number that is one for frames of which none may overtake another.
    #[inline]
    fn of(self, frame: &[u8]) -> u32 {
        let Some(walk) = vlan::walk(frame) else { return 0 };
        match (self, walk.ethertype) {
            (Self::Flow, ethertype::IPV4) => ip4_flow(0, &frame[walk.offset..]),
            (Self::Flow, ethertype::IPV6) => ip6_flow(0, &frame[walk.offset..]),
            (hash, kind) => {
                let Some(header) = ethernet::Header::new(frame) else { return 0 };
                if hash == Self::Source {
                    return by_source(header.source(), &walk);
                }
                let word = |mac: [u8; 6]| {
                    let [a, b, c, d, e, f] = mac;
                    u128::from(u64::from_be_bytes([0, 0, a, b, c, d, e, f]))
                };
                let (from, to) = (header.source().octets(), header.destination().octets());
                flow_hash(0, word(from), word(to), 0, kind.into())
            }
        }
    }
}

impl Interface {
    /// The bond that it is a member of.
    #[inline]
    pub fn bond(&self) -> Option<BondMember> {
        match self.mode {
            Mode::Member(member) => Some(member),
            Mode::Routed | Mode::CrossConnect(_) | Mode::Bridged(_) => None,
        }
    }
}

impl Interfaces {
    /// By which members an interface's frames leave, if it is a bond.
    #[inline]
    pub fn bond_ways(&self, id: u16) -> Option<&BondWays> {
        self.get(id)?.get::<BondWays>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};
    use wire::craft;

    fn ways(hash: BondHash) -> BondWays {
        BondWays { members: vec![3, 5, 8], hash, loads: None }
    }

    fn udp(port: u16) -> Vec<u8> {
        craft::ethernet([2; 6], [4; 6]).ipv4(1, 2).udp(port, 6).build()
    }

    #[test]
    fn flows_are_spread_and_each_stays_where_it_is() {
        let mut counts: BTreeMap<u16, usize> = BTreeMap::new();
        for port in 0..3_000 {
            let member = ways(BondHash::Flow).member(&udp(port)).unwrap();
            assert_eq!(ways(BondHash::Flow).member(&udp(port)), Some(member));
            *counts.entry(member).or_default() += 1;
        }
        assert!(
            counts.len() == 3 && counts.values().all(|it| (800..1_200).contains(it)),
            "{counts:?}"
        );
        let by_tags = |port: u16| {
            let frame = craft::ethernet([2; 6], [4; 6]).vlan(7).ipv6(1, 2).udp(port, 6);
            ways(BondHash::Flow).member(&frame.build())
        };
        assert_eq!((0..100).map(by_tags).collect::<BTreeSet<_>>().len(), 3);
    }

    #[test]
    fn stations_alone_keep_all_of_their_flows_together() {
        let of = |port| ways(BondHash::Stations).member(&udp(port));
        assert_eq!((0..100).map(of).collect::<BTreeSet<_>>().len(), 1);
        let from = |last: u8| {
            let frame = craft::ethernet([2, 0, 0, 0, 0, last], [4; 6]).ipv4(1, 2).udp(5, 6);
            ways(BondHash::Stations).member(&frame.build())
        };
        assert_eq!((0..100).map(from).collect::<BTreeSet<_>>().len(), 3);
    }

    #[test]
    fn of_ways_by_stations_each_has_one_in_its_vlan_and_those_of_others_stay_when_one_goes() {
        let frame = |last: u8, to: u8, port: u16| {
            let frame = craft::ethernet([2, 0, 0, 0, 0, last], [to; 6]).ipv4(1, 2);
            frame.udp(port, 6).build()
        };
        let (all, fewer) = (BondWays::by_source(&[3, 5, 8]), BondWays::by_source(&[3, 8]));
        let of = |ways: &BondWays| -> Vec<_> {
            (0..=255).map(|last| ways.member(&frame(last, 4, 5)).unwrap()).collect()
        };
        let counts = [3, 5, 8].map(|id| of(&all).iter().filter(|it| **it == id).count());
        assert!(counts.iter().all(|it| (50..130).contains(it)), "{counts:?}");
        for (was, is) in of(&all).into_iter().zip(of(&fewer)) {
            assert!(is == was || was == 5);
        }
        // To whom, and of what, makes no difference; the VLAN does.
        assert!(
            (0..50).all(|it| all.member(&frame(7, it, it.into())) == all.member(&frame(7, 4, 5)))
        );
        let in_vlan = |vid: u16| {
            let frame = craft::ethernet([2, 0, 0, 0, 0, 7], [4; 6]).vlan(vid).ipv4(1, 2).build();
            all.member(&frame).unwrap()
        };
        assert_eq!((1..100).map(in_vlan).collect::<BTreeSet<_>>(), BTreeSet::from([3, 5, 8]));
        // What comes for a station comes by the member that its own frames leave by.
        let back = craft::ethernet([4; 6], [2, 0, 0, 0, 0, 7]).vlan(9).ipv4(1, 2).build();
        let station = MacAddr([2, 0, 0, 0, 0, 7]);
        assert_eq!(all.member_of(station, &back), Some(in_vlan(9)));
        assert_eq!(BondWays::by_source(&[]).member_of(station, &back), None);
    }

    #[test]
    fn without_members_there_is_no_way_and_with_one_it_is_that() {
        let one = BondWays { members: vec![9], ..BondWays::default() };
        assert_eq!((one.member(&[]), BondWays::default().member(&udp(1))), (Some(9), None));
        assert_eq!(ways(BondHash::Flow).member(&[2; 13]), Some(3));
    }
}
