//! A decision tree over rules, in two arrays.
//!
//! ```text
//!  entries  │ cut │ leaf │ cut │ …        records │ r r r │ r │ r r │ …
//!              │      └──────────────────────────────▶
//!              └─▶ its children, side by side
//!
//!  entry    63     56 55  48 47   40 39  32 31                0
//!          ┌─────────┬──────┬───────┬──────┬──────────────────┐
//!          │ 1, or 3 │ bits │ shift │ cell │ first child      │   3: wide rules are in other trees
//!          │    0    │ how many records     │ first record     │
//!          └─────────┴──────────────────────┴──────────────────┘
//! ```
//! A step touches one line of entries, a leaf one line of records for each rule of IPv4 that is
//! compared, two of IPv6.

use crate::arena::Block;
use crate::cut::{Cut, WIDE, Wide, choose};
use crate::record::Record;
use crate::{Key, Verdict};
use std::collections::HashMap;

/// A place in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Entry(u64);

/// Records that one leaf can have.
pub(crate) const MOST: usize = (1 << 24) - 1;

/// A cut that leaves wide rules aside.
const ASIDE: u64 = 1 << 57;

impl Entry {
    fn cut(cut: Cut, wide: Wide, first: u32) -> Self {
        let Cut { cell, shift, bits } = cut;
        let [cell, shift, bits] = [cell, shift, bits].map(u64::from);
        let aside = if wide == Wide::Aside { ASIDE } else { 0 };
        Self(1 << 56 | aside | bits << 48 | shift << 40 | cell << 32 | u64::from(first))
    }

    pub(crate) fn leaf(first: u32, count: u32) -> Self {
        Self(u64::from(count) << 32 | u64::from(first))
    }

    /// What it divides by, and whether it leaves wide rules aside; none of a leaf.
    pub(crate) fn divides(self) -> Option<(Cut, Wide)> {
        let wide = if self.0 & ASIDE == 0 { Wide::Repeated } else { Wide::Aside };
        self.is_cut().then(|| (self.as_cut(), wide))
    }

    /// The cut with its children, or the leaf with its records, from here on.
    pub(crate) fn moved_to(self, first: u32) -> Self {
        Self(self.0 & !u64::from(u32::MAX) | u64::from(first))
    }

    /// Children of a cut, or records of a leaf: the first, and how many.
    pub(crate) fn block(self) -> Block {
        let count = if self.is_cut() { 1 << self.as_cut().bits } else { (self.0 >> 32) as u32 };
        (self.0 as u32, count)
    }

    #[inline(always)]
    fn as_cut(self) -> Cut {
        let byte = |shift| (self.0 >> shift) as u8;
        Cut { cell: byte(32), shift: byte(40), bits: byte(48) }
    }

    #[inline(always)]
    pub(crate) fn is_cut(self) -> bool {
        self.0 >> 56 != 0
    }

    /// Where a packet goes on from a cut; any number of a leaf.
    #[inline(always)]
    pub(crate) fn next<const N: usize>(self, key: &Key<N>) -> u32 {
        self.first_child().wrapping_add(self.as_cut().child(key))
    }

    /// A cut's first child.
    #[inline(always)]
    pub(crate) fn first_child(self) -> u32 {
        self.0 as u32
    }

    /// Where one goes on that was at a cut.
    #[inline(always)]
    pub(crate) fn on_to(child: u32) -> Self {
        Self(child.into())
    }

    /// The cell that a cut looks at.
    #[inline(always)]
    pub(crate) fn cell<const N: usize>(self, key: &Key<N>) -> u32 {
        self.as_cut().cell(key)
    }

    /// Which bits of it, as BMI's `bextr` is told: from which on, and how many in the byte above.
    #[inline(always)]
    pub(crate) fn bits(self) -> u32 {
        (self.0 >> 40) as u32
    }

    /// A leaf's first record.
    #[inline(always)]
    pub(crate) fn first_record(self) -> usize {
        self.0 as u32 as usize
    }

    /// Whether it is a leaf, and not empty.
    #[inline(always)]
    pub(crate) fn has_records(self) -> bool {
        (self.0 >> 32).wrapping_sub(1) < MOST as u64
    }

    /// Whether a leaf has records.
    #[inline(always)]
    pub(crate) fn is_left(self) -> bool {
        self.0 > u64::from(u32::MAX)
    }

    /// The leaf behind its first record.
    #[inline(always)]
    pub(crate) fn without_first(self) -> Entry {
        Entry(self.0.wrapping_sub(1 << 32).wrapping_add(1))
    }
}

/// A leaf is not divided that has no more rules than this.
const LEAF: usize = 3;
/// Rules are left aside where at least so many are divided.
const MANY: usize = 48;

