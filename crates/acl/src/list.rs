//! A compiled list: the first rule that a packet matches, found in a few trees.
//!
//! ```text
//!  rules ─▶ tree 1    those that some bits tell apart
//!           tree 2    those that were wide there: they ask for other bits
//!           …
//!           tree 8    what is left, whatever it costs
//! ```
//! Made once and never changed: a new list takes the old one's place. Any thread may ask it.
//!
//! A packet goes down each tree, all packets of a vector one step at a time, so that the lines they
//! touch come from memory together. A tree whose first rule stands behind the one found already is
//! left out.

#![allow(unsafe_code)] // Calls the kernel that the machine has the instructions for; acl-bench: a tenth faster.

use crate::cut::Wide;
use crate::key::{CELLS4, CELLS6, Family, WIDE4, WIDE6};
use crate::record::Record;
use crate::tree::{Entry, MOST, Planter};
use crate::{AclError, Action, Key, Rule, Verdict};
use fib::prefetch;

/// Packets that go down a tree together.
const VECTOR: usize = 256;
/// Trees that leave rules aside; one more has the rest.
const TREES: usize = 7;

/// A list for IPv4.
pub type Acl4 = Acl<CELLS4>;
/// A list for IPv6.
pub type Acl6 = Acl<CELLS6>;
/// A list for IPv4 whose rules ask for [`More`](crate::More).
pub type Wide4 = Acl<WIDE4>;
/// A list for IPv6 whose rules ask for [`More`](crate::More).
pub type Wide6 = Acl<WIDE6>;

/// See the module.
#[derive(Debug)]
pub struct Acl<const N: usize> {
    trees: Vec<Tree>,
    entries: Vec<Entry>,
    records: Vec<Record<N>>,
    none: Verdict,
    rules: usize,
    reflects: bool,
    has_avx2: bool,
}

#[derive(Clone, Copy, Debug)]
struct Tree {
    root: Entry,
    /// That of its earliest rule.
    first: Verdict,
}

/// What a compiled list looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The rules that it was made of.
    pub rules: usize,
    /// Trees that a packet may have to go down.
    pub trees: usize,
    /// Rules in leaves: one may stand in several.
    pub copies: usize,
    /// Bytes that it takes.
    pub bytes: usize,
}

impl<const N: usize> Acl<N> {
    /// A list of numbered rules, the earlier before the later ones, their numbers ascending, that
    /// takes `most` bytes. What no rule fits becomes what `otherwise` says.
    pub fn new<A: Family<N>>(
        rules: &[(u32, Rule<A>)],
        otherwise: Action,
        most: usize,
    ) -> Result<Self, AclError> {
        if rules.len() > MOST {
            return Err(AclError::TooMany { count: rules.len(), most: MOST });
        }
        let made: Vec<Record<N>> = rules
            .iter()
            .map(|(number, rule)| Record::new(rule, Verdict::new(*number, rule.action)))
            .collect();
        let bytes = size_of_val(&made[..]);
        if bytes > most {
            return Err(AclError::Memory { rules: rules.len(), bytes, most });
        }
        let mut planter = Planter::new(&made, most);
        let mut trees = Vec::new();
        let mut left: Vec<u32> = (0..made.len() as u32).collect();
        while let Some(&first) = left.first() {
            let wide = if trees.len() < TREES { Wide::Aside } else { Wide::Repeated };
            let (root, aside) = planter.plant(left, wide);
            trees.push(Tree { root, first: made[first as usize].verdict() });
            left = aside;
        }
        let Planter { mut entries, mut records, .. } = planter;
        entries.shrink_to_fit();
        records.shrink_to_fit();
        Ok(Self {
            trees,
            entries,
            records,
            none: Verdict::none(otherwise),
            rules: rules.len(),
            reflects: rules.iter().any(|(_, rule)| rule.action == Action::Reflect),
            has_avx2: is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2"),
        })
    }

    /// What it looks like.
    pub fn shape(&self) -> Shape {
        Shape {
            rules: self.rules,
            trees: self.trees.len(),
            copies: self.records.len(),
            bytes: size_of_val(&self.entries[..]) + size_of_val(&self.records[..]),
        }
    }

    /// Whether a rule has answers come back.
    pub fn reflects(&self) -> bool {
        self.reflects
    }

