//! What a list says of a packet: the rule, and what becomes of it.

use crate::Action;

/// A rule's number and its action, in one word; a rule that stands earlier has the lower word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Verdict(u32);

impl Verdict {
    /// The highest number that a rule may have.
    pub const MAX_NUMBER: u32 = (u32::MAX >> 1) - 1;
    const NO_RULE: u32 = u32::MAX >> 1;

    /// Of the rule of this number.
    pub fn new(number: u32, action: Action) -> Self {
        Self(number.min(Self::NO_RULE) << 1 | u32::from(action == Action::Permit))
    }

    /// What becomes of packets that no rule fits.
    pub fn none(action: Action) -> Self {
        Self::new(Self::NO_RULE, action)
    }

    /// The rule's number, if one fits.
    #[inline]
    pub fn number(self) -> Option<u32> {
        let number = self.0 >> 1;
        (number != Self::NO_RULE).then_some(number)
    }

    /// Whether the packet goes on.
    #[inline]
    pub fn is_permitted(self) -> bool {
        self.0 & 1 == 1
    }
}
