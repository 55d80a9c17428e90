//! Which number each rule of a list has, in the order of the rules, from one version of the list to
//! the next.
//!
//! ```text
//!  stands   16384     32768  32800  40960  49152        a rule that comes between two others stands
//!  number     0         1      51     50     2          between them; nothing else moves
//! ```
//! Where two rules stand has room for hundreds that come between them, one behind the other or one
//! in front of the other. When it is used up, the list is made anew.

use crate::verdict::{END, GAP};
use crate::{Action, Verdict};

/// What is left between a rule and the one put beside it.
const STEP: u64 = 32;

/// The verdict of each rule, in the order of the rules.
#[derive(Clone, Debug)]
pub struct Places {
    verdicts: Vec<Verdict>,
    /// The lowest number that no rule has had.
    unused: u32,
    /// Numbers are below this.
    end: u32,
}

impl Places {
    /// Of a list that is made as a whole: numbers are places. So many more there may be.
    pub fn new(actions: impl Iterator<Item = Action>, more: usize) -> Self {
        let verdicts: Vec<_> =
            (0..).zip(actions).map(|(number, action)| Verdict::new(number, action)).collect();
        let unused = verdicts.len() as u32;
        let end = unused.saturating_add(more as u32).min(Verdict::MAX_NUMBER);
        Self { verdicts, unused, end: end.max(unused) }
    }

    /// Numbers that rules may have are below this.
    pub fn end(&self) -> usize {
        self.end as usize
    }

    /// Rules.
    pub fn len(&self) -> usize {
        self.verdicts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.verdicts.is_empty()
    }

    /// The verdict of the rule at this place.
    pub fn at(&self, place: usize) -> Option<Verdict> {
        self.verdicts.get(place).copied()
    }

    /// Each rule's number, in the order of the rules.
    pub fn numbers(&self) -> impl Iterator<Item = usize> {
        self.verdicts.iter().map(|verdict| verdict.place() as usize)
    }

    /// The place of the rule of this number.
    pub fn of(&self, number: u32) -> Option<usize> {
        // Most are where they were.
        let is = |place: &usize| self.at(*place).is_some_and(|it| it.place() == number);
        Some(number as usize).filter(is).or_else(|| (0..self.len()).find(is))
    }

    /// The same with these rules in the place of others, each with its action, and with a rule's
    /// number if it is one that was there already. None where there is no room between others, or
    /// there are no more numbers.
    pub fn with(
        &self,
        others: std::ops::Range<usize>,
        rules: &[(Action, Option<u32>)],
    ) -> Option<Self> {
        let stands = |verdict: &Verdict| verdict.stands();
        let mut before = others.start.checked_sub(1).map_or(0, |it| stands(&self.verdicts[it]));
        let behind = self.verdicts.get(others.end).map_or(END, stands);
        let mut unused = self.unused;
        let mut new = Vec::with_capacity(rules.len());
        // What stands in the others' place stands where they did.
        let same = others.len() == rules.len();
        for (place, (action, number)) in others.clone().zip(rules).filter(|_| same) {
            let number = number.or_else(|| take(&mut unused, self.end))?;
            new.push(Verdict::standing(stands(&self.verdicts[place]), number, *action));
        }
        for (action, number) in rules.iter().filter(|_| !same) {
            before = between(before, behind)?;
            let number = number.or_else(|| take(&mut unused, self.end))?;
            new.push(Verdict::standing(before, number, *action));
        }
        let mut verdicts = Vec::with_capacity(self.len() - others.len() + new.len());
        verdicts.extend_from_slice(&self.verdicts[..others.start]);
        verdicts.extend(new);
        verdicts.extend_from_slice(&self.verdicts[others.end..]);
        Some(Self { verdicts, unused, end: self.end })
    }
}

fn take(unused: &mut u32, end: u32) -> Option<u32> {
    let number = Some(*unused).filter(|number| *number < end)?;
    *unused += 1;
    Some(number)
}

/// Where a rule stands between two others: near the one that was put there last, since more are
/// likely to come on its other side.
fn between(before: u64, behind: u64) -> Option<u64> {
    let room = behind - before;
    let was_there = |stands: u64| stands.is_multiple_of(GAP) || stands == END;
    let step = match (was_there(before), was_there(behind)) {
        (true, true) if behind == END => (room / 2).min(GAP),
        (true, true) | (false, false) => room / 2,
        (false, true) => (room / 2).min(STEP),
        (true, false) => room - (room / 2).min(STEP),
    };
    (room >= 2).then_some(before + step)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: [(Action, Option<u32>); 1] = [(Action::Permit, None)];

    fn three() -> Places {
        Places::new([Action::Deny; 3].into_iter(), 1_000)
    }

    fn is_ordered(places: &Places) -> bool {
        places.verdicts.is_sorted_by(|one, next| one < next)
            && places.verdicts.last().is_none_or(|last| *last < Verdict::none(Action::Deny))
    }

    #[test]
    fn rules_that_come_between_others_leave_these_their_numbers() {
        let places = three().with(1..1, &RULE).unwrap().with(0..1, &[]).unwrap();
        assert_eq!(places.numbers().collect::<Vec<_>>(), [3, 1, 2]);
        assert_eq!([3, 1, 2, 0].map(|number| places.of(number)), [Some(0), Some(1), Some(2), None]);
        assert!(is_ordered(&places));
    }

    #[test]
    fn a_rule_in_anothers_place_stands_where_that_did_with_a_number_of_its_own_or_its_old_one() {
        let places = three().with(1..2, &RULE).unwrap();
        assert_eq!(places.numbers().collect::<Vec<_>>(), [0, 3, 2]);
        assert_eq!(places.at(1).unwrap().stands(), three().at(1).unwrap().stands());
        let same = three().with(1..2, &[(Action::Permit, Some(1))]).unwrap();
        assert_eq!(same.numbers().collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn hundreds_come_at_one_place_wherever_it_is() {
        // In front, at one number again and again, each behind the last, at the end.
        for (first, step) in [(0, 0), (1, 0), (1, 1), (3, 1)] {
            let mut places = three();
            for turn in 0..240 {
                let at = first + step * turn;
                places = places.with(at..at, &RULE).unwrap_or_else(|| panic!("{first} {turn}"));
                assert!(is_ordered(&places));
            }
        }
    }

    #[test]
    fn where_there_is_no_room_and_no_number_is_left_is_told() {
        let mut places = Places::new([Action::Deny; 2].into_iter(), 1);
        places = places.with(2..2, &RULE).unwrap();
        assert!(places.with(0..0, &RULE).is_none());
        // In the middle of all that came before, there is soon no room.
        let mut places = Places::new([Action::Deny; 2].into_iter(), 1_000);
        let turns = (0..40).take_while(|turn| {
            let at = 1 + turn / 2;
            let next = places.with(at..at, &RULE);
            let had_room = next.is_some();
            places = next.unwrap_or_else(|| places.clone());
            had_room
        });
        assert!(turns.count() < 40);
        assert!(is_ordered(&places));
    }
}