    /// Writes what becomes of each packet; the shorter of the two decides how many.
    pub fn classify(&self, keys: &[Key<N>], verdicts: &mut [Verdict]) {
        for (keys, verdicts) in keys.chunks(VECTOR).zip(verdicts.chunks_mut(VECTOR)) {
            let count = keys.len().min(verdicts.len());
            let (keys, verdicts) = (&keys[..count], &mut verdicts[..count]);
            verdicts.fill(self.none);
            for tree in &self.trees {
                if self.has_avx2 {
                    // SAFETY: the machine has the instructions.
                    unsafe { self.descend_avx2(tree, keys, verdicts) }
                } else {
                    self.descend(tree, keys, verdicts);
                }
            }
        }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn descend_avx2(&self, tree: &Tree, keys: &[Key<N>], verdicts: &mut [Verdict]) {
        self.descend(tree, keys, verdicts);
    }

    /// Goes down one tree with at most [`VECTOR`] packets, those for which it may have an earlier
    /// rule.
    ///
    /// Lists of places are made without branches: what a packet meets next cannot be predicted.
    #[inline(always)]
    fn descend(&self, tree: &Tree, keys: &[Key<N>], verdicts: &mut [Verdict]) {
        let (mut at, mut next) = ([tree.root; VECTOR], [0u32; VECTOR]);
        let (mut at_cuts, mut at_leaves) = ([0u8; VECTOR], [0u8; VECTOR]);
        let (mut cuts, mut leaves) = (0, 0);
        for (place, verdict) in verdicts.iter().enumerate() {
            at_cuts[cuts % VECTOR] = place as u8;
            cuts += usize::from(*verdict > tree.first);
        }
        if tree.root.is_cut() {
            // All stand at the root: its cut is in registers.
            for &place in &at_cuts[..cuts] {
                let place = usize::from(place);
                next[place] = tree.root.next(&keys[place]);
                prefetch(self.entries.as_ptr(), next[place] as usize);
            }
        } else {
            (at_leaves, leaves) = (at_cuts, std::mem::take(&mut cuts));
        }
        while cuts > 0 {
            for index in 0..std::mem::take(&mut cuts) {
                let place = at_cuts[index];
                let entry = self.entries[next[usize::from(place)] as usize];
                at[usize::from(place)] = entry;
                prefetch(self.records.as_ptr(), entry.first_record());
                at_cuts[cuts % VECTOR] = place;
                at_leaves[leaves % VECTOR] = place;
                cuts += usize::from(entry.is_cut());
                leaves += usize::from(entry.has_records());
            }
            for &place in &at_cuts[..cuts] {
                let place = usize::from(place);
                next[place] = at[place].next(&keys[place]);
                prefetch(self.entries.as_ptr(), next[place] as usize);
            }
        }
        while leaves > 0 {
            for index in 0..std::mem::take(&mut leaves) {
                let place = at_leaves[index];
                let (entry, verdict) =
                    (&mut at[usize::from(place)], &mut verdicts[usize::from(place)]);
                let record = &self.records[entry.first_record()];
                let hit = record.matches(&keys[usize::from(place)]) & (record.verdict() < *verdict);
                *verdict = if hit { record.verdict() } else { *verdict };
                *entry = entry.without_first();
                at_leaves[leaves % VECTOR] = place;
                leaves += usize::from(!hit & entry.has_records());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{self, Flavour, Numbers};

    #[test]
    fn a_machine_without_vector_instructions_finds_the_same() {
        let rules = synthetic::rules::<u32>(Flavour::Firewall, 500, 1);
        let mut list = Acl4::new(&rules, Action::Deny, 1 << 20).unwrap();
        let mut numbers = Numbers::new(2);
        let keys: Vec<_> =
            (0..300).map(|_| Key::new(&synthetic::packet(&rules, &mut numbers))).collect();
        let verdicts = [true, false].map(|has_avx2| {
            list.has_avx2 &= has_avx2;
            let mut verdicts = vec![Verdict::none(Action::Permit); keys.len()];
            list.classify(&keys, &mut verdicts);
            verdicts
        });
        assert_eq!(verdicts[0], verdicts[1]);
        assert!(verdicts[0].iter().all(|verdict| verdict.number().is_some()));
    }
}
