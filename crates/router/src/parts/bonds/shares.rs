//! Shares of stations in balance-slb: those of members that carry much are moved to members that
//! carry little.
//!
//! ```text
//!  octets of each share ── once in `rebalance` ─▶ its load: half of what that was, and what came since
//!  the most loaded member ── the share that evens both best ─▶ the least loaded one, again and again
//! ```
//! A share stays with its new member as long as that carries. What is hardly worth it does not
//! move: each time a station does, the switch beyond has to learn where it is.

use nodes::tables::{BondWays, SHARES, ShareLoads};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Octets that two members differ by, at least, for something to move.
const LEAST_OCTETS: u64 = 100_000;
/// Members whose loads differ by no more than one part of so many are even.
const EVEN: u64 = 32;
/// A share moves if the difference is less by one part of so many then, at least.
const WORTH: u64 = 10;

/// See the module.
pub(super) struct Shares {
    counted: Arc<ShareLoads>,
    /// What was counted when they were looked at last.
    seen: [u64; SHARES],
    loads: [u64; SHARES],
    /// Those that were moved, and to whom.
    moved: BTreeMap<usize, u16>,
    next_look_ns: u64,
    /// How often one was.
    pub(super) moves: u64,
}

impl Shares {
    /// None was moved yet.
    pub(super) fn new(workers: usize, next_look_ns: u64) -> Self {
        Self {
            counted: Arc::new(ShareLoads::new(workers)),
            seen: [0; SHARES],
            loads: [0; SHARES],
            moved: BTreeMap::new(),
            next_look_ns,
            moves: 0,
        }
    }

    /// The ways of a bond of these members.
    pub(super) fn ways(&self, members: &[u16]) -> BondWays {
        let mut ways = BondWays::by_source(members);
        for (&share, member) in &self.moved {
            if let Some(place) = ways.members.get_mut(share).filter(|_| members.contains(member)) {
                *place = *member;
            }
        }
        BondWays { loads: Some(Arc::clone(&self.counted)), ..ways }
    }

    /// Evens the loads of members, where it is time to; whether something moved.
    pub(super) fn look(&mut self, now_ns: u64, period_ns: u64, members: &[u16]) -> bool {
        if now_ns < self.next_look_ns {
            return false;
        }
        self.next_look_ns = now_ns + period_ns;
        let counted = self.counted.totals();
        for ((load, seen), counted) in self.loads.iter_mut().zip(&mut self.seen).zip(counted) {
            *load = *load / 2 + counted.wrapping_sub(*seen);
            *seen = counted;
        }
        let mut ways = self.ways(members).members;
        let moved = evened(&self.loads, &mut ways, members);
        self.moves += moved.len() as u64;
        self.moved.extend(moved.iter().map(|share| (*share, ways[*share])));
        !moved.is_empty()
    }
}

/// Gives shares of the most loaded member to the least loaded one until that is of no use; tells
/// which.
fn evened(loads: &[u64; SHARES], ways: &mut [u16], members: &[u16]) -> Vec<usize> {
    let mut moved = Vec::new();
    if ways.len() < SHARES {
        return moved;
    }
    // Each moves once: what is best for two members may be undone for a third.
    while moved.len() < SHARES {
        let of = |member: u16| -> u64 {
            loads.iter().zip(&*ways).filter(|(_, way)| **way == member).map(|(load, _)| load).sum()
        };
        let all: Vec<(u64, u16)> = members.iter().map(|member| (of(*member), *member)).collect();
        let (Some(&(most, from)), Some(&(least, to))) = (all.iter().max(), all.iter().min()) else {
            break;
        };
        let difference = most - least;
        if difference < LEAST_OCTETS.max(least / EVEN) {
            break;
        }
        let left = |share: &usize| difference.abs_diff(loads[*share].saturating_mul(2));
        let fits =
            |share: &usize| ways[*share] == from && left(share) <= difference - difference / WORTH;
        let free = (0..SHARES).filter(|share| !moved.contains(share));
        let Some(best) = free.filter(fits).min_by_key(left) else { break };
        ways[best] = to;
        moved.push(best);
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMBERS: [u16; 2] = [3, 4];
    const SECOND: u64 = 1_000_000_000;

    fn loads(of: &[(usize, u64)]) -> [u64; SHARES] {
        let mut loads = [0; SHARES];
        of.iter().for_each(|(share, load)| loads[*share] = *load);
        loads
    }

    /// What moves, where all is the first member's.
    fn moved(of: &[(usize, u64)], members: &[u16]) -> Vec<usize> {
        evened(&loads(of), &mut [members[0]; SHARES], members)
    }

    #[test]
    fn loads_are_evened_by_the_fewest_moves_that_are_worth_it() {
        let heavy = [(7, 4_000_000), (8, 3_000_000), (9, 2_000_000), (10, 1_000_000)];
        assert_eq!(moved(&heavy, &MEMBERS), [7, 10]);
        // Nothing is gained by moving the only one that carries much, or what hardly counts.
        assert_eq!(moved(&[(7, 4_000_000)], &MEMBERS), [0_usize; 0]);
        // Where the other one carries a little already, one of two alike moves all the same.
        let mut ways = [MEMBERS[0]; SHARES];
        ways[1] = MEMBERS[1];
        let alike = loads(&[(7, 1_000_000), (8, 1_000_000), (1, 300)]);
        assert_eq!(evened(&alike, &mut ways, &MEMBERS).len(), 1);
        assert_eq!(moved(&[(7, 4_000_000), (8, 100_000)], &MEMBERS), [0_usize; 0]);
        assert_eq!(moved(&[(7, 50_000), (8, 40_000)], &MEMBERS), [0_usize; 0], "hardly anything");
        let four = [(1, 1_000_000), (2, 1_000_000), (3, 1_000_000), (4, 1_000_000)];
        assert_eq!(moved(&four, &[3, 4, 5, 6]).len(), 3);
        assert_eq!(moved(&four, &[3]), [0_usize; 0]);
        assert_eq!(evened(&loads(&four), &mut [], &[]), [0_usize; 0]);
    }

    #[test]
    fn what_moved_stays_while_its_member_carries_and_comes_back_with_it() {
        let mut shares = Shares::new(2, SECOND);
        let first = shares.ways(&MEMBERS).members;
        let heavy: Vec<usize> = (0..SHARES).filter(|share| first[*share] == 3).take(2).collect();
        heavy.iter().for_each(|share| shares.counted.add(1, *share, 2_000_000));
        assert!(!shares.look(SECOND - 1, SECOND, &MEMBERS), "it is not time yet");
        assert_eq!(shares.ways(&MEMBERS).members, first);
        assert!(shares.look(SECOND, SECOND, &MEMBERS));
        assert_eq!(shares.moves, 1);
        let second = shares.ways(&MEMBERS).members;
        let differ: Vec<usize> = (0..SHARES).filter(|at| first[*at] != second[*at]).collect();
        assert!(differ.len() == 1 && heavy.contains(&differ[0]) && second[differ[0]] == 4);
        // Even now.
        assert!(!shares.look(2 * SECOND, SECOND, &MEMBERS));
        assert!(shares.ways(&[3]).members.iter().all(|way| *way == 3));
        assert_eq!(shares.ways(&MEMBERS).members, second);
        assert_eq!(shares.ways(&[]).members, [0_u16; 0]);
    }
}
