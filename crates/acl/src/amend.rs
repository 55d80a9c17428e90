//! The next version of a list: some rules come, some go, and everything else is shared.
//!
//! ```text
//!  root ─▶ │ · · A · · · │            a rule that comes into B:  root' ─▶ │ · · A' · · · │
//!                ▼                                                              ▼
//!                │ B C │                                                        │ B' C │
//! ```
//! What leads to a change is copied, and nothing else; of children that are one, what is below,
//! so that a block has one cut above it in each version. A rule goes down the trees as it had
//! when the list was made: so it is found again where it was put.

#![allow(unsafe_code)] // Reads blocks of the version before, and writes those that it was given.

use crate::cut::{Reach, WIDE, Wide};
use crate::ground::{Alive, Blocks, Ground, Growth};
use crate::key::Family;
use crate::list::{TREES, Tree};
use crate::record::{Record, Stored};
use crate::tree::{Entry, Planter};
use crate::{Rule, Verdict};
use std::collections::{HashMap, HashSet};
use std::sync::MutexGuard;

/// One rule that comes, goes, or says something else.
#[derive(Clone, Copy, Debug)]
pub enum Edit<A: fib::Address> {
    /// It comes.
    Put(Rule<A>, Verdict),
    /// It goes.
    Take(Rule<A>, Verdict),
}

/// A leaf of more records is divided, if it can be, when one comes.
const LEAF: usize = 8;
/// A leaf that could not be divided is tried again when it has so many more.
const TRIED: usize = 4;
/// It is looked whether children are one where a rule goes to so many, or there are
const FEW: usize = 8;
/// so many. Elsewhere they may be.
const SMALL: u32 = 256;

/// What is done to the trees.
enum Step<const N: usize> {
    Put(Record<N>),
    Take(Record<N>),
    /// What packets must be like stays.
    Turn(Record<N>, Verdict),
}

impl<const N: usize> Step<N> {
    fn rule(&self) -> &Record<N> {
        match self {
            Self::Put(rule) | Self::Take(rule) | Self::Turn(rule, _) => rule,
        }
    }

    /// The rules of a leaf after it; none if it changes nothing there.
    fn on(&self, mut rules: Vec<Record<N>>) -> Option<Vec<Record<N>>> {
        let own = self.rule().verdict();
        let found = rules.binary_search_by_key(&own, Record::verdict);
        match (self, found) {
            (Self::Put(rule), Err(place)) => rules.insert(place, *rule),
            (Self::Take(_), Ok(place)) => drop(rules.remove(place)),
            (Self::Turn(_, verdict), Ok(place)) => rules[place] = rules[place].with(*verdict),
            _ => return None,
        }
        Some(rules)
    }
}

/// What is different in a version.
pub(crate) struct Done {
    /// Records more than before, or fewer.
    pub(crate) more: isize,
    /// Where rules stand that hide others now.
    pub(crate) hiding: Vec<u64>,
}

/// Makes a version.
pub(crate) struct Amending<'g, S: Copy, const N: usize> {
    ground: &'g Ground<S>,
    growth: MutexGuard<'g, Growth>,
    /// Blocks of entries that no version has yet.
    fresh: HashSet<u32>,
    left: Blocks,
    more: isize,
    hiding: Vec<u64>,
}

impl<'g, S: Stored<N>, const N: usize> Amending<'g, S, N> {
    /// Of the version of this number, if it is the last one.
    pub(crate) fn new(ground: &'g Ground<S>, version: u64) -> Option<Self> {
        let mut growth = ground.growth.lock().ok()?;
        // Until it is done: what fails leaves blocks that are nobody's.
        growth.newest.take_if(|newest| *newest == version)?;
        growth.tidy();
        let (fresh, left, hiding) = (HashSet::new(), Blocks::default(), Vec::new());
        Some(Self { ground, growth, fresh, left, more: 0, hiding })
    }

