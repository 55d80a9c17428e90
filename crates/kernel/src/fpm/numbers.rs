//! Next hops that zebra numbers, and groups of them, of one session.
//!
//! ```text
//!  route ── 9 ──▶ group 9 ─┬─▶ 7: 192.0.2.1 on link 3
//!                          └─▶ group 8 ──▶ …           a few deep, as far as the work is bounded
//!  a number that is not explained yet, or no longer: its routes wait
//! ```
//! As in the kernel a next hop that goes leaves its groups, which go on without it, and one that
//! leads nowhere silently does so for a group in which nothing else leads anywhere.

use super::learned::Leads;
use netlink::next_hop::{Hop, MOST_MEMBERS, NextHop};
use std::collections::{HashMap, HashSet};

/// Groups inside each other that are gone into.
const DEEPEST: usize = 8;
/// Members that are looked at for one group, all groups inside included.
const MOST_STEPS: usize = 8 * MOST_MEMBERS;

/// What the numbers of a session stand for.
#[derive(Default)]
pub(super) struct Numbers {
    all: HashMap<u32, Number>,
    /// By member: the groups that have it.
    groups: HashMap<u32, HashSet<u32>>,
    /// Members of all groups together.
    members: usize,
}

/// A number.
pub(super) struct Number {
    /// As the router knows it: in another session the same number is another one.
    pub(super) shared: u32,
    pub(super) meaning: Option<NextHop>,
}

impl Numbers {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// How many members all groups have together.
    pub(super) fn members(&self) -> usize {
        self.members
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn get(&self, id: u32) -> Option<&Number> {
        self.all.get(&id)
    }

    /// How the router knows a number; `fresh` is what it would be, if nobody named it before.
    pub(super) fn named(&mut self, id: u32, fresh: u32) -> u32 {
        self.all.entry(id).or_insert(Number { shared: fresh, meaning: None }).shared
    }

    /// Forgets a number without a meaning.
    pub(super) fn forget(&mut self, id: u32) {
        if self.all.get(&id).is_some_and(|number| number.meaning.is_none()) {
            self.all.remove(&id);
        }
    }

    /// Gives a number, which is named, a meaning, or takes it; the numbers that lead elsewhere by
    /// that.
    pub(super) fn explain(&mut self, id: u32, meaning: Option<NextHop>) -> HashSet<u32> {
        let Some(number) = self.all.get_mut(&id).filter(|it| it.meaning != meaning) else {
            return HashSet::new();
        };
        let before = std::mem::replace(&mut number.meaning, meaning.clone());
        for member in members(before.as_ref()) {
            self.members -= 1;
            if let Some(groups) = self.groups.get_mut(&member) {
                groups.remove(&id);
                if groups.is_empty() {
                    self.groups.remove(&member);
                }
            }
        }
        for member in members(meaning.as_ref()) {
            self.members += 1;
            self.groups.entry(member).or_default().insert(id);
        }
        let (mut meant, mut next) = (HashSet::from([id]), vec![id]);
        while let Some(id) = next.pop() {
            let groups = self.groups.get(&id).into_iter().flatten();
            next.extend(groups.filter(|group| meant.insert(**group)));
        }
        meant
    }

    /// Where a number leads; none if nobody said.
    pub(super) fn leads(&self, id: u32) -> Option<Leads> {
        let mut work = Work { steps: MOST_STEPS, blackhole: false };
        let ways = self.ways(id, DEEPEST, &mut work);
        if ways.is_empty() {
            return work.blackhole.then_some(Leads::Blackhole);
        }
        // Weights are what netlink has them in.
        let largest = ways.iter().map(|(_, weight)| *weight).max().unwrap_or(1);
        let scale = largest / u64::from(u16::MAX) + 1;
        Some(Leads::Ways(
            ways.into_iter().map(|(hop, weight)| (hop, (weight / scale).max(1) as u16)).collect(),
        ))
    }

    /// The ways of a number, with shares that are right among each other.
    fn ways(&self, id: u32, depth: usize, work: &mut Work) -> Vec<(Hop, u64)> {
        let meaning = self.all.get(&id).and_then(|number| number.meaning.as_ref());
        let members = match meaning {
            None => return Vec::new(),
            Some(NextHop::One(hop)) => return vec![(*hop, 1)],
            Some(NextHop::Blackhole) => {
                work.blackhole = true;
                return Vec::new();
            }
            Some(NextHop::Group(_)) if depth == 0 => return Vec::new(),
            Some(NextHop::Group(members)) => members,
        };
        let mut ways: Vec<(Hop, u64)> = Vec::new();
        // What one part of a weight is, so that the ways of groups inside can be told whole.
        let mut part = 1_u64;
        for (member, weight) in members {
            let Some(steps) = work.steps.checked_sub(1) else { break };
            work.steps = steps;
            let inside = self.ways(*member, depth - 1, work);
            let total = inside.iter().map(|(_, share)| share).sum::<u64>().max(1);
            // Beyond this shares are rounded: no table tells such flows apart.
            let factor = if part < 1 << 24 { total / gcd(total, part) } else { 1 };
            ways.iter_mut().for_each(|(_, share)| *share *= factor);
            part *= factor;
            let share = |of: u64| (u64::from(*weight) * of * part / total).max(1);
            ways.extend(inside.into_iter().map(|(hop, of)| (hop, share(of))));
            if ways.len() > MOST_MEMBERS {
                ways.truncate(MOST_MEMBERS);
                break;
            }
        }
        let divisor = ways.iter().fold(0, |divisor, (_, share)| gcd(divisor, *share)).max(1);
        // Shares of groups inside groups stay small enough to be multiplied.
        let largest = ways.iter().map(|(_, share)| share / divisor).max().unwrap_or(1);
        let scale = largest / (1 << 16) + 1;
        ways.iter_mut().for_each(|(_, share)| *share = (*share / divisor / scale).max(1));
        ways
    }
}

/// What is left to do for one number, and what was met.
struct Work {
    steps: usize,
    blackhole: bool,
}

fn members(meaning: Option<&NextHop>) -> impl Iterator<Item = u32> + '_ {
    let members = match meaning {
        Some(NextHop::Group(members)) => &members[..],
        _ => &[],
    };
    members.iter().map(|(member, _)| *member)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(link: u32) -> Hop {
        Hop { gateway: None, link: Some(link) }
    }

