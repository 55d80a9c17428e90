//! Routes that no configuration has, as a log: each change after the other, the last one counts.
//!
//! ```text
//!  vrf 0 = default · target 0 = via 192.0.2.9 · route 0 10.0.0.0/8 ebgp/20 ▶ 0 · route 0 10.0.0.0/8 ebgp/20 ▶ none …
//! ```
//! VRFs and targets are numbered by the log, so that a million routes over few next hops take 14
//! bytes each (26 of IPv6). Read, routes are in order of VRF, prefix and preference.

use crate::Wrong;
use crate::bytes::{Put, Take, put_address};
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

/// The most targets and the most VRFs that a log numbers.
const MOST_TARGETS: u32 = 1 << 24;
const MOST_VRFS: u16 = 1 << 14;
/// The most next hops of a target.
const MOST_HOPS: u16 = 4096;
/// No target: the route is gone.
const GONE: u32 = u32::MAX;

const VRF: u8 = 1;
const TARGET: u8 = 2;
const IP4: u8 = 4;
const GROUP: u8 = 5;
const IP6: u8 = 6;

/// A next hop.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hop {
    /// The next router; none: whoever the packet is for.
    pub address: Option<IpAddr>,
    /// The port; none: wherever routes say.
    pub port: Option<String>,
    /// Its share.
    pub weight: u16,
}

/// Where a route leads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// To these.
    Via(Vec<Hop>),
    /// Where the group of this number does.
    Shared(u32),
    /// Nowhere, silently.
    Blackhole,
    /// Nowhere; the sender is told.
    Unreachable,
    /// Nowhere; the sender is told that it is forbidden.
    Prohibit,
}

/// An address family.
pub trait Family: Copy + Ord {
    /// How its routes begin.
    const TAG: u8;
    /// The longest prefix.
    const LONGEST: u8;
    /// Appends an address.
    fn put(self, into: &mut Vec<u8>);
    /// Takes one.
    fn take(from: &mut Take<'_>) -> Result<Self, Wrong>;
}

impl Family for u32 {
    const TAG: u8 = IP4;
    const LONGEST: u8 = 32;

    fn put(self, into: &mut Vec<u8>) {
        into.u32(self);
    }

    fn take(from: &mut Take<'_>) -> Result<Self, Wrong> {
        from.u32()
    }
}

impl Family for u128 {
    const TAG: u8 = IP6;
    const LONGEST: u8 = 128;

    fn put(self, into: &mut Vec<u8>) {
        into.extend(self.to_le_bytes());
    }

    fn take(from: &mut Take<'_>) -> Result<Self, Wrong> {
        from.bytes().map(Self::from_le_bytes)
    }
}

/// Which route: a source has one of a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key<A> {
    /// The number of its VRF.
    pub vrf: u16,
    /// The prefix' first address.
    pub address: A,
    /// Its length.
    pub length: u8,
    /// How far its source is preferred.
    pub preference: u8,
    /// Who brought it, by a number that whoever writes and reads agree on.
    pub protocol: u8,
}

/// Writes a log: numbers what it names.
#[derive(Default)]
pub struct Writer {
    vrfs: HashMap<String, u16>,
    targets: HashMap<Target, u32>,
    bytes: Vec<u8>,
    entries: u64,
}

impl Writer {
    /// Goes on with a log that was read.
    pub fn go_on(read: &Routes) -> Self {
        let vrfs = read.vrfs.iter().cloned().zip(0..).collect();
        let targets = read.targets.iter().cloned().zip(0..).collect();
        Self { vrfs, targets, bytes: Vec::new(), entries: read.entries }
    }

    /// The number of a VRF; none if there are too many.
    pub fn vrf(&mut self, name: &str) -> Option<u16> {
        if let Some(number) = self.vrfs.get(name) {
            return Some(*number);
        }
        let number = u16::try_from(self.vrfs.len()).ok().filter(|number| *number < MOST_VRFS)?;
        self.bytes.u8(VRF);
        self.bytes.u16(number);
        self.bytes.name(name);
        self.vrfs.insert(name.to_owned(), number);
        Some(number)
    }

