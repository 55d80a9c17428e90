//! From next hops to paths: weights multiply along a recursion, equal neighbours merge.

use std::collections::{BTreeMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;

use super::hops::Hops;
use super::route::{NextHop, Path, Resolved, Route, Source, Target};
use super::shared::SharedGroups;
use crate::{Address, Prefix};

/// The most paths a prefix forwards to; of more, the lowest stay.
pub const MAX_PATHS: usize = 256;

/// Finds what routes lead to, by what their next hops resolved to.
pub(super) struct Resolver<'a, A: Address> {
    pub(super) hops: &'a Hops<A>,
    pub(super) down: &'a HashSet<u16>,
    pub(super) shared: &'a SharedGroups<A>,
}

impl<A: Address> Resolver<'_, A> {
    /// The first of a prefix's candidates that leads somewhere.
    pub(super) fn first(
        &self,
        prefix: Prefix<A>,
        candidates: &[(Source, Route)],
    ) -> Option<(Source, Resolved)> {
        candidates
            .iter()
            .find_map(|(source, route)| Some((*source, self.resolve(prefix, &route.target)?)))
    }

    /// What a route for `prefix` leads to.
    pub(super) fn resolve(&self, prefix: Prefix<A>, target: &Target) -> Option<Resolved> {
        let hops = match target {
            Target::Via(hops) => hops,
            Target::Shared(id) => {
                let of_each = || match self.shared.target(*id)? {
                    // No group leads to another, so that this ends.
                    Target::Shared(_) => None,
                    target => self.resolve(prefix, target),
                };
                return self.shared.resolve(*id).or_else(of_each);
            }
            Target::Local => return Some(Resolved::Local),
            Target::Table(table) => return Some(Resolved::Table(*table)),
            Target::Blackhole => return Some(Resolved::Blackhole),
            Target::Unreachable => return Some(Resolved::Unreachable),
            Target::Prohibit => return Some(Resolved::Prohibit),
        };
        // By far the most routes have one next hop of weight 1: they share its paths.
        if let [NextHop { address: Some(address), interface: None, .. }] = hops[..] {
            let address = A::from_ip(address)?;
            return self.through(prefix, address).map(Resolved::Paths);
        }
        let mut shares = Shares::default();
        for hop in hops.iter() {
            match (hop.interface, hop.address) {
                (Some(interface), _) if self.down.contains(&interface) => {}
                (Some(interface), address) => shares.add(interface, address, hop.weight),
                (None, Some(address)) => {
                    let paths = A::from_ip(address).and_then(|hop| self.through(prefix, hop));
                    shares.add_all(paths.unwrap_or_default().as_ref(), hop.weight);
                }
                (None, None) => {}
            }
        }
        shares.finish().map(Resolved::Paths)
    }

    /// The paths to next hop `address`, if a route other than `prefix` itself leads there.
    fn through(&self, prefix: Prefix<A>, address: A) -> Option<Arc<[Path]>> {
        let found = self.hops.found(address)?;
        if prefix.contains(address) && found.length <= prefix.length() {
            return None;
        }
        found.paths.clone()
    }
}

/// A next hop's shares are counted in this many parts before they are reduced.
const PARTS: u64 = 1 << 20;

/// Paths with their shares, as next hops add them up.
#[derive(Debug, Default)]
pub(super) struct Shares(BTreeMap<(u16, Option<IpAddr>), u64>);

impl Shares {
    /// Adds one neighbour.
    pub(super) fn add(&mut self, interface: u16, address: Option<IpAddr>, weight: u16) {
        *self.0.entry((interface, address)).or_default() += u64::from(weight.max(1)) * PARTS;
    }

    /// Adds what a next hop resolved to: its `weight` is divided among `paths` by theirs.
    pub(super) fn add_all(&mut self, paths: &[Path], weight: u16) {
        let total: u64 = paths.iter().map(|path| u64::from(path.weight)).sum();
        for path in paths {
            let share = u64::from(weight.max(1)) * PARTS * u64::from(path.weight) / total.max(1);
            *self.0.entry((path.interface, path.address)).or_default() += share.max(1);
        }
    }

    /// The paths, their weights reduced to the smallest whole numbers; none if there are no paths.
    pub(super) fn finish(self) -> Option<Arc<[Path]>> {
        let divisor = self.0.values().copied().fold(0, gcd).max(1);
        let largest = self.0.values().copied().max()? / divisor;
        // What does not fit a word after reducing is rounded; the least share stays 1.
        let scale = largest / u64::from(u32::MAX) + 1;
        let paths = self.0.into_iter().take(MAX_PATHS);
        Some(
            paths
                .map(|((interface, address), share)| {
                    let weight = (share / divisor / scale).max(1) as u32;
                    Path { interface, address, weight }
                })
                .collect(),
        )
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_neighbours_merge_and_weights_reduce() {
        let mut shares = Shares::default();
        shares.add(1, None, 4);
        shares.add(2, None, 1);
        shares.add(2, None, 1);
        let weights: Vec<_> = shares.finish().unwrap().iter().map(|path| path.weight).collect();
        assert_eq!(weights, [2, 1]);
    }

    #[test]
    fn weights_multiply_along_a_recursion() {
        let inner = [1, 3].map(|weight| Path { interface: weight as u16, address: None, weight });
        let mut shares = Shares::default();
        shares.add_all(&inner, 1);
        shares.add(9, None, 1);
        let weights: Vec<_> = shares.finish().unwrap().iter().map(|path| path.weight).collect();
        assert_eq!(weights, [1, 3, 4]);
    }

    #[test]
    fn no_paths_are_none() {
        assert!(Shares::default().finish().is_none());
    }
}
