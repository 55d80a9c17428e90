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
use wire::ethernet::{self, ethertype};
use wire::vlan;

/// A member's part of a bond.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BondMember {
    /// The bond's interface.
    pub bond: InterfaceId,
    /// Its frames are the bond's; else nobody's.
    pub collects: bool,
    /// The bond speaks link aggregation control.
    pub speaks: bool,
}

/// By which members a bond's frames leave.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BondWays {
    /// Interfaces of those that carry.
    pub members: Vec<u16>,
    /// What keeps frames together.
    pub hash: BondHash,
}

/// What frames have in common that leave by one member.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BondHash {
    /// Their two stations and ethertype.
    Stations,
    /// Their flow: addresses and ports, where they are of IP.
    #[default]
    Flow,
}

impl BondWays {
    /// The member that a frame leaves by; none where none carries.
    #[inline]
    pub fn member(&self, frame: &[u8]) -> Option<u16> {
        match &self.members[..] {
            [] => None,
            [one] => Some(*one),
            several => {
                let share = (u64::from(self.hash.of(frame)) * several.len() as u64) >> 32;
                several.get(share as usize).copied()
            }
        }
    }
}

impl BondHash {
    /// A number that is one for frames of which none may overtake another.
    #[inline]
    fn of(self, frame: &[u8]) -> u32 {
        let Some(walk) = vlan::walk(frame) else { return 0 };
        match (self, walk.ethertype) {
            (Self::Flow, ethertype::IPV4) => ip4_flow(0, &frame[walk.offset..]),
            (Self::Flow, ethertype::IPV6) => ip6_flow(0, &frame[walk.offset..]),
            (_, kind) => {
                let Some(header) = ethernet::Header::new(frame) else { return 0 };
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
        BondWays { members: vec![3, 5, 8], hash }
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
    fn without_members_there_is_no_way_and_with_one_it_is_that() {
        let one = BondWays { members: vec![9], ..BondWays::default() };
        assert_eq!((one.member(&[]), BondWays::default().member(&udp(1))), (Some(9), None));
        assert_eq!(ways(BondHash::Flow).member(&[2; 13]), Some(3));
    }
}