    /// The number of a target; none if there are too many.
    pub fn target(&mut self, target: &Target) -> Option<u32> {
        if let Some(number) = self.targets.get(target) {
            return Some(*number);
        }
        let number = self.targets.len() as u32;
        if number >= MOST_TARGETS {
            return None;
        }
        self.bytes.u8(TARGET);
        self.bytes.u32(number);
        put_target(&mut self.bytes, target);
        self.targets.insert(target.clone(), number);
        Some(number)
    }

    /// A route leads there now; nowhere, if it is gone.
    pub fn route<A: Family>(&mut self, key: Key<A>, target: Option<u32>) {
        let Key { vrf, address, length, preference, protocol } = key;
        self.bytes.u8(A::TAG);
        self.bytes.u16(vrf);
        address.put(&mut self.bytes);
        self.bytes.extend([length, preference, protocol]);
        self.bytes.u32(target.unwrap_or(GONE));
        self.entries += 1;
    }

    /// A group of a family of a VRF leads there now.
    pub fn group<A: Family>(&mut self, vrf: u16, number: u32, target: Option<u32>) {
        self.bytes.extend([GROUP, A::TAG]);
        self.bytes.u16(vrf);
        self.bytes.u32(number);
        self.bytes.u32(target.unwrap_or(GONE));
        self.entries += 1;
    }

    /// How many changes it has in it.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// What was written since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}

fn put_target(into: &mut Vec<u8>, target: &Target) {
    match target {
        Target::Via(hops) => {
            into.u8(0);
            let hops = &hops[..hops.len().min(MOST_HOPS.into())];
            into.u16(hops.len() as u16);
            for hop in hops {
                into.u8(u8::from(hop.address.is_some()) | u8::from(hop.port.is_some()) << 1);
                into.u16(hop.weight);
                hop.address.into_iter().for_each(|address| put_address(into, address));
                hop.port.iter().for_each(|port| into.name(port));
            }
        }
        Target::Shared(number) => {
            into.u8(1);
            into.u32(*number);
        }
        Target::Blackhole => into.u8(2),
        Target::Unreachable => into.u8(3),
        Target::Prohibit => into.u8(4),
    }
}

fn take_target(from: &mut Take<'_>) -> Result<Target, Wrong> {
    Ok(match from.u8()? {
        0 => {
            let count = below("the number of next hops", from.u16()?, MOST_HOPS + 1)?;
            let hop = |_| {
                let flags = below("what a next hop has", from.u8()?, 4)?;
                let weight = from.u16()?;
                let address = (flags & 1 != 0).then(|| from.address()).transpose()?;
                let port = (flags & 2 != 0).then(|| from.name().map(str::to_owned)).transpose()?;
                Ok(Hop { address, port, weight })
            };
            Target::Via((0..count).map(hop).collect::<Result<_, Wrong>>()?)
        }
        1 => Target::Shared(from.u32()?),
        2 => Target::Blackhole,
        3 => Target::Unreachable,
        4 => Target::Prohibit,
        other => return Err(Wrong::Value { what: "the kind of a target", found: other.into() }),
    })
}

fn below<T: Copy + PartialOrd + Into<u64>>(
    what: &'static str,
    found: T,
    end: T,
) -> Result<T, Wrong> {
    if found < end { Ok(found) } else { Err(Wrong::Value { what, found: found.into() }) }
}

/// A route that was read, and the number of its target.
pub type Route<A> = (Key<A>, u32);

/// What a log comes to.
#[derive(Debug, Default)]
pub struct Routes {
    /// VRFs by number.
    pub vrfs: Vec<String>,
    /// Targets by number.
    pub targets: Vec<Target>,
    /// IPv4's.
    pub ip4: Vec<Route<u32>>,
    /// IPv6's.
    pub ip6: Vec<Route<u128>>,
    /// Where groups lead, by whether they are of IPv6, VRF and number.
    pub groups: BTreeMap<(bool, u16, u32), u32>,
    /// Changes that were read.
    pub entries: u64,
}

impl Routes {
    /// Reads a block of a log.
    pub fn read(&mut self, block: &[u8]) -> Result<(), Wrong> {
        let mut from = Take::new(block);
        while !from.is_empty() {
            match from.u8()? {
                VRF => {
                    let next = self.vrfs.len() as u64;
                    let number = below("the number of a VRF", from.u16()?, MOST_VRFS)?;
                    in_turn("the number of a VRF", number.into(), next)?;
                    self.vrfs.push(from.name()?.to_owned());
                }
                TARGET => {
                    let next = self.targets.len() as u64;
                    let number = below("the number of a target", from.u32()?, MOST_TARGETS)?;
                    in_turn("the number of a target", number.into(), next)?;
                    self.targets.push(take_target(&mut from)?);
                }
                IP4 => {
                    let route = self.route(&mut from)?;
                    self.ip4.push(route);
                }
                IP6 => {
                    let route = self.route(&mut from)?;
                    self.ip6.push(route);
                }
                GROUP => {
                    let is_ip6 = match from.u8()? {
                        IP4 => false,
                        IP6 => true,
                        other => {
                            let what = "the family of a group";
                            return Err(Wrong::Value { what, found: other.into() });
                        }
                    };
                    let vrf = below("a VRF", from.u16()?, self.vrfs.len() as u16)?;
                    let (number, target) = (from.u32()?, self.known(from.u32()?)?);
                    self.groups.insert((is_ip6, vrf, number), target);
                    self.entries += 1;
                }
                other => return Err(Wrong::Value { what: "an entry", found: other.into() }),
            }
        }
        Ok(())
    }

