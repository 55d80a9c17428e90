//! Who gets which buckets: fair by weight, and with as few moves as fairness allows.
//!
//! A member's *quota* is its weight's part of all buckets, a fraction. It is never given fewer than
//! the whole buckets of its quota, nor more than one above. When a member leaves, the quotas of the
//! others only grow, so that none of them gives a bucket up: its buckets alone move.

use std::collections::BTreeMap;

use crate::Forward;

/// The most buckets of a group.
pub const MAX_BUCKETS: usize = 4096;
/// Buckets of the lightest member, while there are not too many: its share is right to a sixteenth.
const BUCKETS_OF_LIGHTEST: u64 = 16;

/// One of those who share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    /// Where its flows go.
    pub to: Forward,
    /// Its share of them; 0 counts as 1.
    pub weight: u32,
}

/// Weights by member, those of the same added up.
pub(super) fn merged(members: &[Member]) -> BTreeMap<Forward, u64> {
    let mut weights = BTreeMap::new();
    for member in members.iter().filter(|member| !member.to.is_none()) {
        *weights.entry(member.to).or_default() += u64::from(member.weight.max(1));
    }
    weights
}

/// How many buckets such members need.
pub(super) fn size_for(weights: &BTreeMap<Forward, u64>) -> usize {
    let lightest = weights.values().copied().min().unwrap_or(1);
    let total: u64 = weights.values().sum();
    let wanted = (total * BUCKETS_OF_LIGHTEST).div_ceil(lightest).clamp(1, MAX_BUCKETS as u64);
    (wanted as usize).next_power_of_two()
}

/// How many buckets each has.
pub(super) fn counts(held: &[Forward]) -> BTreeMap<Forward, usize> {
    let mut counts = BTreeMap::new();
    for to in held.iter().filter(|to| !to.is_none()) {
        *counts.entry(*to).or_default() += 1;
    }
    counts
}

/// Which buckets must change, and to whom.
pub(super) fn moves(held: &[Forward], weights: &BTreeMap<Forward, u64>) -> Vec<(usize, Forward)> {
    let total: u64 = weights.values().sum();
    if total == 0 {
        let taken = (0..held.len()).filter(|place| !held[*place].is_none());
        return taken.map(|place| (place, Forward::NONE)).collect();
    }
    // In units of 1/total of a bucket.
    let quota = |weight: u64| weight * held.len() as u64;
    let mut count = counts(held);
    count.retain(|to, _| weights.contains_key(to));
    for to in weights.keys() {
        count.entry(*to).or_default();
    }
    let deficit = |to: &Forward, count: usize| {
        quota(weights.get(to).copied().unwrap_or(0)) as i64 - (count as u64 * total) as i64
    };
    let neediest = |count: &BTreeMap<Forward, usize>| {
        count.iter().map(|(to, n)| (deficit(to, *n), *to)).max_by_key(|(need, _)| *need)
    };
    let richest = |count: &BTreeMap<Forward, usize>| {
        count.iter().map(|(to, n)| (deficit(to, *n), *to)).min_by_key(|(need, _)| *need)
    };
    let mut now = held.to_vec();
    let mut free: Vec<usize> =
        (0..now.len()).filter(|place| !weights.contains_key(&now[*place])).collect();
    while let (Some((need, to)), Some((excess, from))) = (neediest(&count), richest(&count)) {
        // A free bucket goes to whoever lacks most; else one moves as long as somebody lacks a
        // whole bucket or has one too many.
        let place = match free.pop() {
            Some(place) => Some(place),
            None if need >= total as i64 || -excess >= total as i64 => {
                *count.entry(from).or_default() -= 1;
                now.iter().rposition(|held| *held == from)
            }
            None => None,
        };
        let Some(place) = place else { break };
        now[place] = to;
        *count.entry(to).or_default() += 1;
    }
    let changed = (0..now.len()).filter(|place| now[*place] != held[*place]);
    changed.map(|place| (place, now[place])).collect()
}