/// Plants trees in the same two arrays.
pub(crate) struct Planter<'r, const N: usize> {
    rules: &'r [Record<N>],
    pub(crate) entries: Vec<Entry>,
    pub(crate) records: Vec<Record<N>>,
    /// Bytes of both arrays once all rules are planted that are known of, if nothing is divided any
    /// more.
    due: usize,
    /// What that may come to.
    most: usize,
    wide: Wide,
    aside: Vec<u32>,
    /// Rules that have hidden others behind them somewhere.
    pub(crate) hiding: Vec<Verdict>,
}

impl<'r, const N: usize> Planter<'r, N> {
    /// For trees of `rules` that take `most` bytes together, or what one leaf of all rules does.
    pub(crate) fn new(rules: &'r [Record<N>], most: usize) -> Self {
        let (entries, records, aside) = (Vec::new(), Vec::new(), Vec::new());
        let (due, hiding) = (size_of_val(rules), Vec::new());
        Self { rules, entries, records, due, most, wide: Wide::Aside, aside, hiding }
    }

    /// Plants a tree of `rules`, earliest first; returns its root, and the rules that were left
    /// aside.
    pub(crate) fn plant(&mut self, rules: Vec<u32>, wide: Wide) -> (Entry, Vec<u32>) {
        self.wide = wide;
        let root = self.grow(rules, [0; N]);
        let mut aside = std::mem::take(&mut self.aside);
        aside.sort_unstable();
        // Several cuts may have left the same rule.
        let count = aside.len();
        aside.dedup();
        self.due -= (count - aside.len()) * size_of::<Record<N>>();
        (root, aside)
    }

    /// The entry of all rules, none left aside, where the bits of `known` are told apart already.
    pub(crate) fn plant_all(&mut self, known: [u32; N]) -> Entry {
        self.wide = Wide::Repeated;
        self.grow((0..self.rules.len() as u32).collect(), known)
    }

    /// The entry of `rules`, where the bits of `known` are told apart already.
    fn grow(&mut self, mut rules: Vec<u32>, known: [u32; N]) -> Entry {
        // None behind one that takes all is ever met.
        let last = rules.iter().position(|&rule| self.rule(rule).takes_all(&known));
        let met = last.map_or(rules.len(), |last| last + 1);
        self.due -= (rules.len() - met) * size_of::<Record<N>>();
        if met < rules.len() {
            self.hiding.push(self.rule(rules[met - 1]).verdict());
        }
        rules.truncate(met);
        let wide = if met < MANY { Wide::Repeated } else { self.wide };
        let cut = if met <= LEAF { None } else { choose(self.rules, &rules, wide) };
        let Some(cut) = cut else { return self.leaf(&rules) };
        let (aside, children) = self.divide(&rules, cut, wide);
        let copies = aside.len() + children.iter().map(Vec::len).sum::<usize>() - met;
        let more = copies * size_of::<Record<N>>() + children.len() * size_of::<Entry>();
        if self.due + more > self.most {
            return self.leaf(&rules);
        }
        self.due += more;
        self.aside.extend(aside);
        let mut inside = known;
        inside[usize::from(cut.cell)] |= cut.mask();
        self.branch(cut, wide, children, inside)
    }

    fn rule(&self, number: u32) -> &'r Record<N> {
        &self.rules[number as usize]
    }

    /// The rules to leave aside, and those of each child.
    fn divide(&self, rules: &[u32], cut: Cut, wide: Wide) -> (Vec<u32>, Vec<Vec<u32>>) {
        let (mut aside, mut children) = (Vec::new(), vec![Vec::new(); cut.children()]);
        for &rule in rules {
            let reach = cut.reach(self.rule(rule));
            if wide == Wide::Aside && reach.count() > WIDE {
                aside.push(rule);
            } else {
                reach.children().for_each(|child| children[child].push(rule));
            }
        }
        (aside, children)
    }

    /// The entry of a cut; children with the same rules are one.
    fn branch(&mut self, cut: Cut, wide: Wide, children: Vec<Vec<u32>>, inside: [u32; N]) -> Entry {
        let first = self.entries.len();
        self.entries.resize(first + children.len(), Entry::default());
        let mut grown: HashMap<Vec<u32>, Entry> = HashMap::new();
        for (place, rules) in (first..).zip(children).filter(|(_, rules)| !rules.is_empty()) {
            let entry = match grown.get(&rules) {
                Some(&entry) => {
                    self.due -= rules.len() * size_of::<Record<N>>();
                    entry
                }
                None => {
                    let entry = self.grow(rules.clone(), inside);
                    grown.insert(rules, entry);
                    entry
                }
            };
            self.entries[place] = entry;
        }
        Entry::cut(cut, wide, first as u32)
    }

    fn leaf(&mut self, rules: &[u32]) -> Entry {
        let first = self.records.len() as u32;
        let all = self.rules;
        self.records.extend(rules.iter().map(|&rule| all[rule as usize]));
        Entry::leaf(first, rules.len() as u32)
    }
}