    /// Makes one edit after the other; none where the list had better be made anew.
    pub(crate) fn edit<A: Family<N>>(
        &mut self,
        trees: &mut Vec<Tree>,
        edits: &[Edit<A>],
        hiding: &[u64],
    ) -> Option<()> {
        let mut edits = edits.iter().peekable();
        while let Some(edit) = edits.next() {
            let step = match (edit, edits.peek()) {
                (Edit::Take(old, was), Some(Edit::Put(new, is)))
                    if was.stands() == is.stands()
                        && *old == (Rule { action: old.action, ..*new }) =>
                {
                    edits.next();
                    Step::Turn(Record::new(old, *was), *is)
                }
                (Edit::Take(rule, verdict), _) => {
                    // What it hid is known to nobody.
                    let stands = verdict.stands();
                    if hiding.contains(&stands) || self.hiding.contains(&stands) {
                        return None;
                    }
                    Step::Take(Record::new(rule, *verdict))
                }
                (Edit::Put(rule, verdict), _) => Step::Put(Record::new(rule, *verdict)),
            };
            self.step(trees, &step)?;
        }
        Some(())
    }

    /// The version of this number is made, and may be edited; the one before it is `before`.
    pub(crate) fn done(mut self, number: u64, before: &Alive) -> Done {
        self.growth.leave(before, self.left);
        self.growth.newest = Some(number);
        Done { more: self.more, hiding: self.hiding }
    }

    fn step(&mut self, trees: &mut Vec<Tree>, step: &Step<N>) -> Option<()> {
        let verdict = match step {
            Step::Turn(_, verdict) => *verdict,
            _ => step.rule().verdict(),
        };
        for tree in trees.iter_mut() {
            let more = self.more;
            let (root, is_aside) = self.go(tree.root, [0; N], false, step)?;
            let is_here = tree.root != root || self.more != more || matches!(step, Step::Turn(..));
            tree.root = root;
            if is_here && !matches!(step, Step::Take(_)) {
                tree.first = tree.first.min(verdict);
            }
            if !is_aside {
                // A packet at a root that is a leaf looks at its first record.
                trees.retain(|tree| tree.root != Entry::default());
                return Some(());
            }
        }
        if let Step::Put(rule) = step {
            // All trees that there are leave it aside.
            let root = (trees.len() <= TREES).then(|| self.leaf(&[*rule])).flatten()?;
            trees.push(Tree { root, first: verdict });
        }
        Some(())
    }

    /// What an entry becomes, where the bits of `known` are told apart already, and whether it
    /// leaves the rule aside. Others may have the entry too if it is a leaf, and nobody else if it
    /// is a cut.
    fn go(
        &mut self,
        entry: Entry,
        known: [u32; N],
        is_shared: bool,
        step: &Step<N>,
    ) -> Option<(Entry, bool)> {
        let Some((cut, wide)) = entry.divides() else {
            return Some((self.go_leaf(entry, known, is_shared, step)?, false));
        };
        let reach = cut.reach(step.rule());
        if wide == Wide::Aside && reach.count() > WIDE {
            return Some((entry, true));
        }
        let mut inside = known;
        inside[usize::from(cut.cell)] |= cut.mask();
        let mut made: HashMap<Entry, Entry> = HashMap::new();
        let (mut changes, mut is_aside) = (Vec::new(), false);
        for child in reach.children() {
            let old = self.child(entry, child);
            let new = match made.get(&old) {
                Some(&new) => new,
                None => {
                    let is_shared = self.is_elsewhere(entry, old, reach);
                    let own = if is_shared && old.is_cut() { self.copied(old)? } else { old };
                    let (new, aside) = self.go(own, inside, is_shared, step)?;
                    is_aside |= aside;
                    made.insert(old, new);
                    new
                }
            };
            if new != old {
                changes.push((child, new));
            }
        }
        if changes.is_empty() {
            return Some((entry, is_aside));
        }
        Some((self.with_children(entry, &changes)?, is_aside))
    }

    /// The same with blocks of its own.
    fn copied(&mut self, entry: Entry) -> Option<Entry> {
        let (_, count) = entry.block();
        if !entry.is_cut() {
            let rules = self.rules(entry);
            self.more += count as isize;
            return self.leaf(&rules);
        }
        let (first, _) = self.growth.entries.take(count as usize)?;
        self.fresh.insert(first);
        let mut made: HashMap<Entry, Entry> = HashMap::new();
        for child in 0..count as usize {
            let old = self.child(entry, child);
            let new = match made.get(&old) {
                Some(&new) => new,
                None => self.copied(old)?,
            };
            made.insert(old, new);
            // SAFETY: the block was given to us.
            unsafe { self.ground.entries.write(first as usize + child, new) }
        }
        Some(entry.moved_to(first))
    }

