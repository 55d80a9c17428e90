//! A compiled list: the first rule that a packet matches, found in a few trees.
//!
//! ```text
//!  rules ─▶ tree 1    those that some bits tell apart
//!           tree 2    those that were wide there: they ask for other bits
//!           …
//!           tree 8    what is left, whatever it costs
//! ```
//! Made once and never changed: a new list takes the old one's place, and shares what is the same
//! (`amend`). Any thread may ask it.
//!
//! A packet goes down each tree, all packets of a vector one step at a time (`walk`). A tree whose
//! first rule stands behind the one found already is left out.

#![allow(unsafe_code)] // Reads blocks of its version, with instructions that the machine has.

use crate::amend::{Amending, Done, Edit};
use crate::cut::Wide;
use crate::ground::{Alive, Ground};
use crate::key::{CELLS4, CELLS6, Family, WIDE4, WIDE6};
use crate::lean::Lean;
use crate::record::{Record, Stored};
use crate::tree::{Entry, MOST, Planter};
use crate::walk::{VECTOR, Walk};
use crate::{AclError, Action, Key, Rule, Verdict};
use std::sync::Arc;

/// Trees that leave rules aside; one more has the rest.
pub(crate) const TREES: usize = 7;
/// Entries that there is always room for in a list that is to be amended.
const MORE_ENTRIES: usize = 4096;
/// Records likewise.
const MORE_RECORDS: usize = 256;

/// A list for IPv4.
pub type Acl4 = Acl<CELLS4>;
/// A list for IPv6.
pub type Acl6 = Acl<CELLS6>;
/// A list for IPv4 whose rules ask for [`More`](crate::More).
pub type Wide4 = Acl<WIDE4>;
/// A list for IPv6 whose rules ask for [`More`](crate::More).
pub type Wide6 = Acl<WIDE6>;

/// See the module.
#[derive(Clone, Debug)]
pub struct Acl<const N: usize> {
    ground: Either<N>,
    alive: Alive,
    version: u64,
    trees: Vec<Tree>,
    none: Verdict,
    rules: usize,
    /// Rules that have answers come back.
    reflecting: usize,
    copies: usize,
    /// Where rules stand that hide others.
    hiding: Arc<[u64]>,
    has_avx2: bool,
}

