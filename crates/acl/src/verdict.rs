//! What a list says of a packet: the rule, and what becomes of it.

use crate::Action;

/// A rule's number and its action, in one word; a rule that stands earlier has the lower word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Verdict(u32);

impl Verdict {
    /// The highest number that a rule may have.
    pub const MAX_NUMBER: u32 = (u32::MAX >> 2) - 1;
    const NO_RULE: u32 = u32::MAX >> 2;
    const PERMITTED: u32 = 1;
    const REFLECTED: u32 = 2;

    /// Of the rule of this number.
    pub fn new(number: u32, action: Action) -> Self {
        let action = match action {
            Action::Deny => 0,
            Action::Permit => Self::PERMITTED,
            Action::Reflect => Self::PERMITTED | Self::REFLECTED,
        };
        Self(number.min(Self::NO_RULE) << 2 | action)
    }

    /// What becomes of packets that no rule fits.
    pub fn none(action: Action) -> Self {
        Self::new(Self::NO_RULE, action)
    }

    /// The rule's number, if one fits.
    #[inline]
    pub fn number(self) -> Option<u32> {
        let number = self.0 >> 2;
        (number != Self::NO_RULE).then_some(number)
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
}