    fn child(&self, of: Entry, child: usize) -> Entry {
        // SAFETY: the version that is edited has it, or it is a block that was given to us.
        unsafe { *self.ground.entries.at(of.block().0 as usize + child) }
    }

    /// Whether another child, to which the rule does not go, is the same one.
    fn is_elsewhere(&self, of: Entry, child: Entry, reach: Reach) -> bool {
        let (_, count) = of.block();
        let is_there = |other: usize| self.child(of, other) == child && !reach.has(other);
        let has_block = child.is_cut() || child.has_records();
        let is_many = reach.count() > FEW && count > SMALL;
        has_block && (is_many || (0..count as usize).any(is_there))
    }

    /// A cut with other children.
    fn with_children(&mut self, entry: Entry, changes: &[(usize, Entry)]) -> Option<Entry> {
        let (old, count) = entry.block();
        let mut first = old;
        if !self.fresh.contains(&old) {
            first = self.growth.entries.take(count as usize)?.0;
            for child in 0..count as usize {
                let same = self.child(entry, child);
                // SAFETY: the block was given to us.
                unsafe { self.ground.entries.write(first as usize + child, same) }
            }
            self.fresh.insert(first);
            self.left.entries.push((old, count));
        }
        for (child, new) in changes {
            // SAFETY: no version has the block yet.
            unsafe { self.ground.entries.write(first as usize + child, *new) }
        }
        Some(entry.moved_to(first))
    }

    fn go_leaf(
        &mut self,
        entry: Entry,
        known: [u32; N],
        is_shared: bool,
        step: &Step<N>,
    ) -> Option<Entry> {
        let Some(rules) = step.on(self.rules(entry)) else { return Some(entry) };
        self.more += rules.len() as isize;
        if !is_shared {
            let block = entry.block();
            self.left.records.push(block);
            self.more -= block.1 as isize;
        }
        let is_long = rules.len() > LEAF && rules.len().is_multiple_of(TRIED);
        match step {
            Step::Put(_) if is_long => self.grow(&rules, known),
            _ => self.leaf(&rules),
        }
    }

    /// Those of a leaf.
    fn rules(&self, leaf: Entry) -> Vec<Record<N>> {
        let (first, count) = leaf.block();
        // SAFETY: the version that is edited has it, or it is a block that was given to us.
        let rule = |place| unsafe { self.ground.records.at(place as usize) };
        (first..first + count).map(|place| rule(place).record()).collect()
    }

    fn leaf(&mut self, rules: &[Record<N>]) -> Option<Entry> {
        if rules.is_empty() {
            return Some(Entry::default());
        }
        let first = self.write_records(rules)?;
        Some(Entry::leaf(first, rules.len() as u32))
    }

    /// Where the records are now; none if a rule asks for what these lists have not.
    fn write_records(&mut self, rules: &[Record<N>]) -> Option<u32> {
        let (first, _) = self.growth.records.take(rules.len())?;
        for (place, rule) in (first..).zip(rules) {
            // SAFETY: the block was given to us.
            unsafe { self.ground.records.write(place as usize, S::of(rule)?) }
        }
        Some(first)
    }

    /// Divides a leaf that has become long.
    fn grow(&mut self, rules: &[Record<N>], known: [u32; N]) -> Option<Entry> {
        let most = 4 * size_of_val(rules);
        let mut planter = Planter::new(rules, most);
        let root = planter.plant_all(known);
        let Planter { entries, records, hiding, .. } = planter;
        self.hiding.extend(hiding.iter().map(|rule| rule.stands()));
        self.more += records.len() as isize - rules.len() as isize;
        let (first_entry, _) = self.growth.entries.take(entries.len())?;
        let first_record = self.write_records(&records)?;
        let moved = |entry: Entry| {
            let first = if entry.is_cut() { first_entry } else { first_record };
            let is_empty = !entry.is_cut() && !entry.has_records();
            if is_empty { entry } else { entry.moved_to(first + entry.block().0) }
        };
        for (place, entry) in (first_entry..).zip(entries) {
            // SAFETY: the block was given to us.
            unsafe { self.ground.entries.write(place as usize, moved(entry)) }
        }
        Some(moved(root))
    }
}
