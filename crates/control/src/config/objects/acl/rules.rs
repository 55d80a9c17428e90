//! The rules of a list in pieces, which the versions of a configuration share.
//!
//! ```text
//!  before   │ 0 … 255 │ 256 … 511 │ 512 … 767 │ …
//!                │          ╳           │            an edit copies one piece, what is asked of
//!  after    │ 0 … 255 │ 256 … 512 │ 513 … 768 │ …   the others is known, and two that are one
//!                                                    piece need not be compared
//! ```

use super::{Action, Rule};
use crate::config::report::Report;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

/// Rules that a piece has at most.
const MOST: usize = 256;
/// What a sum is multiplied by for each rule that follows.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Rules, the first to be asked first.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    pieces: Arc<Vec<Arc<Piece>>>,
    count: usize,
}

/// Some rules that follow each other.
#[derive(Debug, Default)]
pub(super) struct Piece {
    rules: Vec<Rule>,
    known: OnceLock<Known>,
    sum: OnceLock<u64>,
}

/// What a piece is asked again and again.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Nothing is wrong with any rule by itself, and none leads anywhere.
    is_sound: bool,
    reflects: bool,
    routes: bool,
}

impl Piece {
    fn of(rules: Vec<Rule>) -> Arc<Self> {
        Arc::new(Self { rules, ..Self::default() })
    }

    /// The rules.
    pub(super) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Whether nothing is wrong with any rule, whatever else is configured.
    pub(super) fn is_sound(&self) -> bool {
        self.known().is_sound
    }

    fn known(&self) -> Known {
        *self.known.get_or_init(|| {
            let mut report = Report::default();
            self.rules.iter().for_each(|rule| rule.check("", &mut report));
            let has = |action| self.rules.iter().any(|rule| rule.action == action);
            Known {
                is_sound: report.is_empty() && !self.rules.iter().any(Rule::says_way),
                reflects: has(Action::Reflect),
                routes: has(Action::Route),
            }
        })
    }

    /// A sum over the rules, and what one over those before is multiplied by.
    fn sum(&self) -> (u64, u64) {
        let sum = *self.sum.get_or_init(|| {
            self.rules.iter().fold(0, |sum: u64, rule| {
                let mut own = DefaultHasher::new();
                rule.hash(&mut own);
                sum.wrapping_mul(FACTOR).wrapping_add(own.finish())
            })
        });
        (sum, FACTOR.wrapping_pow(self.rules.len() as u32))
    }
}