    fn numbers(all: &[(u32, NextHop)]) -> Numbers {
        let mut numbers = Numbers::default();
        for (id, meaning) in all {
            numbers.named(*id, *id);
            numbers.explain(*id, Some(meaning.clone()));
        }
        numbers
    }

    fn one(id: u32) -> (u32, NextHop) {
        (id, NextHop::One(hop(id)))
    }

    fn group(id: u32, members: &[(u32, u16)]) -> (u32, NextHop) {
        (id, NextHop::Group(members.to_vec()))
    }

    fn ways(numbers: &Numbers, id: u32) -> Vec<(u32, u16)> {
        match numbers.leads(id) {
            Some(Leads::Ways(ways)) => {
                ways.iter().map(|(hop, n)| (hop.link.unwrap(), *n)).collect()
            }
            None => Vec::new(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn groups_inside_groups_share_by_the_weights_of_both() {
        let all =
            [one(1), one(2), one(3), group(8, &[(1, 1), (2, 2)]), group(9, &[(8, 1), (3, 1)])];
        let numbers = numbers(&all);
        assert_eq!(ways(&numbers, 8), [(1, 1), (2, 2)]);
        assert_eq!(ways(&numbers, 9), [(1, 1), (2, 2), (3, 3)]);
    }

    #[test]
    fn what_leads_nowhere_gives_its_share_to_the_others() {
        let nowhere = (5, NextHop::Blackhole);
        let all =
            [one(1), nowhere, group(8, &[(5, 7), (6, 7)]), group(9, &[(8, 5), (1, 1), (6, 3)])];
        let numbers = numbers(&all);
        assert_eq!(ways(&numbers, 9), [(1, 1)]);
        assert_eq!(
            [5, 8].map(|id| numbers.leads(id)),
            [Some(Leads::Blackhole), Some(Leads::Blackhole)]
        );
        assert_eq!([6, 7].map(|id| numbers.leads(id)), [None, None]);
    }

    #[test]
    fn groups_that_hold_each_other_and_groups_without_end_come_to_one() {
        let ring = numbers(&[one(1), group(8, &[(9, 1), (1, 1)]), group(9, &[(8, 1)])]);
        assert!(ways(&ring, 9).iter().all(|(link, _)| *link == 1));
        // Each twice what the one before it is: with nothing at the end, and with a way there.
        for last in [one(10), group(10, &[(9, 1)])] {
            let twice = |id| group(id, &[(id - 1, 1); 100]);
            let deep = numbers(&[&[last][..], &(11..30).map(twice).collect::<Vec<_>>()].concat());
            assert!(ways(&deep, 17).len() <= MOST_MEMBERS);
            assert!(ways(&deep, 29).is_empty());
        }
    }

    #[test]
    fn all_that_stands_on_a_number_is_told_of() {
        let all =
            [one(1), one(2), group(8, &[(1, 1)]), group(9, &[(8, 1), (2, 1)]), group(7, &[(2, 1)])];
        let mut numbers = numbers(&all);
        assert_eq!(numbers.explain(1, None), HashSet::from([1, 8, 9]));
        assert_eq!((ways(&numbers, 9), numbers.members()), (vec![(2, 1)], 4));
        assert_eq!(numbers.explain(1, None), HashSet::new());
        assert_eq!(numbers.explain(9, Some(NextHop::Group(vec![(2, 1)]))), HashSet::from([9]));
        assert_eq!(numbers.explain(1, Some(NextHop::One(hop(4)))), HashSet::from([1, 8]));
        assert_eq!(numbers.members(), 3);
        numbers.clear();
        assert_eq!((numbers.members(), numbers.len()), (0, 0));
    }
}
