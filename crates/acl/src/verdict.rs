//! What a list says of a packet: the rule, and what becomes of it.
//!
//! ```text
//!  63                          26 25    24 23             0
//! ┌──────────────────────────────┬────────┬────────────────┐
//! │ where the rule stands        │ action │ its number     │
//! └──────────────────────────────┴────────┴────────────────┘
//! ```
//! What stands earlier is lower. There is room between two rules for others that come later: these
//! get numbers of their own, and no rule's number changes.

use crate::Action;

/// A rule, where it stands, and its action, in one word; a rule that stands earlier has the lower
/// word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Verdict(u64);

/// Bits of a rule's number.
const NUMBER: u32 = 24;
/// Bits behind where it stands.
const BEHIND: u32 = NUMBER + 2;
/// Room between two rules of a list that was made as a whole.
pub(crate) const GAP: u64 = 1 << 14;
/// Where what no rule fits stands.
pub(crate) const END: u64 = u64::MAX >> BEHIND;

impl Verdict {
    /// The highest number that a rule may have.
    pub const MAX_NUMBER: u32 = (1 << NUMBER) - 2;
    const NO_RULE: u32 = (1 << NUMBER) - 1;
    const PERMITTED: u64 = 1 << NUMBER;
    const REFLECTED: u64 = 2 << NUMBER;

    /// Of the rule of this number, behind those of lower ones.
    pub fn new(number: u32, action: Action) -> Self {
        let number = number.min(Self::NO_RULE);
        let stands = if number == Self::NO_RULE { END } else { (u64::from(number) + 1) * GAP };
        Self::standing(stands, number, action)
    }

    /// Of the rule that stands there, and has this number.
    pub(crate) fn standing(stands: u64, number: u32, action: Action) -> Self {
        let action = match action {
            Action::Deny => 0,
            Action::Permit => Self::PERMITTED,
            Action::Reflect => Self::PERMITTED | Self::REFLECTED,
        };
        Self(stands << BEHIND | action | u64::from(number))
    }

    /// What becomes of packets that no rule fits.
    pub fn none(action: Action) -> Self {
        Self::new(Self::NO_RULE, action)
    }

    /// The rule's number, if one fits.
    #[inline]
    pub fn number(self) -> Option<u32> {
        let number = self.place();
        (number != Self::NO_RULE).then_some(number)
    }

    /// The rule's number; that of none is above all others.
    #[inline]
    pub(crate) fn place(self) -> u32 {
        self.0 as u32 & Self::NO_RULE
    }

    /// Where the rule stands.
    pub(crate) fn stands(self) -> u64 {
        self.0 >> BEHIND
    }

    /// Whether the packet goes on.
    #[inline]
    pub fn is_permitted(self) -> bool {
        self.0 & Self::PERMITTED != 0
    }

    /// Whether what answers the packet may come back.
    #[inline]
    pub fn is_reflected(self) -> bool {
        self.0 & Self::REFLECTED != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_earlier_rule_is_lower_whatever_it_says() {
        let [deny, permit, reflect] =
            [Action::Deny, Action::Permit, Action::Reflect].map(|action| Verdict::new(7, action));
        assert_eq!([deny, permit, reflect].map(Verdict::number), [Some(7); 3]);
        assert_eq!([deny, permit, reflect].map(Verdict::is_permitted), [false, true, true]);
        assert_eq!([deny, permit, reflect].map(Verdict::is_reflected), [false, false, true]);
        assert!(reflect < Verdict::new(8, Action::Deny));
        assert!(Verdict::new(Verdict::MAX_NUMBER, Action::Reflect) < Verdict::none(Action::Deny));
        assert_eq!(Verdict::none(Action::Reflect).number(), None);
    }

    #[test]
    fn a_rule_between_two_others_has_a_number_of_its_own() {
        let between =
            Verdict::standing(Verdict::new(3, Action::Deny).stands() + 1, 900, Action::Deny);
        assert!(Verdict::new(3, Action::Reflect) < between);
        assert!(between < Verdict::new(4, Action::Deny));
        assert_eq!(between.number(), Some(900));
    }
}