impl Rules {
    /// How many.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Each, in their order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Rule> + Clone {
        rules_of(&self.pieces)
    }

    /// One by its place.
    pub fn get(&self, place: usize) -> Option<&Rule> {
        let (piece, within) = self.find(place)?;
        self.pieces[piece].rules.get(within)
    }

    /// Those of these places.
    pub fn range(&self, places: std::ops::Range<usize>) -> impl Iterator<Item = &Rule> {
        let (piece, within) = self.find(places.start).unwrap_or((self.pieces.len(), 0));
        rules_of(&self.pieces[piece..]).skip(within).take(places.len())
    }

    /// Whether a rule has answers come back.
    pub fn reflects(&self) -> bool {
        self.pieces.iter().any(|piece| piece.known().reflects)
    }

    /// Whether a rule leads packets elsewhere.
    pub fn routes(&self) -> bool {
        self.pieces.iter().any(|piece| piece.known().routes)
    }

    /// A sum that tells these rules from others, however they lie in pieces.
    pub(super) fn sum(&self) -> u32 {
        let sum = self.pieces.iter().fold(0, |before: u64, piece| {
            let (sum, factor) = piece.sum();
            before.wrapping_mul(factor).wrapping_add(sum)
        });
        (sum >> 32) as u32
    }

    pub(super) fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.iter().map(|piece| &**piece)
    }

    /// Puts a rule at a place that is there, or behind all others.
    pub(super) fn insert(&mut self, place: usize, rule: Rule) {
        let behind = || match self.pieces.last().map(|piece| piece.rules.len()) {
            None | Some(MOST) => (self.pieces.len(), 0),
            Some(length) => (self.pieces.len() - 1, length),
        };
        let found = if place < self.count { self.find(place) } else { None };
        let (piece, within) = found.unwrap_or_else(behind);
        self.edit(piece, |rules| rules.insert(within, rule));
        self.count += 1;
    }

    /// Puts a rule in the place of another.
    pub(super) fn replace(&mut self, place: usize, rule: Rule) {
        if let Some((piece, within)) = self.find(place) {
            self.edit(piece, |rules| rules[within] = rule);
        }
    }

    /// Takes a rule away.
    pub(super) fn remove(&mut self, place: usize) {
        if let Some((piece, within)) = self.find(place) {
            self.edit(piece, |rules| drop(rules.remove(within)));
            self.count -= 1;
        }
    }

    /// The piece that has a rule, and which of it that is.
    fn find(&self, place: usize) -> Option<(usize, usize)> {
        let mut left = place;
        for (at, piece) in self.pieces.iter().enumerate() {
            if left < piece.rules.len() {
                return Some((at, left));
            }
            left -= piece.rules.len();
        }
        None
    }

    /// Edits a piece, which others may have, too.
    fn edit(&mut self, at: usize, edit: impl FnOnce(&mut Vec<Rule>)) {
        let pieces = Arc::make_mut(&mut self.pieces);
        let mut rules = match pieces.get_mut(at) {
            Some(piece) => match Arc::get_mut(piece) {
                Some(own) => std::mem::take(&mut own.rules),
                None => piece.rules.clone(),
            },
            None => Vec::new(),
        };
        edit(&mut rules);
        let mut new = Vec::new();
        if rules.len() > MOST {
            let second = rules.split_off(MOST / 2);
            new.push(Piece::of(second));
        }
        if !rules.is_empty() {
            new.insert(0, Piece::of(rules));
        }
        let end = pieces.len().min(at + 1);
        pieces.splice(at..end, new);
    }

    /// How many rules both begin with, and how many of the others both end with.
    pub fn alike(&self, new: &Self) -> (usize, usize) {
        let first = alike(&self.pieces, &new.pieces, usize::MAX, false);
        let most = self.count.min(new.count) - first;
        (first, alike(&self.pieces, &new.pieces, most, true))
    }
}

/// Rules that are the same from one end on, so many at most.
fn alike(old: &[Arc<Piece>], new: &[Arc<Piece>], most: usize, from_end: bool) -> usize {
    let is_one = |(one, other): &(&Arc<Piece>, &Arc<Piece>)| Arc::ptr_eq(one, other);
    let pieces = match from_end {
        false => old.iter().zip(new).take_while(is_one).count(),
        true => old.iter().rev().zip(new.iter().rev()).take_while(is_one).count(),
    };
    let parts = |of: &[Arc<Piece>]| match from_end {
        false => (pieces..of.len(), 0..pieces),
        true => (0..of.len() - pieces, of.len() - pieces..of.len()),
    };
    let ((rest, one), (other_rest, _)) = (parts(old), parts(new));
    let count: usize = old[one].iter().map(|piece| piece.rules.len()).sum();
    let (old, new) = (rules_of(&old[rest]), rules_of(&new[other_rest]));
    let same = |(one, other): &(&Rule, &Rule)| one == other;
    let more = match from_end {
        false => old.zip(new).take_while(same).count(),
        true => old.rev().zip(new.rev()).take_while(same).count(),
    };
    (count + more).min(most)
}

fn rules_of(pieces: &[Arc<Piece>]) -> impl DoubleEndedIterator<Item = &Rule> + Clone {
    pieces.iter().flat_map(|piece| &piece.rules)
}

impl From<Vec<Rule>> for Rules {
    fn from(rules: Vec<Rule>) -> Self {
        rules.into_iter().collect()
    }
}