    fn route<A: Family>(&mut self, from: &mut Take<'_>) -> Result<Route<A>, Wrong> {
        let vrf = below("a VRF", from.u16()?, self.vrfs.len() as u16)?;
        let address = A::take(from)?;
        let [length, preference, protocol] = from.bytes()?;
        let length = below("the length of a prefix", length, A::LONGEST + 1)?;
        self.entries += 1;
        Ok((Key { vrf, address, length, preference, protocol }, self.known(from.u32()?)?))
    }

    fn known(&self, target: u32) -> Result<u32, Wrong> {
        match target {
            GONE => Ok(GONE),
            target => below("a target", target, self.targets.len() as u32),
        }
    }

    /// All was read: of each route and group the last change counts.
    pub fn settle(&mut self) {
        settle(&mut self.ip4);
        settle(&mut self.ip6);
        self.groups.retain(|_, target| *target != GONE);
    }

    /// How many routes there are.
    pub fn len(&self) -> usize {
        self.ip4.len() + self.ip6.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn in_turn(what: &'static str, found: u64, next: u64) -> Result<(), Wrong> {
    if found == next { Ok(()) } else { Err(Wrong::Value { what, found }) }
}

fn settle<A: Family>(routes: &mut Vec<Route<A>>) {
    // A log that was written anew is in order.
    if !routes.is_sorted_by(|one, next| one.0 < next.0) {
        routes.sort_by_key(|(key, _)| *key);
        // Of equal keys the last one is the first of those that are looked at.
        routes.reverse();
        routes.dedup_by_key(|(key, _)| *key);
        routes.reverse();
    }
    routes.retain(|(_, target)| *target != GONE);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn via(last: u8) -> Target {
        let address = Some([192, 0, 2, last].into());
        Target::Via(vec![Hop { address, port: Some("p1".to_owned()), weight: 1 }])
    }

    fn key(third: u8) -> Key<u32> {
        let address = u32::from_be_bytes([10, 0, third, 0]);
        Key { vrf: 0, address, length: 24, preference: 20, protocol: 1 }
    }

    fn read(blocks: &[Vec<u8>]) -> Result<Routes, Wrong> {
        let mut routes = Routes::default();
        blocks.iter().try_for_each(|block| routes.read(block))?;
        routes.settle();
        Ok(routes)
    }

    #[test]
    fn of_each_route_the_last_change_counts() {
        let mut log = Writer::default();
        let vrf = log.vrf("default").unwrap();
        let targets = [1, 2].map(|last| log.target(&via(last)).unwrap());
        assert_eq!((vrf, targets, log.target(&via(1))), (0, [0, 1], Some(0)));
        for third in [3, 1, 2] {
            log.route(key(third), Some(0));
        }
        let first = log.take();
        log.route(key(2), Some(1));
        log.route(key(1), None);
        log.group::<u32>(0, 7, Some(1));
        log.group::<u128>(0, 7, Some(0));
        log.group::<u128>(0, 7, None);
        let six = Key { vrf, address: 1_u128 << 127, length: 1, preference: 20, protocol: 6 };
        log.route(six, Some(1));
        let blocks = [first, log.take()];
        let routes = read(&blocks).unwrap();
        assert_eq!(routes.ip4, [(key(2), 1), (key(3), 0)]);
        assert_eq!(routes.ip6, [(six, 1)]);
        assert_eq!(routes.groups, BTreeMap::from([((false, 0, 7), 1)]));
        assert_eq!((routes.entries, log.entries(), routes.len()), (9, 9, 3));
        // Another process goes on with the numbers.
        let mut log = Writer::go_on(&routes);
        assert_eq!((log.vrf("default"), log.target(&via(2))), (Some(0), Some(1)));
        assert_eq!((log.target(&Target::Blackhole), log.vrf("red")), (Some(2), Some(1)));
        log.route(key(9), Some(2));
        let routes = read(&[&blocks[..], &[log.take()]].concat()).unwrap();
        assert_eq!(routes.ip4.last(), Some(&(key(9), 2)));
        assert_eq!(routes.vrfs, ["default", "red"]);
    }

    #[test]
    fn what_names_something_that_there_is_not_is_refused() {
        let route = |vrf: u16, length: u8, target: u32| {
            let mut bytes = vec![VRF, 0, 0, 0, TARGET, 0, 0, 0, 0, 2, IP4];
            bytes.extend(vrf.to_le_bytes());
            bytes.extend([0, 0, 0, 10, length, 20, 1]);
            bytes.extend(target.to_le_bytes());
            bytes
        };
        assert_eq!(read(&[route(0, 8, 0)]).unwrap().len(), 1);
        assert_eq!(read(&[route(0, 8, GONE)]).unwrap().len(), 0);
        for wrong in [route(1, 8, 0), route(0, 33, 0), route(0, 8, 1), vec![9]] {
            assert!(matches!(read(&[wrong]), Err(Wrong::Value { .. })));
        }
        assert_eq!(
            read(&[vec![TARGET, 0, 0, 0, 0, 0, 0xff, 0xff]]).unwrap_err().to_string(),
            "the number of next hops is 65535"
        );
    }

    proptest! {
        #[test]
        fn a_log_comes_to_what_a_map_does(
            changes in prop::collection::vec((0..6_u8, prop::option::of(1..4_u8)), 0..60),
            cut in 0..60_usize,
        ) {
            let (mut log, mut map) = (Writer::default(), BTreeMap::new());
            log.vrf("default").unwrap();
            let mut blocks = Vec::new();
            for (at, (third, last)) in changes.into_iter().enumerate() {
                if at == cut {
                    blocks.push(log.take());
                }
                let target = last.map(|last| log.target(&via(last)).unwrap());
                log.route(key(third), target);
                match last {
                    Some(last) => map.insert(key(third), via(last)),
                    None => map.remove(&key(third)),
                };
            }
            blocks.push(log.take());
            let routes = read(&blocks).unwrap();
            let target = |number: u32| routes.targets[number as usize].clone();
            let found: BTreeMap<_, _> = routes.ip4.iter().map(|(key, to)| (*key, target(*to))).collect();
            prop_assert_eq!(found, map);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _read_or_refused = read(&[bytes]);
        }
    }
}