/// What a list stands on: lean records, if they have room for what its rules ask.
#[derive(Clone, Debug)]
enum Either<const N: usize> {
    Lean(Arc<Ground<Lean>>),
    Full(Arc<Ground<Record<N>>>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Tree {
    pub(crate) root: Entry,
    /// That of its earliest rule.
    pub(crate) first: Verdict,
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
        Self::made(rules, otherwise, most, false)
    }

    /// The same with room for versions that are made of it.
    pub fn lasting<A: Family<N>>(
        rules: &[(u32, Rule<A>)],
        otherwise: Action,
        most: usize,
    ) -> Result<Self, AclError> {
        Self::made(rules, otherwise, most, true)
    }

    fn made<A: Family<N>>(
        rules: &[(u32, Rule<A>)],
        otherwise: Action,
        most: usize,
        is_lasting: bool,
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
        let Planter { entries, records, hiding, .. } = planter;
        let copies = records.len();
        let lean = || records.iter().map(Lean::of).collect::<Option<Vec<_>>>();
        let ground = match (N == CELLS4).then(lean).flatten() {
            Some(lean) => Either::Lean(ground(entries, lean, most, is_lasting)),
            None => Either::Full(ground(entries, records, most, is_lasting)),
        };
        let mut hiding: Vec<u64> = hiding.iter().map(|rule| rule.stands()).collect();
        hiding.sort_unstable();
        hiding.dedup();
        let reflects = |(_, rule): &&(u32, Rule<A>)| rule.action == Action::Reflect;
        Ok(Self {
            ground,
            alive: Alive::default(),
            version: 0,
            trees,
            none: Verdict::none(otherwise),
            rules: rules.len(),
            reflecting: rules.iter().filter(reflects).count(),
            copies,
            hiding: hiding.into(),
            has_avx2: is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2"),
        })
    }

    /// Its next version, which shares with it what is the same, and takes as long to make as there
    /// are edits, not rules. Of each rule that goes, or comes, the list says what it said when it
    /// came, or shall say. None where the list had better be made anew: there is no room for more,
    /// or another version was made of this one, or a rule goes that hid others.
    pub fn amended<A: Family<N>>(&self, edits: &[Edit<A>]) -> Option<Self> {
        if edits.is_empty() {
            return Some(self.clone());
        }
        let (mut trees, mut rules, mut reflecting) =
            (self.trees.clone(), self.rules, self.reflecting);
        for edit in edits {
            let (Edit::Put(rule, _) | Edit::Take(rule, _)) = edit;
            let reflects = usize::from(rule.action == Action::Reflect);
            (rules, reflecting) = match edit {
                Edit::Put(..) => (rules + 1, reflecting + reflects),
                Edit::Take(..) => (rules.checked_sub(1)?, reflecting.checked_sub(reflects)?),
            };
        }
        let done = match &self.ground {
            Either::Lean(ground) => self.edit(ground, &mut trees, edits)?,
            Either::Full(ground) => self.edit(ground, &mut trees, edits)?,
        };
        let copies = self.copies.saturating_add_signed(done.more);
        let hiding = match &done.hiding[..] {
            [] => Arc::clone(&self.hiding),
            more => self.hiding.iter().chain(more).copied().collect(),
        };
        let (version, ground, alive) = (self.version + 1, self.ground.clone(), Alive::default());
        let (none, has_avx2) = (self.none, self.has_avx2);
        Some(Self {
            ground,
            alive,
            version,
            trees,
            none,
            rules,
            reflecting,
            copies,
            hiding,
            has_avx2,
        })
    }

    fn edit<A: Family<N>, S: Stored<N>>(
        &self,
        ground: &Ground<S>,
        trees: &mut Vec<Tree>,
        edits: &[Edit<A>],
    ) -> Option<Done> {
        let mut amending = Amending::new(ground, self.version)?;
        amending.edit(trees, edits, &self.hiding)?;
        Some(amending.done(self.version + 1, &self.alive))
    }

    /// What it looks like.
    pub fn shape(&self) -> Shape {
        Shape {
            rules: self.rules,
            trees: self.trees.len(),
            copies: self.copies,
            bytes: match &self.ground {
                Either::Lean(ground) => ground.bytes(),
                Either::Full(ground) => ground.bytes(),
            },
        }
    }

    /// Whether VLANs and stations may matter to it: else they need not be in its keys.
    pub fn asks_stations(&self) -> bool {
        matches!(self.ground, Either::Full(_))
    }

    /// Whether a rule has answers come back.
    pub fn reflects(&self) -> bool {
        self.reflecting > 0
    }

    /// Writes what becomes of each packet; the shorter of the two decides how many.
    pub fn classify(&self, keys: &[Key<N>], verdicts: &mut [Verdict]) {
        for (keys, verdicts) in keys.chunks(VECTOR).zip(verdicts.chunks_mut(VECTOR)) {
            let count = keys.len().min(verdicts.len());
            let (keys, verdicts) = (&keys[..count], &mut verdicts[..count]);
            verdicts.fill(self.none);
            match &self.ground {
                Either::Lean(ground) => self.ask(ground, keys, verdicts),
                Either::Full(ground) => self.ask(ground, keys, verdicts),
            }
        }
    }

    fn ask<S: Stored<N>>(&self, ground: &Ground<S>, keys: &[Key<N>], verdicts: &mut [Verdict]) {
        let mut walk = Walk::new(ground, keys, verdicts);
        for (number, tree) in self.trees.iter().enumerate() {
            let first = self.trees[number..].iter().map(|tree| tree.first).min();
            if number > 0 && !first.is_some_and(|first| walk.go_on(first)) {
                return;
            }
            // SAFETY: the tree is of a version on it, and the machine has the instructions.
            unsafe { walk.down(tree, self.has_avx2) }
        }
    }
}

/// As many bytes as the list may take, with room for versions if it is to last.
fn ground<S: Copy>(
    entries: Vec<Entry>,
    records: Vec<S>,
    most: usize,
    is_lasting: bool,
) -> Arc<Ground<S>> {
    let used = size_of_val(&entries[..]) + size_of_val(&records[..]);
    let room = if is_lasting { most.saturating_sub(used) / 2 } else { 0 };
    let more_entries = (entries.len() + MORE_ENTRIES).min(room / size_of::<Entry>());
    let more_records = (records.len() / 8 + MORE_RECORDS).min(room / size_of::<S>());
    Arc::new(Ground::new((entries, more_entries), (records, more_records)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{self, Flavour, Numbers};

    fn a_machine_without_them_finds_the_same<A: Family<N> + synthetic::Made, const N: usize>() {
        let rules = synthetic::rules::<A>(Flavour::Firewall, 500, 1);
        let mut list = Acl::<N>::new(&rules, Action::Deny, 1 << 20).unwrap();
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

    #[test]
    fn a_machine_without_vector_instructions_finds_the_same() {
        a_machine_without_them_finds_the_same::<u32, CELLS4>();
        a_machine_without_them_finds_the_same::<u128, CELLS6>();
    }
}