impl FromIterator<Rule> for Rules {
    fn from_iter<I: IntoIterator<Item = Rule>>(rules: I) -> Self {
        let (mut rules, mut pieces, mut count) = (rules.into_iter(), Vec::new(), 0);
        loop {
            let piece: Vec<Rule> = rules.by_ref().take(MOST).collect();
            if piece.is_empty() {
                return Self { pieces: Arc::new(pieces), count };
            }
            count += piece.len();
            pieces.push(Piece::of(piece));
        }
    }
}

impl std::ops::Index<usize> for Rules {
    type Output = Rule;

    fn index(&self, place: usize) -> &Rule {
        let (piece, within) = self.find(place).unwrap_or((self.pieces.len(), 0));
        &self.pieces[piece].rules[within]
    }
}

impl PartialEq for Rules {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.pieces, &other.pieces)
            || self.count == other.count && self.alike(other).0 == self.count
    }
}

impl Eq for Rules {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rule(vlan: u16) -> Rule {
        Rule { vlan: Some(vlan), ..Rule::new(Action::Deny) }
    }

    fn rules(count: u16) -> Vec<Rule> {
        (0..count).map(rule).collect()
    }

    proptest! {
        #[test]
        fn edits_are_those_of_a_plain_list(
            count in 0u16..700,
            edits in prop::collection::vec((0usize..800, 0u8..4, 0u16..4), 0..30),
        ) {
            let mut plain = rules(count);
            let before = Rules::from(plain.clone());
            let mut own = before.clone();
            for (place, what, vlan) in edits {
                let place = place % (plain.len() + 1);
                let is_there = place < plain.len();
                match what {
                    0 if is_there => {
                        plain.remove(place);
                        own.remove(place);
                    }
                    1 if is_there => {
                        plain[place] = rule(vlan);
                        own.replace(place, rule(vlan));
                    }
                    _ => {
                        plain.insert(place, rule(vlan));
                        own.insert(place, rule(vlan));
                    }
                }
            }
            prop_assert!(own.iter().eq(&plain));
            prop_assert_eq!(own.len(), plain.len());
            prop_assert_eq!(own.get(plain.len()), None);
            let anew = Rules::from(plain.clone());
            prop_assert_eq!(own.sum(), anew.sum());
            prop_assert_eq!(&own, &anew);
            prop_assert_eq!(own == before, before.iter().eq(&plain));
            prop_assert!(before.iter().eq(&rules(count)));
            let half = plain.len() / 2;
            prop_assert!(own.range(half..plain.len()).eq(&plain[half..]));
            let (first, last) = before.alike(&own);
            let pairs = before.iter().zip(&plain);
            prop_assert_eq!(first, pairs.take_while(|(old, new)| old == new).count());
            let most = before.len().min(plain.len()) - first;
            let pairs = before.iter().rev().zip(plain.iter().rev());
            prop_assert_eq!(last, pairs.take_while(|(old, new)| old == new).count().min(most));
        }
    }

    #[test]
    fn an_edit_copies_one_piece() {
        let before = Rules::from(rules(1_000));
        let mut after = before.clone();
        after.insert(300, rule(9));
        let is_one = |(one, other): &(&Arc<Piece>, &Arc<Piece>)| Arc::ptr_eq(one, other);
        let ahead = before.pieces.iter().zip(after.pieces.iter()).take_while(is_one).count();
        let behind = before.pieces.iter().rev().zip(after.pieces.iter().rev());
        assert_eq!((ahead, behind.take_while(is_one).count()), (1, 2));
    }

    #[test]
    fn what_rules_do_is_known_of_all_of_them() {
        let mut rules = Rules::from(rules(600));
        assert!(!rules.reflects() && !rules.routes());
        assert!(rules.pieces().all(Piece::is_sound));
        rules.replace(599, Rule::new(Action::Reflect));
        rules.replace(0, Rule::new(Action::Route));
        assert!(rules.reflects() && rules.routes());
        assert_eq!(rules.pieces().map(Piece::is_sound).collect::<Vec<_>>(), [false, true, true]);
        assert!(!Rules::default().reflects() && Rules::default().is_empty());
    }
}
